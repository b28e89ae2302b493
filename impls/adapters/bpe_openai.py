"""``bpe-openai``: the linear encoder of rust-gems for Python, with its vocabularies built in."""

from __future__ import annotations

from impls.adapters.built_in import like_tiktoken
from impls.adapters.peers import Peer
from impls.adapters.recipes import Adapter

LIBRARY = Peer(
    name="bpe-openai",
    homepage="https://github.com/Pathlit-Inc/bpe-openai",
)

IMPLEMENTATION = Adapter(LIBRARY, like_tiktoken("bpe_openai"))
