"""``curated-tokenizers``: explosion's wrapper of SentencePiece, and GPT-2's BPE in Cython."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from corpora.vocabularies.byte_alphabet import spell
from corpora.vocabularies.patterns import PATTERNS
from impls.adapters.common import SENTENCEPIECE_FILES
from impls.adapters.peers import Peer
from impls.adapters.recipes import Adapter, Way
from impls.adapters.sentencepiece import model_proto, model_trouble
from impls.adapters.vocabularies import byte_level

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

LIBRARY = Peer(
    name="curated-tokenizers",
    homepage="https://github.com/explosion/curated-tokenizers",
    language="cython",
    helpers=SENTENCEPIECE_FILES,
)

MODEL = """\
from curated_tokenizers import SentencePieceProcessor

tokenizer = SentencePieceProcessor.from_file(VOCABULARY)


def encode(data):
    return tokenizer.encode_as_ids(data.decode())


def decode(ids):
    return tokenizer.decode_from_ids(list(ids)).encode()
"""

BYTES = """\
import json

from curated_tokenizers import ByteBPEProcessor

with open(VOCABULARY, encoding="utf-8") as file:
    document = json.load(file)
tokenizer = ByteBPEProcessor(document["vocab"], document["merges"])


def encode(data):
    return tokenizer.encode_as_ids(data.decode())


def decode(ids):
    return tokenizer.decode_from_ids(ids).encode()
"""


def _way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    if mode.special == "all" or not mode.pretokenize:
        return "reads no special tokens, and always pre-tokenizes"
    if vocabulary.pieces:
        trouble = model_trouble(vocabulary)
        return trouble or Way("vocabulary.model", lambda: model_proto(vocabulary), MODEL)
    if not byte_level(vocabulary) or vocabulary.normalizes or vocabulary.ignore_merges:
        return "SentencePiece, and byte-level BPE by merges alone"
    if vocabulary.splits != PATTERNS["gpt2"]:
        return "pre-tokenizes only as gpt2 does"
    if any(not token.special for token in vocabulary.added_tokens) or None in vocabulary.byte_ids:
        return "has no added tokens that are not special, and wants a token of each byte"
    return Way("vocabulary.json", lambda: _bytes(vocabulary), BYTES)


def _bytes(vocabulary: Vocabulary) -> bytes:
    """Its two files as one: tokens to ids, and pairs, in the alphabet of bytes."""
    merges, spelled = vocabulary.merges, {i: spell(token) for token, i in vocabulary.ids.items()}
    pairs = zip(merges.left.tolist(), merges.right.tolist(), strict=True)
    document = {
        "vocab": {text: i for i, text in spelled.items()},
        "merges": [[spelled[left], spelled[right]] for left, right in pairs],
    }
    return json.dumps(document).encode()


IMPLEMENTATION = Adapter(LIBRARY, _way, frozenset({"sentencepiece"}))
