"""What holds of every generator, and what each promises besides."""

import json
import os
import random
import statistics
import subprocess
import sys
import unicodedata
from itertools import islice, product

import pytest

from corpora.generators import characters, codepoints, mutations, runs, special
from corpora.generators.catalog import generators
from corpora.generators.drawing import encodable
from corpora.generators.material import is_text
from tests.properties.corpora.generator_vocabularies import VOCABULARIES

NAMES = list(generators())
FINITE = {"edge": 10_000, "tokens": 300, "codepoints": None, "runs": None}
"""Those that end, and the most cases that they have; None for very many."""

_DIGESTS = """
import hashlib
from itertools import islice
from corpora.generators.catalog import generators
from tests.properties.corpora.generator_vocabularies import VOCABULARIES
for name, generator in generators().items():
    for vocabulary in VOCABULARIES.values():
        digest = hashlib.sha256()
        for case in islice(generator.cases(vocabulary, 7), 400):
            digest.update(b"%d:%s" % (len(case), case))
        print(name, vocabulary.id, digest.hexdigest())
from corpora.vocabularies import drawn
print(*(drawn.draw(kind, seed).fingerprint for kind in drawn.KINDS for seed in range(4)))
"""


def first(name, count, seed=1, vocabulary="byte-level"):
    return list(islice(generators()[name].cases(VOCABULARIES[vocabulary], seed), count))


def test_the_same_cases_in_every_process():
    """Neither the hash seed nor what ran before changes a stream, or a drawn vocabulary."""
    one, other = (
        subprocess.Popen(
            [sys.executable, "-c", _DIGESTS],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for hash_seed in ("1", "4711")
    )
    lines = one.communicate(timeout=60)[0].splitlines()
    assert len(lines) == len(NAMES) * len(VOCABULARIES) + 1
    assert lines == other.communicate(timeout=60)[0].splitlines()


@pytest.mark.parametrize("name", NAMES)
def test_a_stream(name):
    """Each seed has its own, which is spelled by the vocabulary, varied, and mostly of short texts.

    A stream is the same again, and while another one is read.
    """
    generator, most = generators()[name], FINITE.get(name, 0)
    assert generator.name == name
    assert generator.summary.isprintable()
    cases = first(name, 4_000)
    streams = [generator.cases(VOCABULARIES["byte-level"], 1) for _ in range(2)]
    together = list(islice(zip(*streams, strict=True), len(cases)))
    assert together == list(zip(cases, cases, strict=True))
    # Beyond what comes in a fixed order: the smallest edge cases and lowest rungs.
    assert cases[:800] != first(name, 800, seed=2)
    if most:
        assert 0 < len(list(generator.cases(VOCABULARIES["byte-level"], 1))) <= most
    if name not in FINITE:
        assert len(cases) == 4_000
        assert len(set(cases)) > 3_000
        lengths = list(map(len, cases))
        assert 5 <= statistics.median(lengths) <= 160
        assert max(lengths) <= 20_000
    for key, vocabulary in VOCABULARIES.items():
        for case in first(name, 500, vocabulary=key):
            assert type(case) is bytes
            assert vocabulary.byte_alphabet == b"" or vocabulary.can_encode(case)


def test_a_generator_ends_where_nothing_can_be_spelt():
    def hopeless(vocabulary, rng):
        while True:
            yield b"x"

    toy, whole = VOCABULARIES["toy"], VOCABULARIES["byte-level"]
    assert list(encodable(hopeless)(toy, random.Random(1))) == []
    assert next(encodable(hopeless)(whole, random.Random(1))) == b"x"


def test_every_token_alone_once():
    cases = first("tokens", 1000)
    assert sorted(cases) == sorted(t for t in VOCABULARIES["byte-level"].tokens if t is not None)
    # SentencePiece's spaces are spaces, and unused pieces are tried.
    cases = set(first("tokens", 1000, vocabulary="unigram"))
    assert {b" a", b" ", b"zz", b"cab", b"\n"} <= cases
    assert not cases & {b"<unk>", b"<s>", b"<0x0A>", "▁".encode()}


def test_overlaps_share_bytes():
    cases = b"\n".join(first("overlaps", 4_000))
    assert b"station" in cases and b"ations" in cases


def test_repeats_are_of_few_letters():
    for case in first("repeats", 1_000):
        assert len(set(case.decode() if is_text(case) else case)) <= 3


def test_all_scalar_values_are_tried_and_soon_all_classes():
    text = "".join(codepoints.Scalars()[place] for place in range(codepoints.SCALARS))
    assert len(set(text)) == 1_112_064
    assert not any("\ud800" <= c <= "\udfff" for c in set(text))
    cases = codepoints.everywhere(text[:400], random.Random(1))
    assert len([*cases]) == 400 * len(characters.CODEPOINT_TEMPLATES)
    text = b"".join(first("codepoints", 40_000)).decode()
    found = {unicodedata.category(c) for c in text}
    categories = "Lu Ll Lt Lm Lo Mn Mc Nd Nl No Co Cn Pc Pd Po Sm Sk So Zs"
    assert found >= set(categories.split(" "))
    assert {ord(c) >> 16 for c in text} == set(range(17))


def test_tables_of_characters():
    # Python's isspace is White_Space and four information separators.
    spaces = {chr(c) for c in range(0x110000) if chr(c).isspace()}
    assert set(characters.WHITE_SPACE) == spaces - set("\x1c\x1d\x1e\x1f")
    text = b"".join(first("whitespace", 500)).decode()
    assert set(characters.WHITE_SPACE) | set(characters.NEARLY_WHITE_SPACE) <= set(text)
    units = {unit.encode() for some in characters.ODD_UNITS.values() for unit in some}
    assert units <= set(first("scripts", 2 * len(units)))
    assert not any(map(is_text, characters.BROKEN_UTF8))


def test_runs_of_every_rung_with_its_neighbours():
    lengths, order = {}, []
    for case in runs.GENERATOR.cases(VOCABULARIES["byte-level"], 1):
        order.append(len(case))
        character = case[:4].decode(errors="ignore")[:1]
        unit = character.encode() or case[:1]
        if unit * (len(case) // len(unit)) == case:
            lengths.setdefault(character, set()).add(len(case) // len(unit))
    for rung in runs.LADDER:
        for character in runs.RUN_CHARACTERS if rung <= 10_000 else "a ":
            assert {rung - 1, rung, rung + 1} <= lengths[character]
    assert min(order[-6:]) >= 999_999 > max(order[:-6])
    assert sum(order) < 30_000_000


def test_special_texts_are_whole_framed_and_damaged():
    cases = set(first("special", 400))
    for text in ("<|end|>", "<|end|><|end|>", "<tool call>"):
        framed = f"a{text}b {text} c{text}{text}"
        assert {text.encode(), framed.encode(), text.swapcase().encode()} <= cases
    text, end = b"\n".join(first("special", 8_000)).decode(), "<|end|>"
    assert "<|end|" in text.replace(end, "") and "|end|>" in text.replace(end, "")
    assert any(end[:at] + end + end[at:] in text for at in range(1, len(end)))
    assert {"<unk>", "<s>", "cab", "<0x0A>"} <= {*special.special_texts(VOCABULARIES["unigram"])}
    # Reserved texts do not drown the others.
    texts = ["<s>", *(f"<reserved_{n}>" for n in range(900)), "</s>"]
    assert special.distinct(texts) == ["<s>", "<reserved_0>", "<reserved_1>", "</s>"]


def test_raw_bytes_are_every_byte_and_every_kind_of_broken_utf8():
    cases = first("raw", 2_000)
    assert sum(not is_text(case) for case in cases) > 1_000
    together = b"\n".join(cases)
    assert set(together) == set(range(256))
    assert all(data in together for data in characters.BROKEN_UTF8)


@pytest.mark.parametrize(
    ("kind", "made"),
    [*enumerate(["abXcdef", "abef", "abXef", "abefcd", "abcdcdef", "abX"])],
)
def test_kinds_of_mutations(kind, made):
    assert mutations.mutated("abcdef", kind, 2, 2, "X") == made
    assert mutations.mutated(b"abcdef", kind, 2, 2, b"X") == made.encode()
    assert kind < mutations.KINDS


def test_json_is_json_in_every_style():
    cases = first("json", 1_500)
    documents = [json.loads(case) for case in cases]
    assert any(isinstance(d, dict) and list in map(type, d.values()) for d in documents)
    assert any(b"\n" in case for case in cases) and any(b'":{' in case for case in cases)


def test_prose_has_many_scripts():
    text = b"".join(first("prose", 3_000)).decode()
    assert len({unicodedata.name(c, "?").split()[0] for c in set(text) if c.isalpha()}) >= 25


def test_edge_begins_with_the_smallest():
    assert first("edge", 257) == [b"", *(bytes([byte]) for byte in range(256))]
    short = ["".join(p).encode() for n in range(7) for p in product("abc", repeat=n)]
    assert first("edge", len(short), vocabulary="toy") == short
