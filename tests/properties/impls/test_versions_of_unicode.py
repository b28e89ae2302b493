"""Normalization is judged only where versions of Unicode agree on it."""

import sys
import unicodedata
from dataclasses import replace
from functools import cache

import pytest
from tokenizers import normalizers

from corpora.vocabularies.model import Normalizer
from corpora.vocabularies.sources import resolve
from impls import registry
from impls.interface import Mode, Unsupported
from impls.pretokenize.unicode_version import versioned

BEFORE = ("", "a\u0345", "e\u0323")


@cache
def settled():
    """The characters on which versions agree, whatever comes before them."""
    known = [chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000]
    found = [one for one in known if not versioned().search(one)]
    assert len(found) > 0.99 * len(known)
    assert not any(versioned().search(before) for before in BEFORE)
    return found


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_all_characters_but_the_versioned_ones_are_normalized_alike(form):
    for before in BEFORE:
        text = "\n".join(before + one for one in settled())
        theirs = getattr(normalizers, form)().normalize_str(text)
        assert theirs == unicodedata.normalize(form, text), before


def test_what_depends_on_the_version_is_not_answered():
    vocabulary = replace(resolve("toy_bytes"), normalizer=Normalizer(form="NFKC"))
    encoder = registry.resolve("bpe.heap").load(vocabulary)
    for text in ("a\u32ff", "\u0898", "\U00011935\U00011930"):
        with pytest.raises(Unsupported, match="version of Unicode"):
            encoder.encode(text.encode(), Mode())
    assert len(encoder.encode("ﬁ 😀".encode(), Mode())) > 0
