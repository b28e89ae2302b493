"""Judgement of what a program says of its own time, beside what the clocks say. Pure.

A program behind a pipe may say in ``ns`` how long an input took it. It leaves out what the protocol
takes, and nobody outside knows how much that is: to parse a line takes a program in C++ a
thousandth of what it takes one in a slow language. So the program itself is the measure of that: an
echo, which is a request of the same length that it does not know, costs it the reading of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.verdict.exponents import Verdict

PROTOCOL = 8.0
"""For each byte that is exchanged, the protocol may take so many times what an echo takes for each
byte of its request. Python takes two to four times as long to write a number in JSON as to read as
many bytes of a text."""

FALSE = 4.0
"""What the clocks say, without the protocol's part, has to be more than so many times what the
program says, before that is called false: it may know nothing of threads that it waits for."""

LEAST = 2_000_000
"""Nanoseconds of work below which nothing is called false."""

TELLING = 2
"""The largest sizes that all have to say so."""


@dataclass(frozen=True)
class Told:
    """One call: nanoseconds and bytes.

    said: by the program; None where it says nothing. counted: of CPU time, by the kernel, of its
    processes. waited: from the request until the answer. echo: of an echo, by whichever clock says
    less; None for a program that gives none. asked, answered: bytes of the request, and of its
    answer.
    """

    said: int | None
    counted: int
    waited: int
    echo: int | None
    asked: int
    answered: int


def unexplained(calls: Sequence[Told]) -> tuple[int, int] | None:
    """Nanoseconds of work at one size, less the protocol's part, and the most that was said of it.

    The least of both clocks and of all calls, as a disturbance only adds to them. None where the
    program does not speak of its time, or gives no echo.
    """
    said = [call.said for call in calls if call.said is not None]
    echoes = [call.echo for call in calls if call.echo is not None]
    if not said or len(said) < len(calls) or not echoes:
        return None
    work = min(min(call.counted, call.waited) for call in calls)
    exchanged = max(call.asked + call.answered for call in calls)
    protocol = PROTOCOL * min(echoes) * exchanged / max(1, min(call.asked for call in calls))
    return max(0, int(work - protocol)), max(said)


def judge_told(sizes: Mapping[int, Sequence[Told]]) -> Verdict:
    """min(CPU time, time until the answer) - protocol <= 4 ns, at the largest sizes.

    With protocol = 8 echo (|request| + |answer|) / |request|, all of them the least of three calls,
    and ns the most. Contradicted (superlinear) is a program's word if it is so at neither of the
    two largest sizes, and work of 2 ms or more is left; what its protocol might take as well
    contradicts nothing. Inconclusive where it says nothing, or was not measured.
    """
    found = [unexplained(sizes[size]) for size in sorted(sizes)[-TELLING:]]
    known = [one for one in found if one is not None]
    if len(known) < TELLING:
        return Verdict.INCONCLUSIVE
    false = all(work > max(LEAST, FALSE * said) for work, said in known)
    return Verdict.SUPERLINEAR if false else Verdict.LINEAR
