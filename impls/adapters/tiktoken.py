"""``tiktoken``: OpenAI's byte-level BPE."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from impls import interface
from impls.adapters.common import Library, rank_file, text_of
from impls.adapters.recipes import Adapter, Way
from impls.adapters.vocabularies import ranked_trouble
from impls.interface import Capability, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

LIBRARY = Library(
    name="tiktoken",
    homepage="https://github.com/openai/tiktoken",
    # No offsets: `decode_with_offsets` counts characters, and several tokens may share one.
    capabilities=frozenset({Capability.DECODE, Capability.THREADS}),
)

WHOLE_TEXT = r"(?s).+"
"""Stands in for the pattern where a vocabulary is only run without one."""


class _Encoder:
    def __init__(self, encoding: Any, vocabulary: Vocabulary | None = None) -> None:
        self._encoding = encoding
        self._vocabulary = vocabulary

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        if not mode.pretokenize:
            # Its only entry that takes bytes as they are; `Encoding.encode` takes text.
            return cast("list[int]", self._encoding._encode_single_piece(data) if data else [])
        return self.encode_str(text_of(data), mode)

    def encode_str(self, text: str, mode: Mode) -> list[int]:
        """Only of pre-tokenized text: without pre-tokenization it takes bytes."""
        if not mode.pretokenize:
            raise Unsupported("takes bytes here")
        if mode.special == "all":
            return cast("list[int]", self._encoding.encode(text, allowed_special="all"))
        return cast("list[int]", self._encoding.encode_ordinary(text))

    def encode_many(self, inputs: Sequence[bytes], mode: Mode) -> list[list[int]]:
        """Its batches, which it encodes in threads of its own; only of pre-tokenized text."""
        if not mode.pretokenize:
            raise Unsupported("its batches are pre-tokenized")
        texts = [text_of(data) for data in inputs]
        if mode.special == "all":
            return cast(
                "list[list[int]]", self._encoding.encode_batch(texts, allowed_special="all")
            )
        return cast("list[list[int]]", self._encoding.encode_ordinary_batch(texts))

    def encode_with_unstable(self, data: bytes, mode: Mode) -> tuple[list[int], list[list[int]]]:
        """Its own name for it; only of pre-tokenized text."""
        if not mode.pretokenize or mode.special == "all":
            raise Unsupported("says what is stable of pre-tokenized text")
        text = text_of(data)
        return cast(
            "tuple[list[int], list[list[int]]]",
            self._encoding.encode_with_unstable(text, disallowed_special=()),
        )

    def reloaded(self) -> _Encoder:
        """By pickling, which saves the ranks, the pattern and the special tokens."""
        return _Encoder(pickle.loads(pickle.dumps(self._encoding)))

    def respelled(self) -> _Encoder | None:
        """With the pattern as it is spelled here, if the user's own is spelled in another way."""
        vocabulary = self._vocabulary
        if vocabulary is None or vocabulary.own_pattern == vocabulary.pattern:
            return None
        return _made(replace(vocabulary, native=None))

    def prepare(self, data: bytes, mode: Mode) -> Callable[[], object]:
        """Text to a NumPy array; without pre-tokenization there is only the list."""
        if not mode.pretokenize:
            return lambda: self.encode(data, mode)
        text, encode = text_of(data), self._encoding.encode_to_numpy
        if mode.special == "all":
            return lambda: encode(text, allowed_special="all")
        # Else it would search the text for special tokens first.
        return lambda: encode(text, disallowed_special=())

    def prepare_batch(
        self, texts: Sequence[bytes], mode: Mode, threads: int
    ) -> Callable[[], list[list[int]]]:
        """Its batches, on threads of its own."""
        if not mode.pretokenize or mode.special == "all":
            raise Unsupported("its batches are pre-tokenized, of ordinary text")
        given, encode = [text_of(data) for data in texts], self._encoding.encode_ordinary_batch
        return lambda: cast("list[list[int]]", encode(given, num_threads=threads))

    def decode(self, ids: Sequence[int]) -> bytes:
        return cast("bytes", self._encoding.decode_bytes(ids))

    def decode_stream(self, ids: Sequence[int]) -> list[bytes]:
        """Each token's bytes, of which its users make text as they come."""
        return cast("list[bytes]", self._encoding.decode_tokens_bytes(ids))


def _made(vocabulary: Vocabulary) -> _Encoder:
    encoding = LIBRARY.load().Encoding(
        name=vocabulary.id,
        pat_str=vocabulary.own_pattern or WHOLE_TEXT,
        mergeable_ranks=vocabulary.ids,
        special_tokens=dict(vocabulary.special_tokens),
    )
    return _Encoder(encoding, vocabulary)


CODE = """\
import base64
import tiktoken

lines = [line.split() for line in open(VOCABULARY, "rb")]
encoding = tiktoken.Encoding(
    name="vocabulary",
    pat_str={pattern!r},
    mergeable_ranks={{base64.b64decode(token): int(rank) for token, rank in lines}},
    special_tokens={special_tokens!r},
)


def encode(data):
    return {call}


def decode(ids):
    return encoding.decode_bytes(ids)
"""


def _way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    """A rank file, and the pattern as a literal."""
    if not mode.pretokenize:
        call = "encoding._encode_single_piece(data) if data else []"
    elif mode.special == "all":
        call = 'encoding.encode(data.decode(), allowed_special="all")'
    else:
        call = "encoding.encode_ordinary(data.decode())"
    code = CODE.format(
        pattern=vocabulary.own_pattern or WHOLE_TEXT,
        special_tokens=dict(vocabulary.special_tokens),
        call=call,
    )
    trouble = ranked_trouble(vocabulary, mode, raw=True)
    return trouble or Way("vocabulary.tiktoken", lambda: rank_file(vocabulary), code)


class Implementation(Adapter):
    """``tiktoken.Encoding`` made of the vocabulary's ids as ranks."""

    def load(self, vocabulary: Vocabulary) -> interface.Encoder:
        """Build the encoding: about half a second for 200,000 tokens."""
        return _made(vocabulary)


IMPLEMENTATION = Implementation(LIBRARY, _way)
