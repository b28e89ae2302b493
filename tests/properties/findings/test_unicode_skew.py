"""Two that differ by their versions of Unicode are told by these, and nobody else is."""

import re
import sys
import unicodedata
from dataclasses import replace
from functools import cache

import pytest
import regex

from corpora.generators.codepoints import recent
from corpora.vocabularies import sources
from corpora.vocabularies.model import Normalizer
from corpora.vocabularies.unicode_ages import FIRST, ages, assigned, oldest
from harness.events import Found
from harness.findings import patience
from harness.studies.selftest.plain.bpe import PlainBpe
from impls.interface import Mode
from impls.pretokenize.unicode_version import as_of_unicode_16
from reports.words import spoken
from tests.doubles.scenes import Scene

PYTHONS = {"14.0.0": "14.0", "15.0.0": "15.0", "15.1.0": "15.1", "16.0.0": "16.0"}
PATTERN = r"\p{N}{1,3}|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+| ?[^\s\p{L}\p{N}\p{M}]+|\s+"


@cache
def vocabulary():
    known = replace(sources.resolve("tekken_240911"), splits=(PATTERN,), normalizer=Normalizer())
    return replace(known, native=None)


@cache
def plain():
    return PlainBpe().load(vocabulary())


def encoder(dated, form=None):
    """Byte-pair encoding of a text whose characters are classed as those of another one."""

    def encode(data):
        text = data.decode()
        text = form(text) if form else text
        classed = dated(text)
        places = [m.span() for m in regex.finditer(PATTERN, classed)]
        return [i for a, b in places for i in plain().piece(text[a:b].encode())]

    return encode


def as_of_python(text):
    return "".join("\u0378" if unicodedata.category(one) == "Cn" else one for one in text)


def without_astral(text):
    return re.sub("[\U00010000-\U0010ffff]", "\u0378", text)


def found_in(texts, **encoders):
    scene = Scene(**encoders)
    scene.contract = replace(scene.contract, vocabulary=vocabulary(), mode=Mode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patience, "SHRINK_SHARE", 1e9)
        scene.check("equivalence", *(text.encode() for text in texts))
    return [event for event in scene.told(Found) if event.minimal]


def newer_than_python(*kinds):
    known = {*recent()} - {one for one in recent() if unicodedata.category(one) != "Cn"}
    return sorted(c for c in known if ages()[c] <= "16.0" and regex.match(kinds[0], c))


def test_ages_are_those_that_the_tables_of_others_have():
    newest = {*"".join(assigned().values()), *oldest()}
    every = "".join(chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000)
    private = {*regex.findall(r"\p{Co}", every)}
    assert newest == {*regex.findall(r"\P{Cn}", every)} - private
    mine = float(PYTHONS[unicodedata.unidata_version])
    there = {one for v, those in assigned().items() if float(v) <= mine for one in those}
    assert {*oldest(), *there} | private == {
        one for one in every if unicodedata.category(one) != "Cn"
    }
    assert [*assigned()] == sorted(assigned(), key=lambda v: tuple(map(int, v.split("."))))
    assert FIRST not in assigned()


@pytest.mark.skipif(unicodedata.unidata_version >= "16", reason="Python's tables are as new")
@pytest.mark.parametrize(
    ("kind", "name", "template"),
    [
        (r"\p{Lo}", "classed as a letter", "{}.the"),
        (r"\p{Mn}", "classed as a mark", "a{}.the"),
        (r"\p{Nd}", "classed as a number", "{}1234.the"),
    ],
)
def test_letters_marks_and_digits_of_newer_versions_are_one_finding(kind, name, template):
    new = newer_than_python(kind)
    texts = [f"Say: {template.format(one)} 12" for one in new[:: max(1, len(new) // 6)]]
    found = found_in(texts, ref=encoder(as_of_unicode_16), mine=encoder(as_of_python))
    assert {one.bucket.split("/")[4] for one in found} == {"unicode"}
    assert len({one.id for one in found}) == 1
    python = PYTHONS[unicodedata.unidata_version]
    told = re.fullmatch(r"follows Unicode (\S+)(?: to .*)?, ref 16.0: U\+\w+ is (.+) since (.+)",
                        found[0].mistake)  # fmt: skip
    assert told and told[2] == name and told[3] in {"15.0", "15.1", "16.0"}
    assert python in found[0].mistake
    assert spoken(found[0]) == f"mine {found[0].mistake}"


def test_the_newest_version_is_told_where_the_reference_is_older():
    found = found_in(["\U00010940.the"], ref=encoder(as_of_unicode_16), mine=encoder(str))
    assert found[0].mistake == (
        "follows Unicode 18.0, ref 16.0: U+10940 is classed as a letter since 17.0"
    )


def test_normal_forms_are_told():
    """U+32FF (of 12.1) is two ideographs in NFKC; an engine of Unicode 12.0 leaves it as it is."""

    def older(text):
        known = [one for one in text if one not in ages() or float(ages()[one]) <= 12.0]
        return "".join(unicodedata.normalize("NFKC", one) if one in known else one for one in text)

    forms = {
        "ref": encoder(str, lambda text: unicodedata.normalize("NFKC", text)),
        "mine": encoder(str, older),
    }
    found = found_in(["in \u32ff \u2460"], **forms)
    assert found[0].mistake == (
        "follows Unicode 12.0, ref 14.0 or later: U+32FF is normalized since 12.1"
    )


@pytest.mark.parametrize(
    "mine",
    [
        encoder(without_astral),
        encoder(lambda text: text.replace("\U00013951", "\u0378")),
        encoder(lambda text: re.sub("[^\x00-\xff]", ".", text)),
        encoder(lambda text: re.sub("[\U00010000-\U0010ffff]", " ", text)),
    ],
    ids=["plane", "one", "none", "spaces"],
)
def test_other_mistakes_in_newer_characters_are_not_taken_for_versions(mine):
    found = found_in(["\U00013951.the"], ref=encoder(as_of_unicode_16), mine=mine)
    assert found
    assert {one.mistake for one in found} == {""}
    assert "unicode" not in {one.bucket.split("/")[4] for one in found}
