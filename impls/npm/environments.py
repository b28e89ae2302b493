"""Folders of their own for packages of npm: installed once, kept, made again when damaged.

A folder has one package at one version, with what that needs, in the user's cache beside the
environments of Python's releases (:mod:`impls.environments`). Scripts of packages are not run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from corpora.vocabularies import node
from impls import environments

if TYPE_CHECKING:
    from pathlib import Path

    from corpora.vocabularies.node import Node

LAYOUT = 1
"""Counted up when folders are made otherwise, so that old ones are left behind."""

INSTALL_SECONDS = 900.0
"""The time limit of an installation, which is there for hangs: packages are some megabytes."""

NAME = re.compile(r"(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*")
VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A package at a version; text: as the user wrote it, after ``npm:``."""

    text: str
    name: str
    version: str


def parse(text: str) -> Wanted:
    """What stands after ``npm:``: ``NAME==VERSION``. Raises ImplementationError."""
    name, equals, version = text.partition("==")
    if not NAME.fullmatch(name) or not equals or not VERSION.fullmatch(version):
        _refuse(text, "name one release, as in js-tiktoken==1.0.21", unknown=True)
    return Wanted(text, name, version)


def node_for(text: str) -> Node:
    """The programs, for what stands after ``npm:``. Raises ImplementationError."""
    programs = node.installed()
    if programs is None:
        _refuse(text, node.MEND)
    return programs


def folder_of(wanted: Wanted, programs: Node) -> Path:
    """The folder that has the package in ``node_modules``. Raises ImplementationError.

    Says on standard error that it installs.
    """
    folder = environments.place(
        f"npm-{wanted.name}-{wanted.version}", [LAYOUT, wanted.name, wanted.version]
    )
    environments.kept(folder, f"npm:{wanted.text}", partial(_install, wanted, programs))
    return folder


def _install(wanted: Wanted, programs: Node, part: Path) -> dict[str, Any]:
    part.mkdir()
    (part / "package.json").write_text("{}", "utf-8")
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    command = [*programs.npm, "install", *options, f"{wanted.name}@{wanted.version}"]
    spec, env = f"npm:{wanted.text}", programs.environment()
    done = environments.run(command, spec, INSTALL_SECONDS, cwd=part, env=env)
    if done.returncode:
        _explain(wanted, done.stderr)
    files = {
        str(path.relative_to(part)): path.stat().st_size
        for path in sorted(part.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
    return {"package": wanted.text, "files": files}


def _explain(wanted: Wanted, log: str) -> NoReturn:
    """One line on why an installation failed."""
    if re.search(r"ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT|network", log):
        _refuse(wanted.text, "the registry of npm cannot be reached; check the network")
    if re.search(r"ETARGET|E404|No matching version", log):
        what = "no such release in the registry of npm; check the name and the version"
        _refuse(wanted.text, what, unknown=True)
    lines = [line for line in log.splitlines() if line.strip()]
    _refuse(wanted.text, f"cannot be installed ({(lines or ['npm failed'])[0][:300]})")


def _refuse(text: str, why: str, *, unknown: bool = False) -> NoReturn:
    environments.refuse(f"npm:{text}", why, unknown=unknown)
