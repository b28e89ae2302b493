"""All mutants; ``--impl harness.studies.selftest.catalog:NAME`` runs one of them.

A mutant is a row of a table (:mod:`harness.studies.selftest.mutants`): the right implementation
that it changes (:mod:`harness.studies.selftest.plain`), the place, the change, the check that
catches it, and what is wrong. A change is a pair of texts, of which the first stands exactly once
in the methods of the class, and the second takes its place; or an attribute of the class that
becomes another one. The changed methods are compiled anew, in a class of the mutant's own.
"""

from __future__ import annotations

import inspect
import textwrap
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from harness.core.participants import Participant
from impls import registry

if TYPE_CHECKING:
    from impls.interface import Implementation

FAMILIES = (
    "merging", "pretokens", "specials", "decoding", "offsets", "services", "caches", "processes",
    "growth", "spm", "unigram", "wordpiece", "healing",
    "ways",
    "healers",
    "file_normalizers", "file_pretokens", "file_models", "file_endings",
    "gate",
)  # fmt: skip
"""Modules of :mod:`harness.studies.selftest.mutants`, in the order of the table."""

BEFORE = "@"
"""Stands in a text for the one whose place it takes."""


class MisplantedError(ValueError):
    """A change that does not fit what it is to change."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mutant: a planted mistake.

    check: the property that it breaks, and so the name under which it must be found; stage: those
    that the finding may have, apart by spaces, any where there are none. vocabulary: the embedded
    vocabulary on which it is hunted. mode: the label of the contract in which it shows.
    base: the class that is changed, if any. right: what to write after ``--impl`` for what it is
    without the mistake, where that is not the class. at: the text that a row changes that gives no
    other. place: its name within its family. summary: what is wrong, in a line.
    shows: inputs, asked in this order, of which one at least comes out differently; none for
    mistakes that show otherwise (in growth, in time, by threads), which tests show by hand.
    edits: texts of the base's source, each followed by what takes its place. members: attributes.
    apart: it makes a process end or wait, so that it is hunted beside its like alone.
    wrong: what to write after ``--impl``, where it is no change of a class. called: its name, where
    it has no family's. expect: the expectations file with which the gate is run on it.
    """

    check: str
    vocabulary: str
    base: type[Any] | None = None
    mode: str = "raw"
    stage: str = ""
    at: str = ""
    right: str = ""
    apart: bool = False
    family: str = ""
    place: str = ""
    summary: str = ""
    shows: tuple[bytes, ...] = ()
    edits: tuple[str, ...] = ()
    members: dict[str, Any] = field(default_factory=dict)
    wrong: str = ""
    called: str = ""
    expect: str = ""

    def __call__(
        self, place: str, summary: str, shows: bytes | tuple[bytes, ...] = (), *edits: str,
        **changes: Any,
    ) -> Mutant:  # fmt: skip
        """A row of a table: this one with a change.

        edits: pairs of texts, or a single one that takes the place of ``at``. changes: attributes
        of the class; those that a mutant has itself are the mutant's.
        """
        own = {name: changes.pop(name) for name in FIELDS & changes.keys()}
        edits = (self.at, *edits) if len(edits) % 2 else edits
        shown = (shows,) if isinstance(shows, bytes) else shows
        row = replace(self, place=place, summary=summary, shows=shown, edits=edits, **own)
        return replace(row, members=row.members | changes)

    @property
    def name(self) -> str:
        """``merging.rightmost-tie``, the family first; also its name as an implementation."""
        return self.called or f"{self.family}.{self.place}"

    @property
    def stages(self) -> list[str]:
        """The stages that its finding may have."""
        return self.stage.split()

    @property
    def spec(self) -> str:
        """What to write after ``--impl``."""
        return self.wrong or f"{__name__}:{self.name}"

    @property
    def control(self) -> str:
        """The spec of what it is without the mistake; empty where that is nothing of its own."""
        if self.right or self.base is None:
            return self.right
        right = getattr(self.base, "right", None) or self.base
        return f"{right.__module__}:{right.__qualname__}"

    @property
    def implementation(self) -> Implementation:
        """What it is, which is made once."""
        return resolved(self.spec)

    @property
    def participant(self) -> Participant:
        """As a campaign takes it."""
        return Participant(self.name, self.spec, self.implementation.about, self.implementation)

    def changed(self) -> type[Any]:
        """The class that it is. Raises MisplantedError."""
        assert self.base is not None
        names = vars(import_module(f"harness.studies.selftest.mutants.{self.family}"))
        methods = edited(self.base, self.edits, names)
        return type(self.place, (self.base,), {"name": self.name, **methods, **self.members})


FIELDS = {one.name for one in fields(Mutant)}


def edited(
    base: type[Any], edits: tuple[str, ...], names: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The methods of a class that edits change, by name. names: what the new texts may use."""
    sources: dict[str, str] = {}
    for before, after in zip(edits[::2], edits[1::2], strict=True):
        every = {**sources_of(base), **sources}  # type: ignore[arg-type]
        found = {name: source for name, source in every.items() if before in source}
        if len(found) != 1 or sum(one.count(before) for one in found.values()) != 1:
            raise MisplantedError(f"{before!r} is not exactly once in {base.__qualname__}")
        [(name, source)] = found.items()
        sources[name] = source.replace(before, after.replace(BEFORE, before))
    made: dict[str, Any] = {}
    for name, source in sources.items():
        method = getattr(base, name)
        scope = {**(names or {}), **method.__globals__}
        if "super()" in source:
            raise MisplantedError(f"{method.__qualname__} asks its ancestor")
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
    return registry.resolve(spec)


@cache
def family_of(family: str) -> tuple[Mutant, ...]:
    """The mistakes of a family."""
    table = import_module(f"harness.studies.selftest.mutants.{family}").MUTANTS
    return tuple(replace(one, family=family) for one in table)


@cache
def mistakes() -> dict[str, Mutant]:
    """Every planted mistake by name, family by family. Raises ValueError for one planted twice."""
    every = [one for family in FAMILIES for one in family_of(family)]
    found = {one.name: one for one in every}
    if len(found) < len(every):
        raise ValueError("a mistake is planted twice; rename one")
    return found


@cache
def __getattr__(family: str) -> SimpleNamespace:
    """The implementations of a family by name, as ``--impl`` takes them."""
    if family not in FAMILIES:
        raise AttributeError(family)
    every = [one for one in family_of(family) if not one.wrong]
    return SimpleNamespace(**{one.place: one.changed() for one in every})
