"""The models that explain findings are compiled before a run, so that no judge waits for them.

A finding is explained by running the models of two engines stage by stage in the harness itself
(:mod:`harness.findings.explanation`). On a first run these have no compiled code yet. A process of
its own calls them once on a small vocabulary of the same algorithm, while workers load; it shares
each compiled function with the workers that need it, too.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import corpora
import impls
from corpora.vocabularies.caches import compiled_folder
from harness.core.comparisons import algorithm_of
from harness.findings.diagnosis import MODELS
from impls import registry
from impls.external import die_with_parent
from impls.interface import Explains, Mode

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpora.vocabularies.model import Vocabulary

TAUGHT_BY = {
    "spm": ("toy_characters", "mistral_v1", "mistral_v3"),
    "unigram": ("toy_unigram", "unigram_nfkc"),
    "wordpiece": ("toy_wordpiece",),
}
"""The vocabularies, by algorithm, on which its models run all that they have to run: small ones,
and some whose normalizer does all that normalizers do."""

TEXT = "ab  c\u2581\u00e9".encode()

LOOK_SECONDS = 0.05

COMMAND = (sys.executable, "-m", "harness.findings.models")


def models_of(algorithm: str) -> list[str]:
    """Return the implementations that explain engines of an algorithm."""
    return sorted({engine[algorithm] for engine in MODELS.values() if algorithm in engine})


def modelled(vocabulary: Vocabulary) -> str:
    """Return the algorithm whose models explain findings on a vocabulary.

    It is empty where a file says more than the plain model, since models know that one alone.
    """
    return "" if vocabulary.unexpressed else algorithm_of(vocabulary)


def compile_models(algorithm: str, stopped: Callable[[], bool]) -> None:
    """Have the models of an algorithm compiled, unless they are; until ``stopped`` at the most.

    Where the process fails, the first explanation compiles them.
    """
    if algorithm not in TAUGHT_BY or marker(f"models-{algorithm}").exists():
        return
    process = subprocess.Popen(
        [*COMMAND, algorithm],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while process.poll() is None and not stopped():
            time.sleep(LOOK_SECONDS)
    finally:
        process.kill()
        process.wait()


def explain_once(algorithm: str) -> None:
    """Run each model of an algorithm on a few bytes, and note that it was done."""
    from corpora.vocabularies import sources  # noqa: PLC0415 (only in the process of its own)

    for source in TAUGHT_BY[algorithm]:
        vocabulary = sources.resolve(source)
        for name in models_of(algorithm):
            model = registry.resolve(name)
            if isinstance(model, Explains) and model.supports(vocabulary, Mode()) is None:
                model.steps(vocabulary, TEXT, Mode())
    done = marker(f"models-{algorithm}")
    done.parent.mkdir(parents=True, exist_ok=True)
    done.touch()


def marker(name: str) -> Path:
    """The file that says that something was made, by these versions of the compiler and of ours."""
    return compiled_folder() / f"{name}-{_versions()}"


@cache
def _versions() -> str:
    folders = [Path(package.__file__ or "").parent for package in (impls, corpora)]
    newest = max(path.stat().st_mtime_ns for one in folders for path in one.rglob("*.py"))
    text = f"{sys.version} {metadata.version('numba')} {folders} {newest}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


if __name__ == "__main__":
    die_with_parent()
    explain_once(sys.argv[1])
