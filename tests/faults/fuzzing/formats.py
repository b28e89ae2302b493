"""The formats that are fuzzed: valid small files, how they are damaged, and what must then hold."""

from __future__ import annotations

import base64
import gzip
import json
import random
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import regex
from backports import zstd

from corpora.families import user
from corpora.grammars.corpus import CorpusError, read_cases
from corpora.vocabularies import gguf_file, sources
from corpora.vocabularies.model import VocabularyError
from corpora.vocabularies.patterns import PATTERNS
from corpora.vocabularies.preflight import preflight
from corpora.vocabularies.sentencepiece_model import to_model_proto
from corpora.vocabularies.tokenizer_json_out import to_tokenizer_json
from corpora.vocabularies.toys import TOYS
from harness.events import read_events
from harness.studies.survey import defects
from harness.verdict import bounds, expectations
from reports import summary_json
from reports.record import RunRecord
from tests.faults.fuzzing import writers
from tests.faults.fuzzing.damage import Object, damaged_bytes, damaged_tree, tree_of
from tests.properties.reports import records

VALID = Path(__file__).with_name("valid")
"""Valid documents, small enough that each damage matters."""


@dataclass(frozen=True)
class Format:
    """A format. file: the name that a mutant is given.

    mutant: makes a damaged file. use: loads it, and does with what was loaded what a run would;
    whether it was accepted. ``use`` raises :class:`Unclear` for a refusal that is not one
    clear line; whatever
    else it raises is a defect of ours, too.
    """

    name: str
    file: str
    mutant: Callable[[random.Random], bytes]
    use: Callable[[Path], bool]


class Unclear(AssertionError):
    """A refusal that a user could not read."""


def refused(error, path):
    """Hold a refusal to what is promised: one printable line of bounded length, with the file."""
    line = str(error)
    if not line.isprintable() or len(line) > 1000 or path.name not in line:
        raise Unclear(f"{type(error).__name__}: {line[:2000]!r}") from error
    return False


# --- vocabularies ---------------------------------------------------------------------------------


def load_vocabulary(path):
    """Load a vocabulary; one that is accepted must be whole, and its preflight must run."""
    try:
        vocabulary = sources.load_path(path)
    except VocabularyError as error:
        return refused(error, path)
    hold_whole(vocabulary)
    for problem in preflight(vocabulary):
        if not problem.message.isprintable():
            raise Unclear(problem.message[:2000])
    return True


def hold_whole(vocabulary):
    """What every user of a vocabulary relies on: ids within bounds, texts that can be written."""
    size = len(vocabulary)
    merges = vocabulary.merges
    for column in (merges.left, merges.right, merges.merged):
        assert len(column) == len(merges)
        assert not len(column) or (column.min() >= 0 and column.max() < size)
    assert all(0 <= token_id < size for token_id in vocabulary.special_tokens.values())
    assert all(vocabulary.special_tokens), "an empty special token"
    assert all(0 <= token.id < size and token.text for token in vocabulary.added_tokens)
    assert vocabulary.unk_id is None or 0 <= vocabulary.unk_id < size
    assert not vocabulary.pieces or len(vocabulary.pieces) == size
    assert all(token != b"" for token in vocabulary.tokens), "an empty token"
    assert vocabulary.fingerprint
    assert vocabulary.max_token_bytes >= 0
    vocabulary.can_encode(b"text")
    for split in vocabulary.splits:
        regex.compile(split)
    for token_id in [*vocabulary.ids.values()][:20] + [*vocabulary.special_tokens.values()][:20]:
        vocabulary.spelling(token_id)


def _file(name):
    """A valid document of the folder."""
    text = (VALID / name).read_text("utf-8")
    return tomllib.loads(text) if name.endswith("toml") else json.loads(text)


def damaged(write, *documents):
    """What makes mutants: documents as trees, made when the first is asked for, mostly damaged
    there, sometimes in the bytes of the file, and seldom compressed, and damaged after that.

    documents: names of files in :data:`VALID`, and what makes one.
    """
    made = (_file(one) if isinstance(one, str) else one() for one in documents)
    trees = cache(lambda: [*map(tree_of, made)])

    def mutant(rng):
        tree = rng.choice(trees())
        content = write(damaged_tree(tree, rng) if rng.random() < 0.9 else tree)
        if rng.random() < 0.2:
            content = damaged_bytes(content, rng)
        if rng.random() < 0.08:
            content = gzip.compress(content, 1, mtime=0)
            if rng.random() < 0.4:
                content = zstd.compress(gzip.decompress(content))
            if rng.random() < 0.4:
                content = damaged_bytes(content, rng)
        return content or b"\n"  # which every reader refuses by itself

    return mutant


def _tekken():
    tokens = [*(bytes([byte]) for byte in range(256)), b"ab", b"abab", b"unused"]
    return {
        "config": {
            "pattern": ".+",
            "num_vocab_tokens": len(tokens),
            "default_vocab_size": 268,
            "default_num_special_tokens": 10,
            "version": "v3",
        },
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
            for rank, token in enumerate(tokens)
        ],
        "special_tokens": [
            {"rank": rank, "token_str": f"<{rank}>", "is_control": True} for rank in range(3)
        ],
    }


def _toy(name):
    return TOYS[name][1]()


def _written(name):
    return lambda: json.loads(to_tokenizer_json(_toy(name), True))


def _message(proto):
    """The fields of a message by their numbers, repeated ones as often as they are there."""
    made = Object()
    for field, value in proto.ListFields():
        one = isinstance(value, str | bytes | int | float) or hasattr(value, "ListFields")
        for part in [value] if one else value:
            tree = _message(part) if hasattr(part, "ListFields") else part
            made.append([field.number, tree])
    return made


def _proto(name):
    def made():
        from sentencepiece import sentencepiece_model_pb2

        proto = sentencepiece_model_pb2.ModelProto()
        proto.ParseFromString(to_model_proto(_toy(name)))
        return _message(proto)

    return made


def _gguf(name, **changes):
    def made():
        model, fields = gguf_file.written(replace(_toy(name), **changes))
        named = {f"tokenizer.ggml.{key}": value for key, value in fields.items() if value != []}
        header = {"version": 3, "tensors": 0}
        return header | {"general.architecture": "llama", "tokenizer.ggml.model": model} | named

    return made


# --- our own files --------------------------------------------------------------------------------


def load_expectations(path):
    """Both kinds of tables, and the questions that a run asks of them."""
    try:
        entries, limits = expectations.load(path), bounds.load(path)
    except expectations.ExpectationsError as error:
        return refused(error, path)
    for entry in entries:
        entry.shows_in("equivalence/bpe/text/pre-tokens/x/a=b|c", "tekken_240911")
        entry.applies({"tokenizers": "0.21", "sentencepiece": "odd", "x": "1"})
        entry.expired(expectations.datetime.date(2026, 1, 1))
    for limit in limits:
        assert limit.bound in bounds.IN_TIME or limit.bound == bounds.NO_BOUND
    return True


def load_families(path):
    """The user's families, and a text of each."""
    try:
        entries = user.entries_of(path)
    except user.FamiliesError as error:
        return refused(error, path)
    for _, _, pattern in entries:
        assert len(pattern.make(200)) <= 200 + len(pattern.prefix) + len(pattern.suffix)
        pattern.expression()
    return True


def load_defects(path):
    """The table of the field's defects."""
    try:
        for one in defects.load(path):
            defects.shown(one)
    except ValueError as error:
        return refused(error, path)
    return True


def _record():
    events = [*records.opening()[:6], *records.special(), *records.measured()[:2]]
    events += [*records.forced(), *records.grown(1, 4)[:3], records.finished("fail", reasons=["x"])]
    return [json.loads(event.to_json()) for event in events]


def load_record(path):
    """Read a record, fold it, and write the summary of it."""
    try:
        events = list(read_events(path))
    except ValueError as error:
        return refused(ValueError(f"{path}: {error}"), path)
    summary_json.render(RunRecord.from_events(events))
    return True


def load_corpus(path):
    """All cases of an archive."""
    try:
        for case in read_cases(path):
            assert not case.name.startswith("/")
    except CorpusError as error:
        return refused(error, path)
    return True


GGUF = (
    _gguf("toy_merges", splits=PATTERNS["gpt2"]),
    *map(_gguf, ("toy_characters", "toy_unigram", "toy_wordpiece")),
)
PROTO = map(_proto, ("toy_unigram", "toy_characters"))
LOAD, JSON, TOML = load_vocabulary, writers.to_json, writers.to_toml

FORMATS = {
    name: Format(name, file, damaged(*made), use)
    for name, file, use, *made in (
        ("tiktoken", "x.tiktoken", LOAD, writers.to_ranks, "ranks.json"),
        ("tiktoken-json", "x.json", LOAD, JSON, "tiktoken.json"),
        ("tekken", "tekken.json", LOAD, JSON, _tekken),
        ("json-bpe", "tokenizer.json", LOAD, JSON, "byte-bpe.json", "character-bpe.json"),
        ("json-unigram", "tokenizer.json", LOAD, JSON, _written("toy_unigram")),
        ("json-wordpiece", "tokenizer.json", LOAD, JSON, _written("toy_wordpiece")),
        ("sentencepiece", "x.model", LOAD, writers.to_proto, *PROTO),
        ("gguf", "x.gguf", LOAD, writers.to_gguf, *GGUF),
        ("expectations", "expect.toml", load_expectations, TOML, "expectations.toml"),
        ("families", "families.toml", load_families, TOML, "families.toml"),
        ("defects", "defects.toml", load_defects, TOML, "defects.toml"),
        ("record", "run.jsonl", load_record, writers.to_json_lines, _record),
        ("corpus", "schemas.tar", load_corpus, writers.to_tar, "archive.json"),
    )
}
"""By name, in the order of the table."""


def mutant(form, seed, number):
    """The mutant of this number: the same on every machine."""
    return form.mutant(random.Random(f"{seed} {form.name} {number}"))
