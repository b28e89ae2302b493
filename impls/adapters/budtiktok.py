"""``budtiktok``: Hugging Face's tokenizers rewritten for SIMD in Rust, from a tokenizer.json."""

from __future__ import annotations

from impls.adapters.like_tokenizers import like_tokenizers
from impls.adapters.peers import Peer
from impls.adapters.recipes import READS_JSON, Adapter

LIBRARY = Peer(
    name="budtiktok",
    homepage="https://github.com/BudEcosystem/budtiktok",
    astray=True,
)

IMPLEMENTATION = Adapter(LIBRARY, like_tokenizers("budtiktok"), READS_JSON)
