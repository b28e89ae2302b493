"""The pure parts of campaigns: schedule, behaviours, corpus, estimates."""

import json
import random
from collections import Counter
from dataclasses import asdict
from functools import partial

import numpy as np
import pytest

from corpora.generators.catalog import generators
from corpora.vocabularies import sources
from harness.checks.base import Observation
from harness.core import stored
from harness.core.comparisons import contracts_of
from harness.core.outcomes import Encoded, Failed, Inputs, Rejected, Results, Status
from harness.engine.selection import SelectionError, participants
from harness.events import BatchDone
from harness.studies.campaigns.loop import FLOOR, Loop, Schedule, derived
from harness.studies.campaigns.state import Kept
from harness.studies.fuzz import estimate
from harness.studies.fuzz.arms import FINITE, SEEDS, SEGMENT, generated, mutated
from harness.studies.fuzz.behaviour import (
    MAP_SIZE,
    BatchBehaviour,
    Map,
    Shapes,
    observe,
)
from harness.studies.fuzz.corpus import LONGEST, Corpus, Entry
from harness.studies.fuzz.estimate import Abundance
from harness.studies.fuzz.plan import seeds
from harness.studies.fuzz.state import State
from harness.verdict.coverage import Coverage

TOY = sources.resolve("toy_bytes")


# The loop.


def fresh(yields, seed="0", kept=None):
    """A loop of arms that always have something; what ``dear`` makes costs much."""
    makers = {name: lambda number, place: f"{number} {place}" for name in yields}
    return Loop(makers, seed, Schedule() if kept is None else kept, {"dear": 16.0})


def played(loop, yields, batches):
    """Who is chosen when each arm yields what it does."""
    chosen = []

    def learn(arm, made):
        chosen.append(arm)
        return 1, yields[arm]

    assert all(loop.turn(learn) for _ in range(batches))
    return chosen


def test_the_best_arm_for_its_cost_is_preferred_and_none_starves():
    yields = {"poor": 0.0, "good": 5.0, "middling": 1.0, "dear": 6.0}
    loop = fresh(yields)
    chosen = played(loop, yields, 600)
    assert chosen[:4] == list(yields)
    counts = Counter(chosen)
    assert counts["good"] > 600 * (1 - FLOOR) * 0.8
    assert min(counts.values()) >= 600 * FLOOR / len(yields) * 0.5
    dried_up = played(loop, {**yields, "good": 0.0}, 600)
    assert Counter(dried_up[300:])["middling"] > 150


def test_choices_depend_on_seed_number_and_rewards_alone():
    yields = {"a": 1.0, "b": 1.1, "c": 0.9}
    whole = played(fresh(yields), yields, 100)
    schedule = Schedule()
    assert played(fresh(yields, kept=schedule), yields, 40) == whole[:40]
    kept = stored.typed(json.loads(json.dumps(asdict(schedule))), Schedule)
    assert played(fresh(yields, kept=kept), yields, 60) == whole[40:]
    assert played(fresh(yields, "1"), yields, 100) != whole


def test_who_has_nothing_left_is_not_asked_again():
    schedule, seen = Schedule(), []
    makers = {
        "one": lambda number, place: f"{number} {place}" if place < 1 else None,
        "none": lambda number, place: "",
    }
    loop = Loop(makers, "0", schedule)

    def learn(arm, made):
        seen.append((arm, made))
        return 0, 0.0

    assert all(loop.turn(learn) for _ in range(40))
    assert seen[:2] == [("one", "0 0"), ("none", "")]
    assert set(seen[2:]) == {("none", "")}
    assert [arm.ended for arm in schedule.arms] == [True, False]
    makers["none"] = lambda number, place: None
    assert not Loop(makers, "0", schedule).turn(learn)


# Behaviours.


def seen(ids, others=None):
    present, _ = participants(["bpe.naive", "bpe.heap", "bpe.table"])
    contract = contracts_of(TOY, present, frozenset({"bpe.naive"}), proper=True)[0]
    right = [Encoded(tuple(one)) for one in ids]
    results = {name: Results.of(right) for name in contract.names}
    for name, outcomes in (others or {}).items():
        results[name] = Results.of(outcomes)
    return Observation(contract, Inputs.of([b"x"] * len(ids)), results)


@pytest.mark.parametrize(
    ("ids", "shown"),
    [
        # Ids, and one shape of pairs and one of triples, as all are lower-case letters.
        ([[97, 98, 99], [97, 97, 97, 97], []], [5, 3, 0]),
        # Neighbours of different inputs are no pair.
        ([[97], [48]], [1, 1]),
        ([[97, 48]], [3]),
        # What the vocabulary does not have is seen, too.
        ([[10**6, -5, 97]], [6]),
    ],
)
def test_ids_and_shapes_of_neighbours_are_seen_once_an_input(ids, shown):
    behaviour = observe(seen(ids), Shapes(TOY))
    assert [behaviour.owners.tolist().count(one) for one in range(len(ids))] == shown
    assert behaviour.disagreements == {}


def test_behaviours_of_a_large_vocabulary_rarely_fall_together():
    codes = observe(seen([[*range(100_000)]]), Shapes(TOY)).codes
    assert 0 <= codes.min() <= codes.max() < MAP_SIZE
    # Thrown at random, 100,000 balls leave 83,000 of 262,144 bins filled.
    assert len(codes) > 80_000


def test_disagreements_have_shapes():
    others = {
        "bpe.heap": [Encoded((1, 2)), Rejected("no"), Encoded((2,)), Encoded((5,))],
        "bpe.table": [Encoded((1,)), Encoded((1,)), Encoded((1,)), Failed(Status.CRASHED, "x")],
    }
    behaviour = observe(seen([[1], [1], [1], [5]], others), Shapes(TOY))
    assert behaviour.disagreements == {
        0: "toy_bytes/text bpe.heap:more",
        1: "toy_bytes/text bpe.heap:rejected",
        2: "toy_bytes/text bpe.heap:as-many",
        3: "toy_bytes/text bpe.table:crashed",
    }


def test_who_reject_for_different_reasons_agree():
    others = {name: [Rejected(name)] for name in ("bpe.naive", "bpe.heap", "bpe.table")}
    assert observe(seen([[1]], others), Shapes(TOY)).disagreements == {}


def test_the_map_counts_inputs_as_a_dictionary_does():
    rng = random.Random(0)
    counted = Map()
    truth = Counter()
    for _ in range(20):
        pairs = sorted({(rng.randrange(8), rng.randrange(60)) for _ in range(30)})
        first = {code: owner for owner, code in reversed(pairs) if code not in truth}
        truth.update(code for _, code in pairs)
        owners, codes = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
        assert counted.add(BatchBehaviour(owners, codes)) == {*first.values()}
        counted = Map(counted.counts)
        numbers = Counter(truth.values())
        assert counted.species == (len(truth), numbers[1], numbers[2])


# The corpus.


def test_the_corpus_takes_each_input_once_and_none_that_is_too_long():
    corpus = Corpus([])
    assert corpus.join(Entry(b"a", "x"))
    assert not corpus.join(Entry(b"a", "y"))
    assert not corpus.join(Entry(b"", "x"))
    assert not corpus.join(Entry(b"a" * (LONGEST + 1), "x"))
    assert len(corpus.entries) == 1


def mutants(number, *entries, vocabulary=TOY):
    """What is made of a corpus."""
    corpus = Corpus([Entry(data, "x") for data in entries])
    made = mutated(corpus, vocabulary, 0, 0)(number, 0)
    assert made is not None
    return made.inputs


def test_mutants_are_the_same_for_the_same_corpus_and_batch_and_can_be_spelt():
    some = b"\xff\xfe", "naïve text 12".encode()
    assert mutants(1, *some) == mutants(1, *some) != mutants(2, *some)
    assert mutants(1) == []
    vocabulary = sources.resolve("toy_acbb")
    made = mutants(0, b"acbb", vocabulary=vocabulary)
    assert made
    assert all(vocabulary.can_encode(data) for data in made)


# Arms.


def test_a_stream_goes_on_anywhere_as_if_it_had_been_run_up_to_there():
    catalog = generators()
    for name in ("raw", "tokens"):
        seeded = partial(derived, 3, 0)
        whole = generated(catalog[name], TOY, seeded, 4096)
        batches = [whole(n, n) for n in range(5)]
        for place in (4, 0, 2):
            alone = generated(catalog[name], TOY, seeded, 4096)(99, place)
            assert alone == batches[place], (name, place)


def test_segments_have_seeds_of_their_own():
    make = generated(generators()["raw"], TOY, partial(derived, 3, 0), 4096)
    first, later = make(0, 0), make(0, SEGMENT)
    assert first is not None and later is not None
    assert len({first.seed, later.seed, derived(3, 1, 0)}) == 3
    assert first.inputs != later.inputs


def test_the_finite_generators_are_those_that_end():
    from itertools import islice

    most = 10_000
    for name, generator in generators().items():
        if name == "codepoints":  # ends, too, after some millions
            continue
        ends = sum(1 for _ in islice(generator.cases(TOY, 0), most)) < most
        assert ends == (name in FINITE), name
    assert {SEEDS, "codepoints"} <= FINITE


# Estimates.


def test_estimates_of_a_known_world():
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


def test_estimates_at_their_ends():
    nothing = Abundance(0, 0, 0, 0)
    assert estimate.discovery(nothing) == 1.0
    assert estimate.chance(nothing, 0) == 0.0
    # A thousand inputs without news: as many more have an even chance (Laplace).
    assert estimate.chance(Abundance(999, 3, 0, 0), 1000) == pytest.approx(0.5)
    assert estimate.unseen(Abundance(100, 5, 3, 0)) == pytest.approx(0.99 * 3)
    # One seen once, and none twice: nothing can be said of how many are missing.
    assert estimate.expected(Abundance(100, 1, 1, 0), 10) == pytest.approx(0.1)
    chances = [estimate.chance(Abundance(50, 9, 4, 2), more) for more in (0, 1, 10, 1e3, 1e9)]
    assert chances == sorted(chances)
    assert chances[0] == 0 < chances[-1] <= 1


# The rest.


def test_a_state_comes_back_as_it_was_and_what_has_not_changed_is_not_written_again():
    shapes = {f"shape {n} \udc80": 1 for n in range(3 * State.PAGES["disagreements"])}
    many = bytes([1]) * MAP_SIZE
    kept = Kept(State, {})
    state = kept.state
    state.judged_by, state.disagreements, state.covered, state.map = "x", shapes, [b"\xff"], many

    def changed():
        return kept.round("x").parts

    parts = changed()
    assert State.of(parts) == state
    assert changed() == {}
    assert Kept(State, parts).round("x").parts == {}
    state.cases += 1
    state.disagreements["shape 0 \udc80"] += 1
    state.map = b"\0" + many[1:]
    state.covered.clear()
    written = changed()
    assert set(written) == {"state", "disagreements/000000", "map/000000", "covered/000000"}
    assert written["covered/000000"] == b"", "it is there no more"
    assert State.of({name: part for name, part in (parts | written).items() if part}) == state


def test_inputs_to_begin_with(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b").write_bytes(b"bb")
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "c").write_bytes(b"a")
    assert seeds([tmp_path, tmp_path / "a"]) == [b"a", b"bb"]
    with pytest.raises(SelectionError, match="no such file"):
        seeds([tmp_path / "none"])


# The sums of a campaign.


def test_the_sums_of_batches_say_what_the_batches_say():
    """A campaign keeps one batch for each comparison and generator: its coverage is the same."""

    def batch(n, **answers):
        judged = {"survival": {name: sum(one) for name, one in answers.items()}}
        faults = {"survival": {"a": n}} if n % 2 else {}
        declined = {"a": f"for {n}"}
        return BatchDone("v/raw", f"g{n % 2}", n, n, n, judged, faults, {}, answers, declined)

    batches = [batch(1, a=[1, 0, 0]), batch(2, b=[2, 0, 1]), batch(3, a=[1, 1, 1], b=[0, 0, 3])]
    state = State()
    state.add(batches[:2])
    state.add(batches[2:])
    assert len(state.totals) == 2
    assert Coverage.of(state.totals.values()) == Coverage.of(batches)
