"""The site: what became of each defect, its pages, its feed, its badges, its size."""

import datetime
import json
import re
import shlex
from collections import Counter
from dataclasses import replace
from urllib.parse import unquote, urldefrag
from xml.etree import ElementTree as ET

import pytest

from harness.ledger.models import History, Run, Tally
from harness.ledger.store import history as read
from harness.ledger.store import open_existing
from harness.verdict.coverage import Coverage
from reports import issue, write
from reports.record import RunRecord
from reports.site import pages, speeds
from reports.site.feeds import badge
from reports.site.project import (
    FIXED,
    LIVE,
    UNSEEN,
    Project,
    counts,
    family_of,
    rank,
    totals,
)
from reports.site.shared import slug
from reports.speeds import tables
from tests.docs.pages import Command
from tests.docs.test_commands import fault
from tests.properties.reports import ledgers, records
from tests.properties.reports.drawn import drawn
from tests.properties.reports.test_html import Page

ATOM = "{http://www.w3.org/2005/Atom}"
URL = "https://example.org/gate/"


def filled(folder, **size):
    """What a made-up ledger says, and what was planted in it."""
    planted = ledgers.fill(folder / "runs.db", folder / "scripts", **size)
    return read(open_existing(str(folder / "runs.db"))), planted


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The site of thirty runs of three libraries, and what was planted."""
    folder = tmp_path_factory.mktemp("site")
    history, planted = filled(folder, runs=30, libraries=3, vocabularies=2, defects=4)
    write(pages.render(history, url=URL.rstrip("/")), folder / "out")
    return folder / "out", planted


def broken(out):
    """Links inside the site that lead nowhere."""
    every = {path: Page(path.read_text()) for path in out.rglob("*.html")}
    for page, parsed in every.items():
        for link in parsed.values("href", "src", "action"):
            address, anchor = urldefrag(link)
            target = (page.parent / unquote(address)).resolve() if address else page
            ids = every[target].values("id") if target in every else [anchor]
            if "://" not in address and not (target.is_file() and (not anchor or anchor in ids)):
                yield f"{page.name}: {link}"


def words(path):
    """What is read of a page."""
    return " ".join(re.sub(r"<[^>]+>", " ", path.read_text()).split())


def test_every_link_leads_somewhere_and_the_search_knows_every_page(made):
    out, _ = made
    assert [*broken(out)] == []
    index = re.search(r'id="entries">(.*?)</script>', (out / "search.html").read_text())
    there = {str(path.relative_to(out)) for path in out.glob("*/*.html")}
    assert {entry[2] for entry in json.loads(index[1])} == there
    assert len(there) > 10


def test_a_defect_has_its_page_and_its_reproducer(made, tmp_path):
    out, planted = made
    causes = {}
    for one in planted:
        same = causes.setdefault((one.library, one.vocabulary, one.stage), [])
        same.append(one.found(0, tmp_path).id)
    there = {path.stem for path in (out / "defects").glob("*.html")}
    assert len(there) == len(causes)
    for ids in causes.values():
        (name,) = there.intersection(ids)  # as in the report of a run, one for each cause
        page = (out / "defects" / f"{name}.html").read_text()
        assert f'id="{name}"' in page
        assert f'href="{name}.py"' in page
        assert "tokgate replay" not in page, "nobody else has the folder of the run"
        assert "tokgate minimize --vocab" in page
        assert (out / "defects" / f"{name}.py").read_text() == ledgers.REPRODUCER


@pytest.mark.parametrize(
    ("library", "source", "told", "anywhere"),
    [
        ("tokenizers", "toy_runs", "toy_runs --impl pip:tiktoken==0.9 --impl tokenizers", True),
        ("tokenizers", "hf:org/name", "hf:org/name --impl pip:tiktoken==0.9", True),
        ("tokenizers", "/home/my.model", "/home/my.model --impl pip:tiktoken==0.9", False),
        ("mine", "toy_runs", "toy_runs --impl pip:tiktoken==0.9 --impl my.py:Mine", False),
    ],
)
def test_a_command_names_vocabulary_implementations_and_versions(library, source, told, anywhere):
    shown = ledgers.Planted(library, "vocab", "merges", "Mn", 0, 2).found(0, None)
    shown.partition[0].implementations[:] = ["tiktoken"]
    began = replace(records.started(), versions={"tiktoken": "0.9"}, specs={"mine": "my.py:Mine"})
    record = RunRecord.from_events([began])
    command = issue.again(shown, record, source)
    assert command.startswith(f"tokgate minimize --vocab {told} ")
    assert issue.anywhere(shown, record, source) is anywhere
    assert fault(Command("here:1", tuple(shlex.split(command)[1:]), True)) is None


@pytest.mark.parametrize(
    ("counts", "message", "color"),
    [
        ({}, "not compared", "lightgrey"),
        ({"cases": 300_000, "compared": 9, "trusted": 1}, "reference in 9 cases", "blue"),
        ({"compared": 1_200_000}, "100 % of 1.2 M cases", "brightgreen"),
        ({"compared": 1_200_000, "wrong": 1}, "99.999917 % of 1.2 M cases", "green"),
        ({"compared": 1_000, "wrong": 10}, "99.0 % of 1 k cases", "yellow"),
    ],
)
def test_a_badge_is_that_of_an_endpoint(counts, message, color):
    told = {"schemaVersion": 1, "label": "o200k", "message": message, "color": color}
    assert json.loads(badge("o200k", Counter(counts))) == told


def test_the_feed_has_what_is_new_and_what_is_fixed(made):
    out, planted = made
    assert len(list((out / "badges").rglob("*.json"))) == 4 + 4 * 2  # each on two vocabularies
    entries = ET.fromstring((out / "feed.xml").read_text()).findall(f"{ATOM}entry")
    ids, titles, dates = (
        [one.findtext(ATOM + name) for one in entries] for name in ("id", "title", "updated")
    )
    assert len(ids) == len(set(ids))
    assert dates == sorted(dates, reverse=True)
    unexpected = {(one.library, one.vocabulary, one.stage) for one in planted if one.kind != "tags"}
    assert sum(title.startswith("New: ") for title in titles) == len(unexpected)
    for one in entries:
        address = one.find(f"{ATOM}link").get("href")
        assert address.startswith(f"{URL}defects/f-")
        assert (out / address.removeprefix(URL)).is_file()


def test_no_name_gets_out_of_its_place(tmp_path):
    name, out = ledgers.hostile(tmp_path / "runs.db", tmp_path / "scripts"), tmp_path / "out"
    assert "<script>alert" in name
    write(pages.render(read(open_existing(str(tmp_path / "runs.db")))), out)
    for path in (path for path in out.rglob("*") if path.is_file()):
        assert out in path.resolve().parents
        assert re.fullmatch(r"\.?[\w.-]+", path.name)
    for path in out.rglob("*.html"):
        text = path.read_text()
        assert re.search(r"alert\([12]\)", text) or path.name == "trends.html"
        parsed = Page(text)
        assert parsed.every("img") == []
        programs = len(parsed.every("script")) - len(drawn(text))
        assert programs == 1 + (path.name == "search.html")
        assert not {"\u202e", "\x00"} & {*text}
    assert [*broken(out)] == []
    ET.fromstring((out / "feed.xml").read_text())
    for path in (out / "badges").rglob("*.json"):
        assert "\u202e" not in json.loads(path.read_text())["label"]


@pytest.mark.thorough
def test_many_runs_of_many_libraries_stay_small(tmp_path):
    history, _ = filled(tmp_path, runs=30, libraries=25)
    number, size = write(pages.render(history), tmp_path / "out")
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert (len(files), sum(path.stat().st_size for path in files)) == (number, size)
    assert 1_000_000 < size < 10_000_000


# --- what became of a defect ----------------------------------------------------------------------


SHOWN = ledgers.Planted("mine", "vocab", "merges", "Mn", 0, 9).found(0, None)


def run(day, version, findings, tallies, *, seed=None, complete=True):
    moment = datetime.datetime(2026, 1, 1) + datetime.timedelta(days=day)
    began = replace(
        records.started(), time=moment.isoformat(),
        seed=day if seed is None else seed, versions={"tokgate": "1", "mine": version},
    )  # fmt: skip
    ended = replace(records.finished("fail"), complete=complete)
    return Run(str(day), None, began, ended, Coverage.of([began, *findings, ended]), tallies, {})


def history(versions, shown, *, complete="", seeds=None, **later):
    """A run a sign: the library's version, and whether its defect showed (x) or not (-).

    complete: the runs that came to their end, if not all. later: of the tallies of runs that did
    not see it.
    """
    usual = {"cases": 100, "compared": 100, "deaths": 0, "trusted": False,
             "checks": ["equivalence", "survival"], "generators": ["edge", "mutated"]}  # fmt: skip
    asked = {
        "x": [Tally("mine", "vocab", wrong=1, **usual)],
        "-": [Tally("mine", "vocab", wrong=0, **{**usual, **later})],
        " ": [],
    }
    runs = [
        run(
            day, version, [SHOWN] * (sign == "x"), asked[sign],
            seed=seeds and seeds[day], complete=not complete or complete[day] == "y",
        )
        for day, (version, sign) in enumerate(zip(versions, shown, strict=True))
    ]  # fmt: skip
    return History(runs, [])


NINE = "1111111112222", "xxxxxxxxx----"


@pytest.mark.parametrize(
    ("versions", "shown", "state", "others"),
    [
        ("1112", "xxxx", LIVE, {}),
        ("1111", "-xxx", LIVE, {}),
        ("1111111", "xx-----", UNSEEN, {}),  # of the same version: chance, or another seed
        ("11112222", "xxxx--xx", LIVE, {}),
        ("111111", "xxxx--", UNSEEN, {}),
        (*NINE, FIXED, {}),
        ("1111111112", "xxxxxxxxx-", UNSEEN, {}),  # one run says little
        ("1111122222222", "x----xxxx----", UNSEEN, {}),  # it did not show before, either
        ("1111111112222", "xxxxxxxxx    ", LIVE, {}),  # nobody asked the library there
        ("111122222", "xxxx-----", LIVE, {"complete": "yyyynnnnn"}),
        # Only who could see a defect tells that it is gone.
        (*NINE, LIVE, {"checks": ["round-trip"]}),
        (*NINE, LIVE, {"generators": ["json"]}),
        (*NINE, LIVE, {"cases": 3}),
    ],
)
def test_what_became_of_a_defect(versions, shown, state, others):
    (defect,) = Project(history(versions, shown, **others)).defects
    assert (defect.state, defect.fixed_in) == (state, "mine 2" * (state == FIXED))


def test_the_latest_version_is_told_and_what_was_asked_twice_counts_once():
    project = Project(history("11222", "xx---", seeds=[5, 6, 7, 7, 8]))
    assert project.version("mine") == "2"
    assert totals(project.latest("mine")) == Counter(cases=200, compared=200)
    releases = [(rows[0].version, len(rows)) for rows in project.releases["mine"]]
    assert releases == [("1", 2), ("2", 3)]
    assert Project(history("121", "x--")).version("mine") == "1"


def test_random_vocabularies_are_told_together():
    assert family_of("random:bpe:17") == "random bpe"
    assert family_of("drawn-17", "random:unigram:17") == "random unigram"
    assert family_of("o200k") == "o200k"
    findings = [
        replace(SHOWN, id=f"f-{day % 2}", vocabulary=f"random:bpe:{day % 2}", seed=day)
        for day in range(3)
    ]
    other = replace(SHOWN, id="a-1", bucket="another")
    told = [[findings[0], other], [findings[1]], [findings[2]]]
    runs = [run(day, str(day), found, []) for day, found in enumerate(told)]
    # By when they were seen last, as both are as bad; told as the last run told the first finding.
    defect, another = Project(History(runs, [])).defects
    assert (another.ids, another.family) == (["a-1"], "vocab")
    assert (defect.ids, defect.family) == (["f-0", "f-1"], "random bpe")
    assert (defect.run, defect.found, defect.seen) == (runs[2], findings[2], (*runs,))
    assert defect.found_in == "mine 0"


def test_a_name_is_a_file_of_its_own():
    assert slug("bpe.heap") == "bpe.heap"
    others = ["Mine", "mine", "../mine", "mine/", "mine.", "", "\u202e", "a" * 300]
    names = [slug(one) for one in others]
    assert len(set(names)) == len(others)
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,80}", one) for one in names)
    assert ".." not in "".join(names)


def test_the_site_counts_as_the_report_of_its_run_does_and_the_worst_comes_first(tmp_path):
    whole = records.nasty()
    # What is expected on one vocabulary alone is unexpected as a whole.
    first = whole.unexpected[0].example
    elsewhere = replace(first, id="f-1", vocabulary="t5_base", expected="known")
    events = [whole.started, *whole.coverage.vocabularies.values(), *whole.findings, elsewhere]
    record = RunRecord.from_events(events)
    began = replace(whole.started, time="2026-01-01T00:00:00")
    one = Run("1", None, began, records.finished("fail"), Coverage.of(events), [], {})
    project = Project(History([one], []))
    unexpected = len(record.unexpected)
    assert counts(project.defects) == (unexpected, len(record.buckets) - unexpected)
    shown = [(one.expected, rank(one)) for one in project.defects]
    assert shown == sorted(shown)
    assert len({*shown}) > 2
    write(pages.render(History([one], [])), tmp_path)
    assert f"{len(record.buckets)} live defects in" in words(tmp_path / "index.html")


def test_an_empty_ledger_has_a_site_too(tmp_path):
    write(pages.render(History([], [])), tmp_path)
    assert "The ledger has no run yet." in words(tmp_path / "index.html")
    assert not (tmp_path / "feed.xml").exists()


def test_each_measure_of_growth_is_told_in_its_unit():
    """Steps were once shown as seconds, and in place of the time."""
    steps = {"measure": "steps", "points": [[256.0, 7_000.0]]}
    rows = [
        records.cell("mine", "v", "runs", 1.0, "linear", **more)
        for more in ({"points": [[2048.0, 0.002]]}, steps)
    ]
    shown = [
        pages.growth(row) for row in Project(History([run(0, "1", rows, [])], [])).growth["mine"]
    ]
    told = [(one["Measure"], one["Largest:"].text, one["Cost:"].text) for one in shown]
    assert told == [("time", "2 KiB", "2 ms, 1.02 MB/s"), ("steps", "256 B", "7 k")]


def test_a_library_has_its_speeds(made):
    out, _ = made
    told = words(out / "libraries" / "library-01.html")
    for part in (
        "source, text vocab_0, 64 KiB 14.0 slowest 4.67", "right 2026-06-26",
        "library-01 on source, text, vocab_0: time of fresh text",
    ):  # fmt: skip
        assert part in told
    assert "✗ wrong" in words(out / "libraries" / "library-02.html")
    table = words(out / "speed.html")
    order = [table.index(name) for name in ("library-00 count", "library-02", "library-01")]
    assert order == sorted(order)


def test_speeds_of_another_processor_or_size_are_no_step(tmp_path):
    known, _ = filled(tmp_path, runs=30, libraries=2, vocabularies=1)
    measured = [table for events in known.measurements for table in tables(events)]
    elsewhere = [
        replace(one, started=replace(one.started, cpu="a slower one")) for one in measured[:3]
    ]
    for every, told in (
        (measured, [45.4] * 4 + [68.1] * 2),
        ([*elsewhere, *measured[3:]], [45.4] + [68.1] * 2),
    ):
        (series,) = speeds.series(every)["library-01"]
        assert [round(one[2], 1) for one in series.points] == told
