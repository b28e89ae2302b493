"""``bpe-openai``: the linear encoder of rust-gems for Python, with its vocabularies built in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.adapters.built_in import openai_name
from impls.adapters.peers import Peer
from impls.adapters.recipes import DECODES, FieldImplementation, Way

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

LIBRARY = Peer(
    name="bpe-openai",
    distribution="bpe-openai",
    module="bpe_openai",
    homepage="https://github.com/Pathlit-Inc/bpe-openai",
    capabilities=DECODES,
    language="rust",
    extra="field",
)

CODE = """\
import bpe_openai

tokenizer = bpe_openai.get_encoding({name!r})


def encode(data):
    return tokenizer.{call}


def decode(ids):
    return tokenizer.decode_bytes(ids)
"""


def _way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    found = openai_name(vocabulary, mode)
    if found.trouble is not None:
        return found.trouble
    call = "encode_ordinary(data.decode())"
    if mode.special == "all":
        call = 'encode(data.decode(), allowed_special="all")'
    return Way("none", bytes, CODE.format(name=found.name, call=call))


IMPLEMENTATION = FieldImplementation(LIBRARY, _way)
