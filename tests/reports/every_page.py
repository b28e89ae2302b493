"""A file of each page that tokgate writes, with much on it, for tests in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.events import Forced, MatchPlayed
from harness.ledger.store import history, open_existing
from reports import bench as speeds
from reports import field as surveys
from reports import selftest as selftests
from reports import worst as worsts
from reports import write as write_files
from reports import write_all
from reports.record import RunRecord
from reports.site import pages
from reports.studies import files
from tests.harness import test_selftest, test_worst_patterns
from tests.reports import ledgers, records, test_bench, test_campaigns, test_forced

if TYPE_CHECKING:
    pass

REPORTS = {
    "three": records.three,
    "nasty": records.nasty,
    "clean": records.clean,
    "night": lambda: records.night(40, 0),
    "campaign": lambda: RunRecord.from_events(
        [*records.opening(), test_campaigns.event(), records.finished()]
    ),
    "forced": lambda: test_forced.record(*FORCED, test_forced.witness()),
}
FORCED = [
    Forced(
        "tokgate", vocabulary, method, 1_234_567, 9_876_543, 12_345, "own", "flexible", 5_678,
        6_789, 21_000_000, 234, 1_234, seam=4_321, unsafe=7_654, undecided=98, gave_up=3,
    )
    for vocabulary in ("tekken_240911", "mistral_v7m1_long_name")
    for method in ("none", "llguidance", "token-healing", "exact")
]  # fmt: skip
SITE = {
    "index": "index.html", "defects": "defects.html", "trends": "trends.html",
    "search": "search.html", "speed": "speed.html", "library": "libraries/library-03.html",
    "vocabulary": "vocabularies/vocab_1.html", "defect": "defects",
}  # fmt: skip
"""Pages of a site; of defects, the first."""


def of_bench(told):
    """The files of a measurement of speed."""
    return files("bench", speeds.to_json(told), speeds.page(told))


def bench(out):
    """Speed by size, and at one size."""
    opened = [test_bench.opened(name, 3.0, 0.5) for name in ("tiktoken", test_bench.NASTY)]
    write_files(of_bench([*test_bench.usual(), *opened]), out)
    return out / "bench.html"


def bench_of_one_size(out):
    """Speed at one size: bars, and no column of dots."""
    cell = test_bench.cell
    cells = [cell(name, 65536, speed) for name, speed in (("tiktoken", 8), ("a", 90), ("b", 3))]
    write_files(of_bench(test_bench.record(*cells)), out)
    return out / "bench.html"


def worst(out):
    """What a search found, one a death."""
    report = test_worst_patterns.report()
    write_files(files("worst", report.to_json(), worsts.page(report, [])), out)
    return out / "worst.html"


def selftest(out):
    """Mistakes of which one escaped."""
    told = test_selftest.events()
    write_files(files("selftest", selftests.to_json(told), selftests.page(told)), out)
    return out / "selftest.html"


def field(out):
    """A survey of five libraries on two vocabularies, with whatever may come of a match."""
    records_of = {
        "agrees": records.clean(), "differs": records.three(), "cut-off": records.cut_off(),
        "grows": records.growing(), "not-run": None,
    }  # fmt: skip
    played = [
        (
            MatchPlayed(
                "tokenizers" if library == "differs" else library, "1.2", "", vocabulary,
                "tiktoken", library, "byte-level only" if record is None else "",
            ),
            record,
        )
        for library, record in records_of.items()
        for vocabulary in ("tekken_240911", "mistral_v7m1_long_name")
    ]  # fmt: skip
    command = "tokgate field --budget 8h --out field"
    page = surveys.document(played, "2026-11-20", command, complete=True, speed=True)
    write_files(surveys.files(page), out)
    return out / "field.html"


def site(out):
    """A page of each kind of a site of thirty runs of five libraries."""
    ledgers.fill(out / "runs.db", out / "scripts", runs=30, libraries=5, vocabularies=3)
    write_files(pages.render(history(open_existing(str(out / "runs.db")))), out / "site")
    made = {f"site-{name}": out / "site" / path for name, path in SITE.items()}
    first = min(made["site-defect"].glob("*.html"))
    return {**made, "site-defect": first}


MAKERS = {
    "bench": bench, "bench-of-one-size": bench_of_one_size, "worst": worst, "selftest": selftest,
    "field": field,
}  # fmt: skip


def write(out):
    """Every page, by its name."""
    made = {}
    for name, shape in REPORTS.items():
        write_all(shape(), out / name)
        made[name] = out / name / "report.html"
    for name, maker in MAKERS.items():
        made[name] = maker(out / name)
    (out / "of-a-site").mkdir()
    return made | site(out / "of-a-site")


NAMES = [*REPORTS, *MAKERS, *(f"site-{name}" for name in SITE)]
