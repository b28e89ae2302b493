"""Re-encoding: the text that a decoder gives back is encoded alike, too."""

from dataclasses import replace

from harness.checks.base import (
    Ask,
    Check,
    Judgement,
    Observation,
    Probe,
    encoded_indices,
    verbatim,
)
from harness.checks.equivalence import Equivalence
from harness.checks.round_trip import trusted
from harness.core.comparisons import Contract
from harness.core.messages import Decode, Encode
from harness.core.outcomes import Encoded, Inputs
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
        "text that was decoded, with its marks for unknown tokens and spaces, gets the same ids "
        "from all"
    )
    said = "encoded decoded text differently"
    every = 4
    needs = (Capability.DECODE,)

    def applies(self, contract: Contract) -> bool:
        """Where text is normalized, someone decodes, and there are two to compare."""
        return not verbatim(contract) and len(contract.exact) > 1 and super().applies(contract)

    def judge(self, seen: Observation, ask: Ask) -> Judgement:
        """Have the trusted one's ids decoded, and that text encoded by everybody."""
        decoders = [one.name for one in self.asked(seen)]
        if not decoders:
            return Judgement()
        ids = trusted(seen)
        first = most_trusted(decoders, seen.contract.standing)
        (decoded,) = ask([Probe(first, Decode(ids.ids, ids.ends))])
        texts: dict[int, bytes] = {}
        for index in encoded_indices(ids):
            outcome = decoded.outcome(index)
            if isinstance(outcome, Encoded) and outcome.text not in (None, seen.inputs[index]):
                texts[index] = outcome.text
        rows, inputs = [*texts], Inputs.of([*texts.values()])
        request = Encode(inputs, seen.contract.mode)
        answers = ask([Probe(name, request) for name in seen.results])
        results = dict(zip(seen.results, answers, strict=True))
        judgement = Equivalence().judge(Observation(seen.contract, inputs, results), ask)
        judgement.violations = [replace(one, index=rows[one.index]) for one in judgement.violations]
        return judgement
