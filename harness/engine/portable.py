"""What travels of a plan: data, with names in place of code, and the files of plug-ins.

A node has tokgate and the libraries of the driver, in the same versions, and nothing else: a
plug-in's file, and the files that a ``cmd:`` names by relative paths, are sent along.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import threading
import zlib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import msgspec

from corpora.generators.catalog import generators
from corpora.vocabularies import scratch
from harness.checks import CHECKS
from harness.cluster.addresses import TEXTS_STAY
from harness.cluster.executor import UnitError
from harness.core import stored
from harness.core.output import write_whole, writing
from harness.engine import selection
from harness.engine.selection import SelectionError
from impls.specs import COMMAND, from_anywhere

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.core.participants import Participant
    from harness.engine.plan import Plan

SENT = ("findings", "vocabularies")
"""The folders of an output folder that files are sent for."""

FASTEST = 1
"""The level of compression: a higher one makes a tenth less of it, and takes five times as long, of
a vocabulary's time."""

_making = threading.Lock()


@dataclass(frozen=True, slots=True)
class PlugIn:
    """A participant as another machine makes it.

    origin: its spec, with absolute paths of this machine. files: those that travel, by the word of
    the spec that names each.
    """

    name: str
    spec: str
    origin: str
    version: str
    files: tuple[tuple[str, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class Portable:
    """What all units share of a plan.

    plan: without vocabularies, participants, generators and checks.
    """

    plan: Plan
    participants: tuple[PlugIn, ...]
    generators: tuple[str, ...]
    checks: tuple[str, ...]

    @classmethod
    def of(cls, plan: Plan) -> Portable:
        """What travels of a plan. Raises SelectionError for one that cannot."""
        if plan.texts is not None or plan.places:
            raise SelectionError(TEXTS_STAY)
        return cls(
            plan=replace(plan, vocabularies={}, participants=(), generators=(), checks=()),
            participants=tuple(map(portable, plan.participants)),
            generators=tuple(one.name for one in plan.generators),
            checks=tuple(one.name for one in plan.checks),
        )

    def here(self, vocabularies: Mapping[str, Callable[[], Vocabulary]]) -> Plan:
        """Return the plan on this machine, with some of its vocabularies.

        Raises ImplementationError, SelectionError.
        """
        catalog = generators()
        return replace(
            self.plan,
            vocabularies=vocabularies,
            participants=[made(one) for one in self.participants],
            generators=[catalog[name] for name in self.generators],
            checks=[CHECKS[name] for name in self.checks],
        )


def portable(participant: Participant) -> PlugIn:
    """Return what travels of a participant: its name, and its files, if it has any."""
    files = tuple(
        (word, Path(word).read_bytes())
        for word in words_of(participant.spec)
        if word.endswith(".py") or not Path(word).is_absolute()
        if Path(word).is_file()
    )
    origin = from_anywhere(participant.spec)
    return PlugIn(participant.name, participant.spec, origin, participant.about.version, files)


def words_of(spec: str) -> Sequence[str]:
    """Return what may be the name of a file in a spec."""
    if spec.startswith(COMMAND):
        return shlex.split(spec.removeprefix(COMMAND))
    return (spec.rpartition(":")[0],)


def made(one: PlugIn) -> Participant:
    """Return the participant on this machine. Raises ImplementationError, SelectionError."""
    with _making:  # a module that another thread is loading is half of one
        return _made(one)


@cache
def _made(one: PlugIn) -> Participant:
    (participant,), _ = selection.participants([spec_here(one)])
    if participant.about.version != one.version:
        raise SelectionError(
            f"{one.name}: this node has {participant.about.version}, and the driver "
            f"{one.version}; install the same version everywhere"
        )
    return replace(participant, name=one.name, origin=one.origin)


def spec_here(one: PlugIn) -> str:
    """Return the spec with the files that were sent; they are written on first use."""
    places = {word: str(placed(content, word)) for word, content in one.files}
    if one.spec.startswith(COMMAND):
        words = [places.get(word, word) for word in words_of(one.spec)]
        return COMMAND + shlex.join(words) if places else one.spec
    path, _, attribute = one.spec.rpartition(":")
    return f"{places[path]}:{attribute}" if path in places else one.spec


@cache
def placed(content: bytes, word: str) -> Path:
    """Write a file of the driver's, once for each content, for as long as this process lives."""
    folder = scratch.folder() / f"sent-{hashlib.sha256(content).hexdigest()[:16]}"
    folder.mkdir(exist_ok=True)
    path = folder / PurePosixPath(word).name
    write_whole(path, content)
    path.chmod(0o755)  # it may be a program
    return path


def packed(told: object, files: Mapping[str, bytes]) -> bytes:
    """What a unit came to, as it travels: JSON, as texts of others may have lone surrogates.

    files: by their paths, as they are.
    """
    values = json.dumps(msgspec.to_builtins(told))
    return zlib.compress(msgspec.msgpack.encode((values, files)), FASTEST)


def unpacked(sent: bytes, most: int) -> tuple[Any, dict[str, bytes]]:
    """The plain values and the files of which :func:`packed` made this. Raises ValueError.

    most: bytes that it may have.
    """
    whole = stored.unzipped(sent, most)
    values, files = msgspec.msgpack.decode(whole, type=tuple[str, dict[str, bytes]])
    return stored.parsed(values), files


def write_files(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files that were sent below a folder, where findings and vocabularies are.

    Raises OutputError, and UnitError for a name that leads elsewhere.
    """
    for name, content in files.items():
        parts = PurePosixPath(name).parts
        if len(parts) < 3 or parts[0] not in SENT or ".." in parts:
            raise UnitError(f"a node sent {name!r}, which is not a file of a finding")
        path = folder / name
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)


def packed_files(folder: Path, below: Collection[str] = ("",)) -> dict[str, bytes]:
    """The files of a folder by their paths in it. below: only those under one of these paths."""
    return {
        str(one.relative_to(folder)): one.read_bytes()
        for part in below
        for one in sorted((folder / part).rglob("*"))
        if one.is_file()
    }


def digest_of(plan: Plan) -> dict[str, str]:
    """Return a digest of the files of each participant that has any, its programs included."""
    found = {}
    for one in plan.participants:
        contents = [Path(w).read_bytes() for w in words_of(one.spec) if Path(w).is_file()]
        if contents:
            found[one.name] = hashlib.sha256(b"\0".join(contents)).hexdigest()[:16]
    return found
