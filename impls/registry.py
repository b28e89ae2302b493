"""Names to implementations: what may stand after ``--impl``.

``tiktoken``            a registered name: built in, or the entry point group
                        ``tokgate.implementations`` of any installed package
``package.module:attr`` an importable attribute: an Implementation, or a class of one
``path/to/file.py:attr`` the same in a file
``cmd:PROGRAM ARGS``    a program that speaks the stdio protocol (:mod:`impls.external`)
``pip:NAME==VERSION``   a release of a library that has an adapter here, or one built from a path
                        (``pip:./path``), in an environment of its own (:mod:`impls.pip_release`)
``npm:NAME==VERSION``   a release of a tokenizer of JavaScript that has an adapter here, on node
                        (:mod:`impls.npm.release`)
"""

from __future__ import annotations

import ast
import difflib
import importlib
import importlib.util
import inspect
import sys
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, cast

from impls.errors import ImplementationError, NotInstalled
from impls.interface import About
from impls.needs import understood
from impls.roster import ROWS, Joins, joining
from impls.text_plugins import adapted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from impls.interface import Implementation

GROUP = "tokgate.implementations"


REFERENCES: Mapping[str, tuple[str, ...]] = {
    "tiktoken": ("tiktoken",),
    "tekken": ("tiktoken", "mistral-common"),
    "sentencepiece": ("sentencepiece",),
    "tokenizer.json": ("tokenizers",),
    "bpe": ("tiktoken",),
    "spm": ("sentencepiece",),
    "unigram": ("sentencepiece",),
    "wordpiece": ("tokenizers",),
}
"""The built-in implementations that are references where a run declares none, in order of
preference, by the format of the vocabulary: the program whose files these are decides what they
mean. Formats of our own (toys and random vocabularies) are looked up by their algorithm. GGUF has
none: see :func:`harness.core.standing.references_of`."""

DEFINITIONS: Mapping[str, tuple[str, ...]] = {
    "bpe": ("bpe.naive", "bpe.heap"),
    "spm": ("spm.sentencepiece",),
    "unigram": ("unigram.sentencepiece",),
    "wordpiece": ("wordpiece.bert",),
}
"""Our plain implementations of each algorithm, which decide where no reference takes part. Those
of pieces are exact to SentencePiece and that of WordPiece to BERT's tokenizer, so that they define
nothing where a file was written for another engine (:data:`FOREIGN`)."""

FILE_DEFINITIONS: Mapping[str, tuple[str, ...]] = {"tokenizer.json": ("pipeline.huggingface",)}
"""Likewise for files of which the plain model cannot express every step: ours that read the file
themselves, by its format."""

FOREIGN: Mapping[str, frozenset[str]] = {
    "tokenizer.json": frozenset({"spm", "unigram"}),
    "gguf": frozenset({"spm", "unigram", "wordpiece"}),
}
"""Algorithms that an engine runs in a way of its own, by the format of the engine's files."""

OUR_OWN = (
    "impls.bpe.",
    "impls.unigram.",
    "impls.spm.",
    "impls.wordpiece.",
    "impls.pipeline.",
    "impls.fast.",
    "harness.studies.selftest.",
)
"""Modules of implementations whose inside we know, since we wrote it."""


def registered() -> dict[str, str]:
    """All that join every run, with their ``module:attr``, built-in ones first."""
    return {**joining(Joins.RUNS), **_plugged()}


def names() -> frozenset[str]:
    """Return every name, with those of no part in a run that does not name them."""
    return frozenset({*ROWS, *_plugged()})


def built_in(spec: str) -> bool:
    """Whether a spec names an implementation that tokgate brings, and not the user's own.

    An entry point that takes a built-in name is the user's own.
    """
    return spec in ROWS and spec not in _plugged()


def our_own(spec: str) -> bool:
    """Whether a spec leads to an algorithm that we wrote, mistakes planted by us included."""
    target = ROWS[spec].target if built_in(spec) else spec
    return target.startswith(OUR_OWN) and not _is_path(target.rpartition(":")[0])


@cache
def _plugged() -> dict[str, str]:
    """The entry points of packages, which are not installed while tokgate runs.

    To look for them takes some milliseconds, and names are resolved all the time.
    """
    found = {entry.name: entry.value for entry in entry_points(group=GROUP)}
    return dict(sorted(found.items()))


def resolve(spec: str) -> Implementation:
    """The implementation of a spec.

    Raises ImplementationError: an unknown name (with the nearest one), a module that fails to
    import (with the exception's line), an attribute that is no implementation, and, as
    NotInstalled, a library that is not installed.
    """
    if spec.startswith("cmd:"):
        from impls import external  # noqa: PLC0415 (only runs that need it pay for it)

        return external.ExternalImplementation(spec.removeprefix("cmd:"))
    if spec.startswith("pip:"):
        from impls import pip_release  # noqa: PLC0415 (only runs that need it pay for it)

        return pip_release.ReleaseImplementation(spec.removeprefix("pip:"))
    if spec.startswith("npm:"):
        from impls.npm import release  # noqa: PLC0415 (likewise)

        return release.NpmImplementation(spec.removeprefix("npm:"))
    target = _plugged().get(spec) or (ROWS[spec].target if spec in ROWS else spec)
    module_name, colon, attribute = target.rpartition(":")
    if not colon:
        raise ImplementationError(_nameless(spec) or _unknown(spec), unknown=True)
    module = _load_file(spec, module_name) if _is_path(module_name) else _load(spec, module_name)
    return _implementation(spec, module, attribute)


def _unknown(spec: str) -> str:
    near = difflib.get_close_matches(spec, [*registered(), *ROWS], n=1)
    hint = f"did you mean {near[0]!r}?" if near else "see `tokgate list impls`"
    return (
        f"implementation {spec!r}: no such name; {hint} "
        "(others: module:attr, path.py:attr, cmd:PROGRAM, pip:NAME==VERSION, npm:NAME==VERSION)"
    )


def _nameless(spec: str) -> str | None:
    """What a file's name alone lacks: a name in it, or what makes it a command."""
    if not _is_path(spec):
        return None
    path = Path(spec)
    if not path.is_file():
        return f"implementation {spec!r}: no such file"
    if path.suffix != ".py":
        return f"implementation {spec!r}: write a program as {f'cmd:{spec}'!r}"
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        return f"implementation {spec!r}: cannot be read ({str(error).splitlines()[0]})"
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    fit = [
        node.name
        for node in classes
        if any(isinstance(one, ast.FunctionDef) and one.name == "load" for one in node.body)
    ]
    plain = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    names = fit or [node.name for node in classes] or plain
    hint = f"did you mean {f'{spec}:{names[0]}'!r}?" if names else f"write {spec}:NAME"
    return f"implementation {spec!r}: does not name anything in the file; {hint}"


def _is_path(module_name: str) -> bool:
    return module_name.endswith(".py") or "/" in module_name


def _load(spec: str, module_name: str) -> ModuleType:
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        package = module_name.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] == package:
            message = f"implementation {spec!r}: no module named {error.name!r}; is it installed?"
            raise ImplementationError(message, unknown=True) from error
        raise ImplementationError(_failed_import(spec, error)) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: a plug-in does not end tokgate
        raise ImplementationError(_failed_import(spec, error)) from error


def _load_file(spec: str, path: str) -> ModuleType:
    file = Path(path).resolve()
    if not file.is_file():
        raise ImplementationError(
            f"implementation {spec!r}: no file {path}; check the path", unknown=True
        )
    name = f"tokgate_plugin_{file.stem}"
    if name in sys.modules and sys.modules[name].__file__ == str(file):
        return sys.modules[name]
    made = importlib.util.spec_from_file_location(name, file)
    if made is None or made.loader is None:
        raise ImplementationError(f"implementation {spec!r}: {path} is not a Python file; name one")
    module = importlib.util.module_from_spec(made)
    sys.modules[name] = module
    sys.path.insert(0, str(file.parent))  # a plug-in may import its neighbours
    try:
        made.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise ImplementationError(_failed_import(spec, error)) from error
    finally:
        sys.path.remove(str(file.parent))
    return module


def _failed_import(spec: str, error: BaseException) -> str:
    return (
        f"implementation {spec!r}: its module fails to import ({_line(error)}); --debug shows where"
    )


def _line(error: BaseException) -> str:
    line = str(error).split("\n", 1)[0]
    return f"{type(error).__name__}: {line}"


def _made(spec: str, attribute: str, found: type) -> object:
    """An object of a class, as users name classes after ``--impl``."""
    if needed := _needed(found):
        message = (
            f"implementation {spec!r}: {attribute} cannot be created without {', '.join(needed)}; "
            "name an adapter for it: a class without arguments that has about, supports and load "
            "(docs/plugins.md has an example)"
        )
        raise ImplementationError(message)
    try:
        return found()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        message = (
            f"implementation {spec!r}: {attribute}() fails ({_line(error)}); --debug shows where"
        )
        raise ImplementationError(message) from error


def _needed(found: type) -> list[str]:
    """The arguments that a class must be given."""
    try:
        wanted = inspect.signature(found).parameters.values()
    except (TypeError, ValueError):  # a class of C that does not say
        return []
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [one.name for one in wanted if one.default is one.empty and one.kind not in optional]


def _implementation(spec: str, module: ModuleType, attribute: str) -> Implementation:
    found: object = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            name = getattr(module, "__file__", None) or module.__name__
            message = f"implementation {spec!r}: {name} has no attribute {attribute!r}; check it"
            raise ImplementationError(message, unknown=True)
        found = getattr(found, part)
    if isinstance(found, type):
        found = _made(spec, attribute, found)
    try:
        missing = [name for name in ("about", "supports", "load") if not hasattr(found, name)]
        about = getattr(found, "about", None)
    except (ImplementationError, KeyboardInterrupt):
        raise
    except ImportError as error:  # a library that is not installed is no fault of its adapter
        line = str(error)
        raise NotInstalled(line if spec in line else f"implementation {spec!r}: {line}") from error
    except BaseException as error:
        message = f"implementation {spec!r}: its about fails ({_line(error)}); --debug shows where"
        raise ImplementationError(message) from error
    if missing:
        message = (
            f"implementation {spec!r}: {attribute} has no {', '.join(missing)}; "
            "see impls/interface.py for what an implementation is"
        )
        raise ImplementationError(message)
    if not isinstance(about, About):
        message = f"implementation {spec!r}: about is not an impls.interface.About; make it one"
        raise ImplementationError(message)
    try:
        understood(about.needs)
    except ValueError as error:
        raise ImplementationError(f"implementation {spec!r}: {error}") from error
    return adapted(cast("Implementation", found))
