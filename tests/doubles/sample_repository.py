"""A small repository of a tokenizer in plain Python, in which somebody sets up a gate."""

import sys
from pathlib import Path

from corpora.vocabularies import sources
from impls.examples import stdio_encoder

PROJECT = """[project]
name = "minitok"
version = "1.0"

[tool.ruff]
line-length = 100
"""

ADAPTER = """
from base64 import b64encode

from impls.interface import About
from minitok.bpe import Encoder


class Minitok:
    about = About(name="minitok", version="1.0")

    def supports(self, vocabulary, mode):
        if vocabulary.algorithm != "bpe" or vocabulary.pieces:
            return "byte-level BPE only"
        return "one piece only" if mode.pretokenize or mode.special == "all" else None

    def load(self, vocabulary):
        merges = vocabulary.merges
        return Loaded({
            "tokens": [token and b64encode(token) for token in vocabulary.tokens],
            "merges": list(zip(*(x.tolist() for x in (merges.left, merges.right, merges.merged)))),
            "special_tokens": vocabulary.special_tokens,
            "ignore_merges": vocabulary.ignore_merges,
        })


class Loaded(Encoder):
    def encode(self, data, mode):
        return super().encode(data)
"""

MERGES = 'enumerate(bundle["merges"])'
"""Where the sample's tokenizer reads its merges."""


def write(folder):
    """Write the repository: a package, a vocabulary file, and what looks like them."""
    for name in ("minitok", "data", "tests", ".cache"):
        (folder / name).mkdir(parents=True)
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "minitok" / "__init__.py").touch()
    source = Path(stdio_encoder.__file__).read_text("utf-8")
    assert MERGES in source
    (folder / "minitok" / "bpe.py").write_text(source, "utf-8")
    (folder / "minitok" / "gate.py").write_text(ADAPTER)
    (folder / "tests" / "wrong.py").write_text(ADAPTER)
    ranks = sources.resolve("toy_bytes").as_tiktoken()
    (folder / "data" / "mini.tiktoken").write_bytes(ranks)
    (folder / ".cache" / "other.tiktoken").write_bytes(ranks)
    (folder / "data" / "weights.model").write_bytes(b"\x80 a pickle, and no vocabulary")


def break_a_merge(folder):
    """The sample's tokenizer forgets its last merge from now on."""
    file = folder / "minitok" / "bpe.py"
    file.write_text(file.read_text("utf-8").replace(MERGES, f"{MERGES[:-1]}[:-1])"), "utf-8")


def installed(folder):
    """The environment of a process in which the sample's package is installed, and tokgate is."""
    return {"PYTHONPATH": str(folder), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
