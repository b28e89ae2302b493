"""``riptoken``: tiktoken rewritten in Rust, from ranks and any one pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.adapters.common import rank_file, rank_trouble
from impls.adapters.peers import Peer
from impls.adapters.recipes import FieldImplementation, Way
from impls.adapters.vocabularies import byte_level

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
    if not byte_level(vocabulary) or vocabulary.normalizes:
        return "byte-level BPE without a normalizer only"
    if any(not token.special for token in vocabulary.added_tokens):
        return "has no added tokens that are not special"
    if not mode.pretokenize:
        return "always pre-tokenizes"
    if vocabulary.pattern is None:
        return f"takes one pre-tokenizer pattern, the vocabulary has {len(vocabulary.splits)}"
    trouble = rank_trouble(vocabulary)
    if trouble is not None:
        return trouble
    special = dict(vocabulary.special_tokens)
    call = "encode_ordinary(data.decode())"
    if mode.special == "all":
        call = f"encode(data.decode(), {set(special)!r})"
    code = CODE.format(special_tokens=special, pattern=vocabulary.own_pattern, call=call)
    return Way("vocabulary.tiktoken", lambda: rank_file(vocabulary), code)


IMPLEMENTATION = FieldImplementation(LIBRARY, _way)
