"""Streaming: what is decoded in two parts is what is decoded whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from harness.checks.again import Asked, AsksAgain
from harness.checks.base import (
    Fault,
    Observation,
    Probe,
    Severity,
    decoders,
    encoded_indices,
    packed,
)
from harness.checks.round_trip import rewrites
from harness.checks.serving import draw
from harness.core.comparisons import Contract
from harness.core.messages import Decode
from harness.core.outcomes import Encoded, Outcome, Results
from harness.core.partition import Part
from impls.interface import Capability

Cut = tuple[int, list[int], list[int]]
"""The index of an input, and its ids before and after a place."""


class Streaming(AsksAgain[Cut]):
    """For ids t = encode(x) and k such that t[:k] spells whole characters:
    decode(t[:k]) decode(t[k:]) = decode(t).

    That is what a program relies on that shows a text while it is made. Of texts in UTF-8 and
    vocabularies that do not normalize, as others treat the beginning of a text apart. The cut is
    drawn from the input's own checksum.
    """

    name = "streaming"
    summary = "ids decoded in two parts, cut between characters, give the text of the whole"
    severity = Severity.TEXT
    said = "decoded differently token by token"
    every = 6
    needs = (Capability.DECODE,)

    def applies(self, contract: Contract) -> bool:
        """With a decoder."""
        return not rewrites(contract) and super().applies(contract)

    def asked(self, seen: Observation) -> Iterator[Asked[Cut]]:
        """The whole, then both parts, of each input that has a place to cut."""
        for name in decoders(seen):
            rows = self._cut(seen, seen.results[name])
            asked = [ids for _, left, right in rows for ids in ([*left, *right], left, right)]
            yield Asked(name, rows, [Probe(name, Decode(*packed(asked)))])

    def compared(
        self, seen: Observation, one: Asked[Cut], answers: Sequence[Results]
    ) -> Iterator[tuple[int, Fault | None]]:
        """Put the parts together."""
        for row, (index, left, right) in enumerate(one.rows):
            whole, first, rest = (answers[0].outcome(3 * row + i) for i in range(3))
            text = text_of(whole)
            if text is None:
                continue  # a decoder that fails on the whole is the round trip's
            ids = (*left, *right)
            parted = in_parts(ids, first, rest)
            wrong = text_of(parted) != text
            parts = (
                Part((f"{one.name} (whole)",), Encoded(ids, text=text)),
                Part((f"{one.name} (cut after {len(left)} ids)",), parted),
            )
            told = isinstance(parted, Encoded)
            yield index, ("decode" if told else parted.status.label, parts) if wrong else None

    def _cut(self, seen: Observation, results: Results) -> list[Cut]:
        """The inputs with a place to cut, and the ids before and after it."""
        vocabulary = seen.contract.vocabulary
        rows: list[Cut] = []
        for index in encoded_indices(results):
            data, ids = seen.inputs[index], results.ids_of(index)
            try:
                data.decode()
                ends = list(accumulate(len(vocabulary.spelling(i)) for i in ids))
            except (UnicodeDecodeError, KeyError):
                continue
            if not ends or ends[-1] != len(data):
                continue  # another text: the equivalence check's
            places = [k for k, end in enumerate(ends[:-1], 1) if data[end] & 0xC0 != 0x80]
            if places:
                k = draw(data).choice(places)
                rows.append((index, ids[:k], ids[k:]))
        return rows


def text_of(outcome: Outcome) -> bytes | None:
    """What was decoded, if anything was."""
    return outcome.text if isinstance(outcome, Encoded) else None


def in_parts(ids: tuple[int, ...], first: Outcome, rest: Outcome) -> Outcome:
    """The outcome of the parts as one."""
    one, other = text_of(first), text_of(rest)
    if one is not None and other is not None:
        return Encoded(ids, text=one + other)
    return first if text_of(first) is None else rest
