"""Skipping special tokens: decoded without them, ids with special tokens give the text alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from harness.checks.base import (
    Check,
    Judgement,
    Observation,
    Probe,
    Severity,
    Violation,
    encoded_indices,
)
from harness.checks.round_trip import rewrites, stage_of
from harness.checks.serving import draw
from harness.checks.single_ids import decoders
from harness.checks.specials import special_ids
from harness.core.comparisons import Contract
from harness.core.messages import Decode
from harness.core.outcomes import Encoded, Results, Unsupported
from harness.core.partition import Part
from impls.interface import Capability

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary


class SkipSpecials(Check):
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

    def probes(self, seen: Observation) -> list[Probe]:
        """The ids alone, and with special tokens among them."""
        found = []
        for name, rows in self._asked(seen).items():
            found.append(Probe(name, Decode(*packed([ids for _, ids, _ in rows]))))
            among = packed([among for _, _, among in rows])
            found.append(Probe(name, Decode(*among, skip=True)))
        return found

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Compare the texts."""
        judgement = Judgement()
        pairs = zip(answers[::2], answers[1::2], strict=True)
        for (name, rows), (alone, skipped) in zip(self._asked(seen).items(), pairs, strict=True):
            for row, (index, _, among) in enumerate(rows):
                once, without = alone.outcome(row), skipped.outcome(row)
                if not isinstance(once, Encoded) or isinstance(without, Unsupported):
                    continue  # a decoder that fails by itself is the round trip's
                judgement.exercised[name] += 1
                if isinstance(without, Encoded) and without.text == once.text:
                    continue
                right = Encoded(tuple(among), text=once.text)
                parts = (
                    Part((f"{name} (without special tokens)",), right),
                    Part((f"{name} (skipping them)",), without),
                )
                data, stage = seen.inputs[index], stage_of(without)
                judgement.violations.append(
                    Violation(self.name, index, data, parts, (name,), stage)
                )
        return judgement

    def _asked(self, seen: Observation) -> dict[str, list[tuple[int, list[int], list[int]]]]:
        """By decoder: each input that it encodes, its ids, and these among special tokens."""
        vocabulary = seen.contract.vocabulary
        special = sorted(special_ids(vocabulary))
        lacking = {*special, vocabulary.unk_id}
        inside = not rewrites(seen.contract)
        found = {}
        for name in decoders(seen):
            results = seen.results[name]
            rows = []
            for index in encoded_indices(results):
                ids = results.ids_of(index)
                if ids and lacking.isdisjoint(ids):
                    data = seen.inputs[index]
                    rows.append((index, ids, put_among(data, ids, special, vocabulary, inside)))
            if rows:
                found[name] = rows
        return found


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


def packed(rows: Sequence[Sequence[int]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Sequences of ids as a request carries them."""
    flat = np.array([i for ids in rows for i in ids], dtype=np.int32)
    return flat, np.cumsum([len(ids) for ids in rows], dtype=np.int64)
