"""``splintr-rs``: byte-level BPE in Rust, from a rank file and any pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from impls.peers.common import Peer, PeerEncoder
from impls.references.common import rank_file, rank_trouble

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import About, Mode

LIBRARY = Peer(
    name="splintr-rs",
    distribution="splintr-rs",
    module="splintr",
    homepage="https://github.com/ml-rust/splintr",
    capabilities=frozenset(),
    language="rust",
)


class Implementation:
    """``Tokenizer.from_bytes``. Its cache of pieces can be cleared, not switched off."""

    @property
    def about(self) -> About:
        """Who it is. Raises ImportError where it is not installed."""
        return LIBRARY.installed

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """Byte-level BPE by ranks, with any one pattern."""
        return LIBRARY.trouble(vocabulary, mode) or rank_trouble(vocabulary)

    def load(self, vocabulary: Vocabulary) -> PeerEncoder:
        """Build it: a fraction of a second for 200,000 tokens."""
        tokenizer = LIBRARY.load().Tokenizer.from_bytes(
            rank_file(vocabulary), vocabulary.pattern, {}
        )
        encode = tokenizer.encode_flat

        def run(text: str) -> Any:
            return np.frombuffer(encode(text), dtype=np.uint32)

        return PeerEncoder(run)


IMPLEMENTATION = Implementation()
