"""``llguidance``: the tokenizer inside Microsoft's constrained-decoding engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from corpora.vocabularies.model import Algorithm
from impls import interface
from impls.adapters import tokenizers as huggingface
from impls.adapters.common import (
    Library,
    misread,
    rank_file,
    refuse_misread,
    refusing_specials,
    text_of,
)
from impls.adapters.recipes import Adapter, Way
from impls.adapters.vocabularies import ranked_trouble
from impls.interface import Capability, Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary

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
    return ranked_trouble(vocabulary, Mode()) is None


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


RANKS = """\
import base64
from llguidance import LLTokenizer

lines = [line.split() for line in open(VOCABULARY, "rb")]
tokenizer = LLTokenizer.from_tiktoken(
    encoder={{base64.b64decode(token): int(rank) for token, rank in lines}},
    special_tokens={special_tokens!r},
    pattern={pattern!r},
    eos_token={end},
    slices=[],
)
"""

FILE = """\
from pathlib import Path
from llguidance import LLTokenizer

content = Path(VOCABULARY).read_text(encoding="utf-8")
tokenizer = LLTokenizer(content, eos_token={end}, slices=[])
"""

TAIL = """

def encode(data):
    return tokenizer.tokenize_bytes(data, parse_special={special})


def decode(ids):
    return tokenizer.decode_bytes(list(ids))
"""


def _way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    """Text, always pre-tokenized, with the text's own start: from ranks, or a tokenizer.json."""
    if not mode.pretokenize:
        return "always pre-tokenizes"
    if vocabulary.algorithm is not Algorithm.BPE:
        return "byte-pair encoding only: it cannot tell how unigram pieces decode"
    if vocabulary.normalizer.add_dummy_prefix:
        return "leaves out the space before the text: it encodes what continues a text"
    ranks = _reads_ranks(vocabulary)
    code = (RANKS if ranks else FILE) + TAIL
    code = code.format(
        special_tokens=dict(vocabulary.special_tokens),
        pattern=vocabulary.pattern,
        end=_end_of_text(vocabulary),
        special=mode.special == "all",
    )
    if ranks:
        return Way("vocabulary.tiktoken", lambda: rank_file(vocabulary), code)
    return Way("tokenizer.json", lambda: huggingface.written_json(vocabulary, mode).encode(), code)


class Implementation(Adapter):
    """``LLTokenizer``, from ranks or from a tokenizer.json."""

    def load(self, vocabulary: Vocabulary) -> interface.Encoder:
        """Build the tokenizer and its trie: about a second for 200,000 tokens."""
        return _Encoder(vocabulary)


IMPLEMENTATION = Implementation(LIBRARY, _way)
