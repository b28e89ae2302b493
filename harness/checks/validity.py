"""Validity: parts of a valid encoding are valid (properties 1 and 2 of byte-pair encoding)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

from corpora.vocabularies.model import Algorithm, Alphabet
from harness.checks.again import Asked, AsksAgain
from harness.checks.base import (
    Fault,
    Observation,
    Probe,
    Severity,
    stage_of,
)
from harness.core.comparisons import Contract
from harness.core.messages import Encode
from harness.core.outcomes import Encoded, Failed, Inputs, Results, Unsupported
from harness.core.partition import Part

Drawn = tuple[int, bytes, tuple[int, ...]]
"""The index of an input, and a part of its encoding: its text, its ids."""


class Validity(AsksAgain[Drawn]):
    """For e = encode(x) and all i < j: encode(decode(e[i:j])) = e[i:j].

    Holds for byte-pair encoding of a piece over a vocabulary in which every token encodes to
    itself, so it is checked without pre-tokenization and where no pre-token is looked up whole.
    The ranges are drawn from the input's own checksum: the same input is cut the same way.
    """

    name = "validity"
    summary = "any contiguous part of an encoding is the encoding of its own text"
    severity = Severity.IDS
    said = "gave an encoding that is not valid"
    every = 4

    def applies(self, contract: Contract) -> bool:
        """Raw byte-level byte-pair encoding of proper vocabularies."""
        vocabulary = contract.vocabulary
        return (
            vocabulary.algorithm is Algorithm.BPE
            and vocabulary.alphabet is Alphabet.BYTES
            and not contract.mode.pretokenize
            and contract.mode.special == "none"
            and contract.proper
        )

    def asked(self, seen: Observation) -> Iterator[Asked[Drawn]]:
        """The text of a part of each encoding, to the implementation that gave it."""
        vocabulary = seen.contract.vocabulary
        for name in seen.contract.exact:
            if name not in seen.results:
                continue
            results = seen.results[name]
            rows: list[Drawn] = []
            for index in range(len(results)):
                ids = results.ids_of(index)
                if len(ids) < 2:
                    continue
                draw = zlib.crc32(seen.inputs[index])
                start = draw % len(ids)
                end = start + 1 + (draw >> 16) % (len(ids) - start)
                part = tuple(ids[start:end])
                try:
                    rows.append((index, vocabulary.spell(list(part)), part))
                except KeyError:
                    continue  # an id that does not exist is for the equivalence check
            texts = Inputs.of([text for _, text, _ in rows])
            yield Asked(name, rows, [Probe(name, Encode(texts, seen.contract.mode))])

    def compared(
        self, seen: Observation, one: Asked[Drawn], answers: Sequence[Results]
    ) -> Iterator[tuple[int, Fault | None]]:
        """Each answer must be the part itself; a rejection is lawful, as parts cut characters."""
        for row, (index, text, wanted) in enumerate(one.rows):
            outcome = answers[0].outcome(row)
            if isinstance(outcome, Unsupported):
                continue
            failed = isinstance(outcome, Failed)
            wrong = failed or (isinstance(outcome, Encoded) and outcome.ids != wanted)
            parts = (
                Part((f"{one.name} (as part of the input)",), Encoded(wanted)),
                Part((f"{one.name} (by itself: {text!r})",), outcome),
            )
            yield index, (stage_of(outcome, "part"), parts) if wrong else None
