"""The pure parts of campaigns: schedule, behaviours, corpus, estimates."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.generators.catalog import generators
from corpora.vocabularies import sources
from harness.checks.base import Observation
from harness.core import stored
from harness.core.comparisons import contracts_of
from harness.core.outcomes import Encoded, Failed, Inputs, Outcome, Rejected, Results, Status
from harness.engine.selection import SelectionError, participants
from harness.events import BatchDone
from harness.studies.fuzz import estimate
from harness.studies.fuzz.arms import FINITE, SEEDS, SEGMENT, Generated, derived
from harness.studies.fuzz.behaviour import (
    MAP_SIZE,
    BatchBehaviour,
    Map,
    Shapes,
    disagreement,
    observe,
)
from harness.studies.fuzz.corpus import LONGEST, Corpus, Entry, mutants
from harness.studies.fuzz.estimate import Abundance
from harness.studies.fuzz.loop import Loop
from harness.studies.fuzz.plan import seeds, spent
from harness.studies.fuzz.schedule import FLOOR, Arm, Schedule
from harness.studies.fuzz.state import ITEMS, Kept, State, StateError
from harness.verdict.coverage import Coverage

TOY = sources.resolve("toy_bytes")


# The schedule.


def played(schedule: Schedule, yields: dict[str, float], batches: int, start: int = 0) -> list[str]:
    """What is chosen when each arm yields what it does."""
    chosen = []
    for number in range(start, start + batches):
        name = schedule.choose(number)
        assert name is not None
        schedule.reward(name, number, 1, yields[name])
        chosen.append(name)
    return chosen


def test_every_arm_is_tried_then_the_best_is_preferred_and_none_starves() -> None:
    yields = {"poor": 0.0, "good": 5.0, "middling": 1.0, "barren": 0.0}
    chosen = played(Schedule(dict.fromkeys(yields, 1.0), "0"), yields, 600)
    assert chosen[:4] == list(yields)
    counts = Counter(chosen)
    assert counts["good"] > 600 * (1 - FLOOR) * 0.8
    assert min(counts.values()) >= 600 * FLOOR / len(yields) * 0.5


def test_an_arm_that_dries_up_is_left_for_another() -> None:
    schedule = Schedule({"first": 1.0, "second": 1.0}, "0")
    played(schedule, {"first": 5.0, "second": 1.0}, 200)
    later = played(schedule, {"first": 0.0, "second": 1.0}, 600, 200)
    assert Counter(later[300:])["second"] > 200


def test_a_yield_is_weighed_against_its_cost() -> None:
    yields = {"cheap": 1.0, "dear": 4.0}
    chosen = played(Schedule({"cheap": 1.0, "dear": 16.0}, "0"), yields, 400)
    assert Counter(chosen)["cheap"] > 250


def test_choices_depend_on_seed_number_and_rewards_alone() -> None:
    yields = {"a": 1.0, "b": 1.1, "c": 0.9}

    def fresh(seed: str = "0") -> Schedule:
        return Schedule(dict.fromkeys(yields, 1.0), seed)

    whole = played(fresh(), yields, 100)
    arms: list[Arm] = []
    first = Schedule(dict.fromkeys(yields, 1.0), "0", arms)
    assert played(first, yields, 40) == whole[:40]
    kept = stored.typed(json.loads(json.dumps([asdict(one) for one in arms])), list[Arm])
    second = Schedule(dict.fromkeys(yields, 1.0), "0", kept)
    assert played(second, yields, 60, 40) == whole[40:]
    assert played(fresh("1"), yields, 100) != whole
    # Asking changes nothing.
    assert [second.choose(7) for _ in range(3)] == [second.choose(7)] * 3


def test_what_has_ended_is_not_chosen() -> None:
    schedule = Schedule({"a": 1.0, "b": 1.0}, "0")
    schedule.end("a")
    assert set(played(schedule, {"b": 1.0}, 50)) == {"b"}
    schedule.end("b")
    assert schedule.choose(50) is None


# Behaviours.


def seen(ids: list[list[int]], others: dict[str, list[Outcome]] | None = None) -> Observation:
    present, _ = participants(["bpe.naive", "bpe.heap", "bpe.table"])
    contract = contracts_of(TOY, present, frozenset({"bpe.naive"}), proper=True)[0]
    right: list[Outcome] = [Encoded(tuple(one)) for one in ids]
    results = {name: Results.of(right) for name in contract.names}
    for name, outcomes in (others or {}).items():
        results[name] = Results.of(outcomes)
    return Observation(contract, Inputs.of([b"x"] * len(ids)), results)


def test_ids_and_shapes_of_neighbours_are_seen_once_an_input() -> None:
    behaviour = observe(seen([[97, 98, 99], [97, 97, 97, 97], []]), Shapes(TOY))
    by_input = Counter(behaviour.owners.tolist())
    # Three ids, and one shape of pairs and one of triples, as all are lower-case letters.
    assert by_input[0] == 5
    assert by_input[1] == 3
    assert by_input[2] == 0
    assert behaviour.disagreements == {}


def test_neighbours_of_different_inputs_are_no_pair() -> None:
    apart = observe(seen([[97], [48]]), Shapes(TOY))
    together = observe(seen([[97, 48]]), Shapes(TOY))
    assert len(apart.codes) == 2
    assert len(together.codes) == 3


def test_ids_that_the_vocabulary_does_not_have_are_seen_too() -> None:
    behaviour = observe(seen([[10**6, -5, 97]]), Shapes(TOY))
    assert len(behaviour.codes) == 6


def test_disagreements_have_shapes() -> None:
    others: dict[str, list[Outcome]] = {
        "bpe.heap": [Encoded((1, 2)), Rejected("no"), Encoded((2,)), Encoded((5,))],
        "bpe.table": [Encoded((1,)), Encoded((1,)), Encoded((1,)), Failed(Status.CRASHED, "x")],
    }
    behaviour = observe(seen([[1], [1], [1], [5]], others), Shapes(TOY))
    assert behaviour.disagreements == {
        0: "toy_bytes/text bpe.naive=bpe.table|bpe.heap(more)",
        1: "toy_bytes/text bpe.naive=bpe.table|bpe.heap(rejected)",
        2: "toy_bytes/text bpe.naive=bpe.table|bpe.heap(as-many)",
        3: "toy_bytes/text bpe.naive=bpe.heap bpe.table:crashed",
    }


def test_agreement_has_no_shape() -> None:
    contract = seen([[1]]).contract
    assert disagreement({"bpe.naive": Rejected("a"), "bpe.heap": Rejected("b")}, contract) is None


def test_the_map_counts_inputs_as_a_dictionary_does() -> None:
    rng = random.Random(0)
    counted = Map()
    truth: Counter[int] = Counter()
    for _ in range(20):
        pairs = sorted({(rng.randrange(8), rng.randrange(60)) for _ in range(30)})
        fresh: Counter[int] = Counter()
        met = set(truth)
        for owner, code in pairs:
            if code not in met:
                fresh[owner] += 1
                met.add(code)
        truth.update(code for _, code in pairs)
        owners, codes = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
        assert counted.add(BatchBehaviour(owners, codes)) == dict(fresh)
        counted = Map(counted.counts)
        numbers = Counter(truth.values())
        assert counted.species == (len(truth), numbers[1], numbers[2])


def test_hashes_of_a_large_vocabulary_rarely_fall_together() -> None:
    from harness.studies.fuzz.behaviour import _hashed

    codes = _hashed(np.arange(100_000), 12345, 1)
    assert codes.min() >= 0
    assert codes.max() < MAP_SIZE
    # Thrown at random, 100,000 balls leave 83,000 of 262,144 bins filled.
    assert len(np.unique(codes)) > 80_000


# The corpus.


def test_the_corpus_takes_each_input_once_and_none_that_is_too_long() -> None:
    corpus = Corpus()
    assert corpus.join(Entry(b"a", "x", 1))
    assert not corpus.join(Entry(b"a", "y", 2))
    assert not corpus.join(Entry(b"", "x", 1))
    assert not corpus.join(Entry(b"a" * (LONGEST + 1), "x", 1))
    assert len(corpus) == 1


@given(st.lists(st.one_of(st.binary(max_size=3), st.just(b"a" * (LONGEST + 1)), st.integers(0, 9))))
def test_the_corpus_holds_together_whatever_is_done(steps: list[bytes | int]) -> None:
    corpus, rng = Corpus(), random.Random(0)
    for step in steps:
        if isinstance(step, bytes):
            corpus.join(Entry(step, "x", 1))
        else:
            assert len(corpus.parents(rng, step)) == (step if len(corpus) else 0)
        corpus._check_invariants()
    again = Corpus(corpus.entries, corpus.picks)
    again._check_invariants()
    assert again.entries == corpus.entries


def test_parents_get_their_turns() -> None:
    corpus = Corpus([Entry(bytes([i]), "x", 1) for i in range(50)], [1000] * 25)
    chosen = Counter(corpus.parents(random.Random(0), 100))
    fresh = sum(count for data, count in chosen.items() if data[0] >= 25)
    assert fresh > 90
    assert sum(corpus.picks) == 1000 * 25 + 100


def test_mutants_are_the_same_for_the_same_corpus_and_seed() -> None:
    def corpus() -> Corpus:
        return Corpus([Entry("naïve text 12".encode(), "x", 1), Entry(b"\xff\xfe", "x", 1)])

    one = mutants(corpus(), TOY, random.Random(1), 200)
    assert one == mutants(corpus(), TOY, random.Random(1), 200)
    assert one != mutants(corpus(), TOY, random.Random(2), 200)
    assert len(set(one)) > 150
    assert max(map(len, one)) <= LONGEST


def test_mutants_are_spelt_in_the_vocabularys_letters() -> None:
    vocabulary = sources.resolve("toy_acbb")
    made = mutants(Corpus([Entry(b"acbb", "x", 1)]), vocabulary, random.Random(0), 100)
    assert made
    assert all(vocabulary.can_encode(data) for data in made)
    assert mutants(Corpus(), vocabulary, random.Random(0), 100) == []


# Arms.


def test_a_stream_goes_on_anywhere_as_if_it_had_been_run_up_to_there() -> None:
    catalog = generators()
    for name in ("raw", "tokens"):
        whole = Generated(catalog[name], TOY, 3, 0, 4096)
        batches = [whole.take(n, n) for n in range(5)]
        for place in (4, 0, 2):
            alone = Generated(catalog[name], TOY, 3, 0, 4096).take(99, place)
            assert alone == batches[place], (name, place)


def test_segments_have_seeds_of_their_own() -> None:
    maker = Generated(generators()["raw"], TOY, 3, 0, 4096)
    first, later = maker.take(0, 0), maker.take(0, SEGMENT)
    assert first is not None
    assert later is not None
    assert first.seed == 3
    assert later.seed == derived(3, 0, 1) != 3
    assert first.inputs != later.inputs
    assert derived(3, 1, 0) not in {3, derived(3, 0, 1)}


def test_the_finite_generators_are_those_that_end() -> None:
    from itertools import islice

    most = 10_000
    for name, generator in generators().items():
        if name == "codepoints":  # ends, too, after some millions
            continue
        ends = sum(1 for _ in islice(generator.cases(TOY, 0), most)) < most
        assert ends == (name in FINITE), name
    assert {SEEDS, "codepoints"} <= FINITE


# Estimates.


def test_estimates_of_a_known_world() -> None:
    """Species of known probabilities: the estimate of the next new one is near the truth."""
    rng = random.Random(4)
    weights = [1 / (rank + 1) for rank in range(3000)]
    total = sum(weights)
    drawn = rng.choices(range(3000), weights, k=4000)
    counts = Counter(drawn)
    numbers = Counter(counts.values())
    world = Abundance(len(drawn), len(counts), numbers[1], numbers[2])
    truth = sum(w / total for rank, w in enumerate(weights) if rank not in counts)
    assert estimate.discovery(world) == pytest.approx(truth, rel=0.1)
    more = 1000
    gone_on = {*counts, *rng.choices(range(3000), weights, k=more)}
    assert estimate.expected(world, more) == pytest.approx(len(gone_on) - len(counts), rel=0.2)
    assert len(counts) + estimate.unseen(world) <= 3000 * 1.1


def test_estimates_at_their_ends() -> None:
    nothing = Abundance(0, 0, 0, 0)
    assert estimate.discovery(nothing) == 1.0
    assert estimate.unseen(nothing) == 0.0
    assert estimate.chance(nothing, 0) == 0.0
    # A thousand inputs without news: as many more have an even chance (Laplace).
    assert estimate.chance(Abundance(999, 3, 0, 0), 1000) == pytest.approx(0.5)
    assert estimate.discovery(Abundance(98, 3, 0, 5)) == pytest.approx(0.01)
    assert estimate.unseen(Abundance(100, 5, 3, 0)) == pytest.approx(0.99 * 3)
    # One seen once, and none twice: nothing can be said of how many are missing.
    assert estimate.expected(Abundance(100, 1, 1, 0), 10) == pytest.approx(0.1)


@pytest.mark.parametrize("seen_", [Abundance(50, 9, 4, 2), Abundance(50, 9, 0, 2)])
def test_chances_grow_with_time_and_are_chances(seen_: Abundance) -> None:
    chances = [estimate.chance(seen_, more) for more in (0, 1, 10, 1e3, 1e9)]
    assert chances == sorted(chances)
    assert chances[0] == 0
    assert all(0 <= chance <= 1 for chance in chances)
    assert math.isfinite(estimate.expected(seen_, 1e12))


# The rest.


def test_a_state_comes_back_as_it_was_and_what_has_not_changed_is_not_written_again() -> None:
    shapes = {f"shape {n} \udc80": 1 for n in range(3 * ITEMS)}
    many = bytes([1]) * MAP_SIZE
    state = State(batches=3, picks=[1, 2], disagreements=shapes, covered=[b"\xff"], map=many)
    kept = Kept(state)

    def changed() -> dict[str, bytes]:
        return kept.round("x").parts

    parts = changed()
    assert State.of(parts) == state
    assert changed() == {}
    assert Kept.of(parts).round("x").parts == {}
    state.cases += 1
    state.disagreements["shape 0 \udc80"] += 1
    state.map = b"\0" + many[1:]
    state.covered.clear()
    written = changed()
    assert set(written) == {"state", "disagreements/000000", "map/000000", "covered/000000"}
    assert written["covered/000000"] == b"", "it is there no more"
    assert State.of({name: part for name, part in (parts | written).items() if part}) == state
    with pytest.raises(StateError):
        State.of({"state": b"nothing"})


def test_inputs_to_begin_with(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b").write_bytes(b"bb")
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "c").write_bytes(b"a")
    assert seeds([tmp_path, tmp_path / "a"]) == [b"a", b"bb"]
    with pytest.raises(SelectionError, match="no such file"):
        seeds([tmp_path / "none"])


def test_times_in_words() -> None:
    assert [spent(s) for s in (9, 61, 3661)] == ["9 s", "1 min", "1 h 01 min"]


# The sums of a campaign.


def test_the_sums_of_batches_say_what_the_batches_say() -> None:
    """A campaign keeps one batch for each comparison and generator: its coverage is the same."""

    def batch(n: int, **answers: list[int]) -> BatchDone:
        judged = {"survival": {name: sum(one) for name, one in answers.items()}}
        faults = {"survival": {"a": n}} if n % 2 else {}
        declined = {"a": f"for {n}"}
        return BatchDone("v/raw", f"g{n % 2}", n, n, n, judged, faults, {}, answers, declined)

    batches = [batch(1, a=[1, 0, 0]), batch(2, b=[2, 0, 1]), batch(3, a=[1, 1, 1], b=[0, 0, 3])]
    state = State()
    state.add(batches[:2])
    state.add(batches[2:])
    assert len(list(state.done())) == 2
    assert Coverage.of(state.done()) == Coverage.of(batches)


# The loop.


class Few:
    """Has so many batches; whoever lasts may have one again."""

    cost = 1.0

    def __init__(self, *, batches: int, lasting: bool) -> None:
        self.batches, self.lasting = batches, lasting

    def take(self, number: int, place: int) -> str | None:
        return f"{number} {place}" if place < self.batches else None

    def close(self) -> None:
        """Nothing to let go of."""


def test_the_loop_has_batches_made_until_nobody_has_any() -> None:
    arms: list[Arm] = []
    taken: dict[str, int] = {}
    makers = {"one": Few(batches=1, lasting=False), "none": Few(batches=0, lasting=True)}
    loop = Loop(makers, "0", arms, taken)
    assert loop.choose(0, 2) == ([("one", "0 0")], 3), "asked again, in vain"
    assert taken == {"one": 1}
    assert [arm.ended for arm in arms] == [True, False]
    # Who lasts is asked again, and counts as a batch that came to nothing.
    makers["none"].batches = 1
    assert Loop(makers, "0", arms, taken).choose(4) == ([("none", "4 0")], 0)
