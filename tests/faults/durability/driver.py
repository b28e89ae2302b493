"""Sessions that are forked, killed at a point of death, and gone on with; what was lost or twice.

The process that forks has all modules loaded and the vocabularies' tables made, so that a session
costs its own work alone.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from random import Random

from tests.faults.durability.points import Points
from tests.faults.durability.subjects import Subject

SECONDS = 300.0
"""For a hang of one session."""

KILLS_A_CAMPAIGN = 2
"""The second one comes while it goes on after the first."""

MOST_SESSIONS = 8
"""Of one campaign: it ends in the session after the last kill, or goes nowhere."""

Point = tuple[str, int]
"""A kind of point, and which one of that kind in a session, from 1 on."""


class Broken(Exception):
    """A session has neither come to its end nor been killed where it was to be."""


@dataclass
class Account:
    """All kills of a subject. unreached: points that no session came to.

    rows: by kind of point, how many kills there were, and what survived, was lost or came twice.
    """

    rows: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    faults: list[str] = field(default_factory=list)
    unreached: int = 0

    @property
    def kills(self):
        """How many sessions were killed."""
        return sum(row["kills"] for row in self.rows.values())

    def add(self, points, lost, twice):
        """Take in a campaign that was killed at these points."""
        for kind, _ in points:
            row = {"kills": 1, "survived": int(not (lost or twice))}
            self.rows[kind].update(row, lost=len(lost), twice=len(twice))
        where = " and ".join(f"{kind} ({number})" for kind, number in points)
        self.faults += [f"killed at {where}: {what}" for what in [*lost, *twice]]


def session(subject, home, where, dies_at=None, trace=None):
    """One session in a process of its own; whether it was killed at its point.

    Raises Broken where it ends otherwise than by that, or with success.
    """
    (home / "tmp").mkdir(parents=True, exist_ok=True)
    child = os.fork()
    if child == 0:
        _inside(subject, home, where, dies_at, trace)
    return _ended(child, home)


def _ended(child, home):
    # A handler of alarms would be the test's own: it looks now and then instead.
    deadline = time.monotonic() + SECONDS
    while not (found := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise Broken(f"a session hung: {said(home)}")
        time.sleep(0.002)
    status = os.waitstatus_to_exitcode(found[1])
    if status not in {0, -signal.SIGKILL}:
        raise Broken(f"a session ended with status {status}: {said(home)}")
    return status != 0


def said(home):
    """The last line that a session has said."""
    lines = (home / "log").read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def _inside(subject, home, where, dies_at, trace):
    """The child's whole life."""
    status = 1
    try:
        log = os.open(home / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.environ["TMPDIR"] = str(home / "tmp")
        tempfile.tempdir = None
        tracing = None
        if trace is not None:
            tracing = os.open(trace, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        Points([home / "out", home / "tmp"], dies_at, tracing).install()
        subject.session(home, where)
        atexit._run_exitfuncs()  # what a process does at its own end
        status = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def forked(call):
    """What a call returns in a process of its own: nothing that it opens stays open here."""
    inlet, outlet = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(inlet)
            try:
                answer = True, call()
            except BaseException:
                answer = False, traceback.format_exc()
            with os.fdopen(outlet, "wb") as file:
                pickle.dump(answer, file)
        finally:
            os._exit(0)
    os.close(outlet)
    with os.fdopen(inlet, "rb") as file:
        content = file.read()
    os.waitpid(child, 0)
    good, answer = pickle.loads(content)
    if not good:
        raise Broken(str(answer))
    return answer


def reference(subject, home, where):
    """What the subject comes to when nobody kills it, and the points on the way."""
    home.mkdir(parents=True)
    if session(subject, home, where, trace=home / "trace"):
        raise Broken("killed by somebody else")
    outcome = forked(lambda: subject.outcome(home, where))
    return outcome, Counter((home / "trace").read_text().splitlines())


def planned(points, kills, seed):
    """So many points: each kind once before any twice, and others each night."""
    kinds = sorted(points)
    Random(seed).shuffle(kinds)
    made = []
    for place, kind in enumerate(islice(cycle(kinds), kills)):
        # Golden steps meet all numbers of a kind soon, the first one first.
        step = (place // len(kinds) + seed) * 0.6180339887 % 1
        made.append((kind, 1 + int(step * points[kind])))
    return made


def differences(expected, found):
    """What was lost, or is another, and what is there that should not be, or is there twice."""
    lost, twice = [], []
    for group, things in expected.items():
        got = found[group]
        for name, thing in things.items():
            if name not in got:
                lost.append(f"{group}: {_short(name)} is not there")
            elif got[name] != thing:
                lost.append(f"{group}: {_short(name)} is {_apart(got[name], thing)}")
        twice += [f"{group}: {_short(name)} should not be there" for name in got.keys() - things]
    return lost, sorted(twice)


def _short(value):
    text = str(value)
    return text if len(text) <= 100 else f"{text[:97]}..."


def _apart(one, other):
    """The first place where two values differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*other, *one]):
            if one.get(key) != other.get(key):
                return f"{_short(key)}: {_apart(one.get(key), other.get(key))}"
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return _apart(dict(enumerate(one)), dict(enumerate(other)))
    return f"{_short(repr(one))}, not {_short(repr(other))}"


@dataclass
class Killing:
    """Kills of one subject. databases: a new one at each call. scratch: a folder for all homes."""

    subject: Subject
    databases: Callable[[Path], str]
    scratch: Path
    account: Account = field(default_factory=Account)

    def begin(self):
        """Run it undisturbed; the points that there are."""
        home = self.scratch / "undisturbed"
        self._expected, points = reference(self.subject, home, self.databases(home))
        shutil.rmtree(home)
        return points

    def run(self, kills):
        """Kill at all these points."""
        waiting, number = deque(kills), 0
        while waiting:
            number += 1
            home = self.scratch / f"{number}"
            home.mkdir(parents=True)
            self._campaign(home, waiting)
            shutil.rmtree(home)

    def _campaign(self, home, waiting):
        where = self.databases(home)
        killed = []
        faults = []
        try:
            for _ in range(MOST_SESSIONS):
                more = waiting and len(killed) < KILLS_A_CAMPAIGN
                dies_at = waiting.popleft() if more else None
                if not session(self.subject, home, where, dies_at):
                    if dies_at is not None and killed:
                        waiting.append(dies_at)  # for a campaign of its own
                    elif dies_at is not None:
                        self.account.unreached += 1
                    break
                assert dies_at is not None
                killed.append(dies_at)
                faults += forked(lambda: self.subject.faults(home, where))
            found = forked(lambda: self.subject.outcome(home, where))
            lost, twice = differences(self._expected, found)
        except Broken as error:
            lost, twice = [str(error)], []
        if killed:
            self.account.add(killed, [*faults, *lost], twice)


@contextlib.contextmanager
def folder():
    """A folder for homes, in memory where that can be: fsync is the database's own affair."""
    shared = Path("/dev/shm")
    base = shared if os.access(shared, os.W_OK) else None
    # No TemporaryDirectory: a session that comes to its end would remove it, too.
    made = Path(tempfile.mkdtemp(prefix="tokgate-durability-", dir=base))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
