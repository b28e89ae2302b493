"""A file of each page that tokgate writes, with much on it, for tests in a browser."""

from harness.events import Forced, MatchPlayed
from harness.ledger.store import history, open_existing
from reports import bench, field, selftest, worst, write_all
from reports import write as write_files
from reports.site import pages
from reports.studies import files
from tests.properties.reports import (
    ledgers,
    records,
    test_bench,
    test_campaigns,
    test_cluster,
    test_forced,
)
from tests.properties.studies import test_selftest, test_worst_patterns

REPORTS = {
    "three": records.three,
    "nasty": records.nasty,
    "clean": records.clean,
    "night": lambda: records.night(40, 0),
    "campaign": lambda: records.run(test_campaigns.event()),
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
    "vocabulary": "vocabularies/vocab_1.html", "defect": "defects/*.html",
}  # fmt: skip
"""Pages of a site; of defects, the first."""


def of_bench(told):
    return files("bench", bench.to_json(told), bench.page(told))


def by_size():
    """Speed by size, with what opening a vocabulary takes."""
    cold = {"slow": 3.0, "tiktoken": 0.4, test_bench.NASTY: 0.1}
    opened = [test_bench.opened(name, seconds, 0.1) for name, seconds in cold.items()]
    lost = test_bench.opened("lost", 0, 0, status="failed", note="crashed: <b>", openings=[])
    return of_bench([*test_bench.usual(), *opened, lost])


def at_one_size():
    """Bars, and no column of dots."""
    speeds = {"tiktoken": 8, "a": 90, "b": 3}
    cells = [test_bench.cell(name, 65536, speed) for name, speed in speeds.items()]
    return of_bench(test_bench.record(*cells))


def of_worst():
    """What a search found, one a death."""
    report = test_worst_patterns.report()
    return files("worst", report.to_json(), worst.page(report, [*test_cluster.EVENTS]))


def of_selftest():
    """Mistakes of which one escaped."""
    told = [*test_selftest.EVENTS[:-1], test_cluster.used(), test_selftest.EVENTS[-1]]
    return files("selftest", selftest.to_json(told), selftest.page(told))


def survey():
    """Five libraries on two vocabularies, with whatever may come of a match."""
    records_of = {
        "agrees": records.clean(), "tokenizers": records.three(), "cut-off": records.cut_off(),
        "grows": records.growing(), "not-run": None,
    }  # fmt: skip
    played = [
        (
            MatchPlayed(
                library, "1.2", "", vocabulary, "tiktoken", library,
                "byte-level only" if record is None else "",
            ),
            record,
        )
        for library, record in records_of.items()
        for vocabulary in ("tekken_240911", "mistral_v7m1_long_name")
    ]  # fmt: skip
    command = "tokgate field --budget 8h --out field"
    return field.files(field.document(played, "2026-11-20", command, complete=False, speed=True))


STUDIES = {
    "bench": by_size, "bench-of-one-size": at_one_size, "worst": of_worst, "selftest": of_selftest,
    "field": survey,
}  # fmt: skip


def write(out):
    """Every page, by its name."""
    made = {}
    for name, shape in REPORTS.items():
        write_all(shape(), out / name)
        made[name] = out / name / "report.html"
    for name, maker in STUDIES.items():
        told = maker()
        write_files(told, out / name)
        made[name] = out / name / told[1][0]
    ledger, site = out / "runs.db", out / "site"
    ledgers.fill(ledger, out / "scripts", runs=30, libraries=5, vocabularies=3)
    write_files(pages.render(history(open_existing(str(ledger)))), site)
    return made | {f"site-{name}": min(site.glob(path)) for name, path in SITE.items()}


NAMES = [*REPORTS, *STUDIES, *(f"site-{name}" for name in SITE)]
