"""Each command once, on a small vocabulary, and what is looked at of its work."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.contracts import observed
from tests.doubles.command import here, tokgate

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"

PAGES = ("run.jsonl", "summary.md", "report.html")
STUDY = (*PAGES, "summary.json", "junit.xml")
REPORTS = (*STUDY, "report.sarif")
"""Of what every study writes to its folder: all that may differ from one study to another."""


@dataclass(frozen=True)
class Scenario:
    """One command line.

    after: the scenarios whose folders it reads. out: the folder that it writes. reads: files there
    whose structure is looked at. says: the ending that its standard output has as a file; "" where
    that is prose. starts: it starts workers, and so has a process of its own. timed: how it ends
    depends on what can be measured on this machine in its time.
    """

    line: str
    after: tuple[str, ...] = ()
    out: str = ""
    reads: tuple[str, ...] = ()
    says: str = ""
    starts: bool = True
    timed: bool = False

    @property
    def words(self):
        """The words after ``tokgate``."""
        program = shlex.join([sys.executable, str(HERE / "recorder.py"), "asked/requests.jsonl"])
        return tuple(word.replace("RECORDER", f"cmd:{program}") for word in shlex.split(self.line))


def quick(line, **rest):
    """A command that starts no worker."""
    return Scenario(line, starts=False, **rest)


TOY = "--vocab toy_bytes"
PAIR = "--impl tiktoken --impl bpe.naive"
PLANTED = "--impl tiktoken --impl mine.py:Mine"

SCENARIOS = {
    "run": Scenario(
        f"run {TOY} {PLANTED} --check equivalence --check survival --check round-trip"
        " --generator repeats --budget 40cases --out run --ledger runs.db",
        out="run", reads=REPORTS,
    ),
    "run-scaling": Scenario(
        f"run {TOY} {PAIR} --check scaling --check canonicality --family letter-run --budget 2s"
        " --out growth", out="growth", reads=(*PAGES, "summary.json"), timed=True,
    ),
    "run-input": Scenario(
        f"run {TOY} {PAIR} --input mine.py --only-input --out texts",
        out="texts", reads=PAGES,
    ),
    "protocol": Scenario(
        f"run {TOY} --impl bpe.naive --impl RECORDER --generator repeats --check equivalence"
        " --check round-trip --check offsets --budget 20cases --no-confinement --out protocol",
        out="asked", reads=("requests.jsonl",),
    ),
    "expect": quick(
        "expect run --file known/expected.toml", after=("run",), out="known",
        reads=("expected.toml",),
    ),
    "diff": quick("diff growth run --json", after=("run", "run-scaling"), says=".json"),
    "diff-markdown": quick("diff growth run --markdown", after=("run", "run-scaling"), says=".md"),
    "replay": Scenario(
        "replay run --trust --out again", after=("run",), out="again", reads=PAGES
    ),
    "site": quick(
        "site --ledger runs.db --out site", after=("run",), out="site", reads=("index.html",)
    ),
    "minimize": Scenario(
        f"minimize {PLANTED} {TOY} --text xyzxyz --out small", out="small", reads=PAGES
    ),
    "preflight": quick("preflight toy_bytes toy_improper --json", says=".json"),
    "prepare": Scenario(f"prepare {TOY}"),
    "bench": Scenario(
        f"bench {TOY} {PAIR} --input source --size 1KB --rounds 1 --out bench",
        out="bench", reads=("run.jsonl",),
    ),
    "fuzz": Scenario(
        f"fuzz {TOY} {PLANTED} --check equivalence --generator repeats --budget 60cases"
        " --no-structured --no-coverage --no-canary --out fuzz",
        out="fuzz", reads=(*PAGES, "campaign.json"),
    ),
    "forced": Scenario(
        f"forced own {TOY} --limit 3 --jobs 1 --out forced", out="forced",
        reads=STUDY,
    ),
    "adversary": Scenario(
        f"adversary {TOY} --budget 50cases --jobs 1 --out adversary", out="adversary",
        reads=("trophies.json",),
    ),
    "worst": Scenario(
        f"worst --impl bpe.naive {TOY} --budget 1s --size 4KB --no-keep --out worst",
        out="worst", reads=("worst.json",),
    ),
    "field": Scenario(
        "field --impl tokenizers --impl llguidance --vocab unigram_bytes --no-bench"
        " --budget 20cases --check equivalence --out field",
        out="field", reads=("run.jsonl", "field.json", "field.md", "field.html"),
    ),
    "selftest": Scenario(
        "selftest --mutant merging.refuses --budget 60s --jobs 1 --out selftest",
        out="selftest", reads=("run.jsonl",),
    ),
    **{
        f"list-{kind}": quick(f"list {kind} --json", says=".json")
        for kind in ("vocabs", "impls", "generators", "families", "checks")
    },
}  # fmt: skip


@dataclass
class House:
    """A folder in which each scenario is run once, after those that it needs."""

    folder: Path
    seen: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self):
        shutil.copy(HERE / "mine.py", self.folder)
        for name in ("asked", "known"):
            (self.folder / name).mkdir()

    def look(self, name):
        """What a scenario has come to."""
        if name not in self.seen:
            one = SCENARIOS[name]
            for before in one.after:
                self.look(before)
            self.seen[name] = self.run(one)
        return self.seen[name]

    def run(self, one):
        """Run it (again, where it has been run), and say what there is."""
        done = (tokgate if one.starts else here)(*one.words, folder=self.folder)
        assert "Traceback" not in done.stderr, done.stderr
        made = {"command": f"tokgate {one.line}"}
        if one.timed:
            assert done.returncode in (0, 4), done.stderr
        else:
            made["status"] = done.returncode
        if one.says:
            made["says"] = observed.READERS[one.says](done.stdout)
        if one.out:
            try:
                made |= observed.folder(self.folder / one.out, one.reads)
            except OSError as error:
                raise AssertionError(f"{error}\n{done.stderr}") from error
        return made


def golden(name):
    """What is kept of a scenario; None where nothing is."""
    path = GOLDEN / f"{name}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else None


def text_of(value):
    """The lines that are kept in a file and compared."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
