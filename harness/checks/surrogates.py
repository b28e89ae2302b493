"""Surrogates: what is done with a text that no UTF-8 can say, by libraries that take ``str``."""

from collections.abc import Sequence

from corpora.generators.material import is_text
from harness.checks.another_way import AsksAgain, Look, Subject
from harness.checks.base import draw
from harness.core.messages import Way
from harness.core.outcomes import Encoded, Failed, Outcome, Status, Unsupported

STAND_INS = ("\ufffd", "\ufffd" * 3, "?", "")
"""What may stand for a lone surrogate: U+FFFD, one for each of its bytes, as Python's ``replace``
has it, or nothing."""


class Surrogates(AsksAgain):
    """For u s v with a lone surrogate s between the characters of a text: encode_str(u s v) is an
    error, or encode(u r v) for r = U+FFFD, once or for each of its bytes, "?", nothing, or the
    three bytes of s. It never ends the process.

    Of encoders that take ``str`` (``EncodesStr``), in which JSON and file names may leave half a
    pair of UTF-16. Surrogate and place are drawn from the input's checksum. Of a half and another
    half that fits, which some put together, nothing is asked.
    """

    name = "surrogates"
    summary = (
        "a lone UTF-16 surrogate in a str is refused or replaced, and the rest of the text keeps "
        "its ids"
    )
    said = "lost or changed text around a lone UTF-16 surrogate"
    every = 16

    def look(self, one: Subject) -> Look:
        """The text with a surrogate, and what it may be taken for."""
        if not is_text(one.data):
            return
        *texts, half = readings(one.data)
        (outcome,) = yield [one.encode(half, way=Way.STR)]
        if isinstance(outcome, Unsupported):
            return
        taken = yield [*map(one.encode, [*texts, half])]
        known = [way for way in taken if isinstance(way, Encoded)]
        right = one.says(known[0] if known else outcome, "U+FFFD in place of the surrogate")
        words = f"{Way.STR.words}, with a surrogate"
        one.expect(self.name, right, outcome, words, lawful(outcome, known))


def readings(data: bytes) -> list[bytes]:
    """The texts that one with a lone surrogate may be taken for; the last has the bytes of the
    surrogate, as a request carries it.
    """
    text, dice = data.decode(), draw(data)
    place, half = dice.randint(0, len(text)), chr(dice.randint(0xD800, 0xDFFF))
    return [
        (text[:place] + one + text[place:]).encode("utf-8", "surrogatepass")
        for one in (*STAND_INS, half)
    ]


def lawful(outcome: Outcome, ways: Sequence[Outcome]) -> bool:
    """Whether it was refused, or taken for one of the readings; or that cannot be told."""
    if isinstance(outcome, Failed):
        return outcome.status is Status.ERRORED
    return not isinstance(outcome, Encoded) or not ways or outcome in ways
