"""What a call of a program takes: by its own word, by the clock, and without the pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from impls.interface import Died

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ECHO = "echo"
"""An operation that no program has: what is answered at once costs what the pipe does."""


class Answering(Protocol):
    """A program that runs (:class:`impls.external.Program`), as far as its times are concerned."""

    waited: int
    exchanged: tuple[int, int]

    def ask(self, op: str, **fields: object) -> dict[str, Any]:
        """One request, its response. Raises Died."""
        ...

    def processor_time(self) -> int:
        """Nanoseconds of CPU time, by the kernel's count."""
        ...


class Timed:
    """The times of a program's calls.

    nanoseconds: what the last call that encodes took, by the program's own ``ns``, or else from its
    request until its answer. told: whether it is the program's word. waited: from that request
    until its answer. exchanged: bytes of both.
    """

    _program: Answering | None
    nanoseconds = 0
    told = False
    waited = 0
    exchanged = (0, 0)
    _echoes = True

    def _note(self, results: Sequence[Mapping[str, Any]]) -> None:
        """Take note of what the program says that these results took it, and of what it took.

        It is only its word, which may be false: whoever judges by it looks at the clock, too.
        """
        program = self._program
        assert program is not None
        nanoseconds = [result.get("ns") for result in results]
        self.told = all(type(one) is int and one >= 0 for one in nanoseconds)
        self.nanoseconds = sum(one or 0 for one in nanoseconds) if self.told else program.waited
        self.waited, self.exchanged = program.waited, program.exchanged

    def echo(self) -> int | None:
        """Nanoseconds from a request as long as the last one that encodes until its answer.

        It asks for an operation that there is none of, which every program answers with
        ``unsupported``. None for one that does not, and it is not asked again.
        """
        if not self._echoes or self._program is None:
            return None
        program = self._program
        try:
            answer = program.ask(ECHO, inputs=["A" * self.exchanged[0]])
        except Died:
            self._program, self._echoes = None, False
            return None
        self._echoes = "unsupported" in answer
        return program.waited if self._echoes else None

    def processor_time(self) -> int:
        """CPU time in nanoseconds of the program and of those that it has started."""
        return 0 if self._program is None else self._program.processor_time()
