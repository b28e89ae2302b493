"""Made-up ledgers of many runs, through the recorder that real runs go through."""

import datetime
import json
import random
from dataclasses import dataclass, replace

from harness.events import (
    BatchDone,
    ContractOpened,
    Counted,
    Event,
    Found,
    Measured,
    VocabularyLoaded,
)
from harness.findings.entries import finding_id
from harness.ledger.engine import open_database
from harness.ledger.store import keep_run, keep_speeds
from harness.verdict.coverage import Coverage
from tests.properties.reports import records, test_bench
from tests.properties.reports.records import group

BEGAN = datetime.datetime(2026, 6, 1, 3, 30, tzinfo=datetime.UTC)
CHECKS = ["equivalence", "survival", "round-trip"]
KINDS = ["Mn", "Zs", "digits", "emoji", "Hangul", "tags", "Lo", "punctuation"]
STAGES = ["pre-tokens", "merges", "normalization", "special-tokens"]
FAMILIES = ["spaces", "letters", "brackets", "newlines"]
CASES = 5_000
REPRODUCER = "# what a reproducer says\n" + "print('beside each other')\n" * 180
"""About as long as those of real findings."""


@dataclass(frozen=True)
class Planted:
    """A defect of a library on a vocabulary, in the runs from ``first`` until ``until``."""

    library: str
    vocabulary: str
    stage: str
    kind: str
    first: int
    until: int

    def found(self, run, folder):
        """The finding; its script is written into the folder, if there is one."""
        bucket = f"equivalence/bpe/{self.vocabulary}/{self.stage}/{self.kind}/{self.library}"
        name = finding_id(bucket, self.vocabulary)
        data = f"a\u0301 {self.kind} \U0001f600 b".encode()
        if folder is not None:
            (folder / f"{name}.py").write_text(REPRODUCER)
        return records.found(
            name, data, stage=self.stage, bucket=bucket, contract=f"{self.vocabulary}/text",
            vocabulary=self.vocabulary, culprits=[self.library],
            partition=[group(["trusted"], data, 3), group([self.library], data, 2)],
            first_difference=1, seed=run, reproducer=f"{name}.py",
            expected="known upstream" if self.kind == "tags" else None,
        )  # fmt: skip


def versions(names, run):
    """A release of a library every twenty runs or so, each at its own time."""
    return {name: f"1.{(run + number) // 20}.0" for number, name in enumerate(names)}


def fill(database, folder, *, runs=100, libraries=25, vocabularies=8, defects=12):
    """Fill a ledger; what was planted is returned. defects: of each library."""
    chance = random.Random(5)
    names = [f"library-{number:02}" for number in range(libraries)]
    vocabs = [f"vocab_{number}" for number in range(vocabularies)]
    planted = []
    for name in names:
        for _ in range(defects):
            first = chance.randrange(runs)
            until = runs if chance.random() < 0.6 else min(runs, first + chance.randrange(5, 60))
            which = (chance.choice(one) for one in (vocabs, STAGES, KINDS))
            planted.append(Planted(name, *which, first, until))
    write(
        database, folder,
        (events(run, names, vocabs, planted, folder, chance) for run in range(runs)),
        (speeds(run, names, vocabs[:2]) for run in range(0, runs, 5)),
    )  # fmt: skip
    return planted


def write(database, folder, runs, measurements):
    """A ledger of these."""
    engine = open_database(str(database))
    folder.mkdir(exist_ok=True)
    for told in runs:
        keep_run(engine, Coverage.of(told), folder)
    for told in measurements:
        keep_speeds(engine, told)
    engine.dispose()


def speeds(run, names, vocabs):
    """A measurement of speed of all libraries; each is slower by half from its second release on.

    The last library gives wrong ids, and the first counts, too.
    """
    have = versions(names, run)
    rows = [*zip(names, names, strict=True), (f"{names[0]} count", names[0])]
    cells = [
        test_bench.cell(
            row, size, (20.0 + place) / (1.0 if have[name] == "1.0.0" else 1.5),
            vocabulary=vocabulary, implementation=name,
            answer="different" if name == names[-1] else "equal",
        )
        for vocabulary in vocabs
        for place, (row, name) in enumerate(rows)
        for size in (1 << 12, 1 << 16)
    ]  # fmt: skip
    time = (BEGAN + datetime.timedelta(days=run, hours=5)).isoformat()
    return test_bench.record(*cells, time=time, versions=have)


def events(run, names, vocabs, planted, folder, chance):
    """A run of all libraries on all vocabularies."""
    shown = [one for one in planted if one.first <= run < one.until]
    have = {"tokgate": "0.1.0", "python": "3.12", "trusted": "1.0", **versions(names, run)}
    time = (BEGAN + datetime.timedelta(days=run)).isoformat()
    yield replace(records.started(), time=time, seed=run, versions=have)
    everybody = ["trusted", *names]
    for on in vocabs:
        wrong = {one.library: 7 for one in shown if one.vocabulary == on}
        judged = {check: dict.fromkeys(everybody, CASES) for check in CHECKS}
        yield VocabularyLoaded(on, "tiktoken", "bpe", 100_000, "ab" * 32, None, [], source=on)
        yield ContractOpened(f"{on}/text", "bpe", on, "text", everybody, everybody[:1], {}, CHECKS)
        yield BatchDone(
            f"{on}/text", "mutated", CASES, CASES * 40, CASES * len(names), judged,
            {"equivalence": wrong},
        )  # fmt: skip
        for name in names:
            slow = 2e-8 * chance.uniform(0.95, 1.05)
            points = [[float(n), n * slow] for n in (1000, 10_000, 100_000)]
            for family in FAMILIES:
                yield Measured(name, on, family, 1.02, 0.97, 1.06, "linear", points)
    for one in shown:
        found = one.found(run, folder)
        yield from (found, Counted(found.bucket, chance.randrange(3, 90)))
    yield records.finished("fail")


def hostile(database, folder):
    """A ledger of three runs in which a library, a vocabulary and a message attack the page."""
    name = "</script><script>alert(1)</script>\u202e../../etc\x00"
    vocabulary = '"><img src=x onerror=alert(2)>\ufffe'
    planted = [Planted("library-00", "vocab_0", "merges", "Mn", 0, 3)]

    def renamed(told):
        for event in told:
            if isinstance(event, Found):
                words = {"expected": f"{name} & {vocabulary}", "difference": vocabulary * 2}
                event = replace(event, **words)
            line = event.to_json()
            for plain, odd in (("library-00", name), ("vocab_0", vocabulary)):
                line = line.replace(plain, json.dumps(odd)[1:-1])
            yield Event.from_json(line)

    where = ["library-00"], ["vocab_0"]
    runs = (events(run, *where, planted, folder, random.Random(1)) for run in range(3))
    write(database, folder, map(renamed, runs), [[*renamed(speeds(0, *where))]])
    return name
