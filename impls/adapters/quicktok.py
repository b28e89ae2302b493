"""``quicktok-v1``: BPE in C++ with hand-written pre-tokenizers, by its own importer."""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING, Any, cast

from impls import interface
from impls.adapters.built_in import built_in_name
from impls.adapters.common import rank_trouble
from impls.adapters.mistral_common import IMPLEMENTATION as MISTRAL
from impls.adapters.mistral_common import tekken_json
from impls.adapters.peers import Peer, PeerEncoder, written
from impls.adapters.recipes import Adapter, Way
from impls.adapters.tokenizers import tokenizer_json
from impls.adapters.vocabularies import without_specials
from impls.interface import Mode

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpora.vocabularies import scratch
    from corpora.vocabularies.model import Vocabulary

LIBRARY = Peer(
    name="quicktok-v1",
    module="quicktok",
    homepage="https://github.com/dmatth1/quicktok",
    language="c++",
    # Llama 3's and cl100k_base's pattern are one in the plain model.
    patterns=("cl100k_base", "o200k_base", "qwen2", "tekken"),
    extra="bench",
)

NAME = "vocabulary"
"""The name under which a vocabulary is imported."""

BUILT_IN = """\
import quicktok

tokenizer = quicktok.Tokenizer({name!r}, "")
"""

IMPORTED = """\
import contextlib
import io
import tempfile

import quicktok

with tempfile.TemporaryDirectory() as folder:
    with contextlib.redirect_stdout(io.StringIO()):
        quicktok.import_tokenizer(VOCABULARY, "vocabulary", folder)
    tokenizer = quicktok.Tokenizer("vocabulary", folder)
"""

TAIL = """

def encode(data):
    return tokenizer.encode_ordinary(data.decode())


def decode(ids):
    return tokenizer.decode_bytes(ids)
"""

MOST_IDS = 1 << 18
"""The importer of quicktok refuses greater ids."""


def _way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    """Byte-level BPE by ranks with one of the patterns for which it has a scanner.

    No file where the vocabulary is in the wheel, else what its importer reads.
    """
    if len(vocabulary) > MOST_IDS:
        return f"has ids below {MOST_IDS:,} only"
    trouble = LIBRARY.trouble(vocabulary, mode) or rank_trouble(vocabulary)
    if trouble is None and vocabulary.tokens[0] is None:
        # Only tekken's files may have something before the ranks.
        trouble = MISTRAL.supports(vocabulary, mode)
    if trouble is not None:
        return trouble
    built_in = built_in_name(vocabulary)
    if built_in is not None:
        return Way("none", bytes, BUILT_IN.format(name=built_in) + TAIL)
    name, content = _file(vocabulary)
    return Way(name, content, IMPORTED + TAIL, ("tiktoken", "tokenizers"))


class Implementation(Adapter):
    """Its own encoding where the vocabulary is that one, else what its importer makes of a file."""

    def load(self, vocabulary: Vocabulary) -> interface.Encoder:
        """Build it: half a second for 200,000 tokens, after an import of several seconds."""
        library = LIBRARY.load()
        built_in = built_in_name(vocabulary)
        if built_in is not None:
            tokenizer = library.Tokenizer(built_in, "")
        else:
            tokenizer = library.Tokenizer(NAME, imported(vocabulary).name)
        encode = tokenizer.encode_batch

        def run(text: str) -> Any:
            # Only batches come as an array; one thread, and special tokens as ordinary text.
            return encode([text], 1, False)[0]

        def run_many(texts: list[str], threads: int) -> list[object]:
            return [encode(texts, threads, False)[0]]

        return PeerEncoder(run, lambda ids: cast("bytes", tokenizer.decode_bytes(ids)), run_many)


_imported: dict[str, scratch.Temporary] = {}
"""The folders that were imported, by the vocabulary's fingerprint: an import takes longer than all
else that is measured here."""


def imported(vocabulary: Vocabulary) -> scratch.Temporary:
    """The folder that its importer fills, once; it checks itself against another library."""
    if vocabulary.fingerprint in _imported:
        return _imported[vocabulary.fingerprint]
    name, content = _file(vocabulary)
    folder, path = written(content(), name)
    with contextlib.redirect_stdout(io.StringIO()):
        LIBRARY.load().import_tokenizer(str(path), NAME, folder.name)
    _imported[vocabulary.fingerprint] = folder
    return folder


def _file(vocabulary: Vocabulary) -> tuple[str, Callable[[], bytes]]:
    """What its importer is given: name and content."""
    if vocabulary.tokens[0] is None:
        return "tekken.json", lambda: tekken_json(vocabulary)
    plain = without_specials(vocabulary)
    return "tokenizer.json", lambda: tokenizer_json(plain, Mode()).encode()


IMPLEMENTATION = Implementation(LIBRARY, _way)
