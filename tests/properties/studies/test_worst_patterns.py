"""Patterns as inputs, lines of Python and files; minimising; finals; what is told."""

import random

import pytest

from corpora.families import user
from corpora.families.pattern import Pattern, Pump, repeated
from corpora.families.user import family_of
from corpora.vocabularies import sources
from harness.core.countdown import Countdown
from harness.core.outcomes import Status
from harness.studies.worst.finals import MOST_ROUNDS, STAY, finals, polished, smallest_deaths
from harness.studies.worst.patterns import MOST_BYTES, Breeder, read, seeds, smallest, written
from harness.studies.worst.plan import ALL, chosen_families
from harness.studies.worst.results import Entry, Report, as_families
from harness.studies.worst.state import Aim, Candidate, Death, Sizes
from tests.doubles.planted_costs import A_BYTE, Planted, gauge_of, many, runs

LESS = 24
"""Bytes that the third variant may lack: two steps of a wide character in each of two pumps, and
what is cut of a character at the end of each."""

RUN = Pattern((Pump((b"#",)),))

NAMED = "[[family]]\nname = 'a'\nreason = 'r'"
"""The beginning of a family in a file."""


@pytest.fixture(scope="module")
def bred():
    """Two hundred patterns of every form, as a search comes by them."""
    breeder, rng = Breeder(sources.resolve("toy_bytes")), random.Random(1)
    found = [breeder.fresh(rng) for _ in range(60)]
    while len(found) < 200:
        found.append(breeder.child(rng, rng.choice(found), rng.choice(found)))
    return found


def test_inputs_have_their_size_and_expression_and_variants_differ(bred):
    for pattern in bred:
        assert eval(pattern.expression(), {"random": random, "n": 3001}) == pattern.make(3001)
        made = [pattern.make(4096, variant) for variant in range(3)]
        assert all(4096 - LESS <= len(data) <= 4096 for data in made), pattern
        assert len({*made}) == 3, pattern
        assert pattern.text <= all(
            data.decode("utf-8", "replace").encode() == data for data in made
        )


def test_a_pattern_is_small_and_what_was_written_of_it(bred):
    assert [read(written(pattern)) for pattern in bred] == bred
    assert read("") is None
    assert all(len(pattern.pumps) <= 2 for pattern in bred)
    assert all(sum(map(len, pump.units)) <= MOST_BYTES for p in bred for pump in p.pumps)


def test_what_a_vocabulary_cannot_spell_is_no_pattern_of_it():
    breeder = Breeder(sources.resolve("toy_ties"))
    assert breeder.spells(Pattern((Pump((b"ab",)),)))
    assert not breeder.spells(Pattern((Pump((b"ab",)),), suffix=b"z"))


def test_a_file_of_families_gives_back_what_was_added_and_keeps_what_was_there(
    bred, tmp_path, monkeypatch
):
    path = tmp_path / "new" / "families.toml"
    monkeypatch.setenv(user.VARIABLE, str(path))
    assert user.chosen(None) == []
    given = [(f"f{i}", 'a "reason"\\', one) for i, one in enumerate(dict.fromkeys(bred))]
    assert user.add(path, given) == [name for name, _, _ in given]
    path.write_text(f"# mine\n{path.read_text()}")
    another = repeated(b"another")
    assert user.add(path, [("f0", "another", another), ("f1", "again", another)]) == ["f0-2"]
    assert path.read_text().startswith("# mine\n")
    vocabulary = sources.resolve("toy_bytes")
    *first, last = user.chosen(None)
    for family, (name, reason, pattern) in zip(first, given, strict=True):
        assert (family.name, family.reason) == (name, reason)
        assert family.make(vocabulary, 1000, 2) == pattern.make(1000, 2)
        assert family.expression(vocabulary) == pattern.expression()
    assert last.name == "f0-2"
    monkeypatch.setenv(user.VARIABLE, "")
    assert user.chosen(None) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (NAMED, "missing required field `pumps`"),
        (f"{NAMED}\npumps = [{{units = []}}]", "needs up to"),
        (f"{NAMED}\npumps = [{{units = ['x']}}]\nx = 1", "unknown field `x`"),
    ],
)
def test_a_wrong_file_is_one_line(text, fault, tmp_path):
    path = tmp_path / "families.toml"
    path.write_text(text)
    with pytest.raises(user.FamiliesError, match=fault.replace("[", "\\[")) as caught:
        user.read(path)
    assert "\n" not in str(caught.value)


def test_minimising_leaves_what_matters():
    heavy = Pattern(
        (Pump((b"some", b"x#y", b"words", b"#")), Pump((b"z", b"q"), drawn=True)),
        b"prefix",
        b"suffix",
    )
    asked = 0

    def keeps(patterns):
        nonlocal asked
        asked += len(patterns)
        return [b"#" in pattern.make(1000) for pattern in patterns]

    assert smallest(heavy, keeps, lambda: True) == RUN
    assert asked < 300
    assert smallest(heavy, keeps, lambda: False) == heavy


@pytest.mark.parametrize(
    ("cost", "aim", "units", "small"),
    [
        (runs(b"#"), Aim.COST, (b"##", b"#" * 30), RUN),
        (many(b"\n"), Aim.GROWTH, (b"\n", b"abc"), Pattern((Pump((b"\n",)),))),
    ],
)
def test_a_smaller_pattern_costs_as_much(cost, aim, units, small):
    sizes, time = Sizes(512, 2048, 8192, 8192), Countdown(60.0).start()
    one = Candidate(Pattern((Pump(units),), suffix=b"tail"), "bred")
    assert [*polished(gauge_of(Planted(cost)), [(aim, one)], sizes, A_BYTE, time)] == [small]


def test_a_death_is_made_small_in_pattern_and_size():
    planted = Planted(dies=lambda data: Status.CRASHED if data.count(b"(") >= 3000 else None)
    pattern = Pattern((Pump((b"(", b"a", b"(")),), b"start")
    death = Death(pattern, 65536, 65536, Status.CRASHED, "signal")
    [entry] = smallest_deaths(gauge_of(planted), [death], Countdown(60.0).start())
    assert (entry.kind, entry.expression) == ("crashed", "(b'(' * n)[:n]")
    assert 3000 <= entry.length < 6000 * 1.5


def test_finals_send_home_the_harmless_and_compare_the_rest():
    listed = [
        family_of(f"listed-{i}", "", Pattern((Pump((b"a" * (9 - i) + b"\n",)),))) for i in range(9)
    ]
    heavy = Pattern((Pump((b"\n",)),))
    bred = {heavy: (Aim.COST, Candidate(heavy, "bred"))}
    planted = Planted(many(b"\n"))
    control = family_of("prose", "", Pattern((Pump((b"a",)),)))
    rounds, prose, still, [found] = finals(
        gauge_of(planted), bred, control, listed, (1024, 4096), Countdown(1e6).start()
    )
    assert rounds == MOST_ROUNDS
    assert [one.name for one in still] == [f"listed-{i}" for i in range(8, 8 - STAY, -1)]
    assert found.name == "cost-1"
    assert found.expression == heavy.expression()
    assert found.a_byte == max(one.a_byte or 0 for one in (prose, *still, found))
    assert found.points[-1][0] == max(planted.seen) == 8192
    assert found.verdict == "superlinear"
    assert prose.verdict == "linear"


def test_a_family_that_kills_is_asked_no_more():
    planted = Planted(dies=lambda data: Status.CRASHED if b"#" in data else None)
    prose, death = (family_of(name, "", repeated(name.encode())) for name in ("prose", "#"))
    time = Countdown(1e6).start()
    _, _, [entry], _ = finals(gauge_of(planted), {}, prose, [death], (1024, 4096), time)
    assert (entry.verdict, "crashed" in entry.message) == ("failed", True)


def test_seeds_are_like_the_families_that_are_told():
    from corpora.families.catalog import families

    vocabulary = sources.resolve("toy_bytes")
    run = families()["letter-run"]
    (name, pattern), *_ = seeds([run], vocabulary)
    assert name == "letter-run"
    assert set(pattern.make(100)) == set(run.make(vocabulary, 100, 0))
    _, withheld = chosen_families(families().values(), vocabulary, [ALL])
    assert withheld == frozenset(families())


def report():
    made = Report("tokgate worst", "mine", "1.0", "toy", 7, 65536, ["letter-run"], readings=1000)
    points = [[float(1 << i), (1 << i) ** 2 * 1e-9] for i in range(10, 16)]
    made.control = Entry("prose", "control", 50.0, [[s, s * 5e-8] for s, _ in points])
    made.listed = [Entry("letter-run", "listed", 400.0, points, origin="ties")]
    made.found = [
        Entry(
            "cost-1", "cost", 800.0, points, 2.0, 1.9, 2.1, "superlinear",
            expression=RUN.expression(), origin="bred", pattern=RUN.to_dict(),
        ),
        Entry(
            "crashed", "crashed", length=5000, message="killed by SIGSEGV <b>",
            expression="(b'(' * n)[:n]", origin="search", pattern=RUN.to_dict(),
        ),
    ]  # fmt: skip
    made.complete, made.compared = True, 4
    return made


def test_results_become_families_with_their_reasons():
    assert [one[:2] for one in as_families(report())] == [
        ("worst-mine-toy-1", "mine 1.0 on toy: 16.0 times the cost of prose, exponent 2.00"),
        ("worst-mine-toy-2", "mine 1.0 on toy: crashed at 5,000 bytes"),
    ]
