"""``pip:NAME==VERSION``, ``pip:./path``: one release of a library, beside others of its kind.

The library is installed into an environment of its own (:mod:`impls.environments`), where its
adapter, the same as ever, speaks the stdio protocol (:mod:`impls.serving`). So two releases of one
library meet in one run, or a release meets the working tree::

    tokgate run --impl pip:sentencepiece==0.2.1 --impl pip:sentencepiece==0.2.3 --vocab t5.model
    tokgate run --impl pip:tiktoken==0.13.0 --impl pip:./tiktoken

``#ATTRIBUTE`` names another implementation of the adapter's module, as in
``pip:tokenizers==0.22.2#WINDOWS``.
"""

from __future__ import annotations

import importlib
import pickle
import shlex
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.vocabularies import scratch
from impls import environments, serving
from impls.errors import ImplementationError
from impls.external import SPOKEN, ExternalEncoder
from impls.interface import Recipe, Reproducible
from impls.roster import ROWS

if TYPE_CHECKING:
    from types import ModuleType

    from corpora.vocabularies.model import Vocabulary
    from impls.adapters.common import Library
    from impls.interface import About, Implementation, Mode

NUMPY = ("numpy", "msgspec")
"""Every adapter needs these, because vocabularies are NumPy arrays, and what reads them checks
types."""


@cache
def adapters() -> dict[str, ModuleType]:
    """The modules of the adapters, by the distribution that each is for."""
    rows = (row.module for row in ROWS.values())
    modules = [one for one in dict.fromkeys(rows) if one.startswith("impls.adapters.")]
    return {found.LIBRARY.distribution: found for found in map(importlib.import_module, modules)}


RECIPE = """\
import base64, json, subprocess, sys, tempfile
from pathlib import Path

REQUIREMENT = {requirement!r}
CODE = {code!r}

# An environment of its own, made on the first use and kept.
folder = Path(tempfile.gettempdir(), "repro-" + REQUIREMENT.replace("/", "_"))
python = folder / "bin" / "python"
if not (folder / "ready").exists():
    print("installing", REQUIREMENT, "into", folder)
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", REQUIREMENT], check=True)
    (folder / "ready").touch()


def ask(question):
    code = CODE + "\\n\\nimport base64, json, os\\nresult = " + question
    code += "\\nos.write(ANSWER, json.dumps(result).encode())"
    with tempfile.TemporaryFile() as answer:
        start = "import sys; VOCABULARY, ANSWER = sys.argv[1], int(sys.argv[2])\\n"
        command = [python, "-c", start + code, str(VOCABULARY), str(answer.fileno())]
        done = subprocess.run(command, pass_fds=[answer.fileno()], stderr=subprocess.PIPE)
        if done.returncode:
            lines = done.stderr.decode(errors="replace").strip().splitlines() or [""]
            raise RuntimeError("exit status " + str(done.returncode) + " " + lines[-1])
        answer.seek(0)
        return json.loads(answer.read())


def encode(data):
    return ask("[int(i) for i in encode(base64.b64decode(" + repr(base64.b64encode(data)) + "))]")


def encode_with_offsets(data):
    return ask("list(encode_with_offsets(base64.b64decode(" + repr(base64.b64encode(data)) + ")))")


def decode(ids):
    text = ask("base64.b64encode(decode(" + repr(list(ids)) + ")).decode()")
    return base64.b64decode(text)
"""


class ReleaseImplementation:
    """A library's adapter in an environment of its own. ``about`` builds it if need be."""

    def __init__(self, text: str) -> None:
        requirement, _, attribute = text.partition("#")
        self._attribute = attribute or "IMPLEMENTATION"
        self._wanted = environments.parse(requirement)
        if self._wanted.name not in adapters():
            raise ImplementationError(
                f"implementation 'pip:{text}': no adapter for {self._wanted.name}; "
                f"there are {', '.join(adapters())} (others: cmd:PROGRAM)",
                unknown=True,
            )
        self._module = adapters()[self._wanted.name]
        self._library: Library = self._module.LIBRARY

    @cached_property
    def _environment(self) -> environments.Environment:
        return environments.environment(self._wanted, (*NUMPY, *self._library.helpers))

    @cached_property
    def _implementation(self) -> Implementation:
        adapter: Implementation | None = getattr(self._module, self._attribute, None)
        if adapter is None:
            raise ImplementationError(
                f"implementation 'pip:{self._wanted.text}#{self._attribute}': "
                f"{self._module.__name__} has no {self._attribute}; check it",
                unknown=True,
            )
        return adapter

    @cached_property
    def about(self) -> About:
        """The adapter's, with the version that is installed in the environment."""
        whole = self._attribute == "IMPLEMENTATION"
        # The library may not be installed here: its adapter would say so.
        about = self._library.about if whole else self._implementation.about
        version = self._environment.version
        source = self._wanted.source
        name = f"{about.name}=={version}" if source is None else f"{about.name}@{source.name}"
        capabilities = about.capabilities & SPOKEN
        return replace(about, name=name, version=version, capabilities=capabilities)

    @property
    def native_formats(self) -> frozenset[str]:
        """As of the adapter."""
        formats: frozenset[str] = getattr(self._implementation, "native_formats", frozenset())
        return formats

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """What the adapter says, which is the same for all releases."""
        return self._implementation.supports(vocabulary, mode)

    def load(self, vocabulary: Vocabulary) -> ExternalEncoder:
        """Start the adapter in the environment and give it the vocabulary."""
        folder = scratch.temporary("model-")
        path = Path(folder.name, "model.pickle")
        path.write_bytes(pickle.dumps(vocabulary))
        wire: dict[str, object] = {
            "id": vocabulary.id,
            "algorithm": str(vocabulary.algorithm),
            "format": vocabulary.format,
            "path": vocabulary.source_path,
            "model": str(path),
        }
        command = served(self._environment.python, f"{self._module.__name__}:{self._attribute}")
        return ExternalEncoder(shlex.join(command), wire, folder)

    def recipe(self, vocabulary: Vocabulary, mode: Mode) -> Recipe:
        """The adapter's recipe, run by a Python that the reproducer makes: releases meet there."""
        inner = self._implementation
        assert isinstance(inner, Reproducible)
        recipe = inner.recipe(vocabulary, mode)
        code = RECIPE.format(requirement=self._wanted.requirement, code=recipe.code)
        return Recipe((), code, recipe.artifact_name, recipe.artifact)


def served(python: Path, target: str) -> list[str]:
    """The command that serves an implementation by an interpreter.

    Isolated: nothing of the user's own settings or folders gets in.
    """
    return [str(python), "-I", serving.__file__, target]
