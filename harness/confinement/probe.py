"""The harness's side: what a worker is to be denied, and what this machine can deny it.

Confinement is on wherever the machine has it. ``--no-confinement``, which any command takes, turns
it off; it sets a variable of the environment, so that processes that the harness starts know.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from corpora.vocabularies.caches import COMPILED, OURS, TABLES, compiled_folder, tables_folder
from harness.confinement.plan import (
    CONFINEMENT,
    CONFINEMENT_OFF,
    DEVICES,
    OFF,
    OWN_PROCESS,
    SHARED_MEMORY,
    STANDARD_ERROR,
    Held,
    Plan,
    sentence,
)
from impls.needs import understood

if TYPE_CHECKING:
    from harness.core.participants import Participant

OF_OTHERS = "workers"
"""The folder, below those of compiled functions and of tables, of what others may have written."""

START = (sys.executable, "-P", "-m", "harness.confinement.start")
"""The command of :mod:`harness.confinement.start`, but for its arguments. With ``-P`` a package in
the user's folder that has a name of ours (``reports``) is not taken for ours."""

PROBE_SECONDS = 60.0
"""The time limit of a probe, which is there for hangs: a probe takes some hundredths of a
second."""


def switched_on() -> bool:
    """Whether workers are to be confined."""
    return os.environ.get(CONFINEMENT) != CONFINEMENT_OFF


def plan_for(
    own: Iterable[str],
    needs: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> Plan:
    """Return the plan of a worker, and make the folders in it that are not there.

    own: folders and files of its own. needs: what its implementation declares; see
    :mod:`impls.needs`. environment: its variables. Raises ValueError for what is no need.
    """
    wanted = understood(needs)
    folders = [*own, str(compiled_folder(environment)), str(tables_folder(environment))]
    for folder in (*folders, *wanted.writable):
        if not os.path.lexists(folder):
            with contextlib.suppress(OSError):  # what cannot be made cannot be written to
                Path(folder).mkdir(parents=True)
    allowed = (*folders, *wanted.writable, SHARED_MEMORY, OWN_PROCESS, STANDARD_ERROR, *DEVICES)
    shared = SHARED_MEMORY in wanted.writable  # with others, as it declares
    own_memory = held_here().own_memory and not shared
    return Plan(wanted.network, tuple(dict.fromkeys(allowed)), own_memory)


def caches_of(others: str | None, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that name a worker's folders of compiled functions and of tables.

    others: names the code in the worker that is not of this repository, None where all of it is.
    What Numba finds in its folder is unpickled, which runs code. So only workers that run our code
    alone share the harness's folders; any other has its own, kept from run to run, below them.
    """
    compiled = compiled_folder(environment)
    folders = {COMPILED: compiled, TABLES: tables_folder(environment)}
    if others is not None:
        name = hashlib.sha256(others.encode("utf-8", "surrogateescape")).hexdigest()[:12]
        folders = {key: folder / OF_OTHERS / name for key, folder in folders.items()}
        folders[OURS] = compiled
    return {key: str(folder) for key, folder in folders.items()}


def argument(plan: Plan | None) -> str:
    """Return a plan as :mod:`harness.confinement.start` takes it; None is no confinement."""
    return json.dumps(msgspec.to_builtins(plan))


def launch(
    module: str,
    folder: str,
    *,
    others: str | None,
    needs: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> tuple[list[str], dict[str, str]]:
    """Return how to start a process that confines itself before it becomes a server.

    That is its command, but for the arguments of its module, and all of its variables. folder: for
    its temporary files. others: as :func:`caches_of` takes it. needs: what its implementation
    declares. environment: variables besides this process's. Raises ValueError for what is no need.
    """
    variables = {**os.environ, **(environment or {}), "TMPDIR": folder}
    variables |= caches_of(others, variables)
    plan = plan_for([folder], needs, variables) if switched_on() else None
    if plan is not None and not variables.get("PYTHONDONTWRITEBYTECODE"):
        variables["PYTHONDONTWRITEBYTECODE"] = "1"  # it would only be refused
    return [*START, argument(plan), module], variables


@cache
def _probed() -> Held:
    """What confines a process on this machine, tried in one that ends at once."""
    empty = argument(Plan(network=False, writable=(), own_memory=True))
    try:
        done = subprocess.run(
            [*START, empty], capture_output=True, text=True, timeout=PROBE_SECONDS, check=True
        )
        return msgspec.json.decode(done.stdout, type=Held)
    except (OSError, subprocess.SubprocessError, msgspec.MsgspecError) as error:
        return Held(missing=(f"a process to try it in ({type(error).__name__})",))


def held_here() -> Held:
    """Return what confines the workers of this harness."""
    return _probed() if switched_on() else OFF


def line(memory: int, participants: Iterable[Participant] = ()) -> str:
    """Return the line of a record on what confines the workers of these implementations."""
    needs = {one.name: one.about.needs for one in participants}
    return sentence(held_here(), memory, needs)
