"""``kitoken``: BPE, unigram and WordPiece in Rust, from a .model file or a tokenizer.json."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.adapters.common import SENTENCEPIECE_FILES
from impls.adapters.peers import Peer
from impls.adapters.recipes import READS_JSON, Adapter, Way
from impls.adapters.sentencepiece import model_proto, model_trouble
from impls.adapters.tokenizers import native_json
from impls.adapters.vocabularies import byte_level, json_content, json_trouble

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

LIBRARY = Peer(
    name="kitoken",
    homepage="https://github.com/Systemcluster/kitoken",
    helpers=SENTENCEPIECE_FILES,
)

CODE = """\
from kitoken import Kitoken

tokenizer = Kitoken.{reader}(VOCABULARY)


def encode(data):
    return tokenizer.encode(data.decode(), {special})


def decode(ids):
    return tokenizer.decode(ids, True)
"""


def _way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    trouble = json_trouble(vocabulary, mode)
    if trouble is not None:
        return trouble
    if native_json(vocabulary):
        code = CODE.format(reader="from_tokenizers_file", special=mode.special == "all")
        # Its tokens do not cross the place of a special token that it is not to encode.
        return Way("tokenizer.json", lambda: json_content(vocabulary, mode), code)
    if vocabulary.pieces and model_trouble(vocabulary) is None:
        code = CODE.format(reader="from_sentencepiece_file", special=False)
        return Way("vocabulary.model", lambda: model_proto(vocabulary), code)
    if not byte_level(vocabulary) and vocabulary.wordpiece is None:
        return "byte-level BPE, SentencePiece and WordPiece only"
    # Its reader of rank files knows the pre-tokenizers of a few by their size.
    code = CODE.format(reader="from_tokenizers_file", special=mode.special == "all")
    return Way("tokenizer.json", lambda: json_content(vocabulary, mode), code)


IMPLEMENTATION = Adapter(LIBRARY, _way, READS_JSON | {"sentencepiece"})
