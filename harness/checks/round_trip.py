"""Round trip: decoding gives the text back; where text is normalized, decoders agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from harness.checks.base import (
    Check,
    Judgement,
    LongRuns,
    Observation,
    Probe,
    Script,
    Severity,
    Shows,
    Violation,
    decoders,
    encoded_indices,
    has_lost,
    is_text,
)
from harness.core.comparisons import Contract
from harness.core.messages import Decode
from harness.core.outcomes import Encoded, Failed, Inputs, Outcome, Results, Status, Unsupported
from harness.core.partition import Part, blames, partition
from harness.core.standing import Standing, most_trusted
from impls.interface import Capability


class RoundTrip(Check):
    """decode(encode(x)) = x for each implementation with ``decode``.

    For vocabularies whose normalizer changes the text (SentencePiece), or whose added tokens take
    the white space beside them, x does not come back, and the property is: on the ids of a
    reference, decode_A(ids) = decode_B(ids). A decoder that fails is at fault by itself. Where the
    most trusted one gives U+FFFD that x lacks, who gives x back, or the bytes, is not blamed.
    """

    name = "round-trip"
    summary = (
        "decoding the ids gives the text back; where a normalizer changes it, all decoders agree"
    )
    severity = Severity.TEXT
    said = "did not decode back to the input"
    every = 3
    needs = (Capability.DECODE,)
    long_runs = LongRuns.SHORT
    script = Script(Shows.DIFFER, "decode")

    def applies(self, contract: Contract) -> bool:
        """With a decoder; with two where there is only their agreement to check."""
        able = [c for c in contract.participants if c.can(Capability.DECODE)]
        return len(able) > (1 if loses(contract) else 0)

    def probes(self, seen: Observation) -> list[Probe]:
        """Decode: own ids, or everybody the first one's."""
        if not loses(seen.contract):
            return [
                Probe(name, Decode(seen.results[name].ids, seen.results[name].ends))
                for name in decoders(seen)
            ]
        common = trusted(seen)
        return [Probe(name, Decode(common.ids, common.ends)) for name in decoders(seen)]

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Compare texts."""
        named = {
            probe.implementation: answer
            for probe, answer in zip(self.probes(seen), answers, strict=True)
        }
        if loses(seen.contract):
            return self._agreement(seen, named)
        judgement = Judgement()
        for name, answer in named.items():
            results = seen.results[name]
            if unharmed(results, answer, seen.inputs):
                judgement.exercised[name] += len(results)
                continue
            for index in encoded_indices(results):
                outcome = answer.outcome(index)
                if isinstance(outcome, Unsupported):
                    continue
                judgement.exercised[name] += 1
                data = seen.inputs[index]
                if not isinstance(outcome, Encoded) or outcome.text != data:
                    wanted = Encoded(tuple(results.ids_of(index)), text=data)
                    parts = (Part(("the input",), wanted), Part((name,), outcome))
                    judgement.violations.append(
                        Violation(
                            self.name,
                            index,
                            data,
                            parts,
                            (name,),
                            stage=decoding_stage(outcome),
                        )
                    )
        return judgement

    def _agreement(self, seen: Observation, named: dict[str, Results]) -> Judgement:
        judgement = Judgement()
        common = trusted(seen)
        if agreed(seen, common, named):
            judgement.exercised.update(dict.fromkeys(named, len(common)))
            return judgement
        compared_groups = seen.contract.compared_groups(named)
        for index in encoded_indices(common):
            outcomes: dict[str, Outcome] = {
                name: answer.outcome(index)
                for name, answer in named.items()
                if speaks_of(seen, name, index, common)
            }
            data = seen.inputs[index]
            outcomes = without_betters(outcomes, data, seen.contract.standing)
            asked = [n for n, one in outcomes.items() if not isinstance(one, Unsupported)]
            judgement.exercised.update(asked)
            parted = [
                partition(
                    {name: outcomes[name] for name in group.names if name in outcomes},
                    group.standing,
                )
                for group in compared_groups
            ]
            parts = parted[0] if parted else ()
            trusted_part = parts[:1] or (Part(("the encoding",), common.outcome(index)),)
            for name, outcome in outcomes.items():
                if isinstance(outcome, Failed):  # which the survival check does not see
                    pair = (*trusted_part, Part((name,), outcome))
                    judgement.violations.append(
                        Violation(
                            self.name, index, data, pair, (name,), stage=decoding_stage(outcome)
                        )
                    )
            judgement.violations += [
                Violation(self.name, index, data, one.parts, one.culprits, "decode", one.undecided)
                for group, classes in zip(compared_groups, parted, strict=True)
                for one in blames(classes, group.standing)
            ]
        return judgement


def without_betters(
    outcomes: dict[str, Outcome], data: bytes, standing: Mapping[str, Standing]
) -> dict[str, Outcome]:
    """The outcomes, without those that are better than what the most trusted one decodes.

    Where that has lost bytes, so that U+FFFD stands where the input has none, nobody is to blame
    who gives the input back, or the bytes themselves.
    """
    if not outcomes:
        return outcomes
    first = outcomes[most_trusted(outcomes, standing)]
    if not isinstance(first, Encoded) or not has_lost(first, data):
        return outcomes
    return {
        name: one
        for name, one in outcomes.items()
        if not isinstance(one, Encoded) or one == first or not better(one, first, data)
    }


def better(one: Encoded, first: Encoded, data: bytes) -> bool:
    """Whether a decoded text is the input, or has the bytes of which another has U+FFFD."""
    text = one.text or b""
    return text == data or text.decode(errors="replace").encode() == first.text


def trusted(seen: Observation) -> Results:
    """The encodings of the most trusted implementation, the first of several."""
    return seen.results[most_trusted(seen.results, seen.contract.standing)]


def agreed(seen: Observation, common: Results, named: dict[str, Results]) -> bool:
    """The fast path: all speak of these ids, and decode each of them to the same text."""
    if not all(seen.results[name].same_as(common) for name in named):
        return False
    first, *others = named.values()
    if first.messages or first.text_ends is None:
        return False
    return all(
        not other.messages
        and other.text == first.text
        and other.text_ends is not None
        and np.array_equal(other.text_ends, first.text_ends)
        for other in others
    )


def speaks_of(seen: Observation, name: str, index: int, common: Results) -> bool:
    """Whether the ids that are decoded are of this implementation's world, too.

    Ids of bytes that are no text come from an encoder of bytes. Who takes text alone, or reads
    U+FFFD there, has no such ids, and is not held to decode them to what its strings cannot hold.
    """
    own = seen.results.get(name)
    if own is None or is_text(seen.inputs[index]):
        return True
    outcome = own.outcome(index)
    return isinstance(outcome, Encoded) and outcome.ids == tuple(common.ids_of(index))


def rewrites(contract: Contract) -> bool:
    """Whether decoding gives another text than the tokens have."""
    return contract.vocabulary.normalizes or bool(contract.vocabulary.pieces)


def loses(contract: Contract) -> bool:
    """Whether the text that comes back may lawfully differ from the one that was encoded."""
    special = contract.mode.special == "all"
    return rewrites(contract) or any(
        token.lstrip or token.rstrip
        for token in contract.vocabulary.added_tokens
        if special or not token.special
    )


def unharmed(results: Results, answer: Results, inputs: Inputs) -> bool:
    """The fast path: every input was encoded, and all the text came back."""
    return (
        not results.messages
        and not answer.messages
        and answer.text == inputs.data
        and answer.text_ends is not None
        and np.array_equal(answer.text_ends, inputs.ends)
    )


def decoding_stage(outcome: Outcome) -> str:
    """``decode`` for another text, else how the decoder failed."""
    return "decode" if isinstance(outcome, Encoded) else Status(outcome.status).label
