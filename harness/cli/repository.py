"""What a repository has that tokgate can run: vocabulary files and implementations."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from corpora.errors import UserError
from corpora.vocabularies import sources
from corpora.vocabularies.model import Vocabulary, VocabularyError
from harness.core.comparisons import SupportsFailed, answer_of, modes_of
from harness.core.participants import Participant
from harness.engine import selection
from harness.engine.joiners import installed
from impls import registry
from impls.errors import ImplementationError

FORMATS = ("tokenizer.json", "tekken*.json", "*.model", "*.tiktoken", "*.tiktoken.gz", "*.gguf")
"""Names of files that may be vocabularies; which they are is told by reading them."""

OTHERS = frozenset({"build", "dist", "node_modules", "site-packages", "target", "tokgate-out"})
"""Folders of what was built or installed."""

TESTS = frozenset({"test", "tests"})
"""Folders with implementations that are there to be wrong."""


def files() -> list[Path]:
    """All files below the working directory that belong to the repository, in order."""
    found = []
    for at, folders, names in os.walk("."):
        folders[:] = [
            name
            for name in folders
            if not (name.startswith(".") or name in OTHERS or Path(at, name, "pyvenv.cfg").exists())
        ]
        found += [Path(at, name) for name in names]
    return sorted(found)


def vocabularies(paths: Iterable[Path]) -> Iterator[tuple[str, Vocabulary | VocabularyError]]:
    """Each file that may be a vocabulary, read, or with why it cannot be."""
    for path in paths:
        if any(fnmatchcase(path.name, name) for name in FORMATS):
            try:
                yield str(path), sources.resolve(str(path))
            except VocabularyError as error:
                yield str(path), error


def refusal(one: Participant, vocabulary: Vocabulary) -> str | None:
    """Why an implementation does not run a vocabulary; None where it does, in any mode."""
    try:
        reasons = [answer_of(one, vocabulary, mode) for mode in modes_of(vocabulary)]
    except SupportsFailed as error:
        return str(error)
    return None if None in reasons else reasons[0]


def implementations(paths: Iterable[Path], plugged: Sequence[str]) -> list[Participant]:
    """The implementations of a repository: its entry points, or else classes in its files.

    plugged: the names of its entry points. Raises UserError for one that is not installed, and
    ImplementationError where there are classes and none can be imported.
    """
    for name in plugged:
        if name not in registry.names():
            raise UserError(
                f"pyproject.toml: the entry point {name!r} is not installed; run `pip install -e .`"
            )
    if plugged:
        return selection.participants(plugged)[0]
    found, fault = [], None
    for path in paths:
        if path.suffix == ".py" and not TESTS & {*path.parts}:
            for name in classes(path):
                try:
                    found.append(_imported(path, name))
                except ImplementationError as error:
                    fault = error
    if fault is not None and not found:
        raise fault
    return found


def classes(path: Path) -> list[str]:
    """The names of classes in a file that have the methods of an implementation."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []
    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        and {"supports", "load"} <= {getattr(one, "name", "") for one in node.body}
    ]


def _imported(path: Path, name: str) -> Participant:
    """A class of a file as an implementation: of its installed package, or else of the file.

    Raises ImplementationError where neither can be imported.
    """
    module = [] if path.stem == "__init__" else [path.stem]
    folder = path.parent.resolve()
    while (folder / "__init__.py").exists():
        module.insert(0, folder.name)
        folder = folder.parent
    packaged = installed(f"{'.'.join(module)}:{name}") if len(module) > 1 else None
    return packaged or selection.participants([f"./{path}:{name}"])[0][0]
