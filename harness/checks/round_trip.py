"""Round trip: decoding gives the text back; where text is normalized, decoders agree."""

from collections.abc import Mapping

from corpora.generators.material import is_text
from harness.checks.another_way import Decodes, Look, Subject
from harness.checks.base import (
    REPLACEMENT,
    Ask,
    Judgement,
    LongRuns,
    Observation,
    Probe,
    Script,
    encoded_indices,
    verbatim,
)
from harness.core.comparisons import Contract
from harness.core.messages import Decode
from harness.core.outcomes import Encoded, Outcome, Results, Unsupported
from harness.core.partition import Part, partition
from harness.core.standing import Standing, most_trusted


class RoundTrip(Decodes):
    """decode(encode(x)) = x for each implementation with ``decode``.

    For vocabularies whose normalizer changes the text (SentencePiece), or whose added tokens take
    the white space beside them, x does not come back, and the property is: on the ids of a
    reference, decode_A(ids) = decode_B(ids). A decoder that fails is at fault by itself. Where the
    most trusted one gives U+FFFD that x lacks, who gives x back, or the bytes, is not blamed.
    """

    name = "round-trip"
    summary = "decoding the ids gives the text back; if a normalizer changes it, all decoders agree"
    said = "did not decode back to the input"
    every = 3
    long_runs = LongRuns.SHORT
    script = Script("differ", "decode")

    def applies(self, contract: Contract) -> bool:
        """With a decoder; with two where there is only their agreement to check."""
        return len([*filter(self.concerns, contract.participants)]) > loses(contract)

    def look(self, one: Subject) -> Look:
        """Each one's own ids give the text back."""
        (outcome,) = yield [one.decode(one.ids)]
        one.expect("decode", Part(("the input",), Encoded(one.ids, one.data)), outcome)

    def judge(self, seen: Observation, ask: Ask) -> Judgement:
        """Look at each by itself; where texts do not come back, compare them with one another."""
        if not loses(seen.contract):
            return super().judge(seen, ask)
        judgement, common = Judgement(), trusted(seen)
        names = [one.name for one in self.asked(seen)]
        answers = ask([Probe(name, Decode(common.ids, common.ends)) for name in names])
        columns = dict(zip(names, map(list, answers), strict=True))
        groups = seen.contract.compared_groups(names)
        for index in encoded_indices(common):
            outcomes: dict[str, Outcome] = {
                name: column[index]
                for name, column in columns.items()
                if speaks_of(seen, name, index, common)
            }
            outcomes = without_betters(outcomes, seen.inputs[index], seen.contract.standing)
            judgement.exercised.update(
                name for name, one in outcomes.items() if not isinstance(one, Unsupported)
            )
            alike = [name for group in groups[:1] for name in group if name in outcomes]
            parts = partition({name: outcomes[name] for name in alike}, seen.contract.standing)
            right = parts[0] if parts else Part(("the encoding",), common.outcome(index))
            judgement.violations += self.failed(seen, index, outcomes, right)
            for group in groups:
                judgement.violations += self.parted(seen, index, outcomes, group, "decode")
        return judgement


def without_betters(
    outcomes: dict[str, Outcome], data: bytes, standing: Mapping[str, Standing]
) -> dict[str, Outcome]:
    """The outcomes, without those that are better than what the most trusted one decodes.

    Where that has lost bytes, so that U+FFFD stands where the input has none, nobody is to blame
    who gives the input back, or the bytes themselves.
    """
    first = outcomes[most_trusted(outcomes, standing)] if outcomes else None
    lost = (isinstance(first, Encoded) and first.text) or b""
    if lost.count(REPLACEMENT) <= data.count(REPLACEMENT):
        return outcomes
    return {
        name: one
        for name, one in outcomes.items()
        if not isinstance(one, Encoded)
        or one == first
        or (one.text != data and (one.text or b"").decode(errors="replace").encode() != lost)
    }


def trusted(seen: Observation) -> Results:
    """The encodings of the most trusted implementation, the first of several."""
    return seen.results[most_trusted(seen.results, seen.contract.standing)]


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


def loses(contract: Contract) -> bool:
    """Whether the text that comes back may lawfully differ from the one that was encoded."""
    special = contract.mode.special == "all"
    return not verbatim(contract) or any(
        token.lstrip or token.rstrip
        for token in contract.vocabulary.added_tokens
        if special or not token.special
    )
