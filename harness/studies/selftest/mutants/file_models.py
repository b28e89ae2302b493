"""Mistakes with the models of a tokenizer.json."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.studies.selftest.mutant import planted
from harness.studies.selftest.plain.pipeline import PlainPipeline, modelled
from impls.pipeline.models import Bpe, Unigram, WordLevel, WordPiece

if TYPE_CHECKING:
    from impls.pipeline.encoder import Parts

Json = dict[str, Any]

WORDS, SUBWORDS = "toy_file_words", "toy_file_subwords"
CHARACTERS, SCORES, AFFIXES = "toy_file_characters", "toy_file_scores", "toy_file_affixes"


@planted("equivalence", on=WORDS, mode="text", shows=(b"x",))
class DropsUnknownWords(PlainPipeline):
    """WordLevel drops a word that is no token, where the unknown token belongs."""

    def replaced(self, parts: Parts, document: Json) -> Parts:
        class Dropping(WordLevel):
            def ids(self, piece: str) -> list[int]:
                return super().ids(piece) if piece in self.vocab else []

        return replace(parts, model=Dropping(document["model"]))


@planted("equivalence", on=WORDS, mode="text", shows=(b"A",))
class FindsAnyCase(PlainPipeline):
    """WordLevel looks a word up in small letters where it is no token."""

    def replaced(self, parts: Parts, document: Json) -> Parts:
        class Lowering(WordLevel):
            def ids(self, piece: str) -> list[int]:
                return super().ids(piece if piece in self.vocab else piece.lower())

        return replace(parts, model=Lowering(document["model"]))


@planted("equivalence", on=AFFIXES, mode="text", shows=(b"ba",))
class ForgetsThePrefix(PlainPipeline):
    """BPE looks characters up without the prefix of those that continue a word."""

    def replaced(self, parts: Parts, document: Json) -> Parts:
        class Unprefixed(Bpe):
            def __init__(self, model: Json) -> None:
                super().__init__(model)
                self._prefix = ""

        return replace(parts, model=Unprefixed(document["model"]))


@planted("equivalence", on=AFFIXES, mode="text", shows=(b"a",))
class ForgetsTheSuffix(PlainPipeline):
    """BPE looks the last character of a word up without the suffix."""

    def read(self, document: Json) -> Json:
        return modelled(document, end_of_word_suffix=None)


@planted("equivalence", on=AFFIXES, mode="text", shows=(b"xx",))
class FusesUnknowns(PlainPipeline):
    """BPE has one unknown token for several in a row, though fuse_unk is off."""

    def read(self, document: Json) -> Json:
        return modelled(document, fuse_unk=True)


@planted("equivalence", on=AFFIXES, mode="text", shows=(b"bab", b"abab", b"baba"))
class LastMergesFirst(PlainPipeline):
    """BPE does the merges in the reverse order of the file."""

    def read(self, document: Json) -> Json:
        return modelled(document, merges=document["model"]["merges"][::-1])


@planted("equivalence", on=CHARACTERS, mode="text", shows=("\u20ac".encode(),))
class NoByteFallback(PlainPipeline):
    """A character without a token is unknown, although there are tokens of bytes."""

    def read(self, document: Json) -> Json:
        return modelled(document, byte_fallback=False)


@planted("equivalence", on=CHARACTERS, mode="text", shows=(b"1",))
class LooksWordsUp(PlainPipeline):
    """A text that is a token is looked up whole, though ignore_merges is off."""

    def read(self, document: Json) -> Json:
        return modelled(document, ignore_merges=True)


@planted("equivalence", on=SUBWORDS, mode="text", shows=(b"ababab",))
class LimitOffByOne(PlainPipeline):
    """WordPiece does not look at a word as long as max_input_chars_per_word."""

    def read(self, document: Json) -> Json:
        limit = document["model"]["max_input_chars_per_word"]
        return modelled(document, max_input_chars_per_word=limit - 1)


@planted("equivalence", on=SUBWORDS, mode="text", shows=(b"ax",))
class KeepsParts(PlainPipeline):
    """WordPiece keeps what it has matched of a word that it cannot match to the end."""

    def replaced(self, parts: Parts, document: Json) -> Parts:
        class Keeping(WordPiece):
            def ids(self, piece: str) -> list[int]:
                for end in range(len(piece), 0, -1):
                    found = super().ids(piece[:end])
                    if found != self._unknown or len(piece) > self._longest:
                        return found if end == len(piece) else [*found, *self._unknown]
                return self._unknown

        return replace(parts, model=Keeping(document["model"]))


@planted("equivalence", on=SCORES, mode="text", shows=(b"ab",))
class LastTie(PlainPipeline):
    """Unigram takes the last one found of paths of equal sums."""

    def replaced(self, parts: Parts, document: Json) -> Parts:
        class Last(Unigram):
            def _better(self, score: float, held: float) -> bool:
                return score >= held

        return replace(parts, model=Last(document["model"]))


@planted("equivalence", on=SCORES, mode="text", shows=(b"xy",))
class UnknownEach(PlainPipeline):
    """Unigram has an unknown token for each character of an unknown part."""

    def replaced(self, parts: Parts, document: Json) -> Parts:
        class Each(Unigram):
            def ids(self, piece: str) -> list[int]:
                return [token_id for _, _, token_id in self._path(piece)]

        return replace(parts, model=Each(document["model"]))
