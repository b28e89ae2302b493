"""``rs-bpe``: a Rust port of the linear encoder, with OpenAI's two vocabularies built in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from impls import interface
from impls.adapters.built_in import built_in_name, like_rs_bpe
from impls.adapters.common import Library, text_of
from impls.adapters.recipes import Adapter
from impls.interface import Capability

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

LIBRARY = Library(
    name="rs-bpe",
    homepage="https://github.com/gweidart/rs-bpe",
    capabilities=frozenset({Capability.DECODE, Capability.THREADS}),
    extra="engines",
    linear=True,
)

CODE = """\
from rs_bpe import openai

tokenizer = openai.{name}()
"""


class _Encoder:
    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._bpe = tokenizer.bpe()

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        if not mode.pretokenize:
            return cast("list[int]", self._bpe.encode_via_backtracking(data))
        return cast("list[int]", self._tokenizer.encode(text_of(data)))

    def prepare(self, data: bytes, mode: Mode) -> Callable[[], object]:
        """Text to a list; bytes to a list without pre-tokenization."""
        if not mode.pretokenize:
            return lambda: self._bpe.encode_via_backtracking(data)
        text, encode = text_of(data), self._tokenizer.encode
        return lambda: encode(text)

    def prepare_count(self, data: bytes, mode: Mode) -> Callable[[], int]:
        """Its fastest service: it makes no ids."""
        if not mode.pretokenize:
            return lambda: cast("int", self._bpe.count(data))
        text, count = text_of(data), self._tokenizer.count
        return lambda: cast("int", count(text))

    def decode(self, ids: Sequence[int]) -> bytes:
        return cast("bytes", self._bpe.decode_tokens(list(ids)))


class Implementation(Adapter):
    """Its own o200k_base and cl100k_base, for vocabularies that are those."""

    def load(self, vocabulary: Vocabulary) -> interface.Encoder:
        """Decompress the built-in vocabulary: a few seconds."""
        # An attribute: imported as a module, `rs_bpe.openai` is a stub that lacks the encodings.
        openai = LIBRARY.load().openai
        return _Encoder(getattr(openai, built_in_name(vocabulary) or "")())


IMPLEMENTATION = Implementation(LIBRARY, like_rs_bpe(CODE))
