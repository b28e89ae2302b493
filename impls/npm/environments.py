"""Folders of their own for packages of npm: installed once, kept, made again when damaged.

A folder has one package at one version, with what that needs, in the user's cache beside the
environments of Python's releases (``~/.cache/tokgate/environments``; it may be deleted at any
time). It is made beside its place and moved there when it is whole, one process at a time. Scripts
of packages are not run.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import platformdirs

from corpora.vocabularies import node
from corpora.vocabularies.node import Node
from impls.errors import ImplementationError

LAYOUT = 1
"""Counted up when folders are made otherwise, so that old ones are left behind."""

MANIFEST = "tokgate.json"

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
    identity = json.dumps([LAYOUT, wanted.name, wanted.version])
    key = hashlib.sha256(identity.encode()).hexdigest()[:16]
    label = re.sub(r"[^A-Za-z0-9._-]", "_", f"npm-{wanted.name}-{wanted.version}")
    folder = Path(platformdirs.user_cache_dir("tokgate"), "environments", f"{label}-{key}")
    if _sound(folder):
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with folder.with_name(f"{folder.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not _sound(folder):
                _install(folder, wanted, programs)
    except OSError as error:
        _refuse(wanted.text, f"{folder}: {error.strerror}; set XDG_CACHE_HOME to another folder")
    return folder


def _sound(folder: Path) -> bool:
    """Whether all files are there, each as long as it was."""
    try:
        files = json.loads((folder / MANIFEST).read_text("utf-8"))["files"]
        return all((folder / path).stat().st_size == size for path, size in files.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _install(folder: Path, wanted: Wanted, programs: Node) -> None:
    print(
        f"tokgate: installing npm:{wanted.text} (once; it is kept in {folder.parent})",
        file=sys.stderr,
        flush=True,
    )
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir()
        (part / "package.json").write_text("{}", "utf-8")
        options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        command = [*programs.npm, "install", *options, f"{wanted.name}@{wanted.version}"]
        try:
            done = subprocess.run(
                command,
                cwd=part,
                env=programs.environment(),
                capture_output=True,
                text=True,
                errors="replace",
                stdin=subprocess.DEVNULL,
                timeout=INSTALL_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            _refuse(wanted.text, f"its installation takes longer than {INSTALL_SECONDS:.0f} s")
        if done.returncode:
            _explain(wanted, done.stderr)
        files = {
            str(path.relative_to(part)): path.stat().st_size
            for path in sorted(part.rglob("*"))
            if path.is_file() and not path.is_symlink()
        }
        manifest = {"package": wanted.text, "files": files}
        (part / MANIFEST).write_text(json.dumps(manifest), "utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


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
    raise ImplementationError(f"implementation 'npm:{text}': {why}", unknown=unknown)
