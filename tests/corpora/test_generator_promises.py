"""What each generator promises beside what holds of all."""

import json
import random
import unicodedata
from itertools import islice, product

import pytest

from corpora.generators import (
    characters,
    codepoints,
    locales,
    mutations,
    runs,
    special,
    tokens,
)
from corpora.generators.catalog import generators
from corpora.generators.characters import CODEPOINT_TEMPLATES
from corpora.generators.drawing import encodable
from corpora.generators.material import is_text
from tests.corpora.generator_vocabularies import byte_level, toy, unigram


def first(name, count, seed=1):
    return list(islice(generators()[name].cases(byte_level(), seed), count))


class TestDrawing:
    def test_encodable_ends_where_nothing_can_be_spelt(self):
        def hopeless(vocabulary, rng):
            while True:
                yield b"x"

        assert list(encodable(hopeless)(toy(), random.Random(1))) == []
        assert next(encodable(hopeless)(byte_level(), random.Random(1))) == b"x"


class TestTokens:
    def test_every_token_alone_once(self):
        cases = list(tokens.GENERATORS[0].cases(byte_level(), 1))
        assert sorted(cases) == sorted(t for t in byte_level().tokens if t is not None)

    def test_sentencepiece_spaces_are_spaces_and_unused_pieces_are_tried(self):
        cases = set(tokens.GENERATORS[0].cases(unigram(), 1))
        assert {b" the", b" ", b"zz", b"<sep>", b"\n"} <= cases
        assert not any("▁".encode() in case for case in cases)
        assert not cases & {b"<unk>", b"<s>", b"<0x0A>"}

    def test_overlaps_share_bytes(self):
        cases = b"\n".join(first("overlaps", 4_000))
        assert b"stations" in cases or b"stationing" in cases or b"banan" in cases


class TestRepeats:
    def test_few_letters(self):
        for case in first("repeats", 1_000):
            units = case.decode() if is_text(case) else case
            assert len(set(units)) <= 3


class TestCodepoints:
    def test_all_scalar_values_appear(self):
        scalars = codepoints.Scalars()
        text = "".join(scalars[place] for place in range(len(scalars)))
        assert len(text) == len(set(text)) == codepoints.SCALARS == 1_112_064
        cases = codepoints.everywhere(text[:4000], random.Random(1))
        assert len([*cases]) == 4000 * len(CODEPOINT_TEMPLATES)
        assert not any("\ud800" <= c <= "\udfff" for c in set(text))

    def test_a_short_run_samples_planes_and_classes(self):
        text = b"".join(first("codepoints", 40_000)).decode()
        assert {unicodedata.category(c) for c in text} >= {
            *("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd", "Nl", "No", "Co", "Cn"),
            *("Pc", "Pd", "Po", "Sm", "Sk", "So", "Zs"),
        }
        assert {ord(c) >> 16 for c in text} == set(range(17))


class TestCharacters:
    def test_white_space_is_the_unicode_property(self):
        # Python's isspace is White_Space and four information separators.
        spaces = {chr(c) for c in range(0x110000) if chr(c).isspace()}
        assert set(characters.WHITE_SPACE) == spaces - set("\x1c\x1d\x1e\x1f")
        assert len(characters.WHITE_SPACE) == 25

    def test_white_space_soon_has_every_kind(self):
        text = b"".join(first("whitespace", 500)).decode()
        assert set(characters.WHITE_SPACE) | set(characters.NEARLY_WHITE_SPACE) <= set(text)

    def test_every_odd_unit_appears(self):
        units = {unit.encode() for some in characters.ODD_UNITS.values() for unit in some}
        assert units <= set(first("scripts", 2 * len(units)))

    def test_broken_is_broken(self):
        assert not any(is_text(data) for data in characters.BROKEN_UTF8)


class TestRuns:
    def test_every_rung_with_its_neighbours(self):
        lengths = {}
        order = []
        total = 0
        for case in runs.GENERATOR.cases(byte_level(), 1):
            total += len(case)
            order.append(len(case))
            if case.count(case[:1]) == len(case):
                lengths.setdefault(case[:1].decode(errors="replace"), set()).add(len(case))
            elif is_text(case) and len(set(text := case.decode())) == 1:
                lengths.setdefault(text[0], set()).add(len(text))
        for rung in (100, 128, 256, 500, 1_000, 4_000, 10_000, 26_000, 50_000, 100_000, 1_000_000):
            assert {rung - 1, rung, rung + 1} <= lengths["a"] & lengths[" "]
            if rung <= 10_000:
                for character in runs.RUN_CHARACTERS:
                    assert {rung - 1, rung, rung + 1} <= lengths[character]
        assert min(order[-6:]) >= 999_999 and max(order[:-6]) < 999_999
        assert total < 30_000_000


class TestSpecial:
    def test_whole_and_framed_for_each(self):
        cases = set(first("special", 400))
        for text in ("<|end|>", "<|end|><|end|>", "<tool call>"):
            assert text.encode() in cases
            assert f"a{text}b {text} c{text}{text}".encode() in cases
            assert text.swapcase().encode() in cases

    def test_reserved_texts_do_not_drown_the_others(self):
        texts = ["<s>", *(f"<reserved_{n}>" for n in range(900)), "</s>"]
        assert special.distinct(texts) == ["<s>", "<reserved_0>", "<reserved_1>", "</s>"]

    def test_broken_nested_adjacent(self):
        text = b"\n".join(first("special", 8_000)).decode()
        assert "<|end|><|end|>" in text
        assert "<|end|" in text.replace("<|end|>", "") and "|end|>" in text.replace("<|end|>", "")
        end = "<|end|>"
        assert any(end[:at] + end + end[at:] in text for at in range(1, len(end)))

    def test_user_defined_and_control_pieces_count(self):
        assert set(special.special_texts(unigram())) >= {"<unk>", "<s>", "<sep>", "<0x0A>"}


class TestRaw:
    def test_nul_and_invalid_utf8(self):
        cases = first("raw", 2_000)
        assert any(b"\x00" in case for case in cases)
        assert sum(not is_text(case) for case in cases) > 1_000
        assert set(b"".join(cases)) == set(range(256))
        together = b"\n".join(cases)
        assert all(data in together for data in characters.BROKEN_UTF8)


class TestMutations:
    @pytest.mark.parametrize(
        ("kind", "made"),
        [(0, "abXcdef"), (1, "abef"), (2, "abXef"), (3, "abefcd"), (4, "abcdcdef"), (5, "abX")],
    )
    def test_kinds(self, kind, made):
        assert mutations.mutated("abcdef", kind, 2, 2, "X") == made
        assert mutations.mutated(b"abcdef", kind, 2, 2, b"X") == made.encode()
        assert kind < mutations.KINDS


class TestText:
    def test_json_is_json_in_every_style(self):
        cases = first("json", 1_500)
        documents = [json.loads(case) for case in cases]
        assert any(
            isinstance(d, dict) and any(isinstance(v, list) for v in d.values()) for d in documents
        )
        assert any(b"\n" in case for case in cases) and any(b'":{' in case for case in cases)

    def test_prose_has_many_scripts(self):
        text = b"".join(first("prose", 3_000)).decode()
        names = {unicodedata.name(c, "?").split()[0] for c in set(text) if c.isalpha()}
        assert len(names) >= 25
        assert len(locales.LOCALES) >= 30

    def test_edge_begins_with_the_smallest(self):
        cases = first("edge", 257)
        assert cases == [b"", *(bytes([byte]) for byte in range(256))]

    def test_edge_of_a_toy_alphabet_is_every_short_string(self):
        cases = list(generators()["edge"].cases(toy(), 1))
        short = ["".join(p).encode() for n in range(7) for p in product("abc", repeat=n)]
        assert cases[: len(short)] == short
