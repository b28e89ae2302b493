"""What the adapters of peers share: they encode text, pre-tokenized, without special tokens."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from corpora.vocabularies import scratch
from corpora.vocabularies.model import Algorithm, Alphabet
from corpora.vocabularies.patterns import PATTERNS
from impls.adapters.common import Library, text_of
from impls.interface import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode


@dataclass(frozen=True)
class Peer(Library):
    """A library that has a part in a run only where it is named, from the extra ``field``.

    patterns: names of the pre-tokenizers that it knows (:mod:`corpora.vocabularies.patterns`);
    empty for one that takes any pattern.
    """

    extra: str = "field"
    patterns: Collection[str] = ()

    def trouble(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """Why it does not run a vocabulary in a mode, as far as that is the same for all peers."""
        if vocabulary.algorithm is not Algorithm.BPE or vocabulary.alphabet is not Alphabet.BYTES:
            return "byte-level BPE only"
        if vocabulary.normalizes:
            return "has no normalizer here"
        if vocabulary.added_tokens:
            return "has no added tokens here"
        if not mode.pretokenize:
            return "always pre-tokenizes"
        if mode.special != "none":
            return "reads no special tokens here"
        if vocabulary.pattern is None:
            return f"takes one pre-tokenizer pattern, the vocabulary has {len(vocabulary.splits)}"
        known = {PATTERNS[name] for name in self.patterns}
        if known and vocabulary.splits not in known:
            return f"knows the pre-tokenizers of {', '.join(sorted(self.patterns))} only"
        return None


class PeerEncoder:
    """Text to ids, a NumPy array, by one function of the library; ids to bytes by another.

    run_many: its own call for many texts on so many threads, if it has one.
    """

    def __init__(
        self,
        run: Callable[[str], Any],
        undo: Callable[[list[int]], bytes],
        run_many: Callable[[list[str], int], Sequence[object]] | None = None,
    ) -> None:
        self._run = run
        self._undo = undo
        self._run_many = run_many

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids; Unsupported for what is not UTF-8."""
        return cast("list[int]", self._run(text_of(data)).tolist())

    def decode(self, ids: Sequence[int]) -> bytes:
        """As its users get it."""
        return self._undo(list(ids))

    def prepare(self, data: bytes, mode: Mode) -> Callable[[], object]:
        """Text to a NumPy array; see ``Prepares``."""
        text, run = text_of(data), self._run
        return lambda: run(text)

    def prepare_batch(
        self, texts: Sequence[bytes], mode: Mode, threads: int
    ) -> Callable[[], Sequence[object]]:
        """Texts to whatever the library's own call gives; see ``PreparesBatch``."""
        run = self._run_many
        if run is None:
            raise Unsupported("has no call for many texts")
        given = [text_of(data) for data in texts]
        return lambda: run(given, threads)


def written(content: bytes, name: str) -> tuple[scratch.Temporary, Path]:
    """A file in a folder that goes when the first of the pair does."""
    folder = scratch.temporary("peer-")
    path = Path(folder.name, name)
    path.write_bytes(content)
    return folder, path


def rank_order_trouble(vocabulary: Vocabulary) -> str | None:
    """Why its ids do not stand for a list of merges from the bytes up, or None if they do."""
    tokens = list(_ordinary(vocabulary))
    if tokens != list(range(len(tokens))):
        return "wants ids from 0 on, without holes"
    if len(vocabulary.merges) != len(tokens) - 256:
        return "wants each token but the bytes to come of two others"
    return None


def _ordinary(vocabulary: Vocabulary) -> Iterator[int]:
    return (i for i, token in enumerate(vocabulary.tokens) if token is not None)
