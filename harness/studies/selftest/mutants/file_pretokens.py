"""Mistakes with the pre-tokenizers and the added tokens of a tokenizer.json."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.studies.selftest.mutant import planted
from harness.studies.selftest.plain.pipeline import (
    PlainPipeline,
    misread,
    steps,
    unflagged,
    without,
)

if TYPE_CHECKING:
    from impls.pipeline.encoder import Parts

Json = dict[str, Any]

WORDS, SUBWORDS = "toy_file_words", "toy_file_subwords"
SCORES, AFFIXES = "toy_file_scores", "toy_file_affixes"


@planted("equivalence", on=WORDS, mode="text", shows=(b"bab",))
class JoinsTheNext(PlainPipeline):
    """A match that is to join what stands before it joins what stands after it."""

    def read(self, document: Json) -> Json:
        return behaving(document, "MergedWithPrevious", behavior="MergedWithNext")


@planted("equivalence", on=WORDS, mode="text", shows=(b"ba",))
class IsolatesMatches(PlainPipeline):
    """A match that is to join what stands before it is a piece of its own."""

    def read(self, document: Json) -> Json:
        return behaving(document, "MergedWithPrevious", behavior="Isolated")


@planted("equivalence", on=WORDS, mode="text", shows=(b"aab",))
class JoinsMatchesInARow(PlainPipeline):
    """Matches in a row are one piece where each is to join what stands before."""

    def read(self, document: Json) -> Json:
        return behaving(document, "MergedWithPrevious", behavior="Contiguous")


@planted("equivalence", on=WORDS, mode="text", shows=(b"a\n",))
class KeepsWhatIsRemoved(PlainPipeline):
    """What a Split is to remove is kept as a piece."""

    def read(self, document: Json) -> Json:
        return behaving(document, "Removed", behavior="Isolated")


@planted("equivalence", on=WORDS, mode="text", shows=(b"a",))
class IgnoresInvert(PlainPipeline):
    """A Split that is inverted removes its matches, not what stands between them."""

    def read(self, document: Json) -> Json:
        return behaving(document, "Removed", invert=False)


@planted("equivalence", on=WORDS, mode="text", shows=(b"..",))
class JoinsPunctuation(PlainPipeline):
    """Marks of punctuation in a row are one piece, though the file isolates each."""

    def read(self, document: Json) -> Json:
        return misread(document, "pre_tokenizer", "Punctuation", behavior="Contiguous")


@planted("equivalence", on=WORDS, mode="text", shows=(b"12",))
class JoinsDigits(PlainPipeline):
    """Digits in a row are one piece, though the file has them individual."""

    def read(self, document: Json) -> Json:
        return misread(document, "pre_tokenizer", "Digits", individual_digits=False)


@planted("equivalence", on=WORDS, mode="text", shows=(b"a-b",))
class KeepsTheDelimiter(PlainPipeline):
    """CharDelimiterSplit keeps the delimiter as a piece."""

    def read(self, document: Json) -> Json:
        kept = {"type": "Split", "pattern": {"String": "-"}, "behavior": "Isolated"}
        return misread(document, "pre_tokenizer", "CharDelimiterSplit", **kept)


@planted("equivalence", on=SUBWORDS, mode="text", shows=(b"a.",))
class PunctuationInWords(PlainPipeline):
    """BertPreTokenizer parts words at white space alone."""

    def read(self, document: Json) -> Json:
        return misread(document, "pre_tokenizer", "BertPreTokenizer", type="WhitespaceSplit")


@planted("equivalence", on=SCORES, mode="text", shows=(b"<x>a",))
class MarksEveryPart(PlainPipeline):
    """A Metaspace of the scheme "first" puts its mark after each added token, too."""

    def read(self, document: Json) -> Json:
        return misread(document, "pre_tokenizer", "Metaspace", prepend_scheme="always")


@planted("equivalence", on=SCORES, mode="text", shows=(b"a",))
class MarksNothing(PlainPipeline):
    """A Metaspace of the scheme "first" puts its mark nowhere."""

    def read(self, document: Json) -> Json:
        return misread(document, "pre_tokenizer", "Metaspace", prepend_scheme="never")


@planted("equivalence", on=SCORES, mode="text", shows=(b"b b",))
class PartsNoWords(PlainPipeline):
    """A Metaspace leaves the text in one piece, though the file parts it at each mark."""

    def read(self, document: Json) -> Json:
        return misread(document, "pre_tokenizer", "Metaspace", split=False)


@planted("equivalence", on=AFFIXES, mode="text", shows=("\u65e5a".encode(),))
class IgnoresScripts(PlainPipeline):
    """UnicodeScripts parts nothing."""

    def read(self, document: Json) -> Json:
        return without(document, "pre_tokenizer", "UnicodeScripts")


@planted("equivalence", on=AFFIXES, mode="text", shows=("\u65e5\u3042".encode(),))
class PartsKanaFromHan(PlainPipeline):
    """UnicodeScripts parts kana from Chinese characters."""

    def replaced(self, parts: Parts, document: Json) -> Parts:
        first, by_script, *others = parts.splitters

        def parted(text: str, at_start: bool) -> list[str]:
            pieces = by_script(text, at_start)
            return [part for piece in pieces for part in re.split("(\u3042+)", piece)]

        return replace(parts, splitters=[first, parted, *others])


@planted("equivalence", on=AFFIXES, mode="text", shows=("ab\xe9ab".encode(),))
class FixedLengthOfBytes(PlainPipeline):
    """FixedLength counts bytes, and ends a piece where a character goes beyond."""

    def replaced(self, parts: Parts, document: Json) -> Parts:
        length = steps(document, "pre_tokenizer")[2]["length"]

        def parted(text: str, _: bool) -> list[str]:
            pieces = [""]
            for one in text:
                if pieces[-1] and len((pieces[-1] + one).encode()) > length:
                    pieces.append("")
                pieces[-1] += one
            return pieces

        return replace(parts, splitters=[*parts.splitters[:2], parted])


@planted("equivalence", on=WORDS, mode="text", shows=(b"abcab",))
class AddedInWords(PlainPipeline):
    """An added token that is to be a word of its own is found inside words, too."""

    def read(self, document: Json) -> Json:
        return unflagged(document, "single_word")


@planted("equivalence", on=WORDS, mode="text", shows=(b" <l>",))
class KeepsSpaceBefore(PlainPipeline):
    """An added token does not take the white space before it, though the file says lstrip."""

    def read(self, document: Json) -> Json:
        return unflagged(document, "lstrip")


@planted("equivalence", on=WORDS, mode="text", shows=(b"<r> b",))
class KeepsSpaceAfter(PlainPipeline):
    """An added token does not take the white space after it, though the file says rstrip."""

    def read(self, document: Json) -> Json:
        return unflagged(document, "rstrip")


def behaving(document: Json, before: str, /, **fields: object) -> Json:
    """The file with other fields in each Split of a behaviour."""
    told = misread(document, "pre_tokenizer", "Split")
    for step in steps(told, "pre_tokenizer"):
        if step["type"] == "Split" and step["behavior"] == before:
            step.update(fields)
    return told
