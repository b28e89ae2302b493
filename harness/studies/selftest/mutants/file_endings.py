"""Mistakes with the decoders and the post-processors of a tokenizer.json."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.studies.selftest.mutant import planted
from harness.studies.selftest.plain.pipeline import PlainPipeline, misread, reordered, without

if TYPE_CHECKING:
    from impls.interface import Mode
    from impls.pipeline.encoder import Parts

Json = dict[str, Any]

WORDS, SUBWORDS = "toy_file_words", "toy_file_subwords"
CHARACTERS, SCORES, AFFIXES = "toy_file_characters", "toy_file_scores", "toy_file_affixes"


@planted("round-trip", on=CHARACTERS, mode="text", stages=("decode",), shows=("\u20ac".encode(),))
class FusesBeforeBytes(PlainPipeline):
    """Tokens are fused before their bytes are put together, and bytes stay as they are spelled."""

    def read(self, document: Json) -> Json:
        return reordered(document, "decoder", ("Replace", "Fuse", "ByteFallback", "Strip"))


@planted("round-trip", on=CHARACTERS, mode="text", stages=("decode",), shows=(b"a",))
class StripsNothing(PlainPipeline):
    """The space that normalization put before the text stays in what is decoded."""

    def read(self, document: Json) -> Json:
        return without(document, "decoder", "Strip")


@planted("round-trip", on=CHARACTERS, mode="text", stages=("decode",), shows=(b"a b",))
class StripsEachToken(PlainPipeline):
    """The space at the beginning of each token is stripped, not that of the text."""

    def read(self, document: Json) -> Json:
        return reordered(document, "decoder", ("Replace", "ByteFallback", "Strip", "Fuse"))


@planted("round-trip", on=SUBWORDS, mode="text", stages=("decode",), shows=(b"a!",))
class CleansNothing(PlainPipeline):
    """Spaces before punctuation stay, though the decoder WordPiece is to clean up."""

    def read(self, document: Json) -> Json:
        return misread(document, "decoder", "WordPiece", cleanup=False)


@planted("round-trip", on=SUBWORDS, mode="text", stages=("decode",), shows=(b"aa",))
class KeepsThePrefix(PlainPipeline):
    """The prefix of tokens that continue a word stays in what is decoded."""

    def read(self, document: Json) -> Json:
        return misread(document, "decoder", "WordPiece", prefix="")


@planted("round-trip", on=SCORES, mode="text", stages=("decode",), shows=(b"b",))
class KeepsTheFirstMark(PlainPipeline):
    """The mark that Metaspace puts before the text is decoded to a space."""

    def read(self, document: Json) -> Json:
        return misread(document, "decoder", "Metaspace", prepend_scheme="never")


@planted("round-trip", on=AFFIXES, mode="text", stages=("decode",), shows=(b"a",))
class SpaceAfterAll(PlainPipeline):
    """BPEDecoder makes a space of the suffix of the last token, too."""

    def replaced(self, parts: Parts, document: Json) -> Parts:
        def decoded(tokens: list[str]) -> list[str]:
            return [token.replace("</w>", " ") for token in tokens]

        return replace(parts, decoders=[decoded])


@planted("round-trip", on=WORDS, mode="text", stages=("decode",), shows=(b"a b",))
class NoSpaces(PlainPipeline):
    """Tokens are put together without a space between words."""

    def replaced(self, parts: Parts, document: Json) -> Parts:
        return replace(parts, decoders=[lambda tokens: tokens])


@planted("template", on=WORDS, mode="text", stages=("template",), shows=(b"a",))
class EndsWithTheBeginning(PlainPipeline):
    """A template is read from its end: the token of the beginning stands after the text."""

    def read(self, document: Json) -> Json:
        pair = document["post_processor"]["pair"]
        backwards = [*pair[-1:], *pair[1:-1], *pair[:1]]
        single = document["post_processor"]["single"][::-1]
        return misread(
            document, "post_processor", "TemplateProcessing", single=single, pair=backwards
        )


@planted("template", on=WORDS, mode="text", stages=("template",), shows=(b"a",))
class SecondTextFirst(PlainPipeline):
    """Of a pair the second text comes first."""

    def encode_with_added(self, data: bytes, pair: bytes | None, mode: Mode) -> list[int]:
        if pair is None:
            return super().encode_with_added(data, None, mode)
        return super().encode_with_added(pair, data, mode)


@planted("template", on=WORDS, mode="text", stages=("template",), shows=(b"a",))
class PairAsTwoTexts(PlainPipeline):
    """A pair is two texts one after another, each with the template of one."""

    def encode_with_added(self, data: bytes, pair: bytes | None, mode: Mode) -> list[int]:
        ids = super().encode_with_added(data, None, mode)
        return ids if pair is None else ids + super().encode_with_added(pair, None, mode)


@planted("template", on=SUBWORDS, mode="text", stages=("template",), shows=(b"a",))
class TwoSeparators(PlainPipeline):
    """BertProcessing puts two separators between the texts of a pair, as RobertaProcessing does."""

    def read(self, document: Json) -> Json:
        return misread(document, "post_processor", "BertProcessing", type="RobertaProcessing")
