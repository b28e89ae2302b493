"""Every kind of command of README and docs is run, in a folder that has the files that it names.

A command is run that has an option, or a form of value, which neither another one nor
``tests/contracts`` has run. It has the words of its page, of which budgets, sizes and vocabularies
alone are made smaller, and those who take part are named where nobody is. It must end with a status
of the gate. What cannot be run here is parsed by the command line in ``test_commands.py``, as all
commands are.
"""

import base64
import gzip
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tarfile

import pytest
from backports import zstd

from corpora.vocabularies import sources
from harness.core import exit_statuses
from tests.contracts.scenarios import SCENARIOS
from tests.docs.pages import ROOT
from tests.docs.test_commands import EVERY, QUICK
from tests.docs.test_snippets import BLOCKS

BUDGETS = {
    "compare": "1s",
    "prove": "1s",
    "run": "60cases",
    "fuzz": "60cases",
    "field": "20cases",
    "selftest": "3s",
    "worst": "1s",
}
"""Shorter ones, by the command."""

BY_THE_CLOCK = "2s"
"""The budget of growth, which measures until it has decided, however few the cases."""

SMALL = {"tekken_240911": "toy_bytes", "random:50": "random:2", "local:4": "local:2", "1MB": "1KB"}
"""Values that take less time, in place of those of the pages."""

FEW = [("--impl", "tokenizers"), ("--impl", "bpe.heap"), ("--vocab", "toy_bytes")]

DEFAULTS = {
    "run": [*FEW, ("--check", "equivalence")],  # growth takes its time, however few the cases
    "fuzz": FEW,
    "bench": [*FEW, ("--size", "1KB"), ("--rounds", "1")],
    "field": [("--impl", "tokenizers"), ("--vocab", "unigram_bytes"), ("--no-bench",)],
    "selftest": [("--mutant", "merging.refuses")],
    "forced": [("--limit", "2")],
    "prepare": FEW[2:],
}
"""Options of a command that makes do with less, each where a page does not name it."""

ELSEWHERE = {
    "check": "takes as long as growth does: tests/contracts/test_init.py runs it",
    "init": "runs what it finds in a repository: tests/contracts/test_init.py has one for it",
    "pip:": "installs a release from a registry",
    "pypi:": "fetches a vocabulary from a registry",
    "npm:": "fetches a vocabulary or installs a release from a registry",
    "ray://": "a cluster of other machines",
    "auto": "a cluster of other machines",
    "postgresql://": "a database of another machine",
}
"""Words of commands that are not run here, and why."""

DIFFERING = ["run", "--impl", "sentencepiece", "--impl", "tokenizers", "--vocab", "unigram_bytes"]

FIRST = {"replay": [*DIFFERING, "--budget", "200cases", "--check", "equivalence"]}
"""What is run before a command: a run that finds something."""

MINE_TAKES_MODELS = """

from impls.registry import resolve


class OfPieces(Mine):
    def supports(self, vocabulary, mode):
        own = super() if not vocabulary.pieces else resolve("unigram.sentencepiece")
        return own.supports(vocabulary, mode)

    def load(self, vocabulary):
        own = super() if not vocabulary.pieces else resolve("unigram.sentencepiece")
        return own.load(vocabulary)


Mine = OfPieces
"""
"""What the plug-in of the README lacks for the commands on models with pieces."""

START = "from harness.cli.application import main; main()"


def left_out(words):
    """Whether a command is not run here."""
    return any(word.startswith(name) for word in words for name in ELSEWHERE)


def shortened(command):
    """The words of a command, with less to do."""
    name, *words = (SMALL.get(word, word) for word in command.words)
    if "--only-input" in words:
        return name, *words
    given = set(words)
    for option in DEFAULTS.get(name, ()):
        if option[0] not in given:
            words += option
    if name in BUDGETS:  # of two, the last one counts
        words += "--budget", BY_THE_CLOCK if "scaling" in words else BUDGETS[name]
    return name, *words


WHOLE = [one for one in EVERY if one.whole and one.words[0] not in QUICK]


def forms(words):
    """The command, its options, and the form of each value: its punctuation."""
    name, *rest = words
    found, option = {name}, ""
    for word in rest:
        option = word if word.startswith("--") else option
        form = "" if word == option else re.sub(r"[\w-]+", "x", word)
        found.add(f"{name} {option} {form}")
    return found


def of_new_form(commands):
    """Those that have a form which neither one before nor a contract test has."""
    seen = {form for one in SCENARIOS.values() for form in forms(one.words)}
    for words in commands:
        if not forms(words) <= seen:
            yield words
        seen |= forms(words)


RUN = list(of_new_form(shortened(one) for one in WHOLE if not left_out(one.words)))
"""What is run, in the order of the pages: some read what others have written."""


def furnished(folder):
    """Put the files there that commands name: small ones of the same formats."""
    mine = next(one.text for one in BLOCKS if one.page == "README.md" and "`mine.py`" in one.before)
    (folder / "mine.py").write_text(mine + MINE_TAKES_MODELS, "utf-8")
    model = sources.resolve("unigram_bytes").native
    for name in ("my.model", "t5.model"):
        (folder / name).write_bytes(model.content)
    (folder / "converted").mkdir()
    for name in ("converted/tokenizer.json", "old.json", "new.json"):
        (folder / name).write_bytes(sources.resolve("unigram_bytes").as_tokenizer_json())
    ranks = "".join(f"{one} {rank}\n" for rank, one in enumerate(single_bytes()))
    for name in ("o200k.tiktoken.gz", "llama3.tiktoken.gz"):
        (folder / name).write_bytes(gzip.compress(ranks.encode()))
    (folder / "corpus.txt").write_text("A text.\nAnother text.\n", "utf-8")
    (folder / "corpus.jsonl").write_text('{"text": "A text."}\n{"text": "Other."}\n', "utf-8")
    (folder / "notes" / "old").mkdir(parents=True)
    (folder / "notes" / "old" / "one.txt").write_text("A note.\n", "utf-8")
    (folder / "maskbench.tar.zst").write_bytes(schemas())
    (folder / "texts.txt").write_text("A text.\n", "utf-8")
    (folder / "data.jsonl").write_text(
        json.dumps({"text": "A text.", "ids": [*b"A text."]}), "utf-8"
    )
    (folder / "ids.bin").write_bytes("A text.\0".encode("utf-32-le"))
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"body": ["A text.", "Another."]}), folder / "dump.parquet")
    (folder / "shards").mkdir()
    rows = pyarrow.table({"text": ["A text."], "ids": [[*b"A text."]]})
    parquet.write_table(rows, folder / "shards" / "one.parquet")


def schemas():
    """An archive of one schema with a text that it admits."""
    case = {"schema": {"type": "boolean"}, "tests": [{"valid": True, "data": True}]}
    content = json.dumps(case).encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        member = tarfile.TarInfo("data/one.json")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return zstd.compress(packed.getvalue())


def single_bytes():
    """The bytes in base64, as a rank file has them."""
    return [base64.b64encode(bytes([one])).decode() for one in range(256)]


def fault(words, folder):
    """What is wrong with how a command ends; None where it says what the gate says."""
    for line in filter(None, (FIRST.get(words[0]), words)):
        done = subprocess.run(
            [sys.executable, "-c", START, *line], cwd=folder, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False,
        )  # fmt: skip
    if (
        done.returncode in (exit_statuses.HOLDS, exit_statuses.FAILS)
        and "Traceback" not in done.stderr
    ):
        return None
    return f"status {done.returncode}: {done.stderr.strip()[-400:]}"


@pytest.mark.first
@pytest.mark.thorough  # twenty commands, of which each loads a vocabulary
def test_every_kind_of_command_runs(tmp_path):
    furnished(tmp_path)
    failed = []
    for words in RUN:
        if "--cluster" in words and importlib.util.find_spec("ray") is None:
            continue
        told = fault(words, tmp_path)
        if told is not None:
            failed.append(f"tokgate {' '.join(words)}: {told}")
    assert failed == []
    assert len(RUN) > 15


def test_every_command_that_is_not_run_has_its_reason():
    words = [word for one in WHOLE for word in one.words]
    assert [name for name in ELSEWHERE if not any(one.startswith(name) for one in words)] == []
