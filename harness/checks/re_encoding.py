"""Re-encoding: the text that a decoder gives back is encoded alike, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.checks.base import Check, Judgement, Observation, Probe, Severity, encoded_indices
from harness.checks.equivalence import Equivalence
from harness.checks.round_trip import rewrites, trusted
from harness.core.comparisons import Contract
from harness.core.messages import Decode, Encode
from harness.core.outcomes import Encoded, Inputs, Results
from harness.core.standing import most_trusted
from impls.interface import Capability


class ReEncoding(Check):
    """With y = decode(encode(x)) of the trusted one: encode_A(y) = encode_B(y) for all A, B.

    Where nothing is normalized y is x. Elsewhere it is text of a kind that no generator makes,
    with the marks that stand for unknown tokens, bytes, and spaces, and it is what an application
    encodes again when a conversation goes on. What differs is a finding of equivalence, on y.
    """

    name = "re-encoding"
    summary = (
        "the text that was decoded, with its marks for unknown tokens and spaces, is encoded "
        "alike by all"
    )
    severity = Severity.IDS
    said = "encoded differently what was decoded"
    every = 4
    needs = (Capability.DECODE,)

    def applies(self, contract: Contract) -> bool:
        """Where text is normalized, someone decodes, and there are two to compare."""
        return rewrites(contract) and len(contract.exact) > 1 and super().applies(contract)

    def probes(self, seen: Observation) -> list[Probe]:
        """The text of the trusted one's ids."""
        ids = trusted(seen)
        decoders = [one.name for one in seen.contract.participants if one.can(Capability.DECODE)]
        present = [name for name in decoders if name in seen.results]
        if not present:
            return []
        first = most_trusted(present, seen.contract.standing)
        return [Probe(first, Decode(ids.ids, ids.ends))]

    def follow_ups(self, seen: Observation, answers: Sequence[Results]) -> list[Probe]:
        """That text, to everybody."""
        texts = Inputs.of([*self._texts(seen, answers).values()])
        return [Probe(name, Encode(texts, seen.contract.mode)) for name in seen.results]

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """As :class:`Equivalence` does, on other inputs."""
        if not answers:
            return Judgement()
        texts = self._texts(seen, answers[:1])
        rows = [*texts]
        results = dict(zip(seen.results, answers[1:], strict=True))
        again = Observation(seen.contract, Inputs.of([*texts.values()]), results)
        judgement = Equivalence().judge(again, ())
        judgement.violations = [
            replace(violation, index=rows[violation.index]) for violation in judgement.violations
        ]
        return judgement

    def _texts(self, seen: Observation, answers: Sequence[Results]) -> dict[int, bytes]:
        """The decoded texts by the rows of the inputs that they came from, where they differ."""
        if not answers:
            return {}
        found: dict[int, bytes] = {}
        for row in encoded_indices(trusted(seen)):
            outcome = answers[0].outcome(row)
            if isinstance(outcome, Encoded) and outcome.text not in (None, seen.inputs[row]):
                found[row] = outcome.text
        return found
