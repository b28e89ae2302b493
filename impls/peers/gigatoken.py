"""``gigatoken``: BPE in Rust with hand-written pre-tokenizers, from a tokenizer.json."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.interface import Mode
from impls.peers.common import Peer, PeerEncoder, plain
from impls.references.tokenizers import tokenizer_json

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import About

LIBRARY = Peer(
    name="gigatoken",
    distribution="gigatoken",
    module="gigatoken",
    homepage="https://github.com/marcelroed/gigatoken",
    capabilities=frozenset(),
    language="rust",
    patterns=("gpt2", "cl100k_base", "o200k_base", "qwen2", "tekken"),
)


class Implementation:
    """``Tokenizer.from_json``. Its cache of pieces cannot be switched off."""

    @property
    def about(self) -> About:
        """Who it is. Raises ImportError where it is not installed."""
        return LIBRARY.installed

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """Byte-level BPE with one of the patterns for which it has a scanner."""
        return LIBRARY.trouble(vocabulary, mode)

    def load(self, vocabulary: Vocabulary) -> PeerEncoder:
        """Build it: about two seconds for 200,000 tokens."""
        # It finds special tokens in any text, so it is told of none.
        content = tokenizer_json(plain(vocabulary), Mode())
        return PeerEncoder(LIBRARY.load().Tokenizer.from_json(content).encode)


IMPLEMENTATION = Implementation()
