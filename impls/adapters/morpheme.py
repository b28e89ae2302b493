"""``morpheme``: Hugging Face's pipelines in Rust, from a tokenizer.json."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.adapters.peers import Peer
from impls.adapters.recipes import DECODES, READS_JSON, FieldImplementation, Way
from impls.adapters.vocabularies import ordinary_json, ordinary_trouble

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

LIBRARY = Peer(
    name="morpheme",
    distribution="morpheme",
    module="morpheme",
    homepage="https://github.com/sourceblender/morpheme",
    capabilities=DECODES,
    language="rust",
    extra="field",
)

CODE = """\
import morpheme

tokenizer = morpheme.Tokenizer.from_file(VOCABULARY)


def encode(data):
    return tokenizer.encode(data.decode(), add_special_tokens=False).ids


def decode(ids):
    return tokenizer.decode(ids, skip_special_tokens=False).encode()
"""


def _way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    trouble = ordinary_trouble(vocabulary, mode)
    return trouble or Way("tokenizer.json", lambda: ordinary_json(vocabulary, mode), CODE)


IMPLEMENTATION = FieldImplementation(LIBRARY, _way, READS_JSON)
