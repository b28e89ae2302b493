"""``rs-bpe``: a Rust port of the linear encoder, with OpenAI's two vocabularies built in."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from corpora.vocabularies.patterns import PATTERNS
from impls.adapters.common import Library, text_of
from impls.interface import Capability, Recipe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import About, Mode

LIBRARY = Library(
    name="rs-bpe",
    homepage="https://github.com/gweidart/rs-bpe",
    capabilities=frozenset({Capability.DECODE, Capability.THREADS}),
    extra="engines",
    linear=True,
)

# By SHA-256 of the ordinary tokens, a line "id:bytes in base 16" each, in order of id: what the
# wheel carries cannot be read, so a vocabulary must be known to be the same.
BUILT_IN = {
    "2f42d9ac99cced2beb3c9c7fede745880915fa54be5739f990c19656a4e7fcba": "cl100k_base",
    "a36684b621acb8cd23025abd3819b857814480b9b7480f43e68dc96f826660d2": "o200k_base",
}


@lru_cache(maxsize=16)
def built_in_name(vocabulary: Vocabulary) -> str | None:
    """Which of the built-in encodings the vocabulary's ordinary tokens are, or None."""
    digest = hashlib.sha256()
    for token_id, token in enumerate(vocabulary.tokens):
        if token is not None:
            digest.update(b"%d:%s\n" % (token_id, token.hex().encode()))
    return BUILT_IN.get(digest.hexdigest())


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


class Implementation:
    """Its own o200k_base and cl100k_base, for vocabularies that are those."""

    @property
    def about(self) -> About:
        """Who it is. Raises ImportError if it is not installed: it has no part in a run then."""
        return LIBRARY.installed

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """The two built-in vocabularies with their own patterns."""
        name = built_in_name(vocabulary)
        if name is None or vocabulary.normalizes:
            return "has only its own o200k_base and cl100k_base"
        if mode.special == "all":
            return "never reads special tokens from text"
        if mode.pretokenize and vocabulary.splits != PATTERNS[name]:
            return f"pre-tokenizes only as {name} does"
        return None

    def load(self, vocabulary: Vocabulary) -> _Encoder:
        """Decompress the built-in vocabulary: a few seconds."""
        # An attribute: imported as a module, `rs_bpe.openai` is a stub that lacks the encodings.
        openai = LIBRARY.load().openai
        return _Encoder(getattr(openai, built_in_name(vocabulary) or "")())

    def recipe(self, vocabulary: Vocabulary, mode: Mode) -> Recipe:
        """No artifact: the vocabulary is in the wheel."""
        call = (
            "tokenizer.encode(data.decode())"
            if mode.pretokenize
            else "tokenizer.bpe().encode_via_backtracking(data)"
        )
        code = f"""\
from rs_bpe import openai

tokenizer = openai.{built_in_name(vocabulary)}()


def encode(data):
    return {call}
"""
        return Recipe((LIBRARY.requirement,), code, "none", b"")


IMPLEMENTATION = Implementation()
