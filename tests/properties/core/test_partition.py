"""Partitions: who is grouped with whom, and who is to blame."""

from itertools import permutations, product

from harness.core.outcomes import Encoded, Failed, Rejected, Status, Unsupported
from harness.core.partition import Blame, blames, partition
from harness.core.standing import Standing

A, B, C = Encoded((1,)), Encoded((2,)), Encoded((3,))
CANDIDATE, LIBRARY, _, REFERENCE = Standing
EQUALS = dict.fromkeys("xyz", LIBRARY)


def names(outcomes, standing=None):
    return ["=".join(part.names) for part in partition(outcomes, standing or EQUALS)]


def test_parts_stand_in_order_of_trust_then_of_size_then_of_names():
    outcomes = {"x": A, "y": A, "ref": B}
    assert names(outcomes, {"ref": REFERENCE}) == ["ref", "x=y"]
    assert names({"x": A, "y": B, "z": B}) == ["y=z", "x"]
    assert names({"x": A, "y": B, "z": C}) == ["x", "y", "z"]
    # Rejections are equal, and what did not answer is not compared.
    silent = {"v": Unsupported("does not"), "w": Failed(Status.CRASHED, "boom")}
    assert names({"x": Rejected("no"), "y": Rejected("nein"), "z": A, **silent}) == ["x=y", "z"]


def test_a_candidate_that_agrees_with_neither_of_two_equals_is_blamed_besides():
    standing = {"x": LIBRARY, "y": LIBRARY, "mine": CANDIDATE}
    parts = partition({"x": A, "y": B, "mine": C}, standing)
    quarrel, candidate = blames(parts, standing)
    assert quarrel == Blame(parts, ("x", "y"), undecided=True)
    assert (candidate.culprits, candidate.undecided) == (("mine",), False)
    # It is compared with one of them, and the other is shown, too.
    assert [part.names for part in candidate.parts] == [("x",), ("mine",), ("y",)]


def situations():
    """Every way in which up to four implementations can stand and answer."""
    for count in (1, 2, 3, 4):
        some = "wxyz"[:count]
        for ranks in product(Standing, repeat=count):
            for answers in product((A, B, C), repeat=count):
                yield dict(zip(some, answers, strict=True)), dict(zip(some, ranks, strict=True))


def test_every_combination():
    seen = 0
    for outcomes, standing in situations():
        seen += 1
        top = max(standing.values())
        best = {name for name in outcomes if standing[name] == top}
        right = {outcomes[name] for name in best}
        found = blames(partition(outcomes, standing), standing)
        open_, decided = ([b for b in found if b.undecided is flag] for flag in (True, False))
        # Nobody knows who is right exactly where the most trusted ones differ.
        assert {name for b in open_ for name in b.culprits} == (best if len(right) > 1 else set())
        # Exactly those are blamed who agree with none of the most trusted ones.
        wrong = {name for name in outcomes if outcomes[name] not in right}
        assert {name for b in decided for name in b.culprits} == wrong
        assert len(open_) <= 1 and len(decided) <= 1
        for one in found:
            # Everybody is shown, and nobody that is blamed stands in the part that is trusted.
            assert {n for part in one.parts for n in part.names} == set(outcomes)
            assert one.undecided or not set(one.parts[0].names) & set(one.culprits)
        said = {(frozenset(one.culprits), one.undecided) for one in found}
        for order in permutations(outcomes) if len(outcomes) == 3 else ():
            again = blames(partition({name: outcomes[name] for name in order}, standing), standing)
            assert {(frozenset(one.culprits), one.undecided) for one in again} == said
    assert seen == sum(4**n * 3**n for n in (1, 2, 3, 4))
