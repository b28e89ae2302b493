"""``sentencepiece``: Google's SentencePiece, BPE and unigram."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from inspect import signature
from typing import TYPE_CHECKING, Any, cast

from impls import interface
from impls.adapters.common import Library, in_bytes, text_of
from impls.adapters.recipes import Adapter, Way
from impls.interface import Capability, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

LIBRARY = Library(
    name="sentencepiece",
    homepage="https://github.com/google/sentencepiece",
    capabilities=frozenset({Capability.DECODE, Capability.OFFSETS, Capability.THREADS}),
    language="c++",
    helpers=("protobuf",),
)


class _Encoder:
    def __init__(self, processor: Any, vocabulary: Vocabulary | None = None) -> None:
        self._processor = processor
        self._vocabulary = vocabulary
        # Up to 0.2.1 the kind of answer was chosen by `out_type` alone.
        self._returns = "return_type" in signature(processor.encode).parameters

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        return cast("list[int]", self._processor.encode(data))

    def encode_str(self, text: str, mode: Mode) -> list[int]:
        """Text, which it takes beside bytes."""
        return cast("list[int]", self._processor.encode(text))

    def encode_many(self, inputs: Sequence[bytes], mode: Mode) -> list[list[int]]:
        """Its batches, which it encodes in threads of its own."""
        return cast("list[list[int]]", self._processor.encode(list(inputs)))

    def reloaded(self) -> _Encoder:
        """From the model file that it writes."""
        proto = self._processor.serialized_model_proto()
        return _Encoder(LIBRARY.load().SentencePieceProcessor(model_proto=proto))

    def respelled(self) -> _Encoder | None:
        """From a model that is written from the plain model, if the user's own is another one."""
        vocabulary = self._vocabulary
        if vocabulary is None or vocabulary.native is None or vocabulary.format != "sentencepiece":
            return None
        if vocabulary.unexpressed:
            return None
        proto = model_proto(replace(vocabulary, native=None))
        return _Encoder(LIBRARY.load().SentencePieceProcessor(model_proto=proto))

    def prepare(self, data: bytes, mode: Mode) -> Callable[[], object]:
        """Bytes, which it takes as they are, to a NumPy array."""
        encode = self._processor.encode
        return lambda: encode(data, return_type="numpy")

    def prepare_batch(
        self, texts: Sequence[bytes], mode: Mode, threads: int
    ) -> Callable[[], list[object]]:
        """Its batches, on threads of its own, to NumPy arrays."""
        given, encode = list(texts), self._processor.encode
        return lambda: cast("list[object]", encode(given, return_type="numpy", num_threads=threads))

    def encode_with_added(self, data: bytes, pair: bytes | None, mode: Mode) -> list[int]:
        """With the tokens of the beginning and the end that the model has; it knows no pairs."""
        processor = self._processor
        if pair is not None:
            raise Unsupported("has no pairs")
        return cast(
            "list[int]",
            processor.encode(
                data, add_bos=processor.bos_id() >= 0, add_eos=processor.eos_id() >= 0
            ),
        )

    def token_strings(self, data: bytes, mode: Mode) -> list[str]:
        """The pieces."""
        return cast("list[str]", self._processor.encode(text_of(data), out_type=str))

    def decode(self, ids: Sequence[int]) -> bytes:
        if not self._returns:
            return cast("str", self._processor.decode(list(ids))).encode()
        return cast("bytes", self._processor.decode(list(ids), return_type=bytes))

    def encode_with_offsets(
        self, data: bytes, mode: Mode
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Given bytes, it counts offsets in bytes; up to 0.2.1 in characters."""
        if not self._returns:
            # Bytes as they come: text_of is for the offsets.
            pieces = self._processor.encode(data, out_type="immutable_proto").pieces
            text = text_of(data)
            return [p.id for p in pieces], in_bytes(text, [(p.begin, p.end) for p in pieces])
        mapping = self._processor.encode(data, return_type="offset_mapping")
        return mapping["ids"], mapping["offsets"]


@lru_cache(maxsize=2)
def model_proto(vocabulary: Vocabulary) -> bytes:
    """The vocabulary as a ``.model`` file: the user's own, if it was read from one."""
    return vocabulary.as_sentencepiece()


def model_trouble(vocabulary: Vocabulary) -> str | None:
    """Why there is no ``.model`` file of a vocabulary, for ``supports``; None if there is one."""
    from corpora.vocabularies.sentencepiece_model import trouble  # noqa: PLC0415 (only to load)

    return trouble(vocabulary)


CODE = """\
from inspect import signature

from sentencepiece import SentencePieceProcessor

processor = SentencePieceProcessor(model_file=VOCABULARY)


def encode(data):
    return processor.encode(data)


def encode_with_offsets(data):
    if "return_type" in signature(processor.encode).parameters:
        mapping = processor.encode(data.decode(), return_type="offset_mapping")
        return mapping["ids"], mapping["offsets"]  # in characters
    pieces = processor.encode(data.decode(), out_type="immutable_proto").pieces
    return [piece.id for piece in pieces], [(piece.begin, piece.end) for piece in pieces]


def decode(ids):
    if "return_type" in signature(processor.decode).parameters:
        return processor.decode(ids, return_type=bytes)
    return processor.decode(ids).encode()
"""


def _way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    """Vocabularies of scored pieces, as text."""
    if not vocabulary.pieces:
        return "needs a SentencePiece vocabulary"
    if mode.special == "all":
        return "never reads control tokens from text"
    if not mode.pretokenize:
        return "its own handling of white space cannot be left out"
    trouble = model_trouble(vocabulary)
    return trouble or Way("vocabulary.model", lambda: model_proto(vocabulary), CODE)


class Implementation(Adapter):
    """``SentencePieceProcessor``, of the user's own model or one written from the vocabulary."""

    def load(self, vocabulary: Vocabulary) -> interface.Encoder:
        """Build the processor."""
        library = LIBRARY.load()
        processor = library.SentencePieceProcessor(model_proto=model_proto(vocabulary))
        return _Encoder(processor, vocabulary)


IMPLEMENTATION = Implementation(LIBRARY, _way, frozenset({"sentencepiece"}))
