"""``quicktok-v1``: BPE in C++ with hand-written pre-tokenizers, by its own importer."""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING, Any, cast

from impls.adapters.common import rank_trouble
from impls.adapters.mistral_common import IMPLEMENTATION as MISTRAL
from impls.adapters.mistral_common import tekken_json
from impls.adapters.peers import Peer, PeerEncoder, written
from impls.adapters.rs_bpe import built_in_name
from impls.adapters.tokenizers import tokenizer_json
from impls.adapters.vocabularies import without_specials
from impls.interface import Mode, Recipe

if TYPE_CHECKING:
    from corpora.vocabularies import scratch
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import About

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


class Implementation:
    """Its own encoding where the vocabulary is that one, else what its importer makes of a file."""

    @property
    def about(self) -> About:
        """Who it is. Raises ImportError where it is not installed."""
        return LIBRARY.installed

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """Byte-level BPE by ranks with one of the patterns for which it has a scanner."""
        if len(vocabulary) > MOST_IDS:
            return f"has ids below {MOST_IDS:,} only"
        reason = LIBRARY.trouble(vocabulary, mode) or rank_trouble(vocabulary)
        if reason is None and vocabulary.tokens[0] is None:
            # Only tekken's files may have something before the ranks.
            return MISTRAL.supports(vocabulary, mode)
        return reason

    def load(self, vocabulary: Vocabulary) -> PeerEncoder:
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

    def recipe(self, vocabulary: Vocabulary, mode: Mode) -> Recipe:
        """No artifact where the vocabulary is in the wheel, else what its importer reads."""
        built_in = built_in_name(vocabulary)
        if built_in is not None:
            code = f'tokenizer = quicktok.Tokenizer({built_in!r}, "")\n'
            return Recipe((LIBRARY.requirement,), f"import quicktok\n\n{code}{TAIL}", "none", b"")
        name, content = _file(vocabulary)
        requirements = (LIBRARY.requirement, "tiktoken", "tokenizers")
        return Recipe(requirements, IMPORTED + TAIL, name, content)


_imported: dict[str, scratch.Temporary] = {}
"""The folders that were imported, by the vocabulary's fingerprint: an import takes longer than all
else that is measured here."""


def imported(vocabulary: Vocabulary) -> scratch.Temporary:
    """The folder that its importer fills, once; it checks itself against another library."""
    if vocabulary.fingerprint in _imported:
        return _imported[vocabulary.fingerprint]
    name, content = _file(vocabulary)
    folder, path = written(content, name)
    with contextlib.redirect_stdout(io.StringIO()):
        LIBRARY.load().import_tokenizer(str(path), NAME, folder.name)
    _imported[vocabulary.fingerprint] = folder
    return folder


def _file(vocabulary: Vocabulary) -> tuple[str, bytes]:
    """What its importer is given: name and content."""
    if vocabulary.tokens[0] is None:
        return "tekken.json", tekken_json(vocabulary)
    return "tokenizer.json", tokenizer_json(without_specials(vocabulary), Mode()).encode()


IMPLEMENTATION = Implementation()
