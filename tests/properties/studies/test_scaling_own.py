"""The user's own candidates: measured first, on all families, and until they are decided."""

from collections import Counter

import pytest

from corpora.families.catalog import FAMILIES, TELLING
from corpora.vocabularies import sources
from harness.core.outcomes import Failed, Rejected, Status
from harness.studies.growth.cell import FIRST_LOOK
from harness.studies.growth.measurement import GOING_ON_SECONDS
from harness.workers.pool import OutOfTime
from tests.breadth import thorough_from
from tests.doubles.growth_pools import Simulated, clock, linear, measurement_of, quadratic

__all__ = ["clock"]  # a fixture

VOCABULARY = sources.resolve("toy_bytes")
FITTING = [family for family in FAMILIES if family.suits(VOCABULARY)]
HANG = 8.0
"""Seconds after which a call is killed."""


@pytest.fixture(autouse=True)
def a_quiet_machine(monkeypatch):
    for module in ("studies.growth.schedule", "studies.growth.prober", "core.machine_load"):
        monkeypatch.setattr(f"harness.{module}.crowding", lambda: 0.0)


def run(data):
    """The length of the run of brackets at the end."""
    return len(data) - len(data.rstrip(b"["))


def on(clock, law):
    """Answers of so many nanoseconds, which pass; a call that takes too long is killed."""

    def answer(data):
        spent = law(data)
        clock.at += min(spent / 1e9, HANG) + 50e-6
        if spent > HANG * 1e9:
            return Failed(Status.TIMED_OUT, "no answer")
        return int(spent)

    return answer


def measured(answers, own, seconds, kinds=FITTING[:3], besides=FITTING[3:8], references=()):
    pool = Simulated(answers)
    measurement, said = measurement_of(
        pool, kinds, 1 << 20, references=references, own=own, besides=besides
    )
    measurement.run(seconds, said.append)
    timed = [one for one in said if one.measure == "time"]
    return {(one.implementation, one.family): one for one in timed}, pool, measurement


def alone(clock, law, seconds, kinds, besides=(), **rest):
    """The cells of an own candidate, by family."""
    cells, _, _ = measured({"mine": on(clock, law)}, ["mine"], seconds, kinds, besides, **rest)
    return {family: one for (_, family), one in cells.items()}


def verdicts(cells):
    return {one.verdict for one in cells.values()}


def named(*names):
    return [family for family in FITTING if family.name in names]


def test_it_is_measured_on_every_family_before_a_reference_on_any(clock):
    answers = {"theirs": on(clock, linear), "mine": on(clock, linear)}
    cells, pool, measurement = measured(answers, ["mine"], 4.5)
    mine = {family: one.verdict for (name, family), one in cells.items() if name == "mine"}
    assert mine == {family.name: "linear" for family in FITTING[:8]}
    assert measurement.missed == {} and not measurement.went_on
    names = [name for name, _ in pool.asked]
    # But for the warming up of both.
    assert names.index("mine") <= 1
    assert "theirs" not in names[2 : len(names) - names[::-1].index("mine")]


@pytest.mark.parametrize(("law", "verdict"), [(linear, "linear"), (quadratic, "inconclusive")])
def test_who_is_cut_off_in_its_first_round_has_its_first_look_all_the_same(clock, law, verdict):
    """On a busy machine it would seem to be undecided, where others are only not measured."""
    usual = on(clock, law)

    def answer(data):
        if len(pool.asked) > 4 and pool.left() < 1e9:
            raise OutOfTime
        return usual(data)

    pool = Simulated({"mine": answer})
    pool.left = lambda: 0.0
    measurement, said = measurement_of(pool, FITTING[:3], 1 << 20, own=["mine"])
    measurement.run(60.0, said.append)
    (one,) = said
    assert (one.family, one.rounds, one.verdict) == (FITTING[0].name, FIRST_LOOK, verdict)
    assert measurement.missed == {"mine": [family.name for family in FITTING[1:3]]}


def blocks(data):
    """Scans blocks of pairs in place of a heap, ``n sqrt(n)``, beside a large linear part."""
    return 22_000 + 110 * len(data) + 1.8 * len(data) ** 1.5


def step(data):
    """What one plug-in took beside four busy loops: from 256 KiB on each byte is twice as dear."""
    size = len(data)
    return 18_000 + size * (9.4 if size < 300_000 else 15.4 if size < 600_000 else 19.2)


def test_growth_that_hides_behind_a_linear_part_is_followed_after_the_time(clock):
    cells = alone(clock, blocks, 10.0, [one for one in FITTING if one in TELLING][:3])
    [superlinear] = [one for one in cells.values() if one.verdict == "superlinear"]  # one is enough
    assert superlinear.low > 1.3


def test_what_does_not_look_like_growth_is_not_followed(clock):
    """A rate that doubles between two caches, within the largest sizes."""
    assert verdicts(alone(clock, step, 0.2, FITTING[:1])) == {"linear"}
    assert clock.at < 0.2 + GOING_ON_SECONDS + 1.0


def test_a_step_at_the_largest_sizes_is_followed_beyond_them(clock):
    cells = alone(clock, step, 30.0, FITTING[:1])
    assert verdicts(cells) == {"linear"}
    assert max(size for one in cells.values() for size, _ in one.points) > 1 << 20


@pytest.mark.parametrize(
    "answer",
    thorough_from(
        1, [Failed(Status.ERRORED, "long"), Failed(Status.OUT_OF_MEMORY, ""), Rejected("no")]
    ),
)
def test_nobody_is_held_to_what_is_longer_than_the_suite(clock, answer):
    usual = on(clock, step)
    mine = {"mine": lambda data: answer if len(data) > 1 << 20 else usual(data)}
    cells, _, _ = measured(mine, ["mine"], 30.0, FITTING[:1], ())
    assert verdicts(cells) == {"inconclusive"}
    assert not any("stopped at" in one.note for one in cells.values())


@pytest.mark.parametrize(
    ("law", "families"),
    [
        (lambda data: 2_000 + 55 * len(data) ** 2, ()),
        (lambda data: quadratic(data) if len(set(data)) == 1 else linear(data), ["letter-run"]),
        (lambda data: linear(data) + 60 * data.count(b"\n") ** 2, ["newlines"]),
        (lambda data: linear(data) + 50 * 2.0 ** (run(data) / 2), ["brackets"]),
        (lambda data: linear(data) + 50 * 2.0 ** (run(data) / 64), ["brackets"]),
        (lambda data: 2_000 + 100 * len(data) ** 1.5, ()),
    ],
    ids=["square", "runs", "newlines", "exponential", "late-exponential", "three-halves"],
)
def test_what_grows_is_decided_in_the_time_of_one_vocabulary(clock, law, families):
    answers = {"reference": on(clock, lambda data: linear(data) / 20), "mine": on(clock, law)}
    showing = named(*families)
    others = [family for family in FITTING if family not in showing][: 6 - len(showing)]
    cells, _, _ = measured(answers, ["mine"], 4.5, others, showing, ["reference"])
    found = {family: one.verdict for (name, family), one in cells.items() if name == "mine"}
    superlinear = {family for family, verdict in found.items() if verdict == "superlinear"}
    assert superlinear >= {*families}, found
    assert superlinear and (families or "linear" not in found.values())
    assert clock.at < 4.5 + GOING_ON_SECONDS + HANG


def test_no_call_of_an_exponential_cost_is_killed(clock):
    law = lambda data: linear(data) + 50 * 2.0 ** run(data)  # noqa: E731
    cells, pool, _ = measured({"mine": on(clock, law)}, ["mine"], 4.5, named("brackets"), ())
    one = cells["mine", "brackets"]
    assert (one.verdict, one.law) == ("superlinear", "exponential"), one
    assert max(law(data) for _, data in pool.asked) < HANG * 1e9


def test_it_is_looked_at_though_no_time_is_left(clock):
    answers = {"mine": on(clock, linear), "theirs": on(clock, linear)}
    cells, _, measurement = measured(answers, ["mine"], 0.0)
    found = {family for name, family in cells if name == "mine"}
    assert found >= {family.name for family in FITTING[:8] if family in TELLING}
    assert (len(found), verdicts(cells)) == (len(cells), {"linear"})
    missed = {family.name for family in FITTING[:8]} - found
    assert {*measurement.missed.get("mine", [])} == missed
    assert measurement.went_on
    assert clock.at <= GOING_ON_SECONDS


def test_a_square_is_decided_though_no_time_is_left(clock):
    cells = alone(clock, lambda data: 20_000 + 40 * len(data) ** 2, 0.0, FITTING[:3], FITTING[3:6])
    assert "superlinear" in verdicts(cells) and "linear" not in verdicts(cells)
    assert clock.at <= GOING_ON_SECONDS + HANG


def test_a_reference_is_asked_beside_what_is_followed_and_no_more(clock):
    def law(data):
        return linear(data) + len(data) ** 2 / 10 if len(set(data)) == 1 else linear(data)

    answers = {"mine": on(clock, law), "reference": on(clock, linear)}
    cells, pool, _ = measured(answers, ["mine"], 60.0, (), FITTING[:3], ["reference"])
    assert cells["mine", "letter-run"].verdict == "superlinear"
    asked = Counter(len(set(data)) == 1 for name, data in pool.asked if name == "reference")
    assert asked[True] > 4
    assert asked[False] <= 1 + FIRST_LOOK  # its warm-up


@pytest.mark.parametrize(
    ("key", "found"),
    [
        (bytes, {"superlinear"}),  # by text it is the square that it is
        # One that keeps what it knows of a run by its length in sixteens is not called linear.
        (lambda data: (data[:1], len(data) // 16), {"superlinear", "inconclusive", "failed"}),
    ],
)
def test_a_library_that_keeps_answers_over_a_square(clock, key, found):
    known = set()

    def law(data):
        new = key(data) not in known
        known.add(key(data))
        return 2_000 + new * len(data) ** 2

    cells = alone(clock, law, 20.0, named("letter-run", "newlines"))
    assert len(cells) == 2 and verdicts(cells) <= found
