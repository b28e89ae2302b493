"""A PostgreSQL server of one's own, from Debian's packages, for as long as a test takes."""

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from functools import partial
from itertools import count
from pathlib import Path

import pytest

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
SECONDS = 120
"""For a hang: the server starts in a second or two on a quiet machine."""


@contextlib.contextmanager
def server():
    """A running server: each call gives the URL of a new, empty database there."""
    pytest.importorskip("psycopg", reason="needs tokgate[postgres]")
    initdb, pg_ctl = program("initdb"), program("pg_ctl")
    # In a short path: that of a Unix socket may have no more than 107 bytes.
    with tempfile.TemporaryDirectory(prefix="tokgate-pg-") as home:
        data = Path(home) / "data"
        # It refuses to run as root: then it runs as the user that Debian's package makes.
        user = None
        if os.geteuid() == 0:
            try:
                user = pwd.getpwnam("postgres")
            except KeyError:
                pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
            os.chown(home, user.pw_uid, user.pw_gid)

        def run(*command):
            subprocess.run(
                command,
                check=True,
                timeout=SECONDS,
                capture_output=True,
                cwd=home,
                user=user.pw_uid if user else None,
                group=user.pw_gid if user else None,
                extra_groups=[] if user else None,
            )

        try:
            run(initdb, "-D", str(data), "-U", "tokgate", "-A", "trust", "--no-sync")
            options = f"-k {home} -c listen_addresses= -c fsync=off"
            run(pg_ctl, "-D", str(data), "-o", options, "-l", f"{home}/log", "-w", "start")
        except (OSError, subprocess.SubprocessError) as error:
            pytest.skip(f"no PostgreSQL server could be started: {error}")
        try:
            yield partial(new_database, f"postgresql://tokgate@/{{}}?host={home}", count(1))
        finally:
            run(pg_ctl, "-D", str(data), "-m", "immediate", "stop")


def new_database(url, numbers):
    """The URL of a new database."""
    import psycopg

    name = f"tokgate_{next(numbers)}"
    with psycopg.connect(url.format("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return url.format(name)


def program(name):
    """The path of one of PostgreSQL's programs; skips the test where there is none."""
    found = next((str(folder / name) for folder in reversed(BINARIES)), None) or shutil.which(name)
    if found is None:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    return found
