"""What it takes to open a vocabulary, measured in a process that has done nothing else."""

from __future__ import annotations

import ast
import gc
import os
import time
from dataclasses import astuple, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.vocabularies import sources
from corpora.vocabularies.model import Piece, PieceType
from harness.core.messages import Opened
from harness.core.outcomes import Encoded, Results
from harness.workers import meters
from harness.workers.calls import encoding_call
from impls import registry

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpora.vocabularies.model import Vocabulary
    from harness.core.messages import Open


def opened(request: Open) -> Results:
    """What it took, as one row of costs; raises whatever the implementation raises."""
    clock = time.process_time_ns()
    start = _with_recipe(request) if request.recipe else _with_model(request)
    code = time.process_time_ns() - clock
    before = _held()
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    encode = start()
    encode(request.first)
    cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
    after = _held()
    encode(request.text)
    worked = _held()
    found = Opened(code, cpu, wall, *before, *after, *worked)
    costs = np.array([astuple(found)], dtype=np.int64)
    return replace(Results.of([Encoded(())]), costs=costs)


def _with_recipe(request: Open) -> Callable[[], Callable[[bytes], object]]:
    """A library by its own lines; what they import is imported here."""
    tree = ast.parse(request.recipe)
    imports = [one for one in tree.body if isinstance(one, ast.Import | ast.ImportFrom)]
    exec(compile(ast.Module([*imports], []), "<imports>", "exec"), {})
    code = compile(tree, "<recipe>", "exec")

    def start() -> Callable[[bytes], object]:
        names: dict[str, Any] = {"VOCABULARY": request.path}
        exec(code, names)
        encode: Callable[[bytes], object] = names["encode"]
        return encode

    return start


def _with_model(request: Open) -> Callable[[], Callable[[bytes], object]]:
    """An implementation that is given the plain model."""
    implementation = registry.resolve(request.spec)
    if request.reader:
        import_module(request.reader)
    if request.small:
        encoding_call(implementation.load(_small(request)), b"a", request.mode)()

    def start() -> Callable[[bytes], object]:
        encoder = implementation.load(sources.resolve(request.path))
        return lambda data: encoding_call(encoder, data, request.mode)()

    return start


def _small(request: Open) -> Vocabulary:
    """The small vocabulary with what else decides which code is needed."""
    small = replace(sources.resolve(request.small), splits=request.splits)
    if not (request.symbols and small.pieces):
        return small
    pieces = (*small.pieces, Piece("<symbol>", 0.0, PieceType.USER_DEFINED))
    return replace(small, pieces=pieces, tokens=(*small.tokens, b"<symbol>"))


def _held() -> tuple[int, int]:
    """Bytes that the process has resident, and those of them that are mapped from no file."""
    gc.collect()
    meters.release()
    found = meters.sizes(os.getpid())
    return found["VmRSS"], found["RssAnon"]
