"""The user's own families: patterns in a TOML file, which ``tokgate worst`` adds to.

    [[family]]
    name = "vertical-tabs"
    reason = "one line on whom it hurts, and how much"
    prefix = "start"
    pumps = [{ units = ["\\u000b", { hex = "ff" }], drawn = false }]
    suffix = "end"

Units are text, or bytes that are none in hex; ``drawn`` ones come at random, others in turn. Prefix
and suffix may be left out. The default file is ``families.toml`` in the user's configuration folder
(``~/.config/tokgate``); ``TOKGATE_FAMILIES`` names another one.
"""

from __future__ import annotations

import json
import os
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from corpora import whole_files
from corpora.errors import UserError
from corpora.families.base import Family
from corpora.families.pattern import Pattern
from corpora.generators.material import is_text
from corpora.vocabularies.reading import line_of, read_toml, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.families.recipes import Recipe
    from corpora.vocabularies.model import Vocabulary

VARIABLE = "TOKGATE_FAMILIES"
"""The variable of the environment that names the file; it is empty for none."""


class FamiliesError(UserError):
    """A file of families cannot be used: one line with the file, the fault and the mend."""


def default_path() -> Path | None:
    """The user's file, whether it is there or not; None where the user wants none."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return Path(named) if named else None
    return Path(platformdirs.user_config_dir("tokgate")) / "families.toml"


def read(path: Path) -> list[Family]:
    """The families of a file. Raises FamiliesError."""
    return [family_of(*entry) for entry in entries_of(path)]


def entries_of(path: Path) -> list[tuple[str, str, Pattern]]:
    """Name, reason and pattern of each family of a file. Raises FamiliesError."""
    found: dict[str, tuple[str, str, Pattern]] = {}
    where = f"families {path}"
    try:
        data = read_toml(path)
        entries = data.pop("family", [])
        if not isinstance(entries, list) or data:
            message = "has more than [[family]] tables; remove the rest"
            raise ValueError(message)
        for number, entry in enumerate(entries, 1):
            where = f"families {path}: family {number}"
            one = _entry(entry)
            if one[0] in found:
                message = f"{shown(one[0])} is there twice; rename one"
                raise ValueError(message)
            found[one[0]] = one
    except OSError as error:
        raise FamiliesError(f"{where}: {error.strerror}; name a readable file") from error
    except ValueError as error:
        raise FamiliesError(f"{where}: {line_of(error)}; see corpora/families/user.py") from error
    return list(found.values())


def chosen(path: Path | None) -> list[Family]:
    """The families of a file that was named, else of the user's own, if there is one.

    Raises FamiliesError.
    """
    if path is not None:
        return read(path)
    own = default_path()
    return read(own) if own is not None and own.is_file() else []


def always(recipe: Recipe) -> Callable[[Vocabulary], Recipe]:
    """The same for all vocabularies; it suits whatever vocabulary can spell it."""
    return lambda vocabulary: recipe


def family_of(name: str, reason: str, pattern: Pattern) -> Family:
    """A pattern as a family."""
    return Family(name, reason, always(pattern))


def add(path: Path, families: Sequence[tuple[str, str, Pattern]]) -> list[str]:
    """Add name, reason and pattern of each to the end of a file; the names of those added.

    A pattern that is there already is left out; a name that is taken gets a number. What is in
    the file stays as it is. Raises FamiliesError.
    """
    there = entries_of(path) if path.is_file() else []
    taken, patterns = {name for name, *_ in there}, {pattern for *_, pattern in there}
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    added = []
    for name, reason, pattern in families:
        if pattern in patterns:
            continue
        numbered = (name if number == 1 else f"{name}-{number}" for number in count(1))
        added.append(next(new for new in numbered if new not in taken))
        taken.add(added[-1])
        patterns.add(pattern)
        gap = "\n" if text.endswith("\n") else "\n\n" if text else ""
        text += gap + _table(added[-1], reason, pattern)
    if added:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            whole_files.write(path, text.encode())
        except OSError as error:
            raise FamiliesError(
                f"families {path}: {error.strerror}; make room there, or name a writable file"
            ) from error
    return added


def _entry(entry: Any) -> tuple[str, str, Pattern]:
    match entry:
        case {"name": str(name), "reason": str(reason), **rest} if name and reason:
            return name, reason, Pattern.from_dict(rest)
    message = "a family needs a name and a reason"
    raise ValueError(message)


def _table(name: str, reason: str, pattern: Pattern) -> str:
    """A family in TOML."""
    pumps = (
        f"{{ units = [{', '.join(map(_bytes, one.units))}], drawn = {str(one.drawn).lower()} }}"
        for one in pattern.pumps
    )
    rows = {"name": _string(name), "reason": _string(reason), "pumps": f"[{', '.join(pumps)}]"}
    ends = {"prefix": pattern.prefix, "suffix": pattern.suffix}
    rows |= {key: _bytes(end) for key, end in ends.items() if end}
    return "[[family]]\n" + "".join(f"{key} = {value}\n" for key, value in rows.items())


def _bytes(data: bytes) -> str:
    return _string(data.decode()) if is_text(data) else f'{{ hex = "{data.hex()}" }}'


def _string(text: str) -> str:
    """A basic string of TOML: one of JSON, with the one character more that has to be escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
