"""The models that explain findings are compiled before a run, so that no judge waits for them.

A finding is explained by running the models of two engines stage by stage in the harness itself
(:func:`harness.findings.diagnosis.explain`). Before a first run these have no compiled code yet.
What is compiled is kept on disk, for the workers that need it, too.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import corpora
import impls
from corpora.vocabularies.caches import compiled_folder
from harness.findings.diagnosis import MODELS, modelled
from impls import registry
from impls.interface import Explains, Mode

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpora.vocabularies.model import Vocabulary

TEXT = "ab  c\u2581\u00e9".encode()


def compile_models(vocabulary: Vocabulary, stopped: Callable[[], bool]) -> None:
    """Run each model of a vocabulary's algorithm on a few bytes, until ``stopped``."""
    algorithm = modelled(vocabulary)
    for name in sorted({one[algorithm] for one in MODELS.values() if algorithm in one}):
        model = registry.resolve(name)
        if isinstance(model, Explains) and not stopped() and not model.supports(vocabulary, Mode()):
            with contextlib.suppress(Exception):  # then nothing is explained, either
                model.steps(vocabulary, TEXT, Mode())


def marker(name: str) -> Path:
    """The file that says that something was made, by these versions of the compiler and of ours."""
    return compiled_folder() / f"{name}-{_versions()}"


@cache
def _versions() -> str:
    folders = [Path(package.__file__ or "").parent for package in (impls, corpora)]
    newest = max(path.stat().st_mtime_ns for one in folders for path in one.rglob("*.py"))
    text = f"{sys.version} {metadata.version('numba')} {folders} {newest}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]
