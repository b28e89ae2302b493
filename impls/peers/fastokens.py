"""``fastokens``: Crusoe's byte-level BPE in Rust, from a rank file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from impls.peers.common import Peer, PeerEncoder, rank_order_trouble, written
from impls.references.common import rank_file, rank_trouble

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import About, Mode

LIBRARY = Peer(
    name="fastokens",
    distribution="fastokens",
    module="fastokens",
    homepage="https://github.com/crusoecloud/fastokens",
    capabilities=frozenset(),
    language="rust",
)


class Implementation:
    """``Tokenizer.from_tiktoken``: its tokenizer.json reader wants models of its own kinds."""

    @property
    def about(self) -> About:
        """Who it is. Raises ImportError where it is not installed."""
        return LIBRARY.installed

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """Byte-level BPE by ranks from 0 on, with any one pattern."""
        reason = LIBRARY.trouble(vocabulary, mode)
        return reason or rank_order_trouble(vocabulary) or rank_trouble(vocabulary)

    def load(self, vocabulary: Vocabulary) -> PeerEncoder:
        """Build it: about two seconds for 200,000 tokens."""
        native = LIBRARY.load("_native")
        folder, path = written(rank_file(vocabulary), "vocabulary.tiktoken")
        with folder:
            tokenizer = native.Tokenizer.from_tiktoken(
                str(path), pattern=vocabulary.pattern, special_tokens={}
            )
        encode = tokenizer.encode_batch_flat

        def run(text: str) -> Any:
            # The flat form makes no Python object for each token.
            return np.frombuffer(encode([text])[0], dtype=np.uint32)

        return PeerEncoder(run)


IMPLEMENTATION = Implementation()
