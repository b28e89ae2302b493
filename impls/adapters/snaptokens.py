"""``snaptokens``: byte-pair encoding in Rust, forked from fastokens, from a tokenizer.json."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.model import Algorithm
from impls.adapters.like_tokenizers import like_tokenizers
from impls.adapters.peers import Peer
from impls.adapters.recipes import READS_JSON, Adapter
from impls.adapters.tokenizers import native_json
from impls.adapters.vocabularies import byte_level, has_holes

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

LIBRARY = Peer(
    name="snaptokens",
    homepage="https://github.com/coder-2011/snaptokens",
)


def _refuses(vocabulary: Vocabulary, mode: Mode) -> str | None:
    if vocabulary.algorithm is not Algorithm.BPE:
        return "byte-pair encoding only"
    if native_json(vocabulary):
        return None
    if not byte_level(vocabulary):
        return "byte-level BPE only, but for files of the user's"
    return "wants ids without holes" if has_holes(vocabulary, mode) else None


IMPLEMENTATION = Adapter(LIBRARY, like_tokenizers("snaptokens", _refuses), READS_JSON)
