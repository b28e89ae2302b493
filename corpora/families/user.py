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

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from corpora import whole_files
from corpora.errors import UserError
from corpora.families.base import Family
from corpora.families.pattern import Pattern
from corpora.vocabularies.reading import line_of, read_toml, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    try:
        data = read_toml(path)
    except OSError as error:
        raise FamiliesError(f"families {path}: {error.strerror}; name a readable file") from error
    except ValueError as error:
        raise FamiliesError(
            f"families {path}: {line_of(error)}; see corpora/families/user.py"
        ) from error
    entries = data.get("family", [])
    if not isinstance(entries, list) or set(data) - {"family"}:
        raise FamiliesError(f"families {path}: has more than [[family]] tables; remove the rest")
    found: dict[str, tuple[str, str, Pattern]] = {}
    for number, entry in enumerate(entries, 1):
        try:
            name, reason, pattern = _entry(entry)
        except ValueError as error:
            raise FamiliesError(
                f"families {path}: family {number}: {line_of(error)}; mend it"
            ) from error
        if name in found:
            raise FamiliesError(
                f"families {path}: family {number}: {shown(name)} is there twice; rename one"
            )
        found[name] = (name, reason, pattern)
    return list(found.values())


def chosen(path: Path | None) -> list[Family]:
    """The families of a file that was named, else of the user's own, if there is one.

    Raises FamiliesError.
    """
    if path is not None:
        return read(path)
    own = default_path()
    return read(own) if own is not None and own.is_file() else []


def family_of(name: str, reason: str, pattern: Pattern) -> Family:
    """A pattern as a family; it suits whatever vocabulary can spell it."""
    return Family(name, reason, lambda vocabulary: pattern)


def add(path: Path, families: Sequence[tuple[str, str, Pattern]]) -> list[str]:
    """Add name, reason and pattern of each to the end of a file; the names of those added.

    A pattern that is there already is left out; a name that is taken gets a number. What is in
    the file stays as it is. Raises FamiliesError.
    """
    there = entries_of(path) if path.is_file() else []
    names = {name for name, _, _ in there}
    patterns = {pattern for _, _, pattern in there}
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    added = []
    for name, reason, pattern in families:
        if pattern in patterns:
            continue
        patterns.add(pattern)
        chosen = next(
            new for i in range(1, 10**6) if (new := name if i == 1 else f"{name}-{i}") not in names
        )
        names.add(chosen)
        added.append(chosen)
        gap = "\n" if text.endswith("\n") else "\n\n" if text else ""
        text += f"{gap}[[family]]\nname = {_string(chosen)}\nreason = {_string(reason)}\n"
        text += _body(pattern)
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
    if not isinstance(entry, dict):
        message = "is no table"
        raise ValueError(message)
    words = {key: entry.get(key) for key in ("name", "reason")}
    for key, value in words.items():
        if not isinstance(value, str) or not value:
            message = f"has no {key}"
            raise ValueError(message)
    rest = {key: value for key, value in entry.items() if key not in words}
    return entry["name"], entry["reason"], Pattern.from_dict(rest)


def _body(pattern: Pattern) -> str:
    data = pattern.to_dict()
    return "".join(f"{key} = {_value(value)}\n" for key, value in data.items())


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return f"{{ {', '.join(f'{key} = {_value(one)}' for key, one in value.items())} }}"


def _string(text: str) -> str:
    """A basic string of TOML."""

    def shown(character: str) -> str:
        if character in '"\\':
            return "\\" + character
        code = ord(character)
        if character.isprintable():
            return character
        return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

    return f'"{"".join(map(shown, text))}"'
