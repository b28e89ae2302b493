"""``riptoken``: tiktoken rewritten in Rust, from ranks and any one pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.adapters.common import rank_file
from impls.adapters.peers import Peer
from impls.adapters.recipes import Adapter, Way
from impls.adapters.vocabularies import ranked_trouble

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

LIBRARY = Peer(
    name="riptoken",
    homepage="https://github.com/daechoi/riptoken",
)

CODE = """\
import riptoken

ranks = riptoken.load_tiktoken_bpe(VOCABULARY)
tokenizer = riptoken.CoreBPE(ranks, {special_tokens!r}, {pattern!r})


def encode(data):
    return tokenizer.{call}


def decode(ids):
    return tokenizer.decode_bytes(ids)
"""


def _way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    special = dict(vocabulary.special_tokens)
    call = "encode_ordinary(data.decode())"
    if mode.special == "all":
        call = f"encode(data.decode(), {set(special)!r})"
    code = CODE.format(special_tokens=special, pattern=vocabulary.own_pattern, call=call)
    trouble = ranked_trouble(vocabulary, mode)
    return trouble or Way("vocabulary.tiktoken", lambda: rank_file(vocabulary), code)


IMPLEMENTATION = Adapter(LIBRARY, _way)
