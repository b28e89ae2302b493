"""All mutants; ``--impl harness.studies.selftest.catalog:NAME`` runs one of them.

A mutant is a row of a table in ``mutants``: the right implementation that it changes
(:mod:`harness.studies.selftest.plain`), the place, the change, the check that catches it, and what
is wrong. A change is a pair of texts, of which the first stands exactly once in the methods of the
class, and the second takes its place. The changed methods are compiled anew, in a class of the
mutant's own.
"""

from __future__ import annotations

import inspect
import textwrap
import tomllib
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec

from harness.studies.selftest.mutants import changes
from harness.studies.selftest.program import PROGRAM
from impls import registry
from impls.interface import Capability
from impls.pipeline import models
from impls.pipeline.encoder import parts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impls.interface import Implementation

FOLDER = Path(changes.__file__).resolve().parent
"""Where the tables are, one a family, with what they have in common under ``defaults``."""

BEFORE = "@"
"""Stands in a text for the one whose place it takes."""


class MisplantedError(ValueError):
    """A change that does not fit what it is to change."""


class Mutant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A mutant: a planted mistake, with the fields of its row.

    check: the property that it breaks, and so the name under which it must be found; stage: those
    that the finding may have, apart by spaces, any where there are none. vocabulary: the embedded
    vocabulary on which it is hunted. mode: the label of the contract in which it shows.
    summary: what is wrong, in a line. base: the class that is changed, ``module:Class``,
    where no module of ``impls`` is meant below this package.
    edits: texts of its source, each followed by what takes its place, or that alone for the text
    ``at``. model: the class of :mod:`impls.pipeline.models` that the edits change instead.
    attributes: of the class. shows: inputs, asked in this order, of which one at least comes out
    differently, each so many ``times``; hex: the same of bytes that are no text; none for
    mistakes that show otherwise (in growth, in time, by threads), which tests show by hand.
    apart: it makes a process end or wait, so that it is hunted beside its like alone.
    program: the kind of program that it is, in place of a class, and right: the kind of what it is
    without the mistake, if there is one. called: its name, where it has no family's.
    expect: the expectations file with which the gate is run on it.
    """

    family: str
    place: str
    summary: str
    check: str
    vocabulary: str
    base: str = ""
    mode: str = "raw"
    stage: str = ""
    at: str = ""
    apart: bool = False
    shows: list[str] = []
    hex: list[str] = []
    times: int = 1
    edits: list[str] = []
    model: str = ""
    attributes: dict[str, Any] = {}
    program: str = ""
    right: str = ""
    called: str = ""
    expect: str = ""

    @property
    def name(self) -> str:
        """``merging.rightmost-tie``, the family first; also its name as an implementation."""
        return self.called or f"{self.family}.{self.place}"

    @property
    def stages(self) -> list[str]:
        """The stages that its finding may have."""
        return self.stage.split()

    @property
    def inputs(self) -> list[bytes]:
        """Those of which one shows it."""
        return [*(one.encode() * self.times for one in self.shows), *map(bytes.fromhex, self.hex)]

    @property
    def spec(self) -> str:
        """What to write after ``--impl``; of a plug-in for the gate the path of its file."""
        if self.program:
            return f"{PROGRAM} {self.program}"
        return f"{PLUGINS}:{self.place}" if self.check == "gate" else f"{__name__}:{self.name}"

    @property
    def control(self) -> str:
        """The spec of what it is without the mistake; empty where that is nothing of its own."""
        if self.program:
            return f"{PROGRAM} {self.right}" if self.right else ""
        right = getattr(self.original, "right", None) or self.original
        return f"{PLUGINS if self.check == 'gate' else right.__module__}:{right.__qualname__}"

    @property
    def implementation(self) -> Implementation:
        """What it is, which is made once."""
        return resolved(self.spec)

    @property
    def original(self) -> type[Any]:
        """The class that is changed."""
        module, _, name = self.base.partition(":")
        ours = "" if module.startswith("impls.") else "harness.studies.selftest."
        found: type[Any] = getattr(import_module(f"{ours}{module}"), name)
        return found

    def changed(self) -> type[Any]:
        """The class that it is. Raises MisplantedError."""
        edits = self.edits if len(self.edits) % 2 == 0 else [self.at, *self.edits]
        members = dict(self.attributes)
        if claimed := members.get("capabilities"):
            members["capabilities"] = frozenset(map(Capability, claimed))
        if self.model:
            like = getattr(models, self.model)
            model = type(self.model, (like,), edited(like, edits))
            members["made"] = lambda _, file: replace(parts_of(file), model=model(file["model"]))
        else:
            members |= edited(self.original, edits)
        return type(self.place, (self.original,), members | {"name": self.name})


PLUGINS = FOLDER / "plugins.py"


def edited(base: type[Any], edits: Sequence[str]) -> dict[str, Any]:
    """The methods of a class that edits change, by name. Raises MisplantedError."""
    sources: dict[str, str] = {}
    for before, after in zip(edits[::2], edits[1::2], strict=True):
        every = {**sources_of(base), **sources}  # type: ignore[arg-type]
        found = {name: source for name, source in every.items() if before in source}
        if [source.count(before) for source in found.values()] != [1]:
            raise MisplantedError(f"{before!r} is not exactly once in {base.__qualname__}")
        [(name, source)] = found.items()
        sources[name] = source.replace(before, after.replace(BEFORE, before))
    made: dict[str, Any] = {}
    for name, source in sources.items():
        scope = {**vars(changes), **getattr(base, name).__globals__}
        exec(compile(source, f"<{base.__qualname__}.{name}, changed>", "exec"), scope)
        made[name] = scope[name]
    return made


@cache
def sources_of(base: type[Any]) -> dict[str, str]:
    """The texts of the methods of a class by name, those of its ancestors included."""
    found = {}
    for name, method in inspect.getmembers(base, inspect.isfunction):
        with suppress(OSError):  # a method that was made without a text, as in a dataclass
            found[name] = textwrap.dedent(inspect.getsource(method))
    return found


@cache
def resolved(spec: str) -> Implementation:
    """An implementation, which is asked only once who it is: programs say so in the main thread."""
    found = registry.resolve(spec)
    assert found.about.name
    return found


@cache
def mistakes() -> dict[str, Mutant]:
    """Every planted mistake by name, family by family.

    Raises ValueError for one planted twice, and for a row that is none.
    """
    every = []
    for table in sorted(FOLDER.glob("*.toml")):
        rows = tomllib.loads(table.read_text("utf-8"))
        shared = rows.pop("defaults") | {"family": table.stem}
        every += [msgspec.convert(shared | {"place": n} | row, Mutant) for n, row in rows.items()]
    found = {one.name: one for one in every}
    if len(found) < len(every):
        raise ValueError("a mistake is planted twice; rename one")
    return found


@cache
def __getattr__(family: str) -> SimpleNamespace:
    """The implementations of a family by name, as ``--impl`` takes them."""
    every = [one for one in mistakes().values() if one.family == family and one.base]
    if not every:
        raise AttributeError(family)
    return SimpleNamespace(**{one.place: one.changed() for one in every})
