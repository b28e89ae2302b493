"""``morpheme``: Hugging Face's pipelines in Rust, from a tokenizer.json."""

from __future__ import annotations

from impls.adapters.like_tokenizers import like_tokenizers
from impls.adapters.peers import Peer
from impls.adapters.recipes import READS_JSON, Adapter

LIBRARY = Peer(
    name="morpheme",
    homepage="https://github.com/sourceblender/morpheme",
)

IMPLEMENTATION = Adapter(LIBRARY, like_tokenizers("morpheme"), READS_JSON)
