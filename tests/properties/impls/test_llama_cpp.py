"""llama.cpp's tokenizers by its C API: the structure's layouts, modes, deaths, reproducers."""

import sys
from dataclasses import replace
from functools import cache

import pytest

from corpora.vocabularies import sources
from corpora.vocabularies.gguf_file import to_gguf
from corpora.vocabularies.model import Algorithm, Alphabet, Piece, PieceType
from corpora.vocabularies.patterns import PATTERNS
from corpora.vocabularies.sentencepiece_model import from_pieces
from harness.checks import CHECKS
from harness.checks.questions import examine
from harness.core.comparisons import contracts_of
from harness.engine import selection
from harness.workers import Limits
from harness.workers.pool import WorkerPool
from impls.adapters import llama_cpp
from impls.adapters.llama_cpp import IMPLEMENTATION, Refused, vocab_only_offset
from impls.interface import Mode, Unsupported

try:
    ABOUT = IMPLEMENTATION.about
except ImportError:
    pytest.skip("the extra `llama-cpp` is not installed", allow_module_level=True)

TEXT = Mode()
SPECIAL = Mode(special="all")
BEYOND_UNICODE = b"\xf4\x90\x80\x80"


def defaults(*words):
    return b"".join(bytes.fromhex(word) for word in words) + b"\xaa" * 64


ZERO = "00" * 8
LAYER = "ffffffff01000000"
PADDED = "00000000aaaaaaaa"
LATE = (ZERO, ZERO, LAYER, LAYER, PADDED, ZERO, ZERO, ZERO, ZERO, "000001000000aaaa")
EARLY = (ZERO, ZERO, LAYER, PADDED, ZERO, ZERO, ZERO, ZERO, "0001000000010000")


def test_layouts_are_known_by_their_defaults():
    assert vocab_only_offset(defaults(*LATE)) == 72
    assert vocab_only_offset(defaults(*EARLY)) == 64
    assert vocab_only_offset(llama_cpp.api().defaults()) in (64, 72)


@pytest.mark.parametrize("at", range(10))
def test_another_layout_is_refused(at):
    changed = list(LATE)
    changed[at] = "0100000001000000" if changed[at] != LAYER else ZERO
    with pytest.raises(Refused, match="another layout"):
        vocab_only_offset(defaults(*changed))


def test_where_the_process_that_looks_hangs_or_fails_that_is_said(
    monkeypatch,
):
    look = llama_cpp.offset_seen_elsewhere.__wrapped__
    monkeypatch.setattr(llama_cpp, "HANGING_SECONDS", 0.001)
    with pytest.raises(Refused, match="no answer in 0"):
        look()
    monkeypatch.undo()
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(Refused, match="exit status 1"):
        look()


@pytest.mark.parametrize(
    ("name", "mode", "fault"),
    [
        ("tekken_240911", TEXT, None),
        ("tekken_240911", SPECIAL, None),
        ("mistral_v3", TEXT, None),
        ("unigram_nfkc", TEXT, None),
        ("toy_wordpiece", TEXT, None),
        ("tekken_240911", Mode(pretokenize=False), "cannot be left out"),
        ("toy_acbb", TEXT, "pre-tokenizer"),
        ("unigram_bytes", TEXT, "byte fallback"),
    ],
)
def test_supports(name, mode, fault):
    answer = IMPLEMENTATION.supports(sources.resolve(name), mode)
    assert answer is None if fault is None else fault in str(answer)


def test_whole_pre_tokens_as_its_pre_tokenizer_has_them():
    improper = replace(sources.resolve("toy_improper"), splits=PATTERNS["qwen2"])
    assert "whole pre-tokens" in str(IMPLEMENTATION.supports(improper, TEXT))
    proper = replace(sources.resolve("toy_bytes"), splits=PATTERNS["qwen2"], ignore_merges=True)
    assert IMPLEMENTATION.supports(proper, TEXT) is None


def test_special_tokens_by_mode():
    encoder = IMPLEMENTATION.load(sources.resolve("toy_characters"))
    assert 1 in encoder.encode(b"a<s>b", SPECIAL)
    assert 1 not in encoder.encode(b"a<s>b", TEXT)
    assert encoder.encode(b"", SPECIAL) == []


def test_an_id_that_is_none_does_not_end_the_process():
    encoder = IMPLEMENTATION.load(sources.resolve("toy_bytes"))
    with pytest.raises(ValueError, match="below"):
        encoder.decode([1 << 20])
    assert encoder.decode([]) == b""


def test_byte_level_gets_text_alone_and_pieces_get_bytes():
    with pytest.raises(Unsupported, match="UTF-8"):
        IMPLEMENTATION.load(sources.resolve("toy_bytes")).encode(b"a\xff", TEXT)
    assert IMPLEMENTATION.load(sources.resolve("toy_characters")).encode(b"\xff", TEXT)


def test_an_own_file_is_used_unless_it_was_given_another_pattern(tmp_path):
    content = to_gguf(sources.resolve("toy_bytes"))
    path = f"{tmp_path}/own.gguf"
    with open(path, "wb") as file:  # noqa: PTH123
        file.write(content + b"trailing")
    own = sources.resolve(path)
    assert llama_cpp.gguf_file(own) == content + b"trailing"
    assert llama_cpp.pre_of(content) == "gpt-2"
    assert llama_cpp.pre_of(b"GGUF") == "default"
    other = llama_cpp.gguf_file(sources.resolve(f"{path}#pattern=qwen2"))
    assert llama_cpp.pre_of(other) == "qwen2"


# Deaths, through the harness


@cache
def asked():
    names = ["llama.cpp", "impls.adapters.llama_cpp:AS_BYTES", "bpe.heap", "sentencepiece"]
    return selection.participants(names)[0]


@pytest.fixture(scope="module")
def pool():
    made = WorkerPool(asked(), Limits())
    yield made
    made.close()


def violations(pool, vocabulary, inputs, *names):
    """``name: stage`` of what the survival check finds."""
    participants = [c for c in asked() if c.name in names]
    assert pool.load(vocabulary, names) == {}
    contracts = contracts_of(vocabulary, participants, frozenset(), proper=True)
    text = next(contract for contract in contracts if contract.mode == TEXT)
    found = examine(pool, text, CHECKS["survival"], inputs).violations
    return [f"{one.culprits[0]}: {one.stage}" for one in found]


def test_what_lies_beyond_unicode_ends_it_and_the_run_goes_on(pool):
    names = ("llama.cpp-bytes", "bpe.heap")
    toy = sources.resolve("toy_bytes")
    found = violations(pool, toy, [b"a", BEYOND_UNICODE, b"b"], *names)
    assert found == ["llama.cpp-bytes: crashed"]
    assert violations(pool, toy, [b"a", b"b"], *names) == []


def test_bytes_without_pieces_end_it(pool):
    whole = sources.resolve("toy_characters")
    lacking = from_pieces(
        "lacking",
        [piece for piece in whole.pieces if piece.type is not PieceType.BYTE],
        algorithm=Algorithm.BPE,
        normalizer=whole.normalizer,
        byte_fallback=True,
        file_format="toy",
        source_path=None,
    )
    found = violations(pool, lacking, [b"ab", b"\xc3\xa0"], "llama.cpp")
    assert "llama.cpp: crashed" in found
    assert violations(pool, whole, [b"\xc3\xa0"], "llama.cpp") == []


def refused(pool, vocabulary):
    return pool.load(vocabulary, ["llama.cpp"]).get("llama.cpp")


@pytest.mark.parametrize(
    ("charsmap", "fault"),
    [
        (b"\x01", "too small"),
        (b"\xff\xff\x00\x00abcd", "out of array bounds"),
        (b"\x04\x00\x00\x00\x00\xfc\xff\xffa\x00", "XCDA"),
    ],
)
def test_a_corrupt_charsmap_is_refused_by_name(pool, charsmap, fault):
    toy = sources.resolve("toy_unigram")
    broken = replace(toy, normalizer=replace(toy.normalizer, charsmap=charsmap))
    answer = refused(pool, broken)
    assert answer is not None
    assert fault in str(answer.error)
    assert refused(pool, toy) is None


def test_scores_that_are_no_numbers_are_answered(pool):
    toy = sources.resolve("toy_unigram")
    pieces = list(toy.pieces)
    pieces[5] = Piece(pieces[5].text, float("nan"), PieceType.NORMAL)
    odd = replace(toy, pieces=tuple(pieces))
    assert violations(pool, odd, [b"ab cab", b"z"], "llama.cpp") == []


def test_pieces_of_one_text_are_not_given_to_it():
    toy = sources.resolve("toy_unigram")
    assert toy.alphabet is Alphabet.CHARACTERS
    twice = replace(toy, pieces=(*toy.pieces, toy.pieces[5]))
    assert "one text" in str(IMPLEMENTATION.supports(twice, TEXT))  # it would fail an assertion
