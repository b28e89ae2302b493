"""``fastokens``: Crusoe's byte-level BPE in Rust, from a rank file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from corpora.vocabularies.tokenizer_json_out import given
from impls import interface
from impls.adapters.common import rank_file, rank_trouble
from impls.adapters.peers import Peer, PeerEncoder, rank_order_trouble, written
from impls.adapters.recipes import READS_JSON, Adapter, Way
from impls.adapters.tokenizers import native_json
from impls.adapters.vocabularies import byte_level, json_content

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

LIBRARY = Peer(
    name="fastokens",
    homepage="https://github.com/crusoecloud/fastokens",
    extra="bench",
)


RANKS = """\
from fastokens._native import Tokenizer

tokenizer = Tokenizer.from_tiktoken(VOCABULARY, pattern={pattern!r}, special_tokens={{}})
"""

FILE = """\
from fastokens._native import Tokenizer

tokenizer = Tokenizer.from_file(VOCABULARY)
"""

TAIL = """

def encode(data):
    return tokenizer.encode_ordinary(data.decode()).ids


def decode(ids):
    return tokenizer.decode(ids).encode()
"""


WHOLE = """

def encode(data):
    return tokenizer.encode(data.decode(), split_special_tokens={split}).ids


def decode(ids):
    return tokenizer.decode(ids).encode()
"""


def _way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    if native_json(vocabulary) and mode.pretokenize:
        split = mode.special == "none"
        code = FILE + WHOLE.format(split=split)
        return Way("tokenizer.json", lambda: given(vocabulary, post_processor=False), code)
    if byte_level(vocabulary):
        trouble = LIBRARY.trouble(vocabulary, mode)
        trouble = trouble or rank_order_trouble(vocabulary) or rank_trouble(vocabulary)
        code = RANKS.format(pattern=vocabulary.own_pattern) + TAIL
        return trouble or Way("vocabulary.tiktoken", lambda: rank_file(vocabulary), code)
    if not vocabulary.byte_fallback or vocabulary.normalizer.charsmap is not None:
        return "byte-level BPE, and SentencePiece BPE with byte fallback alone"
    if vocabulary.algorithm != "bpe" or mode.special != "none":
        return "byte-pair encoding only, and reads no special tokens here"
    return Way("tokenizer.json", lambda: json_content(vocabulary, mode), FILE + TAIL)


class Implementation(Adapter):
    """``Tokenizer.from_tiktoken`` where it can be, for its speed; else a tokenizer.json."""

    def load(self, vocabulary: Vocabulary) -> interface.Encoder:
        """Build it: about two seconds for 200,000 tokens."""
        if not byte_level(vocabulary) or native_json(vocabulary):
            return super().load(vocabulary)
        native = LIBRARY.load("_native")
        folder, path = written(rank_file(vocabulary), "vocabulary.tiktoken")
        with folder:
            tokenizer = native.Tokenizer.from_tiktoken(
                str(path), pattern=vocabulary.own_pattern, special_tokens={}
            )
        encode = tokenizer.encode_batch_flat

        def run(text: str) -> Any:
            # The flat form makes no Python object for each token.
            return np.frombuffer(encode([text])[0], dtype=np.uint32)

        def run_many(texts: list[str], threads: int) -> list[object]:
            return [np.frombuffer(encode(texts)[0], dtype=np.uint32)]

        return PeerEncoder(run, lambda ids: cast("str", tokenizer.decode(ids)).encode(), run_many)


IMPLEMENTATION = Implementation(LIBRARY, _way, READS_JSON)
