"""``tokgate site``: what became of each defect, its pages, its feed, its badges, its size."""

import datetime
import json
import re
import shlex
from dataclasses import replace
from urllib.parse import unquote, urldefrag
from xml.etree import ElementTree as ET

import pytest

from harness.ledger.models import History, Run, Tally
from harness.ledger.store import history as read
from harness.ledger.store import open_existing
from harness.verdict.coverage import Coverage
from reports import write
from reports.site import pages, speeds
from reports.site.feeds import badge
from reports.site.project import FIXED, LIVE, UNSEEN, Counts, Project, family_of, totals
from reports.site.shared import slug
from reports.speeds import tables
from tests.docs.pages import Command
from tests.docs.test_commands import fault
from tests.harness.command import tokgate
from tests.reports import ledgers, records
from tests.reports.drawn import drawn
from tests.reports.test_html import Page

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The site of thirty runs of three libraries, and what was planted."""
    folder = tmp_path_factory.mktemp("site")
    planted = ledgers.fill(
        folder / "runs.db", folder / "scripts", runs=30, libraries=3, vocabularies=2, defects=4
    )
    history = read(open_existing(str(folder / "runs.db")))
    write(pages.render(history, url="https://example.org/gate"), folder / "out")
    return folder / "out", planted


def broken(out):
    """Links inside the site that lead nowhere."""
    read = {path: Page(path.read_text()) for path in out.rglob("*.html")}
    found = []
    for page, parsed in read.items():
        for link in parsed.values("href", "src", "action"):
            address, anchor = urldefrag(link)
            if address.startswith(("https://", "http://")):
                continue
            target = (page.parent / unquote(address)).resolve() if address else page
            there = target.is_file()
            if not there or (anchor and target in read and anchor not in read[target].values("id")):
                found.append(f"{page.name}: {link}")
    return found


def test_every_link_leads_somewhere(made):
    out, _ = made
    assert broken(out) == []
    assert len(list(out.rglob("*.html"))) > 15


def test_a_defect_has_its_page_and_its_reproducer(made, tmp_path):
    out, planted = made
    for one in planted:
        name = one.found(0, tmp_path).id
        page = (out / "defects" / f"{name}.html").read_text()
        assert f'id="{name}"' in page
        assert f'href="{name}.py"' in page
        assert "tokgate replay" not in page, "nobody else has the folder of the run"
        assert (out / "defects" / f"{name}.py").read_text() == ledgers.REPRODUCER


@pytest.mark.parametrize(
    ("library", "source", "told"),
    [
        ("tokenizers", "toy_runs", "tokgate minimize --vocab toy_runs --impl tiktoken --impl tok"),
        ("tokenizers", "hf:org/name", "tokgate minimize --vocab hf:org/name --impl tiktoken"),
        ("tokenizers", "/home/me/my.model", ""),
        ("mine", "toy_runs", ""),
    ],
)
def test_a_command_for_any_machine_needs_nothing_of_a_run(library, source, told):
    shown = ledgers.Planted(library, "vocab", "merges", "Mn", 0, 2).found(0, None)
    shown.partition[0].implementations[:] = ["tiktoken"]
    made = pages.command(shown, source)
    assert made.startswith(told)
    assert bool(made) == bool(told)
    if made:
        assert fault(Command("here:1", tuple(shlex.split(made)[1:]), True)) is None


def test_badges_are_those_of_an_endpoint(made):
    out, _ = made
    told = [json.loads(path.read_text()) for path in (out / "badges").rglob("*.json")]
    assert len(told) == 4 + 4 * 2  # three libraries and the trusted one, on two vocabularies
    for one in told:
        assert set(one) == {"schemaVersion", "label", "message", "color"}
        assert one["schemaVersion"] == 1
    trusted = json.loads((out / "badges" / "trusted.json").read_text())
    assert trusted["message"] == "reference in 300 k cases"
    assert json.loads(badge("o200k", Counts(compared=1_200_000)))["message"] == (
        "100 % of 1.2 M cases"
    )
    wrong = json.loads(badge("o200k", Counts(compared=1_200_000, wrong=1)))
    assert (wrong["message"], wrong["color"]) == ("99.999917 % of 1.2 M cases", "green")
    assert json.loads(badge("o200k", Counts()))["message"] == "not compared"


def test_the_feed_has_what_is_new_and_what_is_fixed(
    made,
):
    out, planted = made
    root = ET.fromstring((out / "feed.xml").read_text())
    assert root.tag == f"{ATOM}feed"
    entries = root.findall(f"{ATOM}entry")
    ids = [one.findtext(f"{ATOM}id") for one in entries]
    assert len(ids) == len(set(ids))
    news = {(one.library, one.vocabulary, one.stage, one.kind) for one in planted}
    unexpected = [key for key in news if key[3] != "tags"]
    titles = [str(one.findtext(f"{ATOM}title")) for one in entries]
    assert sum(title.startswith("New: ") for title in titles) == len(unexpected)
    dates = [str(one.findtext(f"{ATOM}updated")) for one in entries]
    assert dates == sorted(dates, reverse=True)
    for one in entries:
        link = one.find(f"{ATOM}link")
        address = link.get("href", "")
        assert address.startswith("https://example.org/gate/defects/f-")
        assert (out / address.removeprefix("https://example.org/gate/")).is_file()


def test_the_search_knows_every_page(made):
    out, _ = made
    text = (out / "search.html").read_text()
    index = re.search(r'<script type="application/json" id="entries">(.*?)</script>', text, re.S)
    addresses = [entry[2] for entry in json.loads(index[1])]
    there = [
        str(path.relative_to(out))
        for folder in ("libraries", "vocabularies", "defects")
        for path in (out / folder).glob("*.html")
    ]
    assert sorted(addresses) == sorted(there)


def test_no_name_gets_out_of_its_place(tmp_path):
    name = ledgers.hostile(tmp_path / "runs.db", tmp_path / "scripts")
    out = tmp_path / "out"
    write(pages.render(read(open_existing(str(tmp_path / "runs.db")))), out)
    assert "<script>alert" in name
    whole = [path for path in out.rglob("*") if path.is_file()]
    assert all(out in path.resolve().parents for path in whole)
    assert all(re.fullmatch(r"\.?[\w.-]+", path.name) for path in whole)
    for path in out.rglob("*.html"):
        text = path.read_text()
        assert "alert(1)" in text or "alert(2)" in text or path.name == "trends.html"
        parsed = Page(text)
        assert parsed.every("img") == []
        assert len(parsed.every("script")) - len(drawn(text)) == (
            2 if path.name == "search.html" else 1
        )
        assert "\u202e" not in text
        assert "\x00" not in text
    assert broken(out) == []
    ET.fromstring((out / "feed.xml").read_text())
    for path in (out / "badges").rglob("*.json"):
        assert "\u202e" not in json.loads(path.read_text())["label"]


@pytest.mark.thorough
def test_many_runs_of_many_libraries_stay_small(tmp_path):
    planted = ledgers.fill(tmp_path / "runs.db", tmp_path / "scripts", runs=30, libraries=25)
    history = read(open_existing(str(tmp_path / "runs.db")))
    number, size = write(pages.render(history), tmp_path / "out")
    assert size < 10_000_000
    assert size > 1_000_000, "there is something in it"
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(files) == number
    assert sum(path.stat().st_size for path in files) == size
    assert len(list((tmp_path / "out" / "libraries").iterdir())) == 26
    different = {(one.library, one.vocabulary, one.stage, one.kind) for one in planted}
    assert len(list((tmp_path / "out" / "defects").glob("*.html"))) == len(different)


# --- what became of a defect ----------------------------------------------------------------------


SHOWN = ledgers.Planted("mine", "vocab", "merges", "Mn", 0, 9).found(0, None)


def tally(sign, **other):
    whole = {"cases": 100, "deaths": 0, "trusted": False,
             "checks": ["equivalence", "survival"], "generators": ["edge", "mutated"]}  # fmt: skip
    return Tally("mine", "vocab", compared=100, wrong=int(sign == "x"), **{**whole, **other})


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

    later: of the tallies of runs that did not see it.
    """
    return History(
        [
            run(
                day, version, [SHOWN] * (sign == "x"),
                [tally(sign, **(later if sign == "-" else {}))] * (sign in "x-"),
                seed=seeds and seeds[day], complete=not complete or complete[day] == "y",
            )
            for day, (version, sign) in enumerate(zip(versions, shown, strict=True))
        ],
        [],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("versions", "shown", "state"),
    [
        ("1112", "xxxx", LIVE),
        ("1111", "-xxx", LIVE),
        ("1111111", "xx-----", UNSEEN),  # of the same version: chance, or another seed
        ("11112222", "xxxx--xx", LIVE),
        ("111111", "xxxx--", UNSEEN),
        ("1111111112222", "xxxxxxxxx----", FIXED),
        ("1111111112", "xxxxxxxxx-", UNSEEN),  # one run says little
        ("1111122222222", "x----xxxx----", UNSEEN),  # it did not show before, either
        ("1111111112222", "xxxxxxxxx    ", LIVE),  # nobody asked the library there
    ],
)
def test_what_became_of_a_defect(versions, shown, state):
    (defect,) = Project(history(versions, shown)).defects
    assert defect.state == state
    assert bool(defect.fixed_in) == (state == FIXED)
    if state == FIXED:
        assert defect.fixed_in == "mine 2"


def test_a_run_that_was_cut_off_fixes_nothing():
    (defect,) = Project(history("111122222", "xxxx-----", complete="yyyynnnnn")).defects
    assert defect.state == LIVE


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({}, FIXED),
        ({"checks": ["round-trip"]}, LIVE),
        ({"generators": ["json"]}, LIVE),
        ({"cases": 3}, LIVE),
    ],
)
def test_only_who_could_see_a_defect_tells_that_it_is_gone(changes, state):
    whole = history("1111111112222", "xxxxxxxxx----", **changes)
    (defect,) = Project(whole).defects
    assert defect.state == state


def test_what_was_asked_twice_counts_once():
    project = Project(history("1111", "x---", seeds=[7, 7, 7, 8]))
    assert totals(project.latest("mine"))["compared"] == 200


def test_the_latest_version_is_the_one_told():
    project = Project(history("1122", "xx--"))
    assert project.version("mine") == "2"
    assert totals(project.latest("mine")) == Counts(cases=200, compared=200)
    assert [(rows[0].version, len(rows)) for rows in project.releases["mine"]] == [
        ("1", 2),
        ("2", 2),
    ]


def test_random_vocabularies_are_told_together():
    assert family_of("random:bpe:17") == "random bpe"
    assert family_of("drawn-17", "random:unigram:17") == "random unigram"
    assert family_of("o200k") == "o200k"
    findings = [
        replace(SHOWN, id=f"f-{day}", vocabulary=f"random:bpe:{day}", input_b64="YQ==")
        for day in range(2)
    ]
    runs = [run(day, "1", [found], []) for day, found in enumerate(findings)]
    (defect,) = Project(History(runs, [])).defects
    assert (defect.ids, defect.family) == (["f-0", "f-1"], "random bpe")
    assert defect.shown == (runs[0], findings[0])


def test_a_name_is_a_file_of_its_own():
    assert slug("bpe.heap") == "bpe.heap"
    others = ["Mine", "mine", "../mine", "mine/", "mine.", "", "\u202e", "a" * 300]
    made = [slug(one) for one in others]
    assert len(set(made)) == len(others)
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,80}", one) for one in made)
    assert ".." not in "".join(made)


# --- the command ----------------------------------------------------------------------------------


def test_an_empty_ledger_has_a_site_too(tmp_path):
    write(pages.render(History([], [])), tmp_path)
    assert "The ledger has no run yet." in (tmp_path / "index.html").read_text()
    assert not (tmp_path / "feed.xml").exists()


def test_the_command(tmp_path):
    ledgers.fill(
        tmp_path / "runs.db", tmp_path / "s", runs=3, libraries=1, vocabularies=1, defects=2
    )
    where = ["--ledger", str(tmp_path / "runs.db"), "--out", str(tmp_path / "out")]
    done = tokgate("site", *where)
    assert done.returncode == 0, done.stderr
    assert "3 runs: " in done.stderr
    assert (tmp_path / "out" / "index.html").is_file()
    missing = tokgate("site", "--ledger", str(tmp_path / "none.db"))
    assert (missing.returncode, "no such file" in missing.stderr) == (2, True)
    assert not (tmp_path / "none.db").exists()
    wrong = tokgate("site", *where, "--url", "javascript:alert(1)")
    assert (wrong.returncode, "not a web address" in wrong.stderr) == (2, True)


def test_a_library_has_its_speeds(
    made,
):
    out, _ = made
    fast = Page((out / "libraries" / "library-01.html").read_text())
    assert "speed" in fast.values("id")
    page = re.sub(r"<[^>]+>", " ", (out / "libraries" / "library-01.html").read_text())
    told = " ".join(page.split())
    assert "source, text vocab_0, 64 KiB 14.0 slowest 4.67" in told
    assert "right 2026-06-26" in told
    assert "library-01 on source, text, vocab_0: time of fresh text" in told
    wrong = re.sub(r"<[^>]+>", " ", (out / "libraries" / "library-02.html").read_text())
    assert "✗ wrong" in wrong
    table = re.sub(r"<[^>]+>", " ", (out / "speed.html").read_text())
    order = [table.index(name) for name in ("library-00 count", "library-02", "library-01")]
    assert order == sorted(order)


def test_speeds_of_another_processor_or_size_are_no_step(tmp_path):
    ledgers.fill(tmp_path / "runs.db", tmp_path / "scripts", runs=30, libraries=2, vocabularies=1)
    measurements = read(open_existing(str(tmp_path / "runs.db"))).measurements
    measured = [table for events in measurements for table in tables(events)]
    (series,) = speeds.series(measured)["library-01"]
    assert [round(one[2], 1) for one in series.points] == [45.4] * 4 + [68.1] * 2
    elsewhere = [
        replace(table, started=replace(table.started, cpu="a slower one")) for table in measured[:3]
    ]
    (series,) = speeds.series([*elsewhere, *measured[3:]])["library-01"]
    assert [round(one[2], 1) for one in series.points] == [45.4] + [68.1] * 2
