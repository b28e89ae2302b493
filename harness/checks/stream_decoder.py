"""Stream decoders: what a library gives out id by id is what it decodes at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.checks.again import Asked, AsksAgain
from harness.checks.base import (
    REPLACEMENT,
    Fault,
    Observation,
    Probe,
    Severity,
    decoders,
    encoded_indices,
    is_text,
    packed,
    stage_of,
)
from harness.core.messages import Decode
from harness.core.outcomes import Encoded, Results, Unsupported
from harness.core.partition import Part
from impls.interface import Capability


class StreamDecoder(AsksAgain[int]):
    """For ids t = encode(x) of x in UTF-8: what decode_stream gives out for t, id by id, is
    together decode(t), but for U+FFFD at its end.

    Of those whose library has a decoder for text as it is made (``DecodesStreams``). Where that
    gives text, it holds bytes back until they are characters, so that nothing is missing after the
    last id of a whole text; but it cannot tell U+FFFD from bytes that are not whole yet, and holds
    it back for as long as nothing follows.
    """

    name = "stream-decoder"
    summary = "a library's own decoder id by id gives the text that it decodes at once"
    severity = Severity.TEXT
    said = "decoded id by id otherwise than at once"
    every = 6
    needs = (Capability.DECODE,)

    def asked(self, seen: Observation) -> Iterator[Asked[int]]:
        """The ids of texts at once, and id by id."""
        text = {index for index, data in enumerate(seen.inputs) if is_text(data)}
        for name in decoders(seen):
            results = seen.results[name]
            rows = [index for index in encoded_indices(results) if index in text]
            if rows:
                whole = Decode(*packed([results.ids_of(index) for index in rows]))
                yield Asked(
                    name, rows, [Probe(name, whole), Probe(name, replace(whole, stream=True))]
                )

    def compared(
        self, seen: Observation, one: Asked[int], answers: Sequence[Results]
    ) -> Iterator[tuple[int, Fault | None]]:
        """Compare the two."""
        whole, streamed = answers
        for row, index in enumerate(() if streamed.unsupported else one.rows):
            once, pieces = whole.outcome(row), streamed.outcome(row)
            if not isinstance(once, Encoded) or isinstance(pieces, Unsupported):
                continue  # a decoder that fails on the whole is the round trip's
            right = isinstance(pieces, Encoded) and settled(pieces) == settled(once)
            parts = (
                Part((f"{one.name} (at once)",), once),
                Part((f"{one.name} (id by id)",), pieces),
            )
            yield index, None if right else (stage_of(pieces, "decode"), parts)


def settled(outcome: Encoded) -> bytes:
    """What was decoded, without U+FFFD at its end."""
    text = outcome.text or b""
    while text.endswith(REPLACEMENT):
        text = text.removesuffix(REPLACEMENT)
    return text
