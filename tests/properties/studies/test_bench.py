"""``tokgate bench``: texts, planted implementations told apart, interruption, the record."""

import gc
import json
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.texts import benchmarks as texts
from corpora.vocabularies import sources
from harness.core.messages import Measure
from harness.core.outcomes import Inputs
from harness.engine.selection import SelectionError
from harness.studies.bench.measure import Cell, Row, foretold, ladder
from harness.studies.bench.plan import parse_size, participants
from harness.workers.calls import as_ids, characters_apart
from harness.workers.stopwatch import measured
from impls.external_times import Timed
from impls.interface import Mode, Unsupported
from tests.breadth import thorough_from
from tests.doubles.command import here, tokgate
from tests.doubles.tables import rows

PLUGIN = """
import os, time
from impls.interface import About
from impls.adapters import tiktoken

class Planted:
    mutant = "none"
    def supports(self, vocabulary, mode):
        return tiktoken.IMPLEMENTATION.supports(vocabulary, mode)
    @property
    def about(self):
        return About(name=self.mutant, version="1")
    def load(self, vocabulary):
        if self.mutant == "unloadable":
            raise RuntimeError("no weights")
        self.right = tiktoken.IMPLEMENTATION.load(vocabulary)
        return self
    def encode(self, data, mode):
        return self.right.encode(data, mode)

class Slow(Planted):
    mutant = "slow"
    def encode(self, data, mode):
        end = time.process_time() + 0.05
        while time.process_time() < end:
            pass
        return super().encode(data, mode)

class Wrong(Planted):
    mutant = "wrong"
    def encode(self, data, mode):
        return [*super().encode(data, mode), 0]

class Crashing(Planted):
    mutant = "crashing"
    def encode(self, data, mode):
        if len(data) > 2000:
            os._exit(3)
        return super().encode(data, mode)

class Growing(Planted):
    mutant = "growing"
    def encode(self, data, mode):
        end = time.process_time() + (len(data) / 1024) ** 2 / 100
        while time.process_time() < end:
            pass
        return super().encode(data, mode)

class Unloadable(Planted):
    mutant = "unloadable"
"""

FEW = ("--vocab", "toy_bytes", "--input", "source", "--size", "1KB", "--rounds", "1")


@pytest.fixture
def plugin(tmp_path):
    path = tmp_path / "plugin.py"
    path.write_text(PLUGIN)
    return str(path)


def impls(plugin, *names):
    return [f"--impl={plugin}:{name}" for name in names]


def recorded(folder):
    whole = json.loads((folder / "tokgate-bench" / "bench.json").read_text())
    return whole


@pytest.mark.parametrize("name", [one for one in texts.TEXTS if not texts.trouble(one)])
@pytest.mark.parametrize(
    "vocabulary", thorough_from(1, ["toy_acbb", "unigram_nfkc", "tekken_240911"])
)
def test_a_text_is_its_size_and_seed_and_valid(name, vocabulary):
    loaded = sources.resolve(vocabulary)
    text = texts.TEXTS[name]
    for size in (16, 1000, 70_001):
        data = text.of(loaded, size, 5)
        assert size - 3 <= len(data) <= size
        assert loaded.can_encode(data)
        assert text.of(loaded, size, 5) == data
        words = data.decode()
        assert name != "one-piece" or (words.isalpha() and words.islower())
    assert len({text.of(loaded, 70_001, seed) for seed in range(5)}) == 5


def test_without_wordfreq_the_words_are_made_up(monkeypatch):
    monkeypatch.setattr(texts, "_frequencies", lambda: None)
    data = texts.TEXTS["multilingual"].of(sources.resolve("toy_bytes"), 5000, 0)
    assert 4997 <= len(data) <= 5000
    assert "made-up" in texts.summary("multilingual")


def test_a_file_gives_another_part_for_each_seed(tmp_path):
    path = tmp_path / "text"
    path.write_text("".join(f"line {i} \u00e9\u65e5\n" for i in range(2000)))
    text, vocabulary = texts.of_file(path), sources.resolve("toy_bytes")
    found = {text.of(vocabulary, 1001, seed).decode() for seed in range(8)}
    assert len(found) == 8
    assert len(text.of(vocabulary, 1 << 20, 1)) == path.stat().st_size


@given(st.text(), st.integers(4, 40))
def test_parts_are_cut_between_characters(text, most):
    parts = list(characters_apart(text.encode(), most))
    assert "".join(part.decode() for part in parts) == text
    assert all(len(part) <= most for part in parts)


def test_sizes():
    given = {"1KB": 1 << 10, "64 KiB": 1 << 16, "1M": 1 << 20, "5000": 5000, "1gb": 1 << 30}
    assert [parse_size(text) for text in given] == [*given.values()]
    for wrong in ("", "big", "1.5MB", "0", "15", "2GB", "-1KB"):
        with pytest.raises(SelectionError, match="--size"):
            parse_size(wrong)


def test_quadratic_costs_are_foretold():
    assert foretold([], 1000) == 0.0
    assert foretold([(1000, 0.001)], 8000) == pytest.approx(0.008)
    assert foretold([(1000, 0.001), (8000, 0.064)], 64_000) == pytest.approx(4.096)
    assert foretold([(1000, 0.01), (8000, 0.01)], 64_000) == pytest.approx(0.08)
    assert ladder([1 << 10, 1 << 16]) == [1 << 10, 1 << 13, 1 << 16]


def test_who_is_trusted_is_asked_besides_where_others_are_named():
    present, _, judges = participants([])
    assert "tiktoken" in {one.name for one in present}
    assert judges == []
    present, _, judges = participants(["bpe.heap", "tiktoken"])
    assert [one.name for one in present] == ["bpe.heap", "tiktoken"]
    assert [one.name for one in judges] == ["sentencepiece", "tokenizers"]


def test_ids_of_a_variant_are_others_by_design():
    right = Cell(Row(*participants(["tiktoken"])[0]), 8, tokens=1, digest="a")
    for name, answer in (("bpe.heap", "different"), ("unigram.llama-cpp", "by-law")):
        other = Cell(Row(*participants([name])[0]), 8, tokens=1, digest="b")
        assert other.answer(right) == answer


class Encoding:
    """Gives the bytes of a text for its ids, and tells what it is asked."""

    def __init__(self, each=lambda data: None):
        self.asked, self.each = [], each

    def encode(self, data, mode):
        self.asked.append(data)
        self.each(data)
        return list(data)


def test_passes_until_the_least_time():
    encoder = Encoding()
    request = Measure(Inputs.of([b"ab", b"c"]), Mode(), warm_up=2, least=2_000_000, ids=True)
    results = measured(encoder, request)
    assert results.ids.tolist() == [97, 98, 99]
    assert len(encoder.asked) >= 2 * (2 + 1 + results.timed.passes)
    assert results.timed.passes * results.timed.cpu >= 1_000_000 - results.timed.passes


def test_a_text_that_keeps_threads_running_comes_first_and_is_not_timed():
    encoder = Encoding()
    request = Measure(Inputs.of([b"new"]), Mode(), ids=True, before=b"seen")
    results = measured(encoder, request)
    assert set(encoder.asked[:-1]) == {b"seen"}
    assert encoder.asked[-1] == b"new"
    assert (results.ids.tolist(), results.timed.passes) == (list(b"new"), 1)


def test_no_collection_meanwhile_nor_a_walk_over_what_was_there_before():
    there, seen = [0], []  # a list is what collections walk over

    def look(data):
        seen.append((gc.isenabled(), any(one is there for one in gc.get_objects())))

    try:
        measured(Encoding(look), Measure(Inputs.of([b""]), Mode()))
    finally:
        gc.unfreeze()
    assert seen == [(False, False)]
    assert gc.isenabled()


def test_answers_that_are_no_ids():
    assert as_ids(np.array([1, 2], dtype=np.uint32)).tolist() == [1, 2]
    assert as_ids(7).tolist() == [7]
    assert as_ids([]).tolist() == []
    for answer in ([1.5], ["a"], [[1, 2]], [2**31]):
        with pytest.raises(TypeError):
            as_ids(answer)


class TestBatches:
    """Many texts in one call, on one thread and on several."""

    TEXT = "\u00fcbers a bc ".encode() * 40

    def ids(self, encoder, threads=1, *, shared=True):
        inputs = Inputs.of([self.TEXT])
        request = Measure(inputs, Mode(), ids=True, document=16, threads=threads, shared=shared)
        return bytes(measured(encoder, request).ids.tolist())

    def test_the_librarys_own_call_is_taken_else_one_text_after_another(self):
        class Own(Encoding):
            def prepare_batch(self, texts, mode, threads):
                self.batch = len(texts), threads
                return lambda: [list(text) for text in texts]

        own, other = Own(), Encoding()
        parts = [*characters_apart(self.TEXT, 16)]
        assert self.ids(own, threads=3, shared=False) == self.ids(other) == self.TEXT
        assert (own.batch, own.asked) == ((len(parts), 3), [])
        assert other.asked == parts

    def test_threads_share_the_texts_and_keep_their_order(self):
        who, both = set(), threading.Barrier(2, timeout=60)

        def meet(data):
            if threading.get_ident() not in who:
                who.add(threading.get_ident())
                both.wait()  # ends only where two are at work at once

        # The second time by the same threads, as encoders may remember texts for each.
        for _ in range(2):
            assert self.ids(Encoding(meet), threads=2) == self.TEXT
            assert len(who) == 2

    def test_who_must_not_be_called_from_threads_is_not(self):
        class Program(Timed, Encoding):
            """A program, by its times."""

            _program = None

        with pytest.raises(Unsupported, match="several threads"):
            self.ids(Encoding(), threads=2, shared=False)
        with pytest.raises(Unsupported, match="one thing at a time"):
            self.ids(Program(), threads=2)


@pytest.mark.thorough  # a whole benchmark; its parts have quick tests
def test_batches_and_threads(tmp_path):
    done = tokgate(
        "bench", *FEW, "--mode=threads", "--threads=2", "--document=100",
        "--impl=tiktoken", "--impl=bpe.heap", folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    whole = recorded(tmp_path)
    assert whole["complete"] and whole["schema"] == 1
    assert (whole["started"]["document"], whole["started"]["threads"]) == (100, 2)
    rows = {(c["mode"], c["row"], c["answer"]) for c in whole["cells"]}
    assert rows == {
        (mode, row, "equal") for mode in ("batch", "threads") for row in ("tiktoken", "bpe.heap")
    }
    assert "× one thread" in done.stdout


@pytest.mark.thorough  # whole benchmarks, by the clock
def test_planted_implementations_are_told_apart(plugin, tmp_path):
    names = ("Planted", "Slow", "Wrong", "Crashing", "Growing", "Unloadable")
    done = tokgate(
        "bench", *FEW, "--size", "8KB", "--size", "64KB", "--mode", "text",
        "--impl=tiktoken", *impls(plugin, *names), folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 3, "for one that does not load"
    assert "unloadable cannot run toy_bytes: RuntimeError: no weights" in done.stderr
    cells = {(c["row"], c["size"]): c for c in recorded(tmp_path)["cells"]}
    answers = {row: cell["answer"] for (row, size), cell in cells.items() if size == 1024}
    assert answers["wrong"] == "different"
    assert {answers[name] for name in ("tiktoken", "none", "slow")} == {"equal"}
    assert cells["crashing", 1024]["status"] == "measured"
    assert cells["crashing", 8192]["status"] == "failed"
    assert "crashed" in cells["crashing", 8192]["note"]
    assert cells["growing", 65536]["status"] == "skipped"
    assert "a call would take about" in cells["growing", 65536]["note"]
    assert {t["kind"] for t in cells["none", 65536]["timings"]} == {"cold", "warm", "fresh"}
    lines = [line.split()[0] for line in done.stdout.splitlines() if line.strip()]
    assert lines.index("none") < lines.index("slow")
    assert "wrong ✗" in done.stdout


MISTAKES = """
--size huge     | --size 'huge'
--input poems   | one of source
--input no      | one of source
--input .       | one of source
--mode fast     | use one of text, raw
--impl gigatokn | did you mean 'gigatoken'?
"""


def test_mistakes_are_one_line(tmp_path):
    (tmp_path / "no").write_bytes(b"\xff")
    for option, words in rows(MISTAKES):
        done = here("bench", *option.split(), folder=tmp_path)
        assert done.returncode == 2, done.stderr
        assert words in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
