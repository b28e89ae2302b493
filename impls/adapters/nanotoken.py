"""``nanotoken``: WordPiece in Rust with caches, from a tokenizer.json."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.model import Algorithm
from impls.adapters.peers import Peer
from impls.adapters.recipes import READS_JSON, Adapter, Way
from impls.adapters.vocabularies import ordinary_json, ordinary_trouble

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

LIBRARY = Peer(
    name="nanotoken",
    homepage="https://github.com/alexlilburn/nanotoken",
)

CODE = """\
from pathlib import Path

import nanotoken

tokenizer = nanotoken.Tokenizer.from_json(Path(VOCABULARY).read_text("utf-8"))


def encode(data):
    return tokenizer.encode(data.decode(), add_special_tokens=False).tolist()


def decode(ids):
    return tokenizer.decode(ids, skip_special_tokens=False).encode()
"""


def _way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    if vocabulary.algorithm is not Algorithm.WORDPIECE:
        return "WordPiece only"
    trouble = ordinary_trouble(vocabulary, mode)
    return trouble or Way("tokenizer.json", lambda: ordinary_json(vocabulary, mode), CODE)


IMPLEMENTATION = Adapter(LIBRARY, _way, READS_JSON)
