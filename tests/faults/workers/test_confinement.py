"""Workers are kept from the network and from files that are not theirs, where the kernel can."""

import errno
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from corpora.vocabularies import sources
from harness.cli import application
from harness.confinement import filters, plan, probe, steps
from harness.confinement.kernel import Linux
from harness.confinement.plan import HINT, OFF, Held, Plan, sentence, shortfall
from harness.core.outcomes import Inputs, Status
from harness.engine import selection
from harness.workers import Limits, Worker, rows
from impls import registry
from impls.errors import ImplementationError
from impls.interface import Mode
from impls.needs import Needs, understood
from tests.doubles.command import ROOT, python
from tests.doubles.plugged import live, of

RAW = Mode(pretokenize=False)
LIMITS = Limits(seconds=20.0, memory=1 << 30)

HELD = probe.held_here()
SOCKETS = pytest.mark.skipif(HELD.network != "seccomp", reason=f"no seccomp here: {HELD.missing}")
FILES = pytest.mark.skipif(not HELD.files, reason=f"no Landlock here: {HELD.missing}")

# What an input may ask for. PLACES is filled in: a port that listens, a folder, a file.
ACTIONS = """
import os, socket, sys, tempfile
from pathlib import Path

PORT, FOLDER, VICTIM = {port}, Path({folder!r}), Path({victim!r})

def act(asked):
    if asked == b"socket":
        socket.create_connection(("127.0.0.1", PORT)).close()
    if asked == b"pair":
        [end.close() for end in socket.socketpair()]
    if asked == b"home":
        (Path.home() / ".tokgate-test").write_text("written")
    if asked == b"folder":
        (FOLDER / "written").write_text("written")
    if asked == b"delete":
        VICTIM.unlink()
    if asked == b"truncate":
        os.truncate(VICTIM, 0)
    if asked == b"read":
        VICTIM.read_text()
    if asked == b"temporary":
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a").write_text("written")
            (Path(folder) / "a").rename(Path(folder) / "b")
    if asked == b"peak":
        Path("/proc/self/clear_refs").write_text("5")
    if asked == b"other process":
        place = Path("/proc/{harness}/oom_score_adj")
        place.write_text(place.read_text())
    if asked == b"own fault":
        raise PermissionError("by its own doing")
    if asked == b"signal":
        os.kill({harness}, 0)
    return list(asked)
"""

PLUGIN = (
    ACTIONS
    + """
from impls.interface import About

class Plain:
    about = About(name="plain", version="1")
    def supports(self, vocabulary, mode): return None
    def load(self, vocabulary): return self
    def encode(self, data, mode): return act(data)

class Declares(Plain):
    about = About(name="declares", version="1", needs=("network", "write:{folder}"))

class Loads(Plain):
    about = About(name="loads", version="1")
    def load(self, vocabulary): return act(b"delete")

class Wrong(Plain):
    about = About(name="wrong", version="1", needs=("everything",))
"""
)

PROGRAM = (
    ACTIONS
    + """
import base64, json

for line in sys.stdin:
    request = json.loads(line)
    op, answer = request["op"], {{"ok": True}}
    if op == "hello":
        answer = {{"protocol": 1, "name": "program", "operations": ["encode"], "needs": {needs}}}
    if op == "encode":
        answer = {{"results": []}}
        for item in request["inputs"]:
            try:
                answer["results"].append({{"ids": act(base64.b64decode(item))}})
            except OSError as error:
                answer["results"].append({{"error": f"{{type(error).__name__}}: {{error}}"}})
    if op == "stop":
        break
    print(json.dumps({{"seq": request["seq"], **answer}}), flush=True)
"""
)


@pytest.fixture
def victim(tmp_path):
    path = tmp_path / "victim"
    path.write_text("precious")
    return path


@pytest.fixture
def places(tmp_path, victim, monkeypatch):
    """Fill in what the actions name. The home is another one, in case that it is written to."""
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "folder"
    folder.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield {
            "port": listening.getsockname()[1],
            "folder": str(folder),
            "victim": str(victim),
            "harness": os.getpid(),
        }


@pytest.fixture
def spec(tmp_path, places):
    """How the program is started, with its needs, or a class of the plug-in."""
    plugin, program = tmp_path / "plugin.py", tmp_path / "program.py"
    plugin.write_text(PLUGIN.format(**places))

    def of(name, needs=()):
        program.write_text(PROGRAM.format(**places, needs=needs))
        return f"cmd:{sys.executable} {program}" if name == "program" else f"{plugin}:{name}"

    return of


def asked(spec, *inputs):
    """What an implementation answers to each input, as a run starts it."""
    with live([spec], limits=LIMITS) as (pool, [contract, *_]):
        seen = pool.ask(contract, Inputs.of(list(inputs))).wait()
        [results] = seen.results.values()
        return dict(zip(inputs, rows(results), strict=True))


def is_refused(outcome):
    """Whether it failed as a refusal does, and its first line says why."""
    line = getattr(outcome, "message", "").split("\n")[0]
    return outcome.status is Status.ERRORED and "PermissionError" in line and HINT in line


# A worker, on this kernel.


@SOCKETS
@FILES
@pytest.mark.parametrize("name", ["Plain", "program"])
def test_it_is_kept_from_the_network_and_from_files(name, spec, places, victim):
    refused = [b"socket", b"home", b"folder", b"delete", b"truncate"]
    if HELD.files >= 6:  # which has scopes of signals
        refused.append(b"signal")
    if name == "Plain":  # a program may write to all of /proc (harness.confinement.plan)
        refused.append(b"other process")
    allowed = [b"pair", b"read", b"temporary", b"peak", b"nothing"]
    outcomes = asked(spec(name), *refused, *allowed)
    assert {data: is_refused(outcomes[data]) for data in refused} == dict.fromkeys(refused, True)
    assert [outcomes[data] for data in allowed] == of(*allowed)
    assert victim.read_text() == "precious"
    assert not list(Path(places["folder"]).iterdir())
    assert not (Path.home() / ".tokgate-test").exists()


@SOCKETS
@FILES
@pytest.mark.parametrize("name", ["Declares", "program"])
def test_what_is_declared_is_allowed_and_nothing_else(name, spec, places, victim):
    wanted = [b"socket", b"folder"]
    needs = ["network", f"write:{places['folder']}"]
    outcomes = asked(spec(name, needs), *wanted, b"delete")
    assert [outcomes[data] for data in wanted] == of(*wanted)
    assert is_refused(outcomes[b"delete"])
    assert victim.exists()


@FILES
def test_a_failed_load_says_that_confinement_may_be_why(spec, victim):
    worker = Worker("loads", spec("Loads"), LIMITS)
    try:
        line = worker.load(sources.resolve("toy_bytes")).result().error.split("\n")[0]
    finally:
        worker.close()
    assert "PermissionError" in line and HINT in line
    assert victim.exists()


def test_it_can_be_switched_off(spec, victim, monkeypatch):
    monkeypatch.setenv(plan.CONFINEMENT, plan.CONFINEMENT_OFF)
    wanted = [b"socket", b"folder", b"delete"]
    outcomes = asked(spec("Plain"), *wanted, b"own fault")
    assert [outcomes[data] for data in wanted] == of(*wanted)
    failed = outcomes[b"own fault"]
    assert "by its own doing" in failed.message
    assert HINT not in failed.message
    assert not victim.exists()
    assert "not confined" in probe.line(1 << 30)


@pytest.mark.parametrize(
    ("name", "match"),
    [("Wrong", r"'everything'.*'network' and 'write:PATH'"), ("program", "its hello")],
)
def test_an_unknown_need_is_one_line(name, match, spec):
    with pytest.raises(ImplementationError, match=match):
        selection.participants([spec(name, 7)])


# A machine that has none of it.


def test_a_kernel_says_no_by_an_error():
    with pytest.raises(OSError, match=r"\w"):
        Linux().landlock_restrict(-1)


def test_what_this_machine_lacks_is_told_on_one_line(monkeypatch, capsys):
    monkeypatch.setattr(probe, "held_here", lambda: Held(missing=("Landlock (no)", "seccomp (no)")))
    application.tell_of_confinement()
    [line] = capsys.readouterr().err.splitlines()
    assert line.endswith("in part only, as this machine lacks Landlock (no); seccomp (no)")


class Fake:
    """A kernel of a given Landlock ABI that takes note of what it is asked for."""

    def __init__(self, abi, refusing=None):
        self.abi = abi
        self.refusing = refusing or {}
        self.asked = []
        self.ruleset = None
        self.rules = []

    def _ask(self, name):
        self.asked.append(name)
        if name in self.refusing:
            raise OSError(self.refusing[name], os.strerror(self.refusing[name]))

    def landlock_version(self):
        self._ask("version")
        return self.abi

    def landlock_ruleset(self, *handled):
        self.ruleset = handled
        return os.open(os.devnull, os.O_RDONLY)

    def landlock_allow(self, ruleset, path, access):
        self._ask("allow")
        self.rules.append(access)

    def __getattr__(self, name):
        return lambda *given: self._ask(name)


def applied(kernel, *writable, network=False, machine="x86_64"):
    return steps.apply(Plan(network=network, writable=writable), kernel, machine)


@pytest.mark.parametrize(
    ("abi", "files", "network", "scopes"),
    [
        (1, 0x1FF2, 0, 0),
        (2, 0x3FF2, 0, 0),
        (3, 0x7FF2, 0, 0),
        (4, 0x7FF2, 3, 0),
        (5, 0xFFF2, 3, 0),
        (6, 0xFFF2, 3, 3),
        (99, 0xFFF2, 3, 3),
    ],
)
def test_each_abi_is_asked_for_what_it_has(abi, files, network, scopes, tmp_path):
    kernel = Fake(abi)
    held = applied(kernel, str(tmp_path), "/dev/null", "/nowhere")
    assert kernel.ruleset == (files, network, scopes)
    # A rule for a file may have no right of a folder; a path that is not there has none.
    assert kernel.rules == [files, files & 0xC002]
    assert held.files == abi
    assert held.missing == ()


def test_a_declared_network_lifts_all_that_is_about_sockets():
    kernel = Fake(7)
    held = applied(kernel, network=True)
    assert kernel.ruleset == (0xFFF2, 0, 0b10)
    assert "seccomp" in kernel.asked  # limits of other processes stay closed
    assert held.network == ""


def test_a_path_that_cannot_be_looked_at_costs_only_itself(tmp_path):
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    kernel = Fake(7)
    held = applied(kernel, str(circle), str(tmp_path))
    assert held.files == 7 and len(kernel.rules) == 1
    [missing] = held.missing
    assert missing.startswith(f"writing to {circle} (")


def test_a_pipe_is_no_path(tmp_path):
    held = applied(Fake(7, {"allow": errno.EBADFD}), "/dev/null")
    assert held.files == 7 and held.missing == ()


def test_a_library_of_c_that_cannot_be_had_is_said(monkeypatch):
    def failing():
        raise OSError(errno.ENOENT, "no C library")

    monkeypatch.setattr(steps, "Linux", failing)
    held = steps.apply(Plan(network=False, writable=()))
    assert held.missing == ("no_new_privs (no C library)",)


@pytest.mark.parametrize(
    ("refusing", "said", "left"),
    [
        ({"version": errno.ENOSYS}, "Landlock (Function not implemented)", "no network (seccomp)"),
        ({"version": errno.EPERM}, "Landlock (Operation not permitted)", "no network (seccomp)"),
        ({"version": errno.EOPNOTSUPP}, "Landlock (Operation not supported)", "no network"),
        (
            {"landlock_restrict": errno.EPERM},
            "Landlock (Operation not permitted)",
            "no network (seccomp)",
        ),
        ({"allow": errno.EINVAL}, "Landlock (Invalid argument)", "files open"),
        ({"seccomp": errno.EINVAL}, "seccomp (Invalid argument)", "no TCP (Landlock ABI 7)"),
        (
            {"no_new_privileges": errno.EINVAL},
            "no_new_privs (Invalid argument)",
            "network open, files op",
        ),
    ],
)
def test_what_a_kernel_refuses_is_said_and_the_rest_holds(refusing, said, left, tmp_path):
    held = applied(Fake(7, refusing), str(tmp_path))
    line = shortfall(held)
    assert line is not None and said in line and "\n" not in line
    assert left in sentence(held, 1 << 32)


def test_a_processor_whose_calls_are_not_known_is_told():
    held = applied(Fake(3), machine="riscv64")
    assert held.network == ""
    assert held.missing == ("seccomp (no filter for riscv64)",)


# The filter, run as the kernel runs it.


def verdict(program, audit, number, first=0):
    """What a classic BPF program returns for a system call."""
    data = {filters.NUMBER: number, filters.ARCHITECTURE: audit, filters.FIRST_ARGUMENT: first}
    code = list(filters.INSTRUCTION.iter_unpack(program))
    value, place = 0, 0
    while True:
        kind, yes, no, constant = code[place]
        place += 1
        if kind == filters.LOAD:
            value = data[constant]
        elif kind == filters.AND:
            value &= constant
        elif kind == filters.EQUAL:
            place += yes if value == constant else no
        else:
            assert kind == filters.RETURN
            return constant


@pytest.mark.parametrize("machine", filters.CALLS)
def test_the_filter_refuses_sockets_and_nothing_else(machine):
    program = filters.program_for(machine)
    for calls in filters.CALLS[machine]:
        refused = {
            number: verdict(program, calls.audit, number) & 0xFFFF
            for number in range(600)
            if verdict(program, calls.audit, number) != filters.ALLOW
        }
        assert refused == {calls.socket: errno.EACCES, filters.IO_URING_SETUP: errno.EPERM}
        x32 = verdict(program, calls.audit, calls.socket | filters.X32)
        assert x32 == filters.ERRNO | errno.EACCES
        if calls.socketcall is not None:
            sockets = verdict(program, calls.audit, calls.socketcall, filters.SYS_SOCKET)
            assert sockets == filters.ERRNO | errno.EACCES
            assert verdict(program, calls.audit, calls.socketcall, 8) == filters.ALLOW
    assert verdict(program, 0x12345678, filters.CALLS[machine][0].socket) == filters.ALLOW


@pytest.mark.parametrize("machine", filters.CALLS)
@pytest.mark.parametrize("network", [False, True])
def test_limits_of_another_process_are_refused(machine, network):
    program = filters.program_for(machine, network=network)
    for calls in filters.CALLS[machine]:
        refused = verdict(program, calls.audit, calls.prlimit, 4711)
        assert refused == filters.ERRNO | errno.EPERM
        assert verdict(program, calls.audit, calls.prlimit, 0) == filters.ALLOW
        assert (verdict(program, calls.audit, calls.socket) == filters.ALLOW) == network


@SOCKETS
def test_a_confined_process_lowers_its_own_limits_alone():
    code = """
import os, resource, sys
from harness.confinement.steps import apply
from harness.confinement.plan import Plan
apply(Plan(network=False, writable=()))
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
print(resource.prlimit(0, resource.RLIMIT_NOFILE))
try:
    resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (64, 64))
except PermissionError as error:
    print("refused", error.errno)
"""
    done = python("-c", code)
    assert done.stdout.splitlines() == ["(64, 64)", f"refused {errno.EPERM}"], done.stderr


@SOCKETS
@FILES
def test_standard_error_is_opened_by_name(tmp_path):
    plan_there = probe.plan_for([str(tmp_path)])
    code = f"""
import msgspec
from harness.confinement.steps import apply
from harness.confinement.plan import Plan
held = apply(msgspec.json.decode({probe.argument(plan_there)!r}, type=Plan))
assert held.files and not held.missing, held
open("/dev/stderr", "a").write("by name")
"""
    with tempfile.TemporaryFile("w+") as log:  # as a worker's log is
        subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, stderr=log, check=False,
            timeout=300, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        log.seek(0)
        assert log.read() == "by name"


# Lines.


def test_needs_are_understood_or_refused():
    home = str(Path.home() / "x")
    assert understood(["network", "write:/a/b", "write:~/x"]) == Needs(True, ("/a/b", home))
    assert understood([]) == Needs()
    for wrong in (["write:relative"], ["net"], [7], "network"):
        with pytest.raises(ValueError, match="need"):
            understood(wrong)


def test_the_line_says_what_holds_and_who_needs_more():
    full = Held(network="seccomp", files=5)
    assert sentence(full, 4 << 30, {"a": (), "b": ("network",)}) == (
        "workers: no network (seccomp), files read-only but for their own folders "
        "(Landlock ABI 5), 4096 MiB; b declares network"
    )
    assert shortfall(full) is None
    assert shortfall(OFF) is None
    assert "--no-confinement" in sentence(OFF, 1 << 30)


def test_a_plan_makes_the_folders_that_are_declared(tmp_path):
    deep = tmp_path / "not" / "there"
    made = probe.plan_for([], [f"write:{deep}"], {"NUMBA_CACHE_DIR": str(tmp_path / "n")})
    assert deep.is_dir() and (tmp_path / "n").is_dir()
    assert str(deep) in made.writable and str(tmp_path / "n") in made.writable
    assert not made.network


@FILES
def test_the_code_of_others_cannot_write_what_the_harness_unpickles(tmp_path):
    compiled, tables = tmp_path / "compiled", tmp_path / "tables"
    compiled.mkdir()
    plugin = tmp_path / "poisoning.py"
    plugin.write_text(
        f"""
import os
from impls.interface import About

class Poisons:
    about = About(name="poisons", version="1")
    def supports(self, vocabulary, mode): return None
    def load(self, vocabulary):
        for folder in ({str(compiled)!r}, {str(tables)!r}):
            try:
                open(folder + "/poison", "w")
            except PermissionError:
                continue
            raise RuntimeError("it could be written to")
        for name in ("NUMBA_CACHE_DIR", "TOKGATE_CACHE_DIR"):
            open(os.environ[name] + "/own", "w").close()
        return self
    def encode(self, data, mode): return []
"""
    )
    environment = {"NUMBA_CACHE_DIR": str(compiled), "TOKGATE_CACHE_DIR": str(tables)}
    worker = Worker("poisons", f"{plugin}:Poisons", LIMITS, environment)
    try:
        assert worker.load(sources.resolve("toy_bytes")).result().error is None
    finally:
        worker.close()
    assert len(list((compiled / "workers").rglob("own"))) == 1


def test_only_our_code_shares_the_folders_of_the_harness():
    here = {"NUMBA_CACHE_DIR": "/c", "TOKGATE_CACHE_DIR": "/t"}
    assert probe.caches_of(None, here) == here
    one, other = probe.caches_of("tiktoken", here), probe.caches_of("cmd:x", here)
    assert one["NUMBA_CACHE_DIR"].startswith("/c/workers/")
    assert one["TOKGATE_CACHE_DIR"].startswith("/t/workers/")
    assert one != other
    assert registry.our_own("bpe.heap") and registry.our_own("bpe.backtracking")
    for spec in ("tiktoken", "cmd:bpe.heap", "pip:tiktoken==1", "mine.py:A", "impls.bpe./x.py:A"):
        assert not registry.our_own(spec), spec


@SOCKETS
@FILES
def test_any_server_is_confined_before_it_is_imported(tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    (tmp_path / "other_server.py").write_text(
        f"""
import socket

def main(arguments, held):
    assert not held.missing, held
    with open({str(own / "file")!r}, "w") as file:
        file.write("allowed")
    print(*arguments)

for refused in (socket.socket, lambda: open({str(tmp_path / "x")!r}, "w")):
    try:
        refused()
    except PermissionError as error:
        print("refused", error.errno)
"""
    )
    given = probe.argument(probe.plan_for([str(own)]))
    done = python(
        "-m", "harness.confinement.start", given, "other_server", "1", "2",
        PYTHONPATH=f"{ROOT}:{tmp_path}", PYTHONDONTWRITEBYTECODE="1",
    )  # fmt: skip
    refusals = [f"refused {errno.EACCES}"] * 2
    assert done.stdout.split("\n") == [*refusals, "1 2", ""], done.stderr
