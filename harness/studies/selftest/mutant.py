"""What a mutant is, a planted mistake, and how one is declared.

A mutant is a class that is an implementation (:mod:`impls.interface`) with one thing wrong, and
that says so by :func:`planted`. ``tokgate run --impl MODULE:CLASS`` runs it like any other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

from harness.core.participants import Participant
from impls import registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from impls.interface import Implementation

PLAIN = "harness.studies.selftest.plain."
"""Modules of what is right."""

C = TypeVar("C", bound="type[Named]")


class Named(Protocol):
    """A class that a name can be given."""

    name: ClassVar[str]


REGISTERED: dict[str, Mutant] = {}
"""The mutants by name, in the order of import; :mod:`harness.studies.selftest.catalog` imports
all."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mutant: a planted mistake.

    name: ``merging.rightmost-tie``, the family first; also its name as an implementation.
    summary: what is wrong, in a line. spec: what to write after ``--impl``.
    vocabulary: the embedded vocabulary on which it is hunted. mode: the label of the contract in
    which it shows. check: the property that it breaks, and so the name under which it must be
    found; stages: those that the finding may have, any where there are none.
    shows: inputs, asked in this order, of which one at least comes out differently; none for
    mistakes that show otherwise (in growth, in time, by threads), which tests show by hand.
    apart: it makes a process end or wait, so that it is hunted beside its like alone.
    control: the spec of what it is without the mistake; empty where that is no class of its own.
    expect: the expectations file with which the gate is run on it.
    """

    name: str
    family: str
    summary: str
    spec: str
    vocabulary: str
    mode: str
    check: str
    stages: tuple[str, ...] = ()
    shows: tuple[bytes, ...] = ()
    apart: bool = False
    control: str = ""
    expect: str = ""

    @property
    def implementation(self) -> Implementation:
        """A new one."""
        return registry.resolve(self.spec)

    @property
    def participant(self) -> Participant:
        """As a campaign takes it."""
        implementation = self.implementation
        return Participant(self.name, self.spec, implementation.about, implementation)


def planted(
    check: str,
    *,
    on: str,
    mode: str = "raw",
    stages: tuple[str, ...] = (),
    shows: tuple[bytes, ...] = (),
    apart: bool = False,
) -> Callable[[C], C]:
    """Declare a class a planted mistake: its docstring's first line says what is wrong.

    The family is the name of its module. Its attribute ``name`` becomes the mistake's.
    """

    def declare(cls: C) -> C:
        family = cls.__module__.rpartition(".")[2]
        name = f"{family}.{kebab(cls.__name__)}"
        if name in REGISTERED:
            raise ValueError(f"mistake {name!r} is planted twice; rename a class")
        summary = (cls.__doc__ or "").split("\n", 1)[0]
        REGISTERED[name] = Mutant(
            name, family, summary, spec_of(cls), on, mode, check, stages, shows, apart, control(cls)
        )
        cls.name = name
        return cls

    return declare


def spec_of(cls: type) -> str:
    """What to write after ``--impl``."""
    return f"{cls.__module__}:{cls.__qualname__}"


def control(cls: type) -> str:
    """The spec of the nearest ancestor that is right, or nothing."""
    right = (one for one in cls.__mro__ if one.__module__.startswith(PLAIN))
    return next((spec_of(one) for one in right if one.__module__ != f"{PLAIN}base"), "")


def kebab(name: str) -> str:
    """``RightmostTie`` as ``rightmost-tie``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
