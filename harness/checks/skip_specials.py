"""Skipping special tokens: decoded without them, ids with special tokens give the text alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

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
from harness.checks.round_trip import decoding_stage, rewrites
from harness.checks.serving import draw
from harness.checks.specials import special_ids
from harness.core.comparisons import Contract
from harness.core.messages import Decode
from harness.core.outcomes import Encoded, Results, Unsupported
from harness.core.partition import Part
from impls.interface import Capability

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary


Among = tuple[int, list[int]]
"""The index of an input, and its ids with special tokens among them."""


class SkipSpecials(AsksAgain[Among]):
    """For ids t = encode(x) without special or unknown tokens, and t' = t with special tokens put
    before, after, and between whole characters: decode_without_specials(t') = decode(t).

    Of decoders that leave special tokens out (``SkipsSpecials``), as what a model says begins and
    ends with them. Where decoding rewrites the text, they stand before and after only: white space
    in the middle may be treated apart there. Tokens and places are drawn from the input's checksum.
    """

    name = "skip-specials"
    summary = "decoded without special tokens, ids with some give the text without them"
    severity = Severity.TEXT
    said = "did not leave special tokens out of a text"
    every = 10
    needs = (Capability.DECODE,)

    def applies(self, contract: Contract) -> bool:
        """With a decoder, to vocabularies that have any; who skips none says so."""
        return bool(special_ids(contract.vocabulary)) and super().applies(contract)

    def asked(self, seen: Observation) -> Iterator[Asked[Among]]:
        """The ids alone, and with special tokens among them."""
        vocabulary = seen.contract.vocabulary
        special = sorted(special_ids(vocabulary))
        lacking = {*special, vocabulary.unk_id}
        inside = not rewrites(seen.contract)
        for name in decoders(seen):
            results = seen.results[name]
            rows: list[Among] = []
            alone = []
            for index in encoded_indices(results):
                ids = results.ids_of(index)
                if ids and lacking.isdisjoint(ids):
                    data = seen.inputs[index]
                    rows.append((index, put_among(data, ids, special, vocabulary, inside)))
                    alone.append(ids)
            if rows:
                among = Decode(*packed([ids for _, ids in rows]), skip=True)
                yield Asked(name, rows, [Probe(name, Decode(*packed(alone))), Probe(name, among)])

    def compared(
        self, seen: Observation, one: Asked[Among], answers: Sequence[Results]
    ) -> Iterator[tuple[int, Fault | None]]:
        """Compare the texts."""
        alone, skipped = answers
        for row, (index, among) in enumerate(one.rows):
            once, without = alone.outcome(row), skipped.outcome(row)
            if not isinstance(once, Encoded) or isinstance(without, Unsupported):
                continue  # a decoder that fails by itself is the round trip's
            right = isinstance(without, Encoded) and without.text == once.text
            parts = (
                Part(
                    (f"{one.name} (without special tokens)",),
                    Encoded(tuple(among), text=once.text),
                ),
                Part((f"{one.name} (skipping them)",), without),
            )
            yield index, None if right else (decoding_stage(without), parts)


def put_among(
    data: bytes, ids: list[int], special: list[int], vocabulary: Vocabulary, inside: bool
) -> list[int]:
    """The ids with a special token before and after, and, if ``inside``, one between characters."""
    rng = draw(data)
    places = []
    if inside:
        try:
            ends = list(accumulate(len(vocabulary.spelling(i)) for i in ids))
        except KeyError:
            ends = []
        if ends and ends[-1] == len(data):
            places = [k for k, end in enumerate(ends[:-1], 1) if data[end] & 0xC0 != 0x80]
    middle = rng.choice(places) if places else len(ids)
    between = [rng.choice(special)] if places else []
    return [rng.choice(special), *ids[:middle], *between, *ids[middle:], rng.choice(special)]
