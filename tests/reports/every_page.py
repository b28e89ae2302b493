"""A file of each page that tokgate writes, with much on it, for tests in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.events import Forced
from harness.ledger.history import history, open_existing
from reports import bench as speeds
from reports import field as surveys
from reports import selftest as selftests
from reports import worst as worsts
from reports import write as write_files
from reports import write_all
from reports.cluster import Cluster
from reports.record import RunRecord
from reports.site import pages
from reports.studies import files
from tests.harness import test_selftest, test_worst_patterns
from tests.reports import ledgers, records, test_bench, test_campaigns, test_forced

if TYPE_CHECKING:
    from pathlib import Path

    from harness.events import Event

REPORTS = {
    "three": records.three,
    "nasty": records.nasty,
    "clean": records.clean,
    "night": lambda: records.night(40, 0),
    "campaign": lambda: RunRecord.from_events(
        [*records.opening(), test_campaigns.event(), records.finished()]
    ),
    "forced": lambda: RunRecord.from_events(
        [*records.opening(), *FORCED, test_forced.CORPUS, test_forced.witness(), records.finished()]
    ),
}
FORCED = [
    Forced(
        "tokgate", vocabulary, method, 1_234_567, 9_876_543, 12_345, "own", "flexible", 5_678,
        6_789, 21_000_000, 234, 1_234, seam=4_321, unsafe=7_654, undecided=98, gave_up=3,
    )
    for vocabulary in ("tekken_240911", "mistral_v7m1_long_name")
    for method in ("none", "llguidance", "token-healing", "exact")
]  # fmt: skip


def of_bench(told: list[Event]) -> list[tuple[str, str]]:
    """The files of a measurement of speed."""
    return files("bench", speeds.to_json(told), speeds.page(told))


def bench(out: Path) -> Path:
    """Speed by size, and at one size."""
    write_files(of_bench(test_bench.usual()), out)
    return out / "bench.html"


def bench_of_one_size(out: Path) -> Path:
    """Speed at one size: bars, and no column of dots."""
    cell = test_bench.cell
    cells = [cell(name, 65536, speed) for name, speed in (("tiktoken", 8), ("a", 90), ("b", 3))]
    write_files(of_bench(test_bench.record(*cells)), out)
    return out / "bench.html"


def worst(out: Path) -> Path:
    """What a search found, one a death."""
    report = test_worst_patterns.report()
    write_files(files("worst", report.to_json(), worsts.page(report, Cluster())), out)
    return out / "worst.html"


def selftest(out: Path) -> Path:
    """Mistakes of which one escaped."""
    told = test_selftest.events()
    write_files(files("selftest", selftests.to_json(told), selftests.page(told)), out)
    return out / "selftest.html"


def field(out: Path) -> Path:
    """A survey of six libraries on three vocabularies."""
    libraries = {f"library-{number}": f"1.{number}" for number in range(6)}
    vocabularies = ["tekken_240911", "t5_base", "mistral_v7m1_long_name"]
    kinds = ("agrees", "differs", "by-design", "failed", "not-run")
    verdicts = {
        name: {
            vocabulary: {
                "kind": kinds[(place + number) % 5],
                "text": ("agrees", "2 differences", "as known", "failed", "–")[
                    (place + number) % 5
                ],
                "detail": "in 12,345 comparisons on generated and hostile inputs",
                "link": f"runs/{name}/report.html",
            }
            for number, vocabulary in enumerate(vocabularies)
        }
        for place, name in enumerate(libraries)
    }
    defect = {
        "library": "library-1", "version": "1.1", "vocabulary": "tekken_240911",
        "check": "equivalence", "seen": 812, "input": "'a\\u0301 ' * 20", "minimal": True,
        "sentence": "disagrees with tiktoken (pre-tokens: Mn)", "expected": "",
        "reproducer": "runs/library-1/findings/f-1a2b3c4d/repro.py",
    }  # fmt: skip
    known = {**defect, "library": "library-2", "expected": "documented upstream", "minimal": False}
    growth = {
        "library": "library-3", "version": "1.3", "vocabulary": "t5_base", "family": "letter-run",
        "verdict": "superlinear", "law": "n^2", "exponent": 1.98, "low": 1.9, "high": 2.06,
        "expression": "b'a' * n", "note": "",
    }  # fmt: skip
    page = {
        **surveys.document(
            [], [], "2026-11-20T12:00:00+00:00", "tokgate field --budget 8h --out field",
            complete=True,
        ),
        "libraries": libraries, "vocabularies": vocabularies, "verdicts": verdicts,
        "defects": [defect, known], "growth": [growth],
        "growth_scope": "54 cells (a library on a family) measured.",
        "speeds": {"source, text, tekken_240911": {
            name: {"mib_per_second": 12.5 * (place + 1), "ratio": 1.5}
            for place, name in enumerate(libraries)
        }},
    }  # fmt: skip
    write_files(surveys.files(page), out)
    return out / "field.html"


def site(out: Path) -> dict[str, Path]:
    """A page of each kind of a site of thirty runs of five libraries."""
    ledgers.fill(out / "runs.db", out / "scripts", runs=30, libraries=5, vocabularies=3)
    write_files(pages.render(history(open_existing(str(out / "runs.db")))), out / "site")
    first = next(iter(sorted((out / "site" / "defects").glob("*.html"))))
    named = {
        "index": "index.html", "defects": "defects.html", "trends": "trends.html",
        "search": "search.html", "speed": "speed.html", "library": "libraries/library-03.html",
        "vocabulary": "vocabularies/vocab_1.html", "defect": f"defects/{first.name}",
    }  # fmt: skip
    return {f"site-{name}": out / "site" / path for name, path in named.items()}


def write(out: Path) -> dict[str, Path]:
    """Every page, by its name."""
    made = {}
    for name, shape in REPORTS.items():
        write_all(shape(), out / name)
        made[name] = out / name / "report.html"
    for maker in (bench, bench_of_one_size, worst, selftest, field):
        name = maker.__name__.replace("_", "-")
        made[name] = maker(out / name)
    (out / "of-a-site").mkdir()
    return made | site(out / "of-a-site")


NAMES = [
    *REPORTS,
    "bench", "bench-of-one-size", "worst", "selftest", "field",
    *(f"site-{name}" for name in
      ("index", "defects", "trends", "search", "speed", "library", "vocabulary", "defect")),
]  # fmt: skip
