"""``llguidance``: the tokenizer inside Microsoft's constrained-decoding engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from corpora.vocabularies.model import Algorithm, Alphabet
from impls.adapters import tokenizers as huggingface
from impls.adapters.common import (
    Library,
    misread,
    rank_file,
    rank_trouble,
    refuse_misread,
    refusing_specials,
    text_of,
    unwritable,
)
from impls.interface import Capability, Mode, Recipe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import About

LIBRARY = Library(
    name="llguidance",
    homepage="https://github.com/guidance-ai/llguidance",
    capabilities=frozenset({Capability.DECODE, Capability.THREADS}),
    # It proves for each vocabulary whether ids can stand for merges, which takes Numba.
    helpers=("numba",),
)


class _Encoder:
    def __init__(self, vocabulary: Vocabulary) -> None:
        self._tokenizer = tokenizer_of(vocabulary)
        ranks = _reads_ranks(vocabulary)
        self._unsaid = frozenset() if ranks else misread(vocabulary)
        # Without parse_special it "may or may not" find special tokens, as documented: those of a
        # tokenizer.json it does find, those beside ranks it does not.
        self._refuse = None if ranks else refusing_specials(vocabulary)

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        # From invalid UTF-8 on it would take the longest token that fits, as documented.
        text_of(data)
        special = mode.special == "all"
        if self._refuse is not None and not special:
            self._refuse(data)
        return cast("list[int]", self._tokenizer.tokenize_bytes(data, parse_special=special))

    def prepare(self, data: bytes, mode: Mode) -> Callable[[], object]:
        """Bytes, which it takes as they are, to a list."""
        special, tokenize = mode.special == "all", self._tokenizer.tokenize_bytes
        return lambda: tokenize(data, parse_special=special)

    def decode(self, ids: Sequence[int]) -> bytes:
        refuse_misread(ids, self._unsaid)
        return cast("bytes", self._tokenizer.decode_bytes(list(ids)))


def _reads_ranks(vocabulary: Vocabulary) -> bool:
    """Whether it is given ids as ranks, as it is by tiktoken; else it reads a tokenizer.json."""
    return (
        vocabulary.algorithm is Algorithm.BPE
        and vocabulary.alphabet is Alphabet.BYTES
        and vocabulary.pattern is not None
        and not vocabulary.normalizes
        and all(token.special for token in vocabulary.added_tokens)
        and rank_trouble(vocabulary) is None
    )


def _end_of_text(vocabulary: Vocabulary) -> int:
    """An id for its end-of-sequence token, without which it does not start; encoding ignores it.

    It has to be below the number of tokens, past which there may be some where ids have holes.
    """
    ids = [i for i, token in enumerate(vocabulary.tokens) if token is not None]
    size = len({*ids, *vocabulary.special_tokens.values()})
    last = max((i for i in ids if i < size), default=0)
    return min((i for i in vocabulary.special_tokens.values() if i < size), default=last)


def tokenizer_of(vocabulary: Vocabulary) -> Any:
    """The ``LLTokenizer`` of a vocabulary."""
    library = LIBRARY.load()
    # No slices: they serve masks, which are not asked for here, and cost seconds.
    if _reads_ranks(vocabulary):
        return library.LLTokenizer.from_tiktoken(
            encoder=vocabulary.ids,
            special_tokens=dict(vocabulary.special_tokens),
            pattern=vocabulary.pattern,
            eos_token=_end_of_text(vocabulary),
            slices=[],
        )
    content = huggingface.written_json(vocabulary, Mode())
    return library.LLTokenizer(content, eos_token=_end_of_text(vocabulary), slices=[])


class Implementation:
    """``LLTokenizer``, from ranks or from a tokenizer.json."""

    @property
    def about(self) -> About:
        """Who it is."""
        return LIBRARY.installed

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """Text, always pre-tokenized, with the text's own start."""
        if not mode.pretokenize:
            return "always pre-tokenizes"
        if vocabulary.algorithm is not Algorithm.BPE:
            return "byte-pair encoding only: it cannot tell how unigram pieces decode"
        if vocabulary.normalizer.add_dummy_prefix:
            return "leaves out the space before the text: it encodes what continues a text"
        return None if _reads_ranks(vocabulary) else unwritable(vocabulary)

    def load(self, vocabulary: Vocabulary) -> _Encoder:
        """Build the tokenizer and its trie: about a second for 200,000 tokens."""
        return _Encoder(vocabulary)

    def recipe(self, vocabulary: Vocabulary, mode: Mode) -> Recipe:
        """A rank file with the pattern as a literal, or a tokenizer.json."""
        encode = f"""

def encode(data):
    return tokenizer.tokenize_bytes(data, parse_special={mode.special == "all"})


def decode(ids):
    return tokenizer.decode_bytes(list(ids))
"""
        if _reads_ranks(vocabulary):
            code = f"""\
import base64
from llguidance import LLTokenizer

lines = [line.split() for line in open(VOCABULARY, "rb")]
tokenizer = LLTokenizer.from_tiktoken(
    encoder={{base64.b64decode(token): int(rank) for token, rank in lines}},
    special_tokens={dict(vocabulary.special_tokens)!r},
    pattern={vocabulary.pattern!r},
    eos_token={_end_of_text(vocabulary)},
    slices=[],
)
"""
            artifact = rank_file(vocabulary)
            name = "vocabulary.tiktoken"
        else:
            code = f"""\
from pathlib import Path
from llguidance import LLTokenizer

content = Path(VOCABULARY).read_text(encoding="utf-8")
tokenizer = LLTokenizer(content, eos_token={_end_of_text(vocabulary)}, slices=[])
"""
            artifact = huggingface.written_json(vocabulary, mode).encode()
            name = "tokenizer.json"
        return Recipe((LIBRARY.requirement,), code + encode, name, artifact)


IMPLEMENTATION = Implementation()
