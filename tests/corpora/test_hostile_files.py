"""Files that were tracebacks, gigabytes or a hang once: each is one clear line now."""

import base64
import gzip
import io
import json
import os
import struct
import tarfile
from pathlib import Path
from typing import Any

import pytest

from corpora.families import user
from corpora.grammars.corpus import CorpusError, read_cases
from corpora.texts import benchmarks as texts
from corpora.vocabularies import limits, sources
from corpora.vocabularies.model import VocabularyError
from corpora.vocabularies.reading import FileError, read_toml

Json = dict[str, Any]


def refusal(path):
    """The one line with which a vocabulary file is refused, without the file's name."""
    with pytest.raises(VocabularyError) as caught:
        sources.load_path(path)
    line = str(caught.value)
    assert line.isprintable()
    assert len(line) < 700
    return line.removeprefix(str(path))


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


# What is no regular file, and what is too large


def test_a_gzip_bomb_is_not_unpacked(tmp_path):
    bomb = gzip.compress(bytes(limits.MAX_FILE_BYTES + 1), 1)
    path = written(tmp_path / "x.tiktoken.gz", bomb)
    assert "unpacks to more than 134,217,728 bytes" in refusal(path)


def test_a_pipe_and_a_device_are_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "x.tiktoken")
    assert "not a regular file, but a pipe or a device" in refusal(tmp_path / "x.tiktoken")
    assert "not a regular file" in refusal(Path("/dev/zero"))
    with pytest.raises(CorpusError, match="not a regular file"):
        next(read_cases(tmp_path / "x.tiktoken"))
    with pytest.raises(user.FamiliesError, match="not a regular file"):
        user.read(Path("/dev/zero"))
    with pytest.raises(FileError):
        texts.of_file(Path("/dev/zero"))


def test_a_folder_and_a_path_with_a_nul(tmp_path):
    assert "is a directory" in refusal(tmp_path)
    assert "cannot be read" in refusal(Path("a\0b"))


def test_a_sparse_file_without_end(tmp_path):
    path = tmp_path / "x.tiktoken"
    path.touch()
    os.truncate(path, 1 << 40)
    assert "has more than" in refusal(path)


# Vocabularies


def bpe(**model):
    return {
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"], **model},
    }


def added(**fields):
    return {**bpe(), "added_tokens": [{"id": 3, "content": "<s>", "special": True, **fields}]}


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        (added(content=0), "added_tokens[0].content: expected `str`, got `int`"),
        (added(content="\ud800"), "is not JSON"),
        (added(id=2**31), "added_tokens[0].id: expected `int` <= 1048575"),
        (added(id=-1), "added_tokens[0].id: expected `int` >= 0"),
        (added(special="yes"), "added_tokens[0].special: expected `bool`"),
        (bpe(vocab={"a": 2**31}), "model.vocab: the id of 'a' is 2147483648"),
        (bpe(vocab={"a": True}), "model.vocab: the id of 'a' is True"),
        (bpe(vocab={"a" * 9000: 0}, merges=[]), "the token of id 0 has 9,000 bytes"),
        (bpe(merges=[["a", 1]]), "model.merges[0][1]: expected `str`, got `int`"),
        (bpe(merges="a b"), "model.merges: expected `array | null`, got `str`"),
        (bpe(dropout="x"), "model.dropout"),
        ({**bpe(), "normalizer": {"type": "Strip", "strip_right": 0}}, "normalizer.strip_right"),
        ({**bpe(), "normalizer": {"type": "Precompiled"}}, "`precompiled_charsmap`"),
        (
            {
                **bpe(),
                "pre_tokenizer": {
                    "type": "Split",
                    "behavior": "Isolated",
                    "pattern": {"Regex": "[z-a]"},
                },
            },
            "pre_tokenizer.pattern is no regular expression (bad character range",
        ),
        ({"model": {"type": "Unigram", "vocab": [["a", "0"]]}}, "model.vocab[0][1]: expected"),
        ({"model": {"type": "Unigram", "vocab": []}}, "model.vocab: expected `array` of length"),
        ({"model": {"type": ["BPE"]}}, "model.type: expected `str | null`, got `array`"),
    ],
)
def test_fields_of_wrong_types_are_named(tmp_path, document, fault):
    assert fault in refusal(written(tmp_path / "tokenizer.json", document))


def test_steps_deep_in_one_another(tmp_path):
    step = {"type": "NFC"}
    for _ in range(300):
        step = {"type": "Sequence", "normalizers": [step]}
    path = written(tmp_path / "tokenizer.json", {**bpe(), "normalizer": step})
    assert "nested deeper than 16" in refusal(path)
    path = written(tmp_path / "tokenizer.json", b'{"normalizer":' + b"[" * 100_000)
    assert "is not JSON (maximum recursion depth" in refusal(path)


def test_more_values_than_a_vocabulary_has(tmp_path):
    content = b'{"x":[' + b"0," * (limits.MAX_JSON_COMMAS + 1) + b"0]}"
    assert "has more than 4,194,304 values" in refusal(
        written(tmp_path / "tokenizer.json", content)
    )


def test_tekken_counts_and_texts(tmp_path):
    vocab = [{"rank": i, "token_bytes": base64.b64encode(bytes([i])).decode()} for i in range(256)]
    config = {"pattern": ".", "default_vocab_size": 257, "default_num_special_tokens": 1}

    def told(**changes):
        document = {"config": config, "vocab": vocab, **changes}
        return refusal(written(tmp_path / "tekken.json", document))

    huge = {**config, "default_vocab_size": 10**12, "default_num_special_tokens": 10**12 - 1}
    assert "config.default_vocab_size: expected `int` <= 1048576" in told(config=huge)
    assert "config.pattern: expected `str`" in told(config={**config, "pattern": 1})
    assert "a token_str is empty" in told(special_tokens=[{"rank": 0, "token_str": ""}])
    fault = "config.pattern is no regular expression (missing ) at position 1)"
    assert fault in told(config={**config, "pattern": "("})
    assert "characters in config.pattern" in told(config={**config, "pattern": "a" * 9000})
    wrong = [*vocab[:3], {"rank": 3, "token_bytes": 1}]
    assert "vocab[3].token_bytes: expected `str`, got `int`" in told(vocab=wrong)
    wrong = [*vocab[:3], {"rank": 3, "token_bytes": "é"}, *vocab[4:]]
    assert "vocab[3]: token_bytes is not base64" in told(vocab=wrong)


def test_rank_files_of_many_fields_and_lines(tmp_path):
    path = written(tmp_path / "x.tiktoken", b"YQ== 0\n" + b"YQ== " * 1000)
    assert "line 2: 3 or more fields instead of 2" in refusal(path)
    path = written(tmp_path / "x.tiktoken", b"YQ== 0\n" + b"\n" * (2 * limits.MAX_IDS))
    assert "lines, more than" in refusal(path)
    path = written(tmp_path / "x.tiktoken", b"YQ== %d\n" % limits.MAX_IDS)
    assert "out of range" in refusal(path)


def test_tokens_whose_encoding_would_take_hours(tmp_path):
    lines = (base64.b64encode(b"%0800d" % number) + b" %d\n" % number for number in range(2000))
    assert "are too long" in refusal(written(tmp_path / "x.tiktoken", b"".join(lines)))


def test_pieces_that_are_no_text(tmp_path):
    def model(piece):
        inner = b"\x0a" + bytes([len(piece)]) + piece
        return b"\x0a" + bytes([len(inner)]) + inner + b"\x12\x02\x18\x01"

    assert "pieces[0].piece is not UTF-8" in refusal(written(tmp_path / "x.model", model(b"\xff")))
    assert "pieces[0].piece is empty" in refusal(written(tmp_path / "x.model", model(b"")))
    assert len(sources.load_path(written(tmp_path / "x.model", model(b"a")))) == 1


def test_empty_texts_are_holes_and_no_tokens(tmp_path):
    document = bpe(vocab={"a": 0, "": 1, "b": 2, "ab": 3})
    vocabulary = sources.load_path(written(tmp_path / "tokenizer.json", document))
    assert vocabulary.tokens == (b"a", None, b"b", b"ab")
    document = bpe(vocab={"a": 0, "": 1}, merges=["a "])
    assert "is no pair" in refusal(written(tmp_path / "tokenizer.json", document))
    model = {"type": "WordPiece", "vocab": {"[UNK]": 0, "": 1, "a": 2}}
    document = {"model": model, "pre_tokenizer": {"type": "BertPreTokenizer"}}
    vocabulary = sources.load_path(written(tmp_path / "tokenizer.json", document))
    assert vocabulary.tokens == (None, None, b"a")
    document["model"] = {**model, "unk_token": ""}
    assert "model.unk_token" in refusal(written(tmp_path / "tokenizer.json", document))

    texts = b"".join(map(gguf_text, (b"a", b"", b"", b"b")))
    fields = [MODEL, ("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 4) + texts)]
    fields += [("tokenizer.ggml.merges", 9, struct.pack("<IQ", 8, 1) + gguf_text(b"a "))]
    path = written(tmp_path / "x.gguf", gguf(*fields))
    assert "tokenizer.ggml.merges[0] 'a ' is no pair" in refusal(path)


def gguf(*fields, count=None, version=3):
    out = b"GGUF" + struct.pack("<IQQ", version, 0, len(fields) if count is None else count)
    for name, kind, body in fields:
        out += struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", kind) + body
    return out


def gguf_text(text):
    return struct.pack("<Q", len(text)) + text


MODEL = ("tokenizer.ggml.model", 8, gguf_text(b"gpt2"))


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (gguf(MODEL, count=2**40), "fields of metadata"),
        (gguf(MODEL, MODEL), "stands twice"),
        (gguf(MODEL, version=9), "version 9"),
        (gguf(("tokenizer.ggml.model", 4, b"\0\0\0\0")), "tokenizer.ggml.model is 0, not a string"),
        (gguf(("tokenizer.ggml.model", 8, gguf_text(b"\xff"))), "model is not UTF-8"),
        (
            gguf(MODEL, ("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 2**62))),
            "tokenizer.ggml.tokens: 4611686018427387904 strings",
        ),
        (
            gguf(MODEL, ("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 5, 2**62))),
            "the file ends within it",
        ),
        (
            gguf(MODEL, ("other", 9, struct.pack("<IQ", 9, 1) * 9)),
            "other: an array too deep",
        ),
        (
            gguf(
                MODEL,
                ("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 1) + gguf_text(b"\xff")),
            ),
            "tokenizer.ggml.tokens[0] is not UTF-8",
        ),
    ],
)
def test_gguf_counts_are_not_believed(tmp_path, content, fault):
    assert fault in refusal(written(tmp_path / "x.gguf", content))


def test_the_metadata_of_the_other_byte_order(tmp_path):
    from corpora.vocabularies.gguf_metadata import read

    name = b"tokenizer.ggml.scores"
    content = b"GGUF" + struct.pack(">IQQ", 3, 0, 1) + struct.pack(">Q", len(name)) + name
    content += struct.pack(">IIQ2f", 9, 6, 2, 1.5, -2.0)
    scores = read(content, "x")[name.decode()]
    assert scores.tolist() == [1.5, -2.0]


def test_the_weights_of_a_gguf_file_are_not_read(tmp_path, monkeypatch):
    from corpora.vocabularies import reading

    content = gguf(MODEL) + bytes(1000)
    monkeypatch.setattr(reading.read_bytes, "__defaults__", (len(content) - 500,))
    assert "has no tokenizer.ggml.tokens" in refusal(written(tmp_path / "x.gguf", content))


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
            member.type = kind
            member.linkname = "../../etc/passwd"
            member.pax_headers = headers
            member.size = len(content) if kind == tarfile.REGTYPE else 0
            made.addfile(member, io.BytesIO(content))
    return path


def test_absolute_and_relative_members_in_one_archive(tmp_path):
    path = archive(tmp_path / "x.tar", "/top/a.json", "./top/b.json", "top/sub/c.json")
    assert [case.name for case in read_cases(path)] == ["a", "b", "sub/c"]
    path = archive(tmp_path / "x.tar", "/abs/a.json", "../b.json")
    assert [case.name for case in read_cases(path)] == ["../b", "abs/a"]


def test_links_in_an_archive_are_passed_over(tmp_path):
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
        with pytest.raises(CorpusError, match="holds no"):
            next(read_cases(archive(tmp_path / "x.tar", "a.json", kind=kind)))


def test_a_member_that_claims_a_tebibyte(tmp_path):
    headers = {"GNU.sparse.map": "0,1", "GNU.sparse.size": str(1 << 40)}
    path = archive(tmp_path / "x.tar", "a.json", **headers)
    with pytest.raises(CorpusError, match="more than 16,777,216 bytes"):
        next(read_cases(path))


def test_a_header_that_claims_gigabytes(tmp_path):
    head = tarfile.TarInfo("x")
    head.type = tarfile.XHDTYPE
    head.size = 8**11 - 1
    path = written(tmp_path / "x.tar", head.tobuf(tarfile.USTAR_FORMAT) + bytes(1024))
    with pytest.raises(CorpusError):
        next(read_cases(path))


def test_a_step_that_nobody_knows_is_told_in_plain_text(tmp_path):
    """It may be one of a newer library, which is for that library to say."""
    document = {**bpe(), "normalizer": {"type": "\n\x1b[31m", "deep": [["\x1b"]]}}
    [step] = sources.load_path(written(tmp_path / "tokenizer.json", document)).unexpressed
    assert step.isprintable()
    assert step.startswith("normalizer ")
