"""``gigatoken``: BPE in Rust with hand-written pre-tokenizers, from a tokenizer.json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from impls import interface
from impls.adapters.peers import Peer, PeerEncoder
from impls.adapters.recipes import READS_JSON, Adapter, Way
from impls.adapters.tokenizers import native_json
from impls.adapters.vocabularies import byte_level, json_content
from impls.interface import Mode

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary

LIBRARY = Peer(
    name="gigatoken",
    homepage="https://github.com/marcelroed/gigatoken",
    patterns=("gpt2", "cl100k_base", "o200k_base", "qwen2", "tekken"),
    extra="bench",
)


CODE = """\
from gigatoken import Tokenizer

tokenizer = Tokenizer.from_json(open(VOCABULARY, encoding="utf-8").read())


def encode(data):
    return tokenizer.encode(data.decode()).tolist()


def decode(ids):
    return tokenizer.decode(ids)
"""


def _way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    if native_json(vocabulary) and mode.pretokenize:
        # It finds special tokens in any text, so it is told of them where they are to be found.
        return Way("tokenizer.json", lambda: json_content(vocabulary, mode), CODE)
    if byte_level(vocabulary):
        trouble = LIBRARY.trouble(vocabulary, mode)
    elif vocabulary.algorithm != "bpe" or not vocabulary.byte_fallback or mode.special != "none":
        trouble = "byte-level BPE, and SentencePiece BPE with byte fallback"
    else:
        trouble = None
    # It finds special tokens in any text, so it is told of none.
    return trouble or Way("tokenizer.json", lambda: json_content(vocabulary, mode), CODE)


class Implementation(Adapter):
    """``Tokenizer.from_json``. Its cache of pieces cannot be switched off."""

    def load(self, vocabulary: Vocabulary) -> interface.Encoder:
        """Build it: about two seconds for 200,000 tokens."""
        if native_json(vocabulary):
            return super().load(vocabulary)
        content = json_content(vocabulary, Mode()).decode()
        tokenizer = LIBRARY.load().Tokenizer.from_json(content)
        encode = tokenizer.encode_batch

        def run_many(texts: list[str], threads: int) -> Any:
            return encode(texts, parallel=threads > 1)

        return PeerEncoder(
            tokenizer.encode, lambda ids: cast("bytes", tokenizer.decode(ids)), run_many
        )


IMPLEMENTATION = Implementation(LIBRARY, _way, READS_JSON)
