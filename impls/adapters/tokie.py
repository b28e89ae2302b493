"""``tokie``: BPE, unigram and WordPiece in Rust, from a tokenizer.json."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.adapters.peers import Peer
from impls.adapters.recipes import READS_JSON, Adapter, Way
from impls.adapters.vocabularies import byte_level, has_holes, json_content, json_trouble

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

LIBRARY = Peer(
    name="tokie",
    homepage="https://github.com/chonkie-inc/tokie",
    # Its offsets are of the normalized text.
)

CODE = """\
import tokie

tokenizer = tokie.Tokenizer.from_json(VOCABULARY)


def encode(data):
    return list(tokenizer.encode(data.decode(), add_special_tokens=False).ids)


{decode}
"""

BYTES = """\
def decode(ids):
    return tokenizer.decode_bytes(ids)"""

TEXT = """\
def decode(ids):
    text = tokenizer.decode(ids)
    if text is None:
        raise ValueError("decode gives None")
    return text.encode()"""


def _way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    trouble = json_trouble(vocabulary, mode)
    if byte_level(vocabulary) and has_holes(vocabulary, mode):
        trouble = trouble or "counts the tokens of a file where its ids have holes"
    # Bytes as they are, where tokens are bytes; else they would not be joined to text.
    code = CODE.format(decode=BYTES if byte_level(vocabulary) else TEXT)
    return trouble or Way("tokenizer.json", lambda: json_content(vocabulary, mode), code)


IMPLEMENTATION = Adapter(LIBRARY, _way, READS_JSON)
