"""``splintr-rs``: byte-level BPE in Rust, from a rank file and any pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from impls import interface
from impls.adapters.common import rank_file, rank_trouble
from impls.adapters.peers import Peer, PeerEncoder
from impls.adapters.recipes import Adapter, Way
from impls.adapters.vocabularies import byte_level, json_content

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

LIBRARY = Peer(
    name="splintr-rs",
    module="splintr",
    homepage="https://github.com/ml-rust/splintr",
    extra="bench",
)


RANKS = """\
from splintr import Tokenizer

tokenizer = Tokenizer.from_bytes(open(VOCABULARY, "rb").read(), {pattern!r}, {{}})


def decode(ids):
    return tokenizer.decode_bytes(ids)
"""

FILE = """\
import splintr

tokenizer = splintr.from_json(VOCABULARY)


def decode(ids):
    return tokenizer.decode_with_special(ids).encode()
"""

TAIL = """

def encode(data):
    return tokenizer.encode_ordinary(data.decode())
"""


def _way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    if byte_level(vocabulary):
        trouble = LIBRARY.trouble(vocabulary, mode) or rank_trouble(vocabulary)
        code = RANKS.format(pattern=vocabulary.pattern) + TAIL
        return trouble or Way("vocabulary.tiktoken", lambda: rank_file(vocabulary), code)
    if mode.special != "none" or not mode.pretokenize:
        return "reads no special tokens here, and always pre-tokenizes"
    return Way("tokenizer.json", lambda: json_content(vocabulary, mode), FILE + TAIL)


class Implementation(Adapter):
    """``Tokenizer.from_bytes`` where it can be, for its speed; else a tokenizer.json.

    Its cache of pieces can be cleared, not switched off.
    """

    def load(self, vocabulary: Vocabulary) -> interface.Encoder:
        """Build it: a fraction of a second for 200,000 tokens."""
        if not byte_level(vocabulary):
            return super().load(vocabulary)
        tokenizer = LIBRARY.load().Tokenizer.from_bytes(
            rank_file(vocabulary), vocabulary.pattern, {}
        )
        encode = tokenizer.encode_flat

        def run(text: str) -> Any:
            return np.frombuffer(encode(text), dtype=np.uint32)

        return PeerEncoder(run, lambda ids: cast("bytes", tokenizer.decode_bytes(ids)))


IMPLEMENTATION = Implementation(LIBRARY, _way)
