"""Stream decoders: what a library gives out id by id is what it decodes at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness.checks.base import (
    REPLACEMENT,
    Check,
    Judgement,
    Observation,
    Probe,
    Severity,
    Violation,
    encoded_indices,
    is_text,
)
from harness.checks.single_ids import decoders
from harness.core.messages import Decode
from harness.core.outcomes import Encoded, Failed, Outcome, Results, Status, Unsupported
from harness.core.partition import Part
from impls.interface import Capability


class StreamDecoder(Check):
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

    def probes(self, seen: Observation) -> list[Probe]:
        """The ids at once, and id by id."""
        found = []
        for name, (_, ids, ends) in self._asked(seen).items():
            whole = Decode(ids, ends)
            found += [Probe(name, whole), Probe(name, replace(whole, stream=True))]
        return found

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Compare the two."""
        judgement = Judgement()
        pairs = zip(answers[::2], answers[1::2], strict=True)
        for (name, (rows, _, _)), (whole, streamed) in zip(
            self._asked(seen).items(), pairs, strict=True
        ):
            for row, index in enumerate(() if streamed.unsupported else rows):
                once, pieces = whole.outcome(row), streamed.outcome(row)
                if not isinstance(once, Encoded) or isinstance(pieces, Unsupported):
                    continue  # a decoder that fails on the whole is the round trip's
                judgement.exercised[name] += 1
                if isinstance(pieces, Encoded) and settled(pieces) == settled(once):
                    continue
                parts = (
                    Part((f"{name} (at once)",), once),
                    Part((f"{name} (id by id)",), pieces),
                )
                data = seen.inputs[index]
                judgement.violations.append(
                    Violation(self.name, index, data, parts, (name,), stage_of(pieces))
                )
        return judgement

    def _asked(self, seen: Observation) -> dict[str, tuple[list[int], np.ndarray, np.ndarray]]:
        """By decoder the inputs that it encodes and that are text, with their ids."""
        text = {index for index, data in enumerate(seen.inputs) if is_text(data)}
        found = {}
        for name in decoders(seen):
            results = seen.results[name]
            rows = [index for index in encoded_indices(results) if index in text]
            asked = [results.ids_of(index) for index in rows]
            flat = np.array([i for ids in asked for i in ids], dtype=np.int32)
            found[name] = rows, flat, np.cumsum([len(ids) for ids in asked], dtype=np.int64)
        return {name: asked for name, asked in found.items() if asked[0]}


def settled(outcome: Encoded) -> bytes:
    """What was decoded, without U+FFFD at its end."""
    text = outcome.text or b""
    while text.endswith(REPLACEMENT):
        text = text.removesuffix(REPLACEMENT)
    return text


def stage_of(outcome: Outcome) -> str:
    """``decode`` for another text, else how the decoder failed."""
    return Status(outcome.status).label if isinstance(outcome, Failed) else "decode"
