"""Programs in any language: the stdio protocol, version 1, seen from the harness.

One JSON object a line each way; the steps, and which breach belongs to which:

1. ``hello``: the program names itself and its operations. A program that cannot be started, or
   answers anything else, is :class:`~impls.errors.ImplementationError`.
2. ``load``: it gets a vocabulary (its original file and a JSON bundle) and answers ``ok`` or
   ``unsupported``.
3. ``encode``, ``decode``, and the services ``count``, ``count_till_limit``, ``split``, ``append``,
   ``prepend``, ``interval``, ``heal``: many inputs a request, a result each. A result may be an
   answer, ``rejected``, ``unsupported`` or ``error``.
4. A malformed line, a wrong ``seq``, a wrong number of results, a result of the wrong shape, or
   the program's end is :class:`~impls.interface.Died`, after which the program is started again,
   ``hello`` and ``load`` are replayed, and the remaining inputs go on.
5. ``stop``: the program exits with status 0.

Time and memory limits are the worker's: it is killed together with the program, which lives in
its session.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import ctypes
import json
import os
import shlex
import signal
import subprocess
import threading
import time
from functools import cached_property
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from corpora.vocabularies import scratch
from corpora.vocabularies.reading import quoted
from impls import processes
from impls.errors import ImplementationError
from impls.external_healing import HealsByProgram
from impls.external_times import Timed
from impls.interface import About, Capability, Died, Mode, Rejected, Unsupported
from impls.needs import understood
from impls.standard_error import TRIM_SECONDS, log_file, log_tail, trim

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.kernels.layout import Ints, Longs

PROTOCOL_VERSION = 1
HELLO_SECONDS = 20.0
PR_SET_PDEATHSIG = 1

OUT_OF_MEMORY_SIGNS = ("memory allocation of", "bad_alloc", "MemoryError", "out of memory")
"""Runtimes print these when an allocation fails."""

LONGEST_QUOTE = 120
"""Characters of a malformed line that an error shows."""

LONGEST_LINE = 256 << 20
LONGEST_HELLO = 1 << 20
"""Bytes of an answer: a program that never ends its line would fill the memory otherwise."""

SPOKEN = frozenset(Capability) - {Capability.THREADS, Capability.CONSTRAIN}
"""The capabilities that a program can claim; one pipe serves one thread."""

IN_WORKER = "TOKGATE_WORKER"
"""Set in the environment of workers, whose whole session the harness kills."""


class Program:
    """The running program: requests out, responses in, its log kept."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._log = log_file()
        self._alone = IN_WORKER not in os.environ
        try:
            arguments = shlex.split(command)
            self._popen = subprocess.Popen(
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                start_new_session=self._alone,
                preexec_fn=die_with_parent,  # noqa: PLW1509 (a worker has one thread here)
            )
        except (OSError, ValueError, IndexError) as error:
            raise ImplementationError(
                f"implementation 'cmd:{command}': cannot be started ({error}); check the command"
            ) from error
        self._seq = 0
        self.waited = 0
        """Nanoseconds from the last request until its answer."""
        self.exchanged = (0, 0)
        """Bytes of the last request and of its answer."""
        # A program may print for as long as a request takes. The thread ends with the program, so
        # that there is one thread when the next is started.
        self._ended = threading.Event()
        self._trimmer = threading.Thread(target=self._trim, name="log", daemon=True)
        self._trimmer.start()

    def _trim(self) -> None:
        while not self._ended.wait(TRIM_SECONDS):
            with contextlib.suppress(OSError):
                trim(self._log)

    def ask(self, op: str, **fields: object) -> dict[str, Any]:
        """One request, its response. Raises Died for the program's end and for any breach."""
        self._seq += 1
        request = json.dumps({"op": op, "seq": self._seq, **fields})
        stdin, stdout = self._popen.stdin, self._popen.stdout
        assert stdin is not None and stdout is not None
        longest = LONGEST_HELLO if op == "hello" else LONGEST_LINE
        start = time.perf_counter_ns()
        with contextlib.suppress(BrokenPipeError):  # it may have spoken before it left
            stdin.write(request.encode() + b"\n")
            stdin.flush()
        line = stdout.readline(longest)
        self.waited = time.perf_counter_ns() - start
        self.exchanged = len(request), len(line)
        if len(line) == longest:
            self.breach(f"answered {op!r} with a line of {longest >> 20} MiB or more")
        if not line.endswith(b"\n"):
            self._mourn(op)
        try:
            response = json.loads(line)
        except (ValueError, RecursionError):  # lists in lists without end are no answer either
            self.breach(f"answered {op!r} with a line that is not JSON: {_quote(line)}")
        if not isinstance(response, dict):
            self.breach(f"answered {op!r} with {_quote(line)}, not a JSON object")
        if response.get("seq") != self._seq:
            theirs = quoted(response.get("seq"))
            self.breach(f"answered {op!r} with seq {theirs}, where the request has {self._seq}")
        return response

    def processor_time(self) -> int:
        """CPU time in nanoseconds of the program and of those that it has started."""
        return processes.processor_time(self._popen.pid)

    def _mourn(self, op: str) -> NoReturn:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(timeout=2.0)
        code = self._popen.poll()
        log = log_tail(self._log)
        kind = "out-of-memory" if any(sign in log for sign in OUT_OF_MEMORY_SIGNS) else "crashed"
        if code is None:
            how = "closed its standard output"
        elif code < 0:
            how = f"was killed by {signal_name(-code)}"
        else:
            how = f"exited with status {code}"
        self.end()
        raise Died(kind, f"the program {how} during {op!r}", log)

    def breach(self, what: str) -> NoReturn:
        """The program broke the protocol: end it and say how."""
        self.end()
        raise Died("protocol", f"the program {what}", log_tail(self._log))

    def end(self) -> None:
        """Kill it, and all that it has started: in a worker, the harness sees to those."""
        if self._alone:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.kill()
        self._popen.wait()
        self._ended.set()
        self._trimmer.join()
        for stream in (self._popen.stdin, self._popen.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def stop(self) -> None:
        """Ask it to exit, and kill it if it does not."""
        self._seq += 1
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            if self._popen.stdin is not None:
                self._popen.stdin.write(b'{"op": "stop", "seq": %d}\n' % self._seq)
                self._popen.stdin.close()
            self._popen.wait(timeout=1.0)
        self.end()


class ExternalEncoder(Timed, HealsByProgram):
    """A program with a vocabulary loaded, started again whenever it dies."""

    def __init__(
        self,
        command: str,
        wire: dict[str, object],
        folder: scratch.Temporary | None = None,
    ) -> None:
        self._command = command
        self._wire = wire
        self._folder = folder  # with the bundle, which is there as long as the encoder
        self._claims: list[str] = []
        self._refused: dict[tuple[object, ...], str] = {}
        """Ops in a mode that the program does not do at all, and why: not asked again."""
        self._program: Program | None = None
        self._ready()
        atexit.register(self.close)

    def _ready(self) -> Program:
        if self._program is None:
            program = Program(self._command)
            hello = program.ask("hello", protocol=PROTOCOL_VERSION)
            operations = hello.get("operations")
            self._claims = operations if isinstance(operations, list) else []
            pretokenized = hello.get("pretokenized_operations")
            self._pretokenized = pretokenized if isinstance(pretokenized, list) else []
            answer = program.ask("load", vocabulary=self._wire)
            for key in ("unsupported", "error"):
                if key in answer:
                    program.stop()
                    line = str(answer[key])
                    raise Unsupported(line) if key == "unsupported" else Died("errored", line)
            if answer.get("ok") is not True:
                program.breach(f"answered 'load' with neither ok nor unsupported: {quoted(answer)}")
            self._program = program
        return self._program

    def close(self) -> None:
        """Stop the program."""
        atexit.unregister(self.close)
        if self._program is not None:
            self._program.stop()
            self._program = None

    def _results(self, op: str, count: int, **fields: object) -> list[dict[str, Any]]:
        """``count`` results of one request. Raises Died; the next call starts it again."""
        asked = (op, fields.get("pretokenize"), fields.get("special"))
        if asked in self._refused:
            raise Unsupported(self._refused[asked])
        program = self._ready()
        try:
            response = program.ask(op, **fields)
            if "unsupported" in response:
                if op == "decode" and op in self._claims:
                    raise TypeError(f"claims {op!r} but does not do it: {response['unsupported']}")
                self._refused[asked] = str(response["unsupported"])
                raise Unsupported(self._refused[asked])
            results = response.get("results")
            if not isinstance(results, list):
                program.breach(f"gave no list of results for {op!r}: {quoted(response)}")
            if len(results) != count:
                program.breach(f"gave {len(results)} results for {count} inputs of {op!r}")
            for result in results:
                if not isinstance(result, dict):
                    program.breach(f"gave a result of {op!r} that is no object: {quoted(result)}")
            return results
        except Died:
            self._program = None
            raise

    def _answer(self, result: dict[str, Any]) -> dict[str, Any]:
        """The result if it is an answer, else the exception that it stands for."""
        if "rejected" in result:
            raise Rejected(str(result["rejected"]))
        if "unsupported" in result:
            raise Unsupported(str(result["unsupported"]))
        if "error" in result:
            raise RuntimeError(str(result["error"]))
        return result

    def _one(
        self,
        op: str,
        key: str,
        item: object,
        kinds: type | UnionType,
        **fields: object,
    ) -> dict[str, Any]:
        result = self._answer(self._results(op, 1, inputs=[item], **fields)[0])
        if key not in result or not isinstance(result[key], kinds):
            program, self._program = self._program, None
            assert program is not None
            program.breach(_lacks(op, key, result))
        return result

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        """The ids, as the program gives them."""
        result = self._one("encode", "ids", _text(data), list, **_mode(mode))
        self._note([result])
        ids: list[int] = result["ids"]
        return ids

    def encode_each(self, inputs: Sequence[bytes], mode: Mode) -> list[list[int] | Exception]:
        """Many inputs in one request: of each its ids, or what ``encode`` raises for it.

        Raises Died for a breach that is none of a single input, and Unsupported for all of them.
        """
        fields = _mode(mode)
        results = self._results("encode", len(inputs), inputs=[*map(_text, inputs)], **fields)
        self._note(results)
        return [self._ids_of(result) for result in results]

    def _ids_of(self, result: dict[str, Any]) -> list[int] | Exception:
        try:
            ids = self._answer(result).get("ids")
        except (Rejected, Unsupported, RuntimeError) as error:
            return error
        if not isinstance(ids, list):
            return Died("protocol", _lacks("encode", "ids", result))
        return ids

    def encode_batch(self, data: bytes, ends: Longs, mode: Mode) -> tuple[Ints, Longs]:
        """Many inputs in one request. Raises what the first of them raises."""
        starts = [0, *ends.tolist()]
        inputs = [data[a:b] for a, b in zip(starts, ends.tolist(), strict=False)]
        flat: list[int] = []
        stops: list[int] = []
        for ids in self.encode_each(inputs, mode):
            if isinstance(ids, Exception):
                raise ids
            flat.extend(ids)
            stops.append(len(flat))
        return np.array(flat, dtype=np.int32), np.array(stops, dtype=np.int64)

    def encode_with_offsets(
        self, data: bytes, mode: Mode
    ) -> tuple[Sequence[int], Sequence[tuple[int, int]]]:
        """The ids with byte offsets; asked for by a field that other programs may pass over."""
        result = self._one("encode", "ids", _text(data), list, offsets=True, **_mode(mode))
        if "offsets" not in result:
            # Asked for only where they are claimed.
            raise TypeError("claims 'offsets' but gives none")
        return result["ids"], [(start, end) for start, end in result["offsets"]]

    def decode(self, ids: Sequence[int]) -> bytes:
        """The bytes that the program decodes."""
        result = self._one("decode", "bytes", list(ids), str)
        return base64.b64decode(result["bytes"], validate=True)

    def count(self, data: bytes, mode: Mode) -> int:
        """The number of ids that the program counts."""
        count: int = self._one("count", "count", _text(data), int, **_mode(mode))["count"]
        return count

    def count_till_limit(self, data: bytes, limit: int, mode: Mode) -> int | None:
        """Likewise, or None past the limit."""
        fields = {"limit": limit, **_mode(mode)}
        result = self._one("count_till_limit", "count", _text(data), int | None, **fields)
        count: int | None = result["count"]
        return count

    def split(self, data: bytes, limit: int, mode: Mode) -> Sequence[int]:
        """Where the program's chunks end."""
        fields = {"limit": limit, **_mode(mode)}
        ends: list[int] = self._one("split", "ends", _text(data), list, **fields)["ends"]
        return ends

    def append(self, chunks: Sequence[bytes], mode: Mode) -> Sequence[int]:
        """The program's counts after each chunk."""
        return self._counts("append", [_text(chunk) for chunk in chunks], mode)

    def prepend(self, chunks: Sequence[bytes], mode: Mode) -> Sequence[int]:
        """Likewise, each chunk before those already there."""
        return self._counts("prepend", [_text(chunk) for chunk in chunks], mode)

    def interval(self, text: bytes, ranges: Sequence[tuple[int, int]], mode: Mode) -> Sequence[int]:
        """The program's counts of ranges."""
        item = {"text": _text(text), "ranges": [list(range_) for range_ in ranges]}
        return self._counts("interval", item, mode)

    def _counts(self, op: str, item: object, mode: Mode) -> Sequence[int]:
        counts: list[int] = self._one(op, "counts", item, list, **_mode(mode))["counts"]
        return counts


class ExternalImplementation:
    """``cmd:PROGRAM ARGS``. ``about`` starts the program once, to hear its ``hello``."""

    def __init__(self, command: str) -> None:
        self._command = command

    @cached_property
    def _hello(self) -> dict[str, Any]:
        program = Program(self._command)
        previous = signal.signal(signal.SIGALRM, _too_slow)
        signal.setitimer(signal.ITIMER_REAL, HELLO_SECONDS)
        try:
            hello = program.ask("hello", protocol=PROTOCOL_VERSION)
        except (Died, TimeoutError) as error:
            program.end()
            log = getattr(error, "log", "").split("\n")[-1]
            raise ImplementationError(
                f"implementation 'cmd:{self._command}': {error}; {log or 'no answer to hello'}"
            ) from error
        except BaseException:
            program.end()
            raise
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, previous)
        program.stop()
        if hello.get("protocol") != PROTOCOL_VERSION or not _names(hello.get("operations")):
            raise ImplementationError(
                f"implementation 'cmd:{self._command}': its hello must have protocol "
                f"{PROTOCOL_VERSION} and a list of operations, it has {quoted(hello)}"
            )
        if not _names(hello.setdefault("native_formats", [])):
            raise ImplementationError(
                f"implementation 'cmd:{self._command}': native_formats in its hello must be a list "
                f"of formats, it is {quoted(hello['native_formats'])}"
            )
        return hello

    @property
    def native_formats(self) -> frozenset[str]:
        """The formats of the user's own files that it reads itself."""
        return frozenset(self._hello["native_formats"])

    @cached_property
    def about(self) -> About:
        """What the program says of itself."""
        hello = self._hello
        needs = hello.get("needs", [])
        try:
            understood(needs)
        except (TypeError, ValueError) as error:
            raise ImplementationError(
                f"implementation 'cmd:{self._command}': its hello: {error}"
            ) from error
        known = {capability.value: capability for capability in SPOKEN}
        claimed = {known[op] for op in hello["operations"] if op in known}
        return About(
            name=str(hello.get("name") or f"cmd:{self._command}"),
            version=str(hello.get("version") or "unknown"),
            language=str(hello.get("language") or "unknown"),
            homepage=str(hello.get("homepage") or ""),
            issues=str(hello.get("issues") or ""),
            capabilities=frozenset(claimed),
            needs=tuple(needs),
        )

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """By the algorithms that it names; the rest is for its answer to ``load``."""
        algorithms = self._hello.get("algorithms")
        if isinstance(algorithms, list) and vocabulary.algorithm not in algorithms:
            return f"the program runs {', '.join(map(str, algorithms)) or 'no algorithm'} only"
        return None

    def load(self, vocabulary: Vocabulary) -> ExternalEncoder:
        """Start the program and give it the vocabulary."""
        from corpora.vocabularies import bundle  # noqa: PLC0415

        folder = scratch.temporary("bundle-")
        path = Path(folder.name) / "bundle.json"
        bundle.write_bundle(vocabulary, path)
        wire = bundle.wire_vocabulary(vocabulary, path)
        if vocabulary.native is not None and vocabulary.format in self.native_formats:
            # The user's own may be compressed, or have what its reference reads otherwise.
            native = Path(folder.name) / f"native.{vocabulary.format}"
            native.write_bytes(vocabulary.native.content)
            wire["path"] = str(native)
        return ExternalEncoder(self._command, wire, folder)


def _names(value: object) -> bool:
    """Whether it is a list of texts."""
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def signal_name(number: int) -> str:
    """``SIGSEGV``; ``signal 40`` for a real-time signal, most of which have no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _lacks(op: str, key: str, result: dict[str, Any]) -> str:
    return f"gave a result of {op!r} without {key!r}: {quoted(result)}"


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _mode(mode: Mode) -> dict[str, object]:
    return {"pretokenize": mode.pretokenize, "special": mode.special}


def _quote(line: bytes) -> str:
    return repr(line[:LONGEST_QUOTE].decode("utf-8", "replace"))


def _too_slow(signum: int, frame: object) -> NoReturn:
    raise TimeoutError(f"the program did not answer 'hello' within {HELLO_SECONDS:.0f} s")


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent dies, so that no orphan hangs on."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
