"""Patterns as inputs, lines of Python and files; minimising; finals; what is told."""

from __future__ import annotations

import random
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pytest

from corpora.families import user
from corpora.families.pattern import Pattern, Pump, repeated
from corpora.families.user import family_of
from corpora.vocabularies import sources
from harness.core.countdown import Countdown
from harness.core.messages import Meter
from harness.core.outcomes import Status
from harness.engine.selection import SelectionError
from harness.studies.worst.finals import MOST_ROUNDS, STAY, Found, finals, polished, smallest_deaths
from harness.studies.worst.patterns import MOST_BYTES, Breeder, read, seeds, smallest, written
from harness.studies.worst.plan import ALL, chosen_families
from harness.studies.worst.results import Entry, Report, as_families, report_of
from harness.studies.worst.state import Aim, Candidate, Death, Scale
from reports.blocks import html, terminal
from reports.worst import page, verdict
from tests.harness.planted_costs import A_BYTE, Planted, gauge_of, many, runs
from tests.reports.drawn import plot_of

LESS = 24
"""Bytes that the third variant may lack: two steps of a wide character in each of two pumps, and
what is cut of a character at the end of each."""

RUN = Pattern((Pump((b"#",)),))


@pytest.fixture(scope="module")
def bred() -> list[Pattern]:
    """Two hundred patterns of every form, as a search comes by them."""
    breeder, rng = Breeder(sources.resolve("toy_bytes")), random.Random(1)
    found = [breeder.fresh(rng) for _ in range(60)]
    while len(found) < 200:
        found.append(breeder.child(rng, rng.choice(found), rng.choice(found)))
    return found


def test_an_expression_is_the_input(bred: list[Pattern]) -> None:
    for pattern in bred:
        for n in (2048, 3001):
            assert eval(pattern.expression(), {"random": random, "n": n}) == pattern.make(n)


def test_inputs_have_their_size_and_variants_differ(bred: list[Pattern]) -> None:
    for pattern in bred:
        made = [pattern.make(4096, variant) for variant in range(3)]
        assert all(4096 - LESS <= len(data) <= 4096 for data in made), pattern
        assert len({*made}) == 3, pattern
        assert pattern.text <= all(is_text(data) for data in made)


def is_text(data: bytes) -> bool:
    return data.decode("utf-8", "replace").encode() == data


def test_moves_keep_patterns_small(bred: list[Pattern]) -> None:
    assert all(len(pattern.pumps) <= 2 for pattern in bred)
    assert all(sum(map(len, pump.units)) <= MOST_BYTES for p in bred for pump in p.pumps)


def test_a_pattern_is_what_was_written_of_it(bred: list[Pattern]) -> None:
    assert [read(written(pattern)) for pattern in bred] == bred
    assert read(written(RUN)[:0]) is None


def test_what_a_vocabulary_cannot_spell_is_no_pattern_of_it() -> None:
    breeder = Breeder(sources.resolve("toy_ties"))
    assert breeder.spells(Pattern((Pump((b"ab",)),)))
    assert not breeder.spells(Pattern((Pump((b"ab",)),), suffix=b"z"))


def test_a_file_of_families_gives_back_what_was_added(bred: list[Pattern], tmp_path: Path) -> None:
    path = tmp_path / "new" / "families.toml"
    distinct = list(dict.fromkeys(bred))
    given = [(f"f{i}", 'a "reason"\\', pattern) for i, pattern in enumerate(distinct)]
    assert user.add(path, given) == [name for name, _, _ in given]
    vocabulary = sources.resolve("toy_bytes")
    for family, (name, reason, pattern) in zip(user.read(path), given, strict=True):
        assert (family.name, family.reason) == (name, reason)
        assert family.make(vocabulary, 1000, 2) == pattern.make(1000, 2)
        assert family.expression(vocabulary) == pattern.expression()


def test_adding_keeps_what_a_user_wrote_and_adds_nothing_twice(tmp_path: Path) -> None:
    path = tmp_path / "families.toml"
    path.write_text('# mine\n[[family]]\nname = "a"\nreason = "r"\npumps = [{units = ["x"]}]')
    assert user.add(path, [("a", "another", RUN)]) == ["a-2"]
    assert user.add(path, [("a", "again", RUN)]) == []
    assert path.read_text().startswith("# mine\n")
    assert [family.name for family in user.read(path)] == ["a", "a-2"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[[family]]\nname = 'a'", "a name and a reason"),
        ("[[family]]\nname = 'a'\nreason = 'r'", "missing required field `pumps`"),
        ("[[family]]\nname = 'a'\nreason = 'r'\npumps = [{units = []}]", "needs up to"),
        (
            "[[family]]\nname = 'a'\nreason = 'r'\npumps = [{units = [3]}]",
            "expected `str | object`, got `int`",
        ),
        (
            "[[family]]\nname = 'a'\nreason = 'r'\npumps = [{units = ['x']}]\nx = 1",
            "unknown field `x`",
        ),
        ("family = 3", "more than"),
        ("[[family", "families.toml"),
    ],
)
def test_a_wrong_file_is_one_line(text: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "families.toml"
    path.write_text(text)
    with pytest.raises(user.FamiliesError, match=fault.replace("[", "\\[")) as caught:
        user.read(path)
    assert "\n" not in str(caught.value)


def test_the_users_file_can_be_another_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(user.VARIABLE, str(tmp_path / "mine.toml"))
    assert user.chosen(None) == []
    user.add(tmp_path / "mine.toml", [("own", "r", RUN)])
    assert [family.name for family in user.chosen(None)] == ["own"]
    monkeypatch.setenv(user.VARIABLE, "")
    assert user.chosen(None) == []


def test_minimising_leaves_what_matters() -> None:
    heavy = Pattern(
        (Pump((b"some", b"x#y", b"words", b"#")), Pump((b"z", b"q"), drawn=True)),
        b"prefix",
        b"suffix",
    )
    asked = 0

    def keeps(patterns: list[Pattern]) -> list[bool]:
        nonlocal asked
        asked += len(patterns)
        return [b"#" in pattern.make(1000) for pattern in patterns]

    assert smallest(heavy, keeps, lambda: True) == RUN
    assert asked < 300
    assert smallest(heavy, keeps, lambda: False) == heavy


def test_a_smaller_pattern_costs_as_much() -> None:
    scale = Scale(512, 2048, A_BYTE)
    heavy = Candidate(Pattern((Pump((b"##", b"#" * 30)),), suffix=b"tail"), "bred")
    [found] = polished(
        gauge_of(Planted(runs(b"#"))), [(Aim.COST, heavy)], scale, Countdown(60.0).start()
    )
    assert found.smallest == RUN
    spread = Candidate(Pattern((Pump((b"\n", b"abc")),)), "bred")
    [found] = polished(
        gauge_of(Planted(many(b"\n"))), [(Aim.GROWTH, spread)], scale, Countdown(60.0).start()
    )
    assert found.smallest == Pattern((Pump((b"\n",)),))


def test_a_death_is_made_small_in_pattern_and_size() -> None:
    planted = Planted(dies=lambda data: Status.CRASHED if data.count(b"(") >= 3000 else None)
    pattern = Pattern((Pump((b"(", b"a", b"(")),), b"start")
    death = Death(pattern, 65536, 65536, Status.CRASHED, "signal")
    [entry] = smallest_deaths(gauge_of(planted), [death], Countdown(60.0).start())
    assert entry.kind == "crashed"
    assert entry.expression == "(b'(' * n)[:n]"
    assert 3000 <= (entry.length or 0) < 6000 * 1.5


def test_finals_send_home_the_harmless_and_compare_the_rest() -> None:
    listed = [
        family_of(f"listed-{i}", "", Pattern((Pump((b"a" * (9 - i) + b"\n",)),))) for i in range(9)
    ]
    heavy = Found(Pattern((Pump((b"\n", b"\n")),)), Aim.COST, "bred", None)
    heavy.smallest = Pattern((Pump((b"\n",)),))
    planted = Planted(many(b"\n"))
    control = family_of("prose", "", Pattern((Pump((b"a",)),)))
    rounds, prose, still, [found] = finals(
        gauge_of(planted), [heavy], control, listed, (1024, 4096), Countdown(1e6).start()
    )
    assert rounds == MOST_ROUNDS
    assert [one.name for one in still] == [f"listed-{i}" for i in range(8, 8 - STAY, -1)]
    assert found.name == "cost-1"
    assert found.expression == heavy.smallest.expression(), "it costs as much"
    assert found.a_byte == max(one.a_byte or 0 for one in (prose, *still, found))
    assert found.points[-1][0] == max(planted.seen) == 8192
    assert found.verdict == "superlinear"
    assert prose.verdict == "linear"


def test_a_family_that_kills_is_asked_no_more() -> None:
    planted = Planted(dies=lambda data: Status.CRASHED if b"#" in data else None)
    prose, death = (family_of(name, "", repeated(name.encode())) for name in ("prose", "#"))
    time = Countdown(1e6).start()
    _, _, [entry], _ = finals(gauge_of(planted), [], prose, [death], (1024, 4096), time)
    assert entry.verdict == "failed"
    assert "crashed" in entry.message


def test_seeds_are_like_the_families_that_are_told() -> None:
    from corpora.families.catalog import families

    vocabulary = sources.resolve("toy_bytes")
    run = families()["letter-run"]
    (name, pattern), *_ = seeds([run], vocabulary)
    assert name == "letter-run"
    assert set(pattern.make(100)) == set(run.make(vocabulary, 100, 0))
    known = families().values()
    assert chosen_families(known, vocabulary, [ALL])[1] == frozenset(families())
    with pytest.raises(SelectionError, match="no such family"):
        chosen_families(known, vocabulary, ["runs-of-nothing"])


def report() -> Report:
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
    made.complete, made.compared, made.grown = True, 4, 2
    return made


def test_the_page_and_the_table_say_what_was_found() -> None:
    assert report_of(asdict(report())) == report()
    assert verdict(report()) == (
        "the worst input found costs 2.00 times the worst listed family (letter-run, which it was "
        "not told of) at 64 KiB; 1 way to bring it down"
    )
    shown = html.render(page(report(), []))
    assert shown.count('<div class="plot"') == 1
    assert len(plot_of(shown)["series"]) == 3, "what was found, what is listed, and prose, in one"
    assert '<td class="num">16.0</td>' in shown
    assert '<td class="num bad" data-sort="9e99">no answer</td>' in shown
    assert "killed by SIGSEGV &lt;b&gt;" in shown
    assert "(b&#39;#&#39; * n)[:n]" in shown
    from rich.console import Console

    console = Console(width=120, record=True)
    for part in terminal.render(page(report(), []).blocks):
        console.print(part)
    text = console.export_text()
    assert "2.00 (1.90 to 2.10)" in text
    assert "at 5,000 bytes" in text


def test_results_become_families_with_their_reasons() -> None:
    names = as_families(report())
    assert [name for name, _, _ in names] == ["worst-mine-toy-1", "worst-mine-toy-2"]
    assert names[0][1] == "mine 1.0 on toy: 16.0 times the cost of prose, exponent 2.00"
    assert names[1][1] == "mine 1.0 on toy: crashed at 5,000 bytes"


def test_costs_under_a_meter_are_read_alike() -> None:
    make = partial(RUN.make, 100)
    [one] = gauge_of(Planted()).read([make(0)], Meter.TIME)
    assert one.answered and one.cost == 100 * A_BYTE
