"""Environments of their own for releases of libraries: built once, kept, rebuilt when damaged.

An environment is a virtual environment of this very Python with one requirement and a few helpers
in it, in the user's cache folder (``~/.cache/tokgate/environments``; it may be deleted at any
time), built by uv if that is there and else by venv and pip. Releases come as wheels only: a source
distribution would run its own build, for minutes, with compilers that nobody may have. A folder or
file of the user's own is built from source, by its own rules.
"""

from __future__ import annotations

import csv
import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import platformdirs
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import Version

from impls.errors import ImplementationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Json = dict[str, Any]

LAYOUT = 1
"""Counted up when environments are built otherwise, so that old ones are left behind."""

MANIFEST = "tokgate.json"

INSTALL_SECONDS = 3600.0
"""The time limit of an installation, which is there for hangs: a folder of Rust or C++ sources may
well take half an hour to build."""

NOT_SOURCES = frozenset({"target", "build", "dist", "node_modules", "__pycache__", "venv"})
"""Folders that builds fill: what is in them does not make another source."""

FILES = (".whl", ".tar.gz")
"""The names of wheels and of source distributions end with these."""

NO_NETWORK = re.compile(
    "NewConnectionError|Failed to establish|name resolution|NameResolutionError|unreachable|"
    "error sending request|Failed to fetch|dns error|ConnectTimeout|ReadTimeout|ProxyError|SSL",
    re.IGNORECASE,
)
NO_VERSION = re.compile("No matching distribution|No solution found", re.IGNORECASE)
NO_WHEEL = re.compile("no usable wheels|no wheels with a matching", re.IGNORECASE)
"""The message of uv where there is a release, but no wheel for this Python or machine."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be installed. text: as the user wrote it. name: of the distribution, normalized.

    requirement: as the installer takes it. source: the folder or file, if it is the user's own.
    """

    text: str
    name: str
    requirement: str
    source: Path | None = None


@dataclass(frozen=True, slots=True)
class Environment:
    """One that is there. version: of the distribution ``name``, as installed."""

    folder: Path
    name: str
    version: str

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"


def parse(text: str) -> Wanted:
    """What stands after ``pip:``: ``NAME==VERSION`` or a path. Raises ImplementationError."""
    if text.startswith((".", "/", "~")) or (text.endswith(FILES) and "@" not in text):
        return _own(text)
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        line = str(error).split("\n", 1)[0]
        _refuse(text, f"{line}; write NAME==VERSION or a path", unknown=True)
    pins = [s for s in requirement.specifier if s.operator == "==" and "*" not in s.version]
    if len(pins) != 1 or len(list(requirement.specifier)) != 1 or requirement.url:
        _refuse(text, f"name one release, as in {requirement.name}==1.2.3, or a path", unknown=True)
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    name = canonicalize_name(requirement.name)
    return Wanted(text, name, f"{name}{extras}=={pins[0].version}")


def _own(text: str) -> Wanted:
    path = Path(text).expanduser().resolve()
    if not path.exists():
        _refuse(text, "no such file or folder; check the path", unknown=True)
    name = _name_of_folder(path) if path.is_dir() else _name_of_file(path)
    if name is None:
        _refuse(text, "is neither a Python project with a name nor a wheel or sdist", unknown=True)
    return Wanted(text, canonicalize_name(name), str(path), path)


def _name_of_file(path: Path) -> str | None:
    for parse_name in (parse_wheel_filename, parse_sdist_filename):
        try:
            return parse_name(path.name)[0]
        except (InvalidWheelFilename, InvalidSdistFilename):
            continue
    return None


def _name_of_folder(path: Path) -> str | None:
    for file in ("pyproject.toml", "setup.cfg", "setup.py"):
        try:
            content = (path / file).read_text("utf-8", "replace")
        except OSError:
            continue
        found = re.search(r"""^\s*name\s*=\s*["']?([A-Za-z0-9._-]+)""", content, re.MULTILINE)
        if found:
            return found[1]
    return None


def environment(wanted: Wanted, helpers: Sequence[str] = ()) -> Environment:
    """The environment of ``wanted`` with ``helpers``, built if it is not there or is damaged.

    Says on standard error that it builds, and how long that took. Raises ImplementationError.
    """
    folder = _place(wanted, helpers)

    def install(part: Path) -> Json:
        _install(part, wanted, helpers)
        version, files = _installed(part, wanted)
        return {"requirement": wanted.requirement, "version": version, "files": files}

    manifest = kept(folder, f"pip:{wanted.text}", install)
    return Environment(folder, wanted.name, manifest["version"])


def _place(wanted: Wanted, helpers: Sequence[str]) -> Path:
    """Where it belongs: another requirement, Python or set of helpers is another place."""
    identity = [
        LAYOUT,
        wanted.requirement,
        _fingerprint(wanted.source) if wanted.source is not None else "",
        platform.python_implementation(),
        platform.python_version(),
        platform.machine(),
        sys.base_prefix,
        *helpers,
    ]
    label = wanted.name if wanted.source is not None else wanted.requirement.replace("==", "-")
    return place(label, identity)


def _fingerprint(source: Path) -> str:
    """Of a file or folder, by names, sizes and times: what is edited is built again."""
    digest = hashlib.sha256()
    for path in [source] if source.is_file() else sorted(_sources(source)):
        stat = path.stat()
        digest.update(f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _sources(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = [f for f in folders if f not in NOT_SOURCES and not f.startswith(".")]
        folders[:] = [f for f in folders if not f.endswith(".egg-info")]
        yield from (path for file in files if (path := Path(root, file)).is_file())


def kept(folder: Path, spec: str, install: Callable[[Path], Json]) -> Json:
    """The manifest of a folder that is filled once, and again where it was damaged.

    It is filled beside its place and moved there when it is whole, one process at a time. spec: as
    the user wrote it. install: fills a folder, and gives its manifest, which has the size of each
    file under ``files``. Says on standard error that it installs, and how long that took. Raises
    ImplementationError.
    """
    there = _sound(folder)
    if there is not None:
        return there
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _alone(folder.with_name(f"{folder.name}.lock"), spec):
            return _sound(folder) or _fill(folder, spec, install)
    except OSError as error:
        refuse(spec, f"{folder}: {error.strerror}; set XDG_CACHE_HOME to another folder")


def _sound(folder: Path) -> Json | None:
    """The manifest of a folder, if it is whole."""
    try:
        manifest: Json = json.loads((folder / MANIFEST).read_text("utf-8"))
        sizes = manifest["files"].items()
        whole = all((folder / path).stat().st_size == size for path, size in sizes)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return manifest if whole else None


@contextmanager
def _alone(lock: Path, spec: str) -> Iterator[None]:
    """One process builds, the others wait for it."""
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say(f"another tokgate is building the environment of {spec}: waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _fill(folder: Path, spec: str, install: Callable[[Path], Json]) -> Json:
    started = time.monotonic()
    again = "again: it was damaged" if folder.exists() else "once"
    _say(f"building an environment for {spec} ({again}; it is kept in {folder.parent})")
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        manifest = install(part)
        (part / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    _say(f"{spec} is ready after {time.monotonic() - started:.0f} s")
    return manifest


def run(
    command: list[str], spec: str, seconds: float = INSTALL_SECONDS, **options: Any
) -> subprocess.CompletedProcess[str]:
    """A step of an installation, with what it prints. Raises ImplementationError if it hangs."""
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
            **options,
        )
    except subprocess.TimeoutExpired:
        refuse(spec, f"its installation takes longer than {seconds:.0f} s")


def place(label: str, identity: object) -> Path:
    """Where what has this identity is kept, in a folder whose name begins with a label."""
    key = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:16]
    root = Path(platformdirs.user_cache_dir("tokgate"), "environments")
    return root / f"{re.sub(r'[^A-Za-z0-9._-]', '_', label)}-{key}"


def _install(part: Path, wanted: Wanted, helpers: Sequence[str]) -> None:
    """Make the virtual environment and install into it. Raises ImplementationError."""
    python = str(part / "bin" / "python")
    only = ["--only-binary", ":all:"] if wanted.source is None else []
    uv = shutil.which("uv")
    if uv is not None:
        make = [uv, "venv", "--quiet", "--no-project", "--python", sys.executable, str(part)]
        # As pip does by itself: a confined worker cannot save bytecode later.
        install = [uv, "pip", "install", "--compile-bytecode", "--python", python, *only]
    else:
        make, pip = [sys.executable, "-m", "venv", str(part)], [python, "-m", "pip"]
        if _pip_reaches_out():
            make, pip = [*make, "--without-pip"], [sys.executable, "-m", "pip", "--python", python]
        install = [*pip, "install", "--disable-pip-version-check", "-q", *only]
    made = _run(make, wanted)
    if made.returncode:
        _refuse(wanted.text, f"no virtual environment can be made ({_last_line(made)})")
    done = _run([*install, wanted.requirement, *helpers], wanted)
    if done.returncode:
        _explain(wanted, done, None if uv is not None else pip)


def _pip_reaches_out() -> bool:
    """Whether this Python's own pip installs into others: to install one there takes longest."""
    try:
        return Version(metadata.version("pip")) >= Version("22.3")
    except metadata.PackageNotFoundError:
        return False


def _run(command: list[str], wanted: Wanted) -> subprocess.CompletedProcess[str]:
    # Another project's settings are not to reach in: VIRTUAL_ENV, PYTHONPATH.
    left_out = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME")
    env = {name: value for name, value in os.environ.items() if name not in left_out}
    return run(command, f"pip:{wanted.text}", env=env)


def _explain(
    wanted: Wanted, failed: subprocess.CompletedProcess[str], pip: list[str] | None
) -> NoReturn:
    """One line on why an installation failed."""
    log = failed.stderr + failed.stdout
    if NO_NETWORK.search(log):
        _refuse(wanted.text, "the package index cannot be reached; check the network")
    if wanted.source is not None or not NO_VERSION.search(log):
        _refuse(wanted.text, f"cannot be installed ({_last_line(failed)})")
    version = wanted.requirement.rpartition("==")[2]
    known: list[str] = []
    if pip is not None:
        listed = _run([*pip, "index", "versions", wanted.name], wanted)
        found = re.search(r"Available versions: (.*)", listed.stdout)
        known = found[1].split(", ") if found else []
    if version in known or NO_WHEEL.search(log):
        python = f"Python {platform.python_version()} on {platform.machine()}"
        _refuse(wanted.text, f"has no wheel for {python}; name another release")
    there = f"there are {', '.join(known[:6])}, .." if known else "check the name and the version"
    _refuse(wanted.text, f"no such release on the package index; {there}", unknown=True)


def _installed(part: Path, wanted: Wanted) -> tuple[str, dict[str, int]]:
    """The version that is there, and the sizes of its files, by its own list of them."""
    for info in sorted(part.glob("lib/python*/site-packages/*.dist-info")):
        name, _, version = info.name.removesuffix(".dist-info").rpartition("-")
        if canonicalize_name(name) != wanted.name:
            continue
        files = {"bin/python": (part / "bin" / "python").stat().st_size}
        with (info / "RECORD").open(encoding="utf-8", newline="") as lines:
            for path, *_ in csv.reader(lines):
                file = info.parent / path
                # Compiled files are made again whenever the interpreter likes.
                if file.suffix != ".pyc" and file.is_file():
                    files[os.path.relpath(file, part)] = file.stat().st_size
        return version, files
    _refuse(wanted.text, f"its installation brings no distribution named {wanted.name}")


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error", "cause"))]
    return (errors or lines or [f"status {done.returncode}"])[-1][:300]


def _say(line: str) -> None:
    print(f"tokgate: {line}", file=sys.stderr, flush=True)


def _refuse(text: str, why: str, *, unknown: bool = False) -> NoReturn:
    refuse(f"pip:{text}", why, unknown=unknown)


def refuse(spec: str, why: str, *, unknown: bool = False) -> NoReturn:
    """Raise the ImplementationError of a release. spec: as the user wrote it."""
    raise ImplementationError(f"implementation {spec!r}: {why}", unknown=unknown)
