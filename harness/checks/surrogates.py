"""Surrogates: what is done with a text that no UTF-8 can say, by libraries that take ``str``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.checks.again import Asked, AsksAgain
from harness.checks.base import (
    Fault,
    Observation,
    Probe,
    Severity,
    encoded_by,
    is_text,
    stage_of,
)
from harness.checks.serving import draw
from harness.core.messages import Encode, Way
from harness.core.outcomes import Encoded, Failed, Inputs, Outcome, Results, Status, Unsupported
from harness.core.partition import Part

STAND_INS = ("\ufffd", "\ufffd" * 3, "?", "")
"""What may stand for a lone surrogate: U+FFFD, one for each of its bytes, as Python's ``replace``
has it, or nothing."""


class Surrogates(AsksAgain[int]):
    """For u s v with a lone surrogate s between the characters of a text: encode_str(u s v) is an
    error, or encode(u r v) for r = U+FFFD, once or for each of its bytes, "?", nothing, or the
    three bytes of s. It never ends the process.

    Of encoders that take ``str`` (``EncodesStr``), in which JSON and file names may leave half a
    pair of UTF-16. Surrogate and place are drawn from the input's checksum. Of a half and another
    half that fits, which some put together, nothing is asked.
    """

    name = "surrogates"
    summary = (
        "half a pair of UTF-16 in a str is refused or replaced, and the rest of the text is "
        "encoded as it is"
    )
    severity = Severity.IDS
    said = "lost or changed text around half a pair of UTF-16"
    every = 16

    def asked(self, seen: Observation) -> Iterator[Asked[int]]:
        """The text with a surrogate, and what it may be taken for."""
        mode = seen.contract.mode
        for name, encoded in encoded_by(seen):
            rows = [i for i in encoded if is_text(seen.inputs[i])]
            given = Inputs.of([halved(seen.inputs[i]) for i in rows])
            taken = Inputs.of([one for i in rows for one in readings(seen.inputs[i])])
            requests = Encode(given, mode, way=Way.STR), Encode(taken, mode)
            if rows:
                yield Asked(name, rows, [Probe(name, request) for request in requests])

    def compared(
        self, seen: Observation, one: Asked[int], answers: Sequence[Results]
    ) -> Iterator[tuple[int, Fault | None]]:
        """Compare with each of the readings."""
        given, taken = answers
        size = len(STAND_INS) + 1
        for row, index in enumerate(one.rows):
            outcome = given.outcome(row)
            if isinstance(outcome, Unsupported):
                continue
            ways = [taken.outcome(size * row + way) for way in range(size)]
            if lawful(outcome, ways):
                yield index, None
                continue
            right = next(way for way in (*ways, outcome) if isinstance(way, Encoded))
            parts = (
                Part((f"{one.name} (U+FFFD in place of the surrogate)",), right),
                Part((f"{one.name} ({Way.STR.words}, with a surrogate)",), outcome),
            )
            yield index, (stage_of(outcome, self.name), parts)


def parted(data: bytes) -> tuple[str, str, str]:
    """What stands before the surrogate, the surrogate, and what comes after."""
    text, dice = data.decode(), draw(data)
    place = dice.randint(0, len(text))
    return text[:place], chr(dice.randint(0xD800, 0xDFFF)), text[place:]


def halved(data: bytes) -> bytes:
    """A text with a lone surrogate, as a request carries it."""
    return "".join(parted(data)).encode("utf-8", "surrogatepass")


def readings(data: bytes) -> list[bytes]:
    """The texts that it may be taken for; the last has the bytes of the surrogate."""
    before, _, after = parted(data)
    return [*((before + one + after).encode() for one in STAND_INS), halved(data)]


def lawful(outcome: Outcome, ways: Sequence[Outcome]) -> bool:
    """Whether it was refused, or taken for one of the readings; or that cannot be told."""
    if isinstance(outcome, Failed):
        return outcome.status is Status.ERRORED
    if not isinstance(outcome, Encoded):
        return True
    known = [way for way in ways if isinstance(way, Encoded)]
    return not known or outcome in known
