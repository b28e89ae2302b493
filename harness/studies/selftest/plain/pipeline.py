"""The steps of a tokenizer.json: the definition itself, whose parts a mistake may make otherwise.

It is no second writing of the steps, as a file has dozens of them. A mistake misreads what the file
says, or puts one wrong part in place of a right one. A WordPiece vocabulary is given to it as such
a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from corpora.vocabularies.model import Algorithm
from harness.studies.selftest.plain.base import Plain
from impls.interface import Capability, Mode
from impls.pipeline.encoder import IMPLEMENTATION, Encoder, parts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.pipeline.encoder import Parts


class PlainPipeline(Plain):
    """Right for what ``pipeline.huggingface`` defines."""

    name = "plain.pipeline"
    modes = ("text",)
    capabilities = frozenset({Capability.DECODE})
    native_formats = IMPLEMENTATION.native_formats

    def runs(self, vocabulary: Vocabulary) -> str | None:
        """What the definition runs, and WordPiece."""
        wordpiece = vocabulary.algorithm is Algorithm.WORDPIECE
        return None if wordpiece else IMPLEMENTATION.supports(vocabulary, Mode())

    def prepare(self) -> None:
        """Read the file."""
        native = self.vocabulary.native
        content = native.content if native else self.vocabulary.as_tokenizer_json()
        self.encoder = Encoder(content, self.made)

    def made(self, document: dict[str, Any]) -> Parts:
        """The parts of a file."""
        return parts_of(document)

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids."""
        return self.encoder.encode(data, mode)

    def decode(self, ids: Sequence[int]) -> bytes:
        """The text of tokens."""
        return self.encoder.decode(ids)

    def encode_with_added(self, data: bytes, pair: bytes | None, mode: Mode) -> list[int]:
        """See ``AddsSpecials``."""
        return self.encoder.encode_with_added(data, pair, mode)


class PlainWordPiece(PlainPipeline):
    """WordPiece as BERT has it, which is compared in its ids alone."""

    name = "plain.wordpiece"
    capabilities = frozenset()
