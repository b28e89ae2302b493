"""Made-up ledgers of many runs, through the recorder that real runs go through."""

from __future__ import annotations

import datetime
import json
import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

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
from tests.reports import records, test_bench
from tests.reports.records import group

if TYPE_CHECKING:
    pass

BEGAN = datetime.datetime(2026, 6, 1, 3, 30, tzinfo=datetime.UTC)
CHECKS = ["equivalence", "survival", "round-trip"]
KINDS = ["Mn", "Zs", "digits", "emoji", "Hangul", "tags", "Lo", "punctuation"]
STAGES = ["pre-tokens", "merges", "normalization", "special-tokens"]
FAMILIES = ["spaces", "letters", "brackets", "newlines"]
REPRODUCER = "# what a reproducer says\n" + "print('beside each other')\n" * 180
"""About as long as those of real findings."""


@dataclass(frozen=True, slots=True)
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
        script = None if folder is None else folder / f"{name}.py"
        if script is not None and not script.exists():  # an earlier run has written the same
            script.write_text(REPRODUCER)
        return records.found(
            name, data, stage=self.stage, bucket=bucket, contract=f"{self.vocabulary}/text",
            vocabulary=self.vocabulary, culprits=[self.library],
            partition=[group(["trusted"], data, 3), group([self.library], data, 2)],
            first_difference=1, seed=run, reproducer=f"{name}.py",
            expected="known upstream" if self.kind == "tags" else None,
        )  # fmt: skip


def version(library, run):
    """A release of a library every twenty runs or so, each at its own time."""
    return f"1.{(run + library) // 20}.0"


def fill(
    database,
    folder,
    *,
    runs=100,
    libraries=25,
    vocabularies=8,
    defects=12,
):
    """Fill a ledger; what was planted is returned. defects: of each library."""
    chance = random.Random(5)
    names = [f"library-{number:02}" for number in range(libraries)]
    vocabs = [f"vocab_{number}" for number in range(vocabularies)]
    planted = []
    for name in names:
        for _ in range(defects):
            first = chance.randrange(runs)
            until = runs if chance.random() < 0.6 else min(runs, first + chance.randrange(5, 60))
            made = Planted(
                name, chance.choice(vocabs), chance.choice(STAGES), chance.choice(KINDS),
                first, until,
            )  # fmt: skip
            planted.append(made)
    engine = open_database(str(database))
    folder.mkdir(exist_ok=True)
    for run in range(runs):
        told = events(run, names, vocabs, planted, folder, chance)
        keep_run(engine, Coverage.of(told), folder)
    for run in range(0, runs, 5):
        keep_speeds(engine, speeds(run, names, vocabs[:2]))
    engine.dispose()
    return planted


def speeds(run, names, vocabs):
    """A measurement of speed of all libraries; each is slower by half from its second release on.

    The last library gives wrong ids, and the first counts, too.
    """
    versions = {name: version(number, run) for number, name in enumerate(names)}
    rows = [*zip(names, names, strict=True), (f"{names[0]} count", names[0])]
    cells = [
        test_bench.cell(
            row, size, (20.0 + place) / (1.0 if versions[name] == "1.0.0" else 1.5),
            vocabulary=vocabulary, implementation=name,
            answer="different" if name == names[-1] else "equal",
        )
        for vocabulary in vocabs
        for place, (row, name) in enumerate(rows)
        for size in (1 << 12, 1 << 16)
    ]  # fmt: skip
    time = (BEGAN + datetime.timedelta(days=run, hours=5)).isoformat()
    return test_bench.record(*cells, time=time, versions=versions)


def events(
    run,
    names,
    vocabs,
    planted,
    folder,
    chance,
):
    """A run of all libraries on all vocabularies."""
    cases = 5_000
    shown = [one for one in planted if one.first <= run < one.until]
    made = [
        replace(
            records.started(), time=(BEGAN + datetime.timedelta(days=run)).isoformat(), seed=run,
            versions={
                "tokgate": "0.1.0", "python": "3.12", "trusted": "1.0",
                **{name: version(number, run) for number, name in enumerate(names)},
            },
        )
    ]  # fmt: skip
    for vocabulary in vocabs:
        contract = f"{vocabulary}/text"
        everybody = ["trusted", *names]
        wrong = {one.library: 7 for one in shown if one.vocabulary == vocabulary}
        made += [
            VocabularyLoaded(
                vocabulary, "tiktoken", "bpe", 100_000, "ab" * 32, None, [], source=vocabulary
            ),
            ContractOpened(
                contract, "bpe", vocabulary, "text", everybody, ["trusted"], {}, CHECKS
            ),
            BatchDone(
                contract, "mutated", cases, cases * 40, cases * len(names),
                {check: dict.fromkeys(everybody, cases) for check in CHECKS},
                {"equivalence": wrong},
            ),
        ]  # fmt: skip
        for name in names:
            slow = 2e-8 * chance.uniform(0.95, 1.05)
            for family in FAMILIES:
                points = [[float(n), n * slow] for n in (1000, 10_000, 100_000)]
                made.append(Measured(name, vocabulary, family, 1.02, 0.97, 1.06, "linear", points))
    for one in shown:
        found = one.found(run, folder)
        made += [found, Counted(found.bucket, chance.randrange(3, 90))]
    made.append(records.finished("fail"))
    return made


def hostile(database, folder):
    """A ledger of three runs in which a library, a vocabulary and a message attack the page."""
    name = "</script><script>alert(1)</script>\u202e../../etc\x00"
    vocabulary = '"><img src=x onerror=alert(2)>\ufffe'
    engine = open_database(str(database))
    folder.mkdir(exist_ok=True)
    for run in range(3):
        planted = Planted("library-00", "vocab_0", "merges", "Mn", 0, 3)
        told = events(run, ["library-00"], ["vocab_0"], [planted], folder, random.Random(1))
        keep_run(engine, Coverage.of(_renamed(one, name, vocabulary) for one in told), folder)
    measured = speeds(0, ["library-00"], ["vocab_0"])
    keep_speeds(engine, [_renamed(one, name, vocabulary) for one in measured])
    engine.dispose()
    return name


def _renamed(event, name, vocabulary):
    if isinstance(event, Found):
        event = replace(event, expected=f"{name} & {vocabulary}", difference=vocabulary * 2)
    line = event.to_json()
    for plain, hostile in (("library-00", name), ("vocab_0", vocabulary)):
        line = line.replace(plain, json.dumps(hostile)[1:-1])
    made = Event.from_json(line)
    assert made is not None
    return made
