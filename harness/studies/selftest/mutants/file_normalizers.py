"""Mistakes with the normalizers of a tokenizer.json."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.studies.selftest.mutant import planted
from harness.studies.selftest.plain.pipeline import (
    PlainPipeline,
    misread,
    reordered,
    steps,
    unflagged,
    without,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from impls.interface import Mode
    from impls.pipeline.encoder import Parts

Json = dict[str, Any]

CHARACTERS, SUBWORDS = "toy_file_characters", "toy_file_subwords"
WORDS, AFFIXES = "toy_file_words", "toy_file_affixes"


@planted("equivalence", on=CHARACTERS, mode="text", shows=(b"a ",))
class StripsLeftOnly(PlainPipeline):
    """A Strip of both sides strips the left one alone."""

    def read(self, document: Json) -> Json:
        return misread(document, "normalizer", "Strip", strip_right=False)


@planted("equivalence", on=CHARACTERS, mode="text", shows=("\u3000a".encode(),))
class StripsAsciiOnly(PlainPipeline):
    """A Strip strips the white space of ASCII alone."""

    def replaced(self, parts: Parts, document: Json) -> Parts:
        return normalizing(parts, document, "Strip", lambda text: text.strip(" \t\n\r\v\f"))


@planted("equivalence", on=CHARACTERS, mode="text", shows=(b"ccacc",))
class ReplacesTheFirst(PlainPipeline):
    """A Replace replaces the first match only."""

    def replaced(self, parts: Parts, document: Json) -> Parts:
        return normalizing(parts, document, "Replace", lambda text: text.replace("cc", "c", 1))


@planted("equivalence", on=CHARACTERS, mode="text", shows=(b"cccc",))
class ReplacesAgain(PlainPipeline):
    """A Replace replaces in what it has replaced, until nothing matches."""

    def replaced(self, parts: Parts, document: Json) -> Parts:
        def replaced(text: str) -> str:
            while "cc" in text:
                text = text.replace("cc", "c")
            return text

        return normalizing(parts, document, "Replace", replaced)


@planted("equivalence", on=CHARACTERS, mode="text", shows=("\u210b".encode(),))
class FormFirst(PlainPipeline):
    """NFKC is applied before Lowercase, which the file has first: capitals of it are lowered."""

    def read(self, document: Json) -> Json:
        return reordered(document, "normalizer", ("Strip", "NFKC", "Lowercase"))


@planted("equivalence", on=CHARACTERS, mode="text", shows=("\ufb01".encode(),))
class CanonicalOnly(PlainPipeline):
    """NFKC is taken for NFC, which leaves ligatures and wide letters as they are."""

    def read(self, document: Json) -> Json:
        return misread(document, "normalizer", "NFKC", type="NFC")


@planted("equivalence", on=AFFIXES, mode="text", shows=("\xc9".encode(),))
class LowersAsciiOnly(PlainPipeline):
    """Lowercase lowers the letters of ASCII alone."""

    def replaced(self, parts: Parts, document: Json) -> Parts:
        def lowered(text: str) -> str:
            return "".join(one.lower() if one.isascii() else one for one in text)

        return normalizing(parts, document, "Lowercase", lowered)


@planted("equivalence", on=AFFIXES, mode="text", shows=("a\u03a3".encode(),))
class LowersFinalSigma(PlainPipeline):
    """Lowercase looks at the word: a capital sigma that ends one becomes another small letter."""

    def replaced(self, parts: Parts, document: Json) -> Parts:
        return normalizing(parts, document, "Lowercase", str.lower)


@planted("equivalence", on=CHARACTERS, mode="text", shows=(b"",))
class PrependsToNothing(PlainPipeline):
    """Prepend puts its text before the empty text, too."""

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        return super().encode(data or b" a", mode)[: None if data else 1]


@planted("equivalence", on=SUBWORDS, mode="text", shows=("\u65e5\u672c".encode(),))
class ChineseInWords(PlainPipeline):
    """BertNormalizer puts no spaces around Chinese characters."""

    def read(self, document: Json) -> Json:
        return misread(document, "normalizer", "BertNormalizer", handle_chinese_chars=False)


@planted("equivalence", on=SUBWORDS, mode="text", shows=("\xe9".encode(),))
class KeepsAccents(PlainPipeline):
    """BertNormalizer strips accents where the file says so alone, not where it lowers."""

    def read(self, document: Json) -> Json:
        return misread(document, "normalizer", "BertNormalizer", strip_accents=False)


@planted("equivalence", on=SUBWORDS, mode="text", shows=("a\xadb".encode(),))
class KeepsControls(PlainPipeline):
    """BertNormalizer does not clean the text of controls."""

    def read(self, document: Json) -> Json:
        return misread(document, "normalizer", "BertNormalizer", clean_text=False)


@planted("equivalence", on=SUBWORDS, mode="text", shows=("a\u200bb".encode(),))
class SkipsNmt(PlainPipeline):
    """Nmt does nothing: characters without a width part no words."""

    def read(self, document: Json) -> Json:
        return without(document, "normalizer", "Nmt")


@planted("equivalence", on=WORDS, mode="text", shows=(b"n-e",))
class AddedAsWritten(PlainPipeline):
    """An added token that is to be found in the normalized text is looked for as it is written."""

    def read(self, document: Json) -> Json:
        return unflagged(document, "normalized")


def normalizing(parts: Parts, document: Json, kind: str, normalize: Callable[[str], str]) -> Parts:
    """The parts with another normalizer in place of the first one of a type."""
    kinds = [step["type"] for step in steps(document, "normalizer")]
    made = [*parts.normalizers]
    made[kinds.index(kind)] = replace(made[kinds.index(kind)], normalize=normalize)
    return replace(parts, normalizers=made)
