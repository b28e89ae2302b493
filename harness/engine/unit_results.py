"""What a unit of a run comes to, as bytes: they travel from a node, or lie beside the record.

It holds the events, the tally, and the files of the findings.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from harness.cluster.executor import UnitError
from harness.core import stored
from harness.engine.parts import Left
from harness.engine.portable import packed, unpacked, write_sent
from harness.events import Event, Phase, Preparing, VocabularyLoaded
from harness.verdict.coverage import Coverage

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from corpora.vocabularies.model import Vocabulary
    from harness.cluster.executor import Done

MAX_BYTES = 1 << 30
"""The greatest size of a result, unpacked."""

OF_THE_MOMENT = (Phase, Preparing)
"""Events that say what was being done: when a part is whole that is over."""


@dataclass(frozen=True, slots=True)
class UnitResult:
    """All that a vocabulary has come to.

    events: as lines of a record. tally: as ``Tally.plain`` gives it. failed: the implementation,
    the vocabulary and the message where one that the user named could not load. unexpected: whether
    there is a finding that nobody expects. files: by their paths in the output folder.
    """

    events: list[str]
    tally: dict[str, Any]
    failed: list[str] = field(default_factory=list)
    unexpected: bool = False
    left: list[Left] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, done: Done) -> UnitResult:
        """Unpack a result. Raises UnitError for what is none."""
        try:
            told, files = unpacked(done.result, MAX_BYTES)
            return replace(stored.typed(told, cls), files=files)
        except ValueError as error:
            raise UnitError(f"{done.name}: its result cannot be read: {error}") from error

    def packed(self) -> bytes:
        """The form that travels."""
        return packed(replace(self, files={}), self.files)

    def is_of(self, vocabulary: Vocabulary) -> bool:
        """Whether it is of a vocabulary with this content."""
        loaded = [one for one in self.lasting() if isinstance(one, VocabularyLoaded)]
        return [one.fingerprint for one in loaded[:1]] == [vocabulary.fingerprint]

    @property
    def cases(self) -> int:
        """How many cases were asked."""
        return Coverage.of(self.lasting()).cases

    def lasting(self) -> list[Event]:
        """Its events, but for those of the moment."""
        events = map(Event.from_json, self.events)
        return [one for one in events if one is not None and not isinstance(one, OF_THE_MOMENT)]


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files that were packed below a folder. Raises OutputError, UnitError."""
    for name, content in files.items():
        write_sent(folder, name, content)


def packed_files(folder: Path, below: Collection[str] = ("",)) -> dict[str, bytes]:
    """The files of a folder by their paths in it. below: only those under one of these paths."""
    return {
        str(one.relative_to(folder)): one.read_bytes()
        for part in below
        for one in sorted((folder / part).rglob("*"))
        if one.is_file()
    }
