"""``wordchipper``: OpenAI's vocabularies in Rust. It fetches them; here they are in its cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.patterns import PATTERNS
from impls.adapters.built_in import built_in_name
from impls.adapters.common import rank_file
from impls.adapters.peers import Peer
from impls.adapters.recipes import Adapter, Way

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

LIBRARY = Peer(
    name="wordchipper",
    homepage="https://github.com/zspacelabs/wordchipper",
)

CODE = """\
import os
import shutil
import tempfile

# Where it looks before it asks the network.
cache = tempfile.mkdtemp()
folder = os.path.join(cache, "openai", {name!r})
os.makedirs(folder)
shutil.copy(VOCABULARY, os.path.join(folder, {name!r} + ".tiktoken"))
os.environ["WORDCHIPPER_CACHE_DIR"] = cache

import wordchipper

tokenizer = wordchipper.Tokenizer.from_pretrained({name!r})
ordinary = wordchipper.SpecialFilter.include_none()
shutil.rmtree(cache)


def encode(data):
    return tokenizer.encode(data.decode(), ordinary)


def decode(ids):
    return tokenizer.decode_bytes(ids)
"""


def _way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    name = built_in_name(vocabulary)
    if name is None or vocabulary.normalizes or vocabulary.splits != PATTERNS[name]:
        return "has only OpenAI's vocabularies, of which o200k_base and cl100k_base are known here"
    if not mode.pretokenize or mode.special != "none":
        return "always pre-tokenizes, and reads no special tokens here"
    return Way(f"{name}.tiktoken", lambda: rank_file(vocabulary), CODE.format(name=name))


IMPLEMENTATION = Adapter(LIBRARY, _way)
