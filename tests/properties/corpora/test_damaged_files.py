"""Files that were tracebacks, gigabytes or a hang once: each is one clear line now.

The tables have each fault that a reader names; that no damage is anything else than such a line is
what tests/faults/fuzzing tries.
"""

import gzip
import io
import operator
import os
import re
import struct
import tarfile
from functools import partial
from pathlib import Path

import pytest

from corpora.families import user
from corpora.grammars.corpus import CorpusError, read_cases
from corpora.texts import benchmarks as texts
from corpora.vocabularies import gguf_metadata, limits, reading
from corpora.vocabularies.model import VocabularyError
from corpora.vocabularies.reading import FileError, read_toml
from corpora.vocabularies.sources import load_path
from tests.properties.corpora.files import (
    GGUF_BPE,
    GGUF_PIECES,
    byte_bpe,
    character_bpe,
    encoding,
    gguf,
    proto,
    ranks,
    refusal,
    tekken,
    unigram,
    wordpiece,
    written,
)


def refused(path, fault, content=None):
    """A file is refused in one line that begins with its path and names the fault."""
    line = refusal(load_path, path if content is None else written(path, content))
    assert line.startswith(str(path))
    assert fault in line


# What is no regular file, what is too large, and what is no file of its kind


def test_a_pipe_and_a_device_are_not_waited_for(tmp_path):
    os.mkfifo(pipe := tmp_path / "x.tiktoken")
    refused(pipe, "not a regular file, but a pipe or a device")
    with pytest.raises(CorpusError, match="not a regular file"):
        next(read_cases(pipe))
    with pytest.raises(user.FamiliesError, match="not a regular file"):
        user.read(Path("/dev/zero"))
    with pytest.raises(FileError):
        texts.of_file(Path("/dev/zero"))


def test_files_without_end(tmp_path):
    (sparse := tmp_path / "x.tiktoken").touch()
    os.truncate(sparse, 1 << 40)
    refused(sparse, "has more than")
    bomb = gzip.compress(bytes(limits.MAX_FILE_BYTES + 1), 1)
    refused(tmp_path / "x.tiktoken.gz", "unpacks to more than 134,217,728 bytes", bomb)
    many = b'{"x":[' + b"0," * (limits.MAX_JSON_COMMAS + 1) + b"0]}"
    refused(tmp_path / "tokenizer.json", "has more than 4,194,304 values", many)
    lines = b"YQ== 0\n" + b"\n" * (2 * limits.MAX_IDS)
    refused(tmp_path / "x.tiktoken", "lines, more than", lines)


def test_tokens_whose_encoding_would_take_hours(tmp_path):
    refused(tmp_path / "x.tiktoken", "are too long", ranks(*(b"%0800d" % i for i in range(2000))))


def test_the_weights_of_a_gguf_file_are_not_read(tmp_path, monkeypatch):
    content = raw_gguf(MODEL) + bytes(1000)
    monkeypatch.setattr(reading.read_bytes, "__defaults__", (len(content) - 500,))
    refused(tmp_path / "x.gguf", "has no tokenizer.ggml.tokens", content)


CUT = gzip.compress(ranks(b"a", b"b", b"ab"), mtime=0)[:-12]


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("x.tiktoken", CUT, "gzip"),
        ("x.tiktoken", b"\x1f\x8bnonsense", "gzip"),
        ("x.tiktoken.gz", b"YQ== 0\n", "not gzip"),
        ("x.tiktoken", b"", "empty"),
        ("x.tiktoken", b"\xef\xbb\xbfYQ== 0\n", "begins with a byte order mark"),
        *(("tokenizer.json", b, "") for b in (b"{", b"[]", b"null", b"\xff\xfe", b"{}")),
        ("tekken.json", b'{"vocab": []}', "has no config and vocab"),
        ("tokenizer.json", b'{"normalizer":' + b"[" * 100_000, "is not JSON (maximum recursion"),
    ],
)
def test_what_is_no_file_of_its_kind(tmp_path, name, content, fault):
    refused(tmp_path / name, fault, content)


# Ranks


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (b"YQ== 0\nYWI 1\n", "line 2: the token 'YWI' is not base64"),
        (b"YQ== 0\nYg==", "line 2: 1 fields"),
        (b"YQ== 0\n" + b"YQ== " * 1000, "line 2: 3 or more fields instead of 2"),
        (b"YQ== -1\n", "is not an integer"),
        (b"YQ== %d\n" % limits.MAX_IDS, "out of range"),
        (b"YQ== 99999999999999999999999\n", "out of range"),
        (b"YQ== 0\nYQ== 1\n", "line 2: the token is already in line 1"),
        (b"YQ== 0\nYg== 0\n", "line 2: the rank 0 appears twice"),
        (b"\n\n", "no tokens"),
        (b"= 0\n", "no tokens"),
    ],
)
def test_rank_files(tmp_path, lines, fault):
    refused(tmp_path / "x.tiktoken", fault, lines)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"bpe_ranks": "! 0 YQ== Y"}, "'Y' is not base64"),
        ({"bpe_ranks": "! x YQ=="}, "line 1: begins with '! x YQ=='"),
        ({"bpe_ranks": "YQ=="}, "line 1: begins with 'YQ=='"),
        ({"bpe_ranks": "! 0 YQ== Yg==\n! 1 Yw=="}, "the rank 1 appears twice"),
        ({"special_tokens": {"<s>": 1}}, "which is a rank, too"),
        ({"special_tokens": {"<s>": 9, "<t>": 9}}, "two of them share an id"),
        ({"special_tokens": {"": 9}}, "no text"),
        ({"pat_str": "("}, "pat_str is not a regular expression"),
    ],
)
def test_encodings_of_tiktoken_for_javascript(tmp_path, changes, fault):
    refused(tmp_path / "encoding.json", fault, encoding(**changes))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"default_vocab_size": 10**6}, "does not fit 259 tokens"),
        ({"default_vocab_size": 10}, "does not fit 259 tokens"),
        ({"pattern": "("}, "config.pattern is not a regular expression (missing ) at position 1)"),
        ({"pattern": "a" * 9000}, "characters in config.pattern"),
        ({"entries": {3: {"rank": 3, "token_bytes": "é"}}}, "vocab[3]: token_bytes is not base64"),
        ({"entries": {3: {"rank": 4, "token_bytes": "Aw=="}}}, "vocab[3]: has the rank 4"),
        ({"entries": {3: {"rank": 3, "token_bytes": "BA=="}}}, "bytes in order"),
        ({"entries": {3: {"rank": 3, "token_bytes": ""}}}, "token_bytes is empty"),
        ({"entries": {257: {"rank": 257, "token_bytes": "YWI="}}}, "vocab[257] repeats"),
        ({"special_tokens": [{"rank": 0, "token_str": ""}]}, "a token_str is empty"),
        ({"special_tokens": [{"rank": 10, "token_str": "x"}]}, "special_tokens repeat or exceed"),
        ({"special_tokens": [{"rank": i, "token_str": "x"} for i in (0, 1)]}, "repeat or exceed"),
    ],
)
def test_tekken(tmp_path, changes, fault):
    refused(tmp_path / "tekken.json", fault, tekken(**changes))


# SentencePiece


def test_models(tmp_path):
    path, whole = tmp_path / "x.model", proto()
    refused(path, "corrupt", whole.SerializeToString()[:-3])
    refused(path, "no pieces", b"\x12\x00")
    refused(path, "pieces[2].piece is empty", proto(1, {2: ("", 0, 1)}).SerializeToString())
    not_text = whole.SerializeToString().replace(b"\x0a\x01a", b"\x0a\x01\xff")
    refused(path, "pieces[2].piece is not UTF-8", not_text)
    whole.ClearField("trainer_spec")  # as cut between two pieces
    refused(path, "trainer_spec is missing", whole.SerializeToString())


# tokenizer.json


def added(**fields):
    return byte_bpe(added_tokens=[{"id": 3, "content": "<s>", "special": True, **fields}])


def nested(depth):
    step = {"type": "NFC"}
    for _ in range(depth):
        step = {"type": "Sequence", "normalizers": [step]}
    return step


SPLIT = {"type": "Split", "behavior": "Isolated", "pattern": {"Regex": "[z-a]"}}


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        (added(content="\ud800"), "is not JSON"),
        (added(id=-1), "added_tokens[0].id: expected `int` >= 0"),
        (byte_bpe(type="Letters"), "model.type is 'Letters'"),
        (byte_bpe(vocab={"a": -1}), "model.vocab: the id of 'a' is -1"),
        (byte_bpe(vocab={"a" * 9000: 0}, merges=[]), "the token of id 0 has 9,000 bytes"),
        (byte_bpe(vocab={}, merges=[], added_tokens=[]), "has no tokens"),
        (byte_bpe(merges=["a b", "b b"]), "model.merges[1] 'b b' needs the missing token 'bb'"),
        (byte_bpe(merges=["ab"]), "model.merges[0] 'ab' is not a pair"),
        (byte_bpe(merges=["a "]), "is not a pair"),
        (byte_bpe(merges=["a b a"]), "is not a pair"),
        (byte_bpe(merges=[["a", ""]]), "is not a pair"),
        (byte_bpe(dropout=1.1), "model.dropout"),
        (byte_bpe(normalizer={"type": "Precompiled"}), "`precompiled_charsmap`"),
        (byte_bpe(normalizer={"type": "Sequence"}), "normalizer.normalizers is not a list"),
        (byte_bpe(normalizer=nested(300)), "nested deeper than 16"),
        (byte_bpe(pre_tokenizer=SPLIT), "pre_tokenizer.pattern is not a regular expression (bad"),
        (unigram(vocab=[]), "model.vocab: expected `array` of length"),
        (unigram(unk_id=4), "model.unk_id is 4"),
        (unigram(unk_id=-1, normalizer={"type": "Lowercase"}), "model.unk_id is -1"),
        (wordpiece(unk_token=""), "model.unk_token is empty"),
        (
            unigram(normalizer={"type": "Precompiled", "precompiled_charsmap": "A"}),
            "a precompiled_charsmap is not base64",
        ),
    ],
)
def test_tokenizer_json(tmp_path, document, fault):
    refused(tmp_path / "tokenizer.json", fault, document)


# Any field of JSON


def leaves(node, place=""):
    """Where the values of a document stand, as messages say it, and what puts another one there."""
    members = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in [*members]:
        at = f"{place}[{key}]" if isinstance(node, list) else f"{place}.{key}".lstrip(".")
        yield at, partial(operator.setitem, node, key)
        if isinstance(value, dict | list):
            yield from leaves(value, at)


UNREAD = (
    "added_tokens",
    "special_tokens.",
    "bpe_ranks",
    "pre_tokenizer.replacement",
    "model.vocab",
)
"""Fields of which the type is not what a message is about: it names the token, or the format."""


NOWHERE = (-1, 2**31, ["odd"])
"""What no field takes, but for the scores of pieces, which are any numbers."""


@pytest.mark.parametrize("make", [encoding, tekken, byte_bpe, character_bpe, unigram, wordpiece])
@pytest.mark.parametrize("odd", [{"odd": "one"}, 0.5, True, None, "", {}, [], *NOWHERE], ids=repr)
def test_a_field_of_another_type_is_named(tmp_path, make, odd):
    """In the message, or, where the file means something all the same, in the step it stands in."""
    name = "tekken.json" if make is tekken else "x.json"
    for number, (place, _) in [*enumerate(leaves(make()))][:80]:
        document = make()
        [*leaves(document)][number][1](odd)
        path = written(tmp_path / name, document)
        try:
            vocabulary = load_path(path)
        except VocabularyError as error:
            line = str(error)
            assert line.startswith(str(path)) and line.isprintable()
            assert re.split(r"[.\[]", place)[-1].strip("]") in line or place.startswith(UNREAD), (
                place
            )
        else:
            assert vocabulary.fingerprint
            score = re.fullmatch(r"model\.vocab\[\d\]\[1\]", place)
            assert odd not in NOWHERE or score, place


# GGUF


def raw_gguf(*fields, count=None, version=3):
    out = b"GGUF" + struct.pack("<IQQ", version, 0, len(fields) if count is None else count)
    for name, kind, body in fields:
        out += struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", kind) + body
    return out


def text(data):
    return struct.pack("<Q", len(data)) + data


def array(name, kind, count, body=b""):
    return f"tokenizer.ggml.{name}", 9, struct.pack("<IQ", kind, count) + body


MODEL = ("tokenizer.ggml.model", 8, text(b"gpt2"))


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (raw_gguf(MODEL, count=2**40), "fields of metadata"),
        (raw_gguf(MODEL, MODEL), "appears twice"),
        (raw_gguf(MODEL, version=9), "version 9"),
        (raw_gguf(MODEL, version=1), "version 1"),
        (raw_gguf(), "has no tokenizer.ggml.model"),
        (raw_gguf(("tokenizer.ggml.model", 4, bytes(4))), "model is 0, not a string"),
        (raw_gguf(("tokenizer.ggml.model", 8, text(b"\xff"))), "model is not UTF-8"),
        (raw_gguf(("tokenizer.ggml.model", 77, b"")), "tokenizer.ggml.model: type 77"),
        (raw_gguf(MODEL, array("tokens", 8, 2**62)), "tokens: 4611686018427387904 strings"),
        (raw_gguf(MODEL, array("tokens", 5, 2**62)), "the file ends within it"),
        (raw_gguf(MODEL, array("tokens", 8, 1, text(b"ab")[:-1])), "the file ends within it"),
        (raw_gguf(MODEL, ("other", 9, struct.pack("<IQ", 9, 1) * 9)), "other: an array too deep"),
        (raw_gguf(MODEL, array("tokens", 8, 1, text(b"\xff"))), "tokens[0] is not UTF-8"),
        (raw_gguf(MODEL, array("tokens", 9, 1, struct.pack("<IQ", 8, 0))), "tokens: type 9"),
    ],
)
def test_gguf_counts_are_not_believed(tmp_path, content, fault):
    refused(tmp_path / "x.gguf", fault, content)


@pytest.mark.parametrize("version", [2, 3])
def test_the_metadata_of_the_other_byte_order(version):
    name = b"tokenizer.ggml.scores"
    content = b"GGUF" + struct.pack(">IQQ", version, 0, 1) + struct.pack(">Q", len(name)) + name
    content += struct.pack(">IIQ2f", 9, 6, 2, 1.5, -2.0)
    assert gguf_metadata.read(content, "x")[name.decode()].tolist() == [1.5, -2.0]


@pytest.mark.parametrize(
    ("model", "base", "changes", "fault"),
    [
        ("rwkv", {"merges": ["a b"]}, {}, "has no tokenizer.ggml.tokens"),
        ("gpt2", GGUF_BPE, {"merges": ["a "]}, "tokenizer.ggml.merges[0] 'a ' is not a pair"),
        ("gpt2", GGUF_BPE, {"merges": None}, "has no tokenizer.ggml.merges"),
        ("gpt2", GGUF_BPE, {"pre": 3}, "tokenizer.ggml.pre is 3, not a string"),
        ("gpt2", GGUF_BPE, {"token_type": [1]}, "tokenizer.ggml.token_type has 1 entries for 8"),
        ("gpt2", GGUF_BPE, {"token_type": [0.5] * 8}, "token_type is an array of float32"),
        ("gpt2", GGUF_BPE, {"tokens": ["a", "a", *"bcdefg"]}, "tokens[1] 'a' repeats token 0"),
        ("llama", GGUF_PIECES, {"scores": [0.0]}, "tokenizer.ggml.scores has 1"),
        ("llama", GGUF_PIECES, {"unknown_token_id": 6}, "unknown_token_id is 6"),
        ("t5", GGUF_PIECES, {"precompiled_charsmap": [1.5]}, "is not an array of bytes"),
        ("bert", GGUF_PIECES, {"tokens": ["", *"abcde"]}, "unknown_token_id is 0"),
    ],
)
def test_fields_of_gguf(tmp_path, model, base, changes, fault):
    line = refusal(gguf, tmp_path, model, base, **changes)
    assert line.startswith(str(tmp_path / "x.gguf"))
    assert fault in line


# TOML, and corpora of schemas


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"x = " + b"[" * 5000, "too deep"),
        (b"x = " + b"9" * 5000, "4300"),
        (b"a." * 100_000 + b"a = 1", "line 1 has a key of more than 32 parts"),
        (b"x = 1\n[" + b"a." * 40 + b"a]", "line 2 has a key"),
        (b"\xff", "utf-8"),
        (b"#" * (1 << 21), "more than 1,048,576 bytes"),
    ],
)
def test_toml_that_is_deep_or_huge(tmp_path, content, fault):
    path = written(tmp_path / "x.toml", content)
    with pytest.raises((ValueError, OSError), match=fault):
        read_toml(path)
    with pytest.raises(user.FamiliesError, match=fault) as caught:
        user.read(path)
    assert str(caught.value).isprintable()


def archive(path, *names, kind=tarfile.REGTYPE, **headers):
    content = b'{"schema": true, "tests": []}'
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as made:
        for name in names:
            member = tarfile.TarInfo(name)
            member.type, member.pax_headers = kind, headers
            member.linkname = "../../etc/passwd"
            member.size = len(content) if kind == tarfile.REGTYPE else 0
            made.addfile(member, io.BytesIO(content))
    return path


def test_absolute_and_relative_members_in_one_archive(tmp_path):
    path = archive(tmp_path / "x.tar", "/top/a.json", "./top/b.json", "top/sub/c.json")
    assert [case.name for case in read_cases(path)] == ["a", "b", "sub/c"]
    path = archive(tmp_path / "x.tar", "/abs/a.json", "../b.json")
    assert [case.name for case in read_cases(path)] == ["../b", "abs/a"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_in_an_archive_are_passed_over(tmp_path, kind):
    with pytest.raises(CorpusError, match="holds no"):
        next(read_cases(archive(tmp_path / "x.tar", "a.json", kind=kind)))


def test_archives_that_claim_gigabytes(tmp_path):
    headers = {"GNU.sparse.map": "0,1", "GNU.sparse.size": str(1 << 40)}
    with pytest.raises(CorpusError, match="more than 16,777,216 bytes"):
        next(read_cases(archive(tmp_path / "x.tar", "a.json", **headers)))
    head = tarfile.TarInfo("x")
    head.type, head.size = tarfile.XHDTYPE, 8**11 - 1
    whole = head.tobuf(tarfile.USTAR_FORMAT) + bytes(1024)
    with pytest.raises(CorpusError):
        next(read_cases(written(tmp_path / "x.tar", whole)))
