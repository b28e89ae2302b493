"""Validity: parts of a valid encoding are valid (properties 1 and 2 of byte-pair encoding)."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from corpora.vocabularies.model import Algorithm, Alphabet
from harness.checks.base import Check, Judgement, Observation, Probe, Severity, Violation
from harness.core.comparisons import Contract
from harness.core.messages import Encode
from harness.core.outcomes import Encoded, Failed, Inputs, Results, Unsupported
from harness.core.partition import Part


class Validity(Check):
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

    def probes(self, seen: Observation) -> list[Probe]:
        """The text of a part of each encoding, to the implementation that gave it."""
        return [
            Probe(name, Encode(Inputs.of([text for _, text, _ in parts]), seen.contract.mode))
            for name, parts in self._parts(seen).items()
        ]

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Each answer must be the part itself; a rejection is lawful, as parts cut characters."""
        judgement = Judgement()
        for (name, parts), answer in zip(self._parts(seen).items(), answers, strict=True):
            for row, (index, text, wanted) in enumerate(parts):
                outcome = answer.outcome(row)
                if isinstance(outcome, Unsupported):
                    continue
                judgement.exercised[name] += 1
                failed = isinstance(outcome, Failed)
                if failed or (isinstance(outcome, Encoded) and outcome.ids != wanted):
                    groups = (
                        Part((f"{name} (as part of the input)",), Encoded(wanted)),
                        Part((f"{name} (by itself: {text!r})",), outcome),
                    )
                    data = seen.inputs[index]
                    stage = outcome.status.label if failed else "part"
                    judgement.violations.append(
                        Violation(self.name, index, data, groups, (name,), stage=stage)
                    )
        return judgement

    def _parts(self, seen: Observation) -> dict[str, list[tuple[int, bytes, tuple[int, ...]]]]:
        """For each implementation: (index, text, ids) of one part of each encoding."""
        vocabulary = seen.contract.vocabulary
        found: dict[str, list[tuple[int, bytes, tuple[int, ...]]]] = {}
        for name in seen.contract.exact:
            if name not in seen.results:
                continue
            results = seen.results[name]
            rows = found.setdefault(name, [])
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
        return found
