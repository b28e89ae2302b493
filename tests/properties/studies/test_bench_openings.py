"""``tokgate bench --mode load``: what is counted as code, as opening, and as memory."""

import json

import pytest

from harness.core.messages import Open, Opened
from harness.workers.openings import opened
from impls.interface import Mode
from tests.doubles.command import tokgate

MEBIBYTE = 1 << 20
BURNT = 0.3

PLUGIN = """
import os, time
from pathlib import Path
from impls.interface import About

MEBIBYTE = 1 << 20

def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

class Planted:
    about = About(name="planted", version="1")
    def supports(self, vocabulary, mode):
        return None
    def load(self, vocabulary):
        burn(0.3)
        self.held = bytearray(b"x") * (64 * MEBIBYTE)
        return self
    def encode(self, data, mode):
        if len(data) > 100 and not hasattr(self, "cache"):
            self.cache = bytearray(b"x") * (32 * MEBIBYTE)
        return list(data)

class Keeping(Planted):
    about = About(name="keeping", version="1")
    def load(self, vocabulary):
        kept = Path(os.environ["TOKGATE_CACHE_DIR"], vocabulary.fingerprint)
        if not kept.exists():
            burn(0.5)
            kept.write_text("tables")
        return self

class Unloadable(Planted):
    about = About(name="unloadable", version="1")
    def load(self, vocabulary):
        raise RuntimeError("no weights")

class OfASmallOne(Planted):
    about = About(name="small", version="1")
    def load(self, vocabulary):
        if not hasattr(OfASmallOne, "code"):
            burn(0.3)
            OfASmallOne.code = bytearray(b"x") * (48 * MEBIBYTE)
        return self

class OfSymbols(Planted):
    about = About(name="symbols", version="1")
    def load(self, vocabulary):
        if any(piece.text == "<symbol>" for piece in vocabulary.pieces):
            raise ValueError("there is a symbol")
        return self

PLANTED, SMALL, SYMBOLS = Planted(), OfASmallOne(), OfSymbols()
"""


@pytest.fixture
def plugin(tmp_path):
    path = tmp_path / "plugin.py"
    path.write_text(PLUGIN)
    return str(path)


def asked(spec, small="", *, symbols=False):
    # No merges are derived for this one, so that nothing else takes memory.
    data = b"first", b"x" * 1000
    return costs(Open(spec, "toy_unigram", "", "", small, (), *data, Mode(), symbols))


def costs(request):
    found = opened(request).costs
    return Opened(*found[0].tolist())


class TestMeasuring:
    def test_an_opening_is_from_the_file_to_the_first_ids(self, plugin):
        found = asked(f"{plugin}:PLANTED")
        assert found.cpu >= BURNT * 1e9 > found.code
        assert found.wall > 0
        # The allocator rounds, and gives a little of what was there before back.
        assert 60 <= (found.own_after - found.own_before) / MEBIBYTE <= 80
        assert 60 <= (found.after - found.before) / MEBIBYTE <= 80
        assert 28 <= (found.own_worked - found.own_after) / MEBIBYTE <= 40

    def test_the_code_is_there_once_a_small_vocabulary_was_loaded(self, plugin):
        found = asked(f"{plugin}:SMALL", "toy_unigram")
        assert found.code >= BURNT * 1e9 > found.cpu
        assert (found.after - found.before) / MEBIBYTE < 20

    def test_a_small_vocabulary_has_symbols_where_the_large_one_does(self, plugin):
        asked(f"{plugin}:SYMBOLS", "toy_unigram")
        with pytest.raises(ValueError, match="there is a symbol"):
            asked(f"{plugin}:SYMBOLS", "toy_unigram", symbols=True)

    def test_a_library_reads_its_own_file_by_its_own_lines(self, tmp_path, monkeypatch):
        library = tmp_path / "a_library_of_its_own.py"
        library.write_text(
            "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass\n"
        )
        monkeypatch.syspath_prepend(tmp_path)
        (tmp_path / "file").write_bytes(b"x" * MEBIBYTE)
        recipe = (
            "import a_library_of_its_own\n"
            "tables = open(VOCABULARY, 'rb').read() * 64\n"
            "def encode(data):\n    return tables[: len(data)]\n"
        )
        request = Open("", str(tmp_path / "file"), recipe, "", "", (), b"1", b"text", Mode())
        found = costs(request)
        assert found.code >= BURNT * 1e9 > found.cpu
        assert 60 <= (found.own_after - found.own_before) / MEBIBYTE <= 80


@pytest.mark.thorough  # a whole benchmark, each opening in a process of its own
def test_cold_is_without_tables_and_warm_with_them(plugin, tmp_path):
    names = ("tiktoken", "unigram.sentencepiece", f"{plugin}:Keeping", f"{plugin}:Unloadable")
    done = tokgate(
        "bench", "--mode=load", "--vocab=toy_bytes", "--input=source", "--size=1KB", "--rounds=2",
        *(f"--impl={name}" for name in names), folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 3
    assert "unloadable cannot run toy_bytes: RuntimeError: no weights" in done.stderr
    whole = json.loads((tmp_path / "tokgate-bench" / "bench.json").read_text())
    assert (whole["cells"], whole["complete"]) == ([], True)
    found = {one["implementation"]: one for one in whole["openings"]}
    assert {name: one["status"] for name, one in found.items()} == {
        "tiktoken": "measured", "unigram.sentencepiece": "unsupported", "keeping": "measured",
        "unloadable": "failed",
    }  # fmt: skip
    assert found["tiktoken"]["file"] == "vocabulary.tiktoken"
    for name in ("tiktoken", "keeping"):
        order = [(opening["round"], opening["kind"]) for opening in found[name]["openings"]]
        assert order == [(0, "cold"), (0, "warm"), (1, "cold"), (1, "warm")]
    for opening in found["keeping"]["openings"]:
        assert (opening["cpu"] >= 0.5) == (opening["kind"] == "cold")
    assert "toy_bytes" in done.stdout
