"""The families by name, as ``listed.toml`` has them, and the user's own."""

from __future__ import annotations

import tomllib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.families import drawn_from
from corpora.families.base import Family
from corpora.families.pattern import Pattern, drawn
from corpora.families.recipes import Line
from corpora.families.user import always
from corpora.generators.material import units_of

if TYPE_CHECKING:
    from collections.abc import Iterable

LISTED: list[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("listed.toml").read_text("utf-8")
)["family"]


def _family(name: str, reason: str, telling: bool = False, **rest: Any) -> Family:
    match rest:
        case {"made": function}:
            return Family(name, reason, getattr(drawn_from, function))
        case {"spelt": count, **written}:
            pattern = Pattern.from_dict(written)
            return Family(name, reason, partial(drawn_from.spelt, pattern, count))
        case {"line": line}:
            return Family(name, reason, always(Line(line)))
        case {"letters": {"hex": data}}:
            return Family(name, reason, always(drawn(units_of(bytes.fromhex(data)))))
        case {"letters": text}:
            return Family(name, reason, always(drawn(units_of(text.encode()))))
    return Family(name, reason, always(Pattern.from_dict(rest)))


FAMILIES = tuple(_family(**entry) for entry in LISTED)

TELLING = FAMILIES[: sum("telling" in entry for entry in LISTED)]
"""The control, then those that brought most to light: a short run measures these."""


def families(besides: Iterable[Family] = ()) -> dict[str, Family]:
    """All families by name, the control first, in the order in which they are measured.

    besides: the user's own, which come before all that are not telling, as they were put there
    to be measured; one of a name that is taken replaces it.
    """
    own = {family.name: family for family in besides}
    rest = {family.name: family for family in FAMILIES[len(TELLING) :]}
    return {family.name: family for family in TELLING} | own | rest | own
