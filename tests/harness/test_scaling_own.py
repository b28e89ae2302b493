"""The user's own candidates: measured first, on all families, and until they are decided."""

from collections import Counter

import pytest

from corpora.families.catalog import FAMILIES, TELLING
from corpora.vocabularies import sources
from harness.core.outcomes import Failed, Rejected, Status
from harness.studies.growth.cell import FIRST_LOOK
from harness.studies.growth.measurement import GOING_ON_SECONDS
from harness.workers.pool import OutOfTime
from tests.harness.growth_pools import Simulated, clock, linear, measurement_of, quadratic

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


def measured(
    answers,
    own,
    seconds,
    kinds=FITTING[:6],
    besides=FITTING[6:],
    references=(),
):
    pool = Simulated(answers)
    measurement, said = measurement_of(
        pool, kinds, 1 << 20, references=references, own=own, besides=besides
    )
    measurement.run(seconds, said.append)
    timed = [one for one in said if one.measure == "time"]
    return {(one.implementation, one.family): one for one in timed}, pool, measurement


def test_it_is_measured_on_every_family_before_a_reference_on_any(clock):
    answers = {"theirs": on(clock, linear), "mine": on(clock, linear)}
    cells, pool, measurement = measured(answers, ["mine"], 4.5)
    mine = {family for name, family in cells if name == "mine"}
    assert mine == {family.name for family in FITTING}
    assert {cells["mine", family].verdict for family in mine} == {"linear"}
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


def test_growth_that_hides_behind_a_linear_part_is_followed_after_the_time(clock):
    kinds = [family for family in FITTING if family in TELLING][:3]
    cells, _, _ = measured({"mine": on(clock, blocks)}, ["mine"], 10.0, kinds, ())
    superlinear = [one for one in cells.values() if one.verdict == "superlinear"]
    assert len(superlinear) == 1, cells  # one proof is enough
    assert superlinear[0].low is not None and superlinear[0].low > 1.3


def test_what_does_not_look_like_growth_is_not_followed(clock):
    """A rate that doubles between two caches, within the largest sizes."""
    cells, _, _ = measured({"mine": on(clock, step)}, ["mine"], 0.2, FITTING[:1], ())
    assert clock.at < 0.2 + GOING_ON_SECONDS + 1.0
    assert [one.verdict for one in cells.values()] == ["linear"]


def step(data):
    """What one plug-in took beside four busy loops: from 256 KiB on each byte is twice as dear."""
    size = len(data)
    return 18_000 + size * (9.4 if size < 300_000 else 15.4 if size < 600_000 else 19.2)


def test_a_step_at_the_largest_sizes_is_followed_beyond_them(clock):
    cells, _, _ = measured({"mine": on(clock, step)}, ["mine"], 30.0, FITTING[:2], ())
    assert {one.verdict for one in cells.values()} == {"linear"}
    assert max(size for one in cells.values() for size, _ in one.points) > 1 << 20


@pytest.mark.parametrize(
    "answer", [Failed(Status.ERRORED, "too long"), Failed(Status.OUT_OF_MEMORY, ""), Rejected("no")]
)
def test_nobody_is_held_to_what_is_longer_than_the_suite(clock, answer):
    usual = on(clock, step)

    def mine(data):
        return answer if len(data) > 1 << 20 else usual(data)

    cells, _, _ = measured({"mine": mine}, ["mine"], 30.0, FITTING[:2], ())
    assert {one.verdict for one in cells.values()} == {"inconclusive"}
    assert not any("stopped at" in one.note for one in cells.values())


@pytest.mark.parametrize(
    ("law", "families"),
    [
        (lambda data: 2_000 + 55 * len(data) ** 2, None),
        (lambda data: quadratic(data) if len(set(data)) == 1 else linear(data), {"letter-run"}),
        (lambda data: linear(data) + 60 * data.count(b"\n") ** 2, {"newlines"}),
        (lambda data: linear(data) + 50 * 2.0 ** (run(data) / 2), {"brackets"}),
        (lambda data: linear(data) + 50 * 2.0 ** (run(data) / 64), {"brackets"}),
        (lambda data: 2_000 + 100 * len(data) ** 1.5, None),
    ],
    ids=["square", "runs", "newlines", "exponential", "late-exponential", "three-halves"],
)
def test_what_grows_is_decided_in_the_time_of_one_vocabulary(clock, law, families):
    answers = {"reference": on(clock, lambda data: linear(data) / 20), "mine": on(clock, law)}
    cells, _, _ = measured(answers, ["mine"], 4.5, references=["reference"])
    verdicts = {family: one.verdict for (name, family), one in cells.items() if name == "mine"}
    superlinear = {family for family, verdict in verdicts.items() if verdict == "superlinear"}
    if families is None:
        assert superlinear
        assert "linear" not in verdicts.values()
    else:
        assert families <= superlinear, [cells["mine", family] for family in families]
    assert clock.at < 4.5 + GOING_ON_SECONDS + HANG


def test_no_call_of_an_exponential_cost_is_killed(clock):
    def law(data):
        return linear(data) + 50 * 2.0 ** run(data)

    brackets = [family for family in FITTING if family.name == "brackets"]
    cells, pool, _ = measured({"mine": on(clock, law)}, ["mine"], 4.5, brackets, [])
    one = cells["mine", "brackets"]
    assert (one.verdict, one.law) == ("superlinear", "exponential"), one
    assert max(law(data) for _, data in pool.asked) < HANG * 1e9


def test_it_is_looked_at_though_no_time_is_left(clock):
    answers = {"mine": on(clock, linear), "theirs": on(clock, linear)}
    cells, _, measurement = measured(answers, ["mine"], 0.0)
    looked = {family.name for family in TELLING if family.suits(VOCABULARY)}
    assert {family for _, family in cells} >= looked
    assert {one.verdict for one in cells.values()} == {"linear"}
    assert {name for name, _ in cells} == {"mine"}
    assert set(measurement.missed.get("mine", [])) == {f.name for f in FITTING} - {
        family for _, family in cells
    }
    assert measurement.went_on
    assert clock.at <= GOING_ON_SECONDS


def test_a_square_is_decided_though_no_time_is_left(clock):
    def law(data):
        return 20_000 + 40 * len(data) ** 2

    cells, _, _ = measured({"mine": on(clock, law)}, ["mine"], 0.0)
    assert any(one.verdict == "superlinear" for one in cells.values())
    assert not any(one.verdict == "linear" for one in cells.values())
    assert clock.at <= GOING_ON_SECONDS + HANG


def test_a_reference_is_asked_beside_what_is_followed_and_no_more(clock):
    def law(data):
        return linear(data) + len(data) ** 2 / 10 if len(set(data)) == 1 else linear(data)

    answers = {"mine": on(clock, law), "reference": on(clock, linear)}
    cells, pool, _ = measured(answers, ["mine"], 60.0, [], FITTING[:3], references=["reference"])
    assert cells["mine", "letter-run"].verdict == "superlinear"
    asked = Counter(len(set(data)) == 1 for name, data in pool.asked if name == "reference")
    assert asked[True] > 4
    assert asked[False] <= 1 + FIRST_LOOK  # its warm-up


class TestAnswersThatAreKept:
    """A library that keeps answers, over a square."""

    def keeping(self, clock, key):
        known = set()

        def law(data):
            if key(data) in known:
                return 2_000
            known.add(key(data))
            return 2_000 + len(data) ** 2

        return on(clock, law)

    def test_by_text_it_is_the_square_that_it_is(self, clock):
        kinds = [one for one in FITTING if one.name in ("letter-run", "newlines", "prose")]
        cells, _, _ = measured({"mine": self.keeping(clock, bytes)}, ["mine"], 20.0, kinds, [])
        assert {one.verdict for one in cells.values()} == {"superlinear"}
        assert len(cells) == 3

    def test_where_another_text_is_known_too_it_is_not_called_linear(self, clock):
        # One that keeps what it knows of a run by its length in sixteens.
        answer = self.keeping(clock, lambda data: (data[:1], len(data) // 16))
        kinds = [one for one in FITTING if one.name in ("letter-run", "newlines")]
        cells, _, _ = measured({"mine": answer}, ["mine"], 20.0, kinds, [])
        assert "linear" not in {one.verdict for one in cells.values()}
