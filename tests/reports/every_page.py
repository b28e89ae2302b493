"""A file of each page that tokgate writes, with much on it, for tests in a browser."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from harness.events import Forced
from harness.ledger.history import history, open_existing
from reports import bench_page, write_all
from reports import field as surveys
from reports import selftest as selftests
from reports import worst as worsts
from reports import write as write_files
from reports.field import Conformance, Defect, Growth, Verdict
from reports.record import RunRecord
from reports.site import pages
from tests.harness import test_selftest, test_worst_patterns
from tests.reports import ledgers, records, test_bench_page, test_campaigns, test_forced

if TYPE_CHECKING:
    from pathlib import Path

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


def bench(out: Path) -> Path:
    """Speed by size, and at one size."""
    write_files(bench_page.files(test_bench_page.usual()), out)
    return out / "bench.html"


def bench_of_one_size(out: Path) -> Path:
    """Speed at one size: bars, and no column of dots."""
    cell = test_bench_page.cell
    cells = [cell(name, 65536, speed) for name, speed in (("tiktoken", 8), ("a", 90), ("b", 3))]
    write_files(bench_page.files(test_bench_page.record(*cells)), out)
    return out / "bench.html"


def worst(out: Path) -> Path:
    """What a search found, one a death."""
    text = test_worst_patterns.report().to_json()
    write_files(worsts.files(worsts.WorstRecord.of(json.loads(text)), text), out)
    return out / "worst.html"


def selftest(out: Path) -> Path:
    """Mistakes of which one escaped."""
    made = selftests.SelftestRecord()
    for event in test_selftest.events():
        made.consume(event)
    write_files(selftests.files(made), out)
    return out / "selftest.html"


def field(out: Path) -> Path:
    """A survey of six libraries on three vocabularies."""
    libraries = {f"library-{number}": f"1.{number}" for number in range(6)}
    vocabularies = ["tekken_240911", "t5_base", "mistral_v7m1_long_name"]
    verdicts = {
        name: {
            vocabulary: Verdict(
                ("agrees", "differs", "by-design", "failed", "not-run")[(place + number) % 5],
                ("agrees", "2 differences", "by design", "failed", "not run")[(place + number) % 5],
                "in 12,345 comparisons on generated and hostile inputs",
                f"runs/{name}/report.html",
            )
            for number, vocabulary in enumerate(vocabularies)
        }
        for place, name in enumerate(libraries)
    }
    defect = Defect(
        "library-1", "1.1", "tekken_240911", "tiktoken", "equivalence", "equivalence/bpe/ids", 812,
        "disagrees with tiktoken (pre-tokens: Mn)", "'a\\u0301 ' * 20", "YQ==", True, "",
        "runs/library-1/findings/f-1a2b3c4d/repro.py",
    )  # fmt: skip
    known = Defect(
        "library-2", "1.2", "t5_base", "sentencepiece", "round-trip", "round-trip/text", 3,
        "did not decode back to the input", "b'\\xff'", "/w==", False, "documented upstream", "",
    )  # fmt: skip
    growth = Growth(
        "library-3", "1.3", "t5_base", "letter-run", "superlinear", "n^2", 1.98, 1.9, 2.06,
        "b'a' * n", "",
    )  # fmt: skip
    page = Conformance(
        time="2026-11-20T12:00:00+00:00", command="tokgate field --budget 8h --out field",
        complete=True, libraries=libraries, vocabularies=vocabularies, verdicts=verdicts,
        defects=[defect, known], growth=[growth],
        growth_scope="54 cells (a library on a family) measured.", measured={"library-3": 54},
        speeds={"source, text, tekken_240911": {
            name: {"mib_per_second": 12.5 * (place + 1), "ratio": 1.5}
            for place, name in enumerate(libraries)
        }},
    )  # fmt: skip
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
