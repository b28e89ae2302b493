"""``snaptokens``: byte-pair encoding in Rust, forked from fastokens, from a tokenizer.json."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.model import Algorithm
from impls.adapters.peers import Peer
from impls.adapters.recipes import DECODES, READS_JSON, FieldImplementation, Way
from impls.adapters.tokenizers import native_json
from impls.adapters.vocabularies import (
    byte_level,
    has_holes,
    ordinary_json,
    ordinary_trouble,
)

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

LIBRARY = Peer(
    name="snaptokens",
    distribution="snaptokens",
    module="snaptokens",
    homepage="https://github.com/coder-2011/snaptokens",
    capabilities=DECODES,
    language="rust",
    extra="field",
)

CODE = """\
from snaptokens import Tokenizer

tokenizer = Tokenizer.from_file(VOCABULARY)


def encode(data):
    return tokenizer.encode(data.decode(), add_special_tokens=False).ids


def decode(ids):
    return tokenizer.decode(ids, skip_special_tokens=False).encode()
"""


def _way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    if vocabulary.algorithm is not Algorithm.BPE:
        return "byte-pair encoding only"
    trouble = ordinary_trouble(vocabulary, mode)
    if not native_json(vocabulary):
        if not byte_level(vocabulary):
            return "byte-level BPE only, but for files of the user's"
        if has_holes(vocabulary, mode):
            trouble = trouble or "wants ids without holes"
    return trouble or Way("tokenizer.json", lambda: ordinary_json(vocabulary, mode), CODE)


IMPLEMENTATION = FieldImplementation(LIBRARY, _way, READS_JSON)
