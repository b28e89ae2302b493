"""Options of ``tokgate run`` that stand in a file, so that CI and a person need not repeat them.

The file is ``tokgate.toml``, or the table ``[tool.tokgate]`` of ``pyproject.toml``, in the working
directory or in the nearest folder above it that has one. A key is the long name of an option::

    [tool.tokgate]
    vocab = "my.model"                # or a list, where an option may be repeated
    impl = ["my_package:Tokenizer"]
    expect = "expected.toml"          # paths are relative to the file
    fail-fast = true

The command line goes before the file, and the file before the defaults.
"""

from __future__ import annotations

import difflib
import glob
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import typer
from typer.core import TyperCommand

from corpora.errors import UserError
from corpora.vocabularies.reading import fault_of, shown, toml_document
from harness.cli.display import Display

VARIABLE = "TOKGATE_CONFIG"
"""The variable of the environment that names the file; it is empty for none."""

OWN, SHARED = "tokgate.toml", "pyproject.toml"
"""The files that are looked for, in this order: the second one has a table for each tool."""

PATHS = frozenset({"expect", "families", "ledger", "out"})
"""Keys whose values are paths, whether a file is there or not. Other values (vocabularies,
implementations, texts) hold a path where there is such a file."""

WORD = re.compile(r"[^\s:#=]+")
"""What may be a path in a value such as ``cmd:./program --serve`` or ``a.jsonl#field=text``."""


class SettingsError(UserError):
    """A file of options cannot be used: one line with the file, the key and the mend."""


def table_of(path: Path) -> dict[str, Any] | None:
    """The options in a file; None where it has none. Raises SettingsError."""
    table: Any = toml_document(path, SettingsError)
    if path.name == SHARED:
        for name in ("tool", "tokgate"):
            table = table.get(name) if isinstance(table, dict) else None
    if table is not None and not isinstance(table, dict):
        raise SettingsError(f"{path}: 'tokgate' is not a table; write [tool.tokgate]")
    return table


def places() -> Iterator[Path]:
    """The files that may have options, the nearest first."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        yield from [Path(named)] * bool(named)
        return
    here = Path.cwd()
    for folder in (here, *here.parents):
        found = (folder / name for name in (OWN, SHARED))
        yield from (Path(os.path.relpath(file)) for file in found if file.is_file())


def found() -> tuple[Path, dict[str, Any]] | None:
    """The nearest file that has options, with its table. Raises SettingsError."""
    tables = ((path, table_of(path)) for path in places())
    return next(((path, table) for path, table in tables if table is not None), None)


def values_of(path: Path, table: dict[str, Any], params: Sequence[Any]) -> dict[str, Any]:
    """The values of a file's keys, by the names of the parameters of a command.

    Raises SettingsError for a key that is no option, and for a value of another type.
    """
    known = {
        option.removeprefix("--"): one
        for one in params
        for option in one.opts
        if option.startswith("--")
    }
    found = {}
    for key, value in table.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"the keys are {', '.join(known)}"
            raise SettingsError(f"{path}: unknown key {shown(key)}; {hint}")
        one = known[key]
        number = isinstance(one.default, int | float)  # a flag, too: it is False
        kind: Any = type(one.default) if number else list[str] | str if one.multiple else str
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            raise SettingsError(f"{fault_of(error, f'{path}: {key}')}; mend that key") from error
        each = value if isinstance(value, list) else [value]
        each = [placed(text, path, key in PATHS) for text in each]
        found[one.name] = each if one.multiple else each[0]
    return found


def placed(value: Any, path: Path, certain: bool) -> Any:
    """A value of a file, with its relative paths as they are seen from the working directory.

    certain: whether it is a path for sure.
    """
    folder = Path(os.path.relpath(path.parent))
    if not isinstance(value, str) or folder == Path():
        return value
    if certain:
        return value if "://" in value else str(folder / value)

    def seen(word: re.Match[str]) -> str:
        named = "/" in word[0] or "." in word[0]  # others are names: tiktoken, toy_bytes
        there = named and glob.glob(word[0], root_dir=folder)  # noqa: PTH207 (absolute ones, too)
        return str(folder / word[0]) if there else word[0]

    return WORD.sub(seen, value)


class Configured(TyperCommand):
    """A command whose options may stand in a file."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Read the command line, and the file for what is not given there."""
        asking = {"-h", "--help"} & {*args} or (parent and parent.resilient_parsing)
        file = None if asking else found()
        if file is None:
            return super().make_context(info_name, args, parent, **extra)
        path, table = file
        values = values_of(path, table, self.params)
        try:
            context = super().make_context(info_name, args, parent, default_map=values, **extra)
        except typer.BadParameter as error:
            wrong: Any = error.param
            source: Any = error.ctx and wrong and error.ctx.get_parameter_source(wrong.name)
            if source is None or source.name != "DEFAULT_MAP":
                raise
            key = wrong.opts[0].removeprefix("--")
            line = " ".join(error.message.split())
            raise SettingsError(f"{path}: key {key!r}: {line}") from error
        Display(stderr=True).print(f"options from {path}: {', '.join(table)}", style="dim")
        return context
