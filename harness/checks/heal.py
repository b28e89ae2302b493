"""Healing: every token that is forced is one that the tokenizer itself would give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING

from harness.checks.base import (
    Check,
    Judgement,
    Observation,
    Probe,
    Severity,
    Violation,
    encoded_indices,
    ids_of,
)
from harness.checks.heal_questions import HealQuestion, question
from harness.checks.serving import DEFINITION, serving, unanswered
from harness.core.comparisons import Contract
from harness.core.messages import Encode, Serve, healing_numbers
from harness.core.outcomes import Answered, Encoded, Inputs, Outcome, Results, Unsupported
from harness.core.partition import Part
from impls.interface import Capability

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary

COMPLETE = frozenset({"finite", "schema"})
"""Kinds of grammars of which all sentences are asked."""

TOKENS_SHOWN = 6
"""Tokens that stand in a finding's line: where they part is among the last ones."""

SHOWN = 40
"""Bytes of a text that stand in a finding's line."""


class Heal(Check):
    """For (t, l) = heal(f, encode(c), W): t spells f without its end l, and for all w in W:
    encode(c f w) begins with encode(c) followed by t.

    Context, forced bytes and grammar are drawn from the input. A w that changes the tokens of the
    context itself says nothing of those that are forced, and is passed over. A healer that takes
    more back than need be is slower, not wrong: the report says which share it forces of the
    tokens with which all of W begin, where W is all that the grammar allows.
    """

    name = "heal"
    summary = "tokens that a grammar forces are the tokenizer's own, whatever follows"
    severity = Severity.IDS
    said = "forced a token that the tokenizer itself would not give"
    every = 4
    needs = (Capability.HEAL,)

    def applies(self, contract: Contract) -> bool:
        """With somebody who heals, where special tokens are text like any other."""
        return contract.mode.special == "none" and super().applies(contract)

    def probes(self, seen: Observation) -> list[Probe]:
        """The contexts and the sentences, encoded by who defines them."""
        probes = []
        for name in serving(seen, Capability.HEAL):
            texts = [text for one in questions(seen, name) for text in one.texts]
            request = Encode(Inputs.of(texts), seen.contract.mode)
            probes.append(Probe(definer(seen, name), request))
        return probes

    def follow_ups(self, seen: Observation, answers: Sequence[Results]) -> list[Probe]:
        """The healing, after the context's tokens."""
        probes = []
        for name, encoded in zip(serving(seen, Capability.HEAL), answers, strict=True):
            inputs, numbers = [], []
            for one, texts in encodings(seen, name, encoded):
                context = texts[0]
                recent = context.ids if isinstance(context, Encoded) else ()
                inputs.append(one.forced + b"".join(one.allowed or ()))
                numbers.append(healing_numbers(recent, one.forced, one.allowed))
            asked = Inputs.of(inputs)
            request = Serve(Capability.HEAL, asked, tuple(numbers), seen.contract.mode)
            probes.append(Probe(name, request))
        return probes

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Look for a sentence that the forced tokens do not fit. answers: probes', follow-ups'."""
        judgement = Judgement()
        names = serving(seen, Capability.HEAL)
        definitions, healings = answers[: len(names)], answers[len(names) :]
        for name, encoded, healed in zip(names, definitions, healings, strict=True):
            whose = definer(seen, name)
            for row, (one, texts) in enumerate(encodings(seen, name, encoded)):
                outcome = healed.outcome(row)
                # Where a part is rejected, nobody knows what is right.
                if isinstance(outcome, Unsupported) or not isinstance(texts[0], Encoded):
                    continue
                judgement.exercised[name] += 1
                found = fault(seen.contract, name, whose, one, texts, outcome)
                most = possible(seen.contract.vocabulary, one, texts)
                if found is None and most and isinstance(outcome, Encoded):
                    given = {"forced": min(len(outcome.ids), most), "possible": most}
                    judgement.forced.setdefault(name, Counter()).update(given)
                if found is not None:
                    stage, parts = found
                    data = seen.inputs[one.index]
                    judgement.violations.append(
                        Violation(self.name, one.index, data, parts, (name,), stage)
                    )
        return judgement


def definer(seen: Observation, name: str) -> str:
    """Whose encoding says what is canonical: the definition's where both mean the same."""
    about = next(one.about for one in seen.contract.participants if one.name == name)
    return DEFINITION if about.defined and DEFINITION in seen.results else name


def questions(seen: Observation, name: str) -> list[HealQuestion]:
    """What a healer is asked: one question for each input that it encodes."""
    contract = seen.contract
    text = contract.mode.pretokenize
    return [
        question(index, seen.inputs[index], contract.vocabulary, text=text)
        for index in encoded_indices(seen.results[name])
    ]


def encodings(
    seen: Observation, name: str, encoded: Results
) -> Iterator[tuple[HealQuestion, list[Outcome]]]:
    """Each question with the encodings of its texts."""
    place = 0
    for one in questions(seen, name):
        rows = range(place, place + len(one.texts))
        place = rows.stop
        yield one, [encoded.outcome(row) for row in rows]


def fault(
    contract: Contract,
    name: str,
    whose: str,
    one: HealQuestion,
    texts: Sequence[Outcome],
    outcome: Outcome,
) -> tuple[str, tuple[Part, ...]] | None:
    """The stage and the parts of a violation, or None. texts: the encodings of ``one.texts``."""
    context, *sentences = texts
    assert isinstance(context, Encoded)
    if not isinstance(outcome, Encoded):
        if all(isinstance(text, Encoded) for text in texts):
            return unanswered(name, "heal", outcome)
        return None
    ids, leftover = outcome.ids, outcome.text or b""
    where = f"after {shown(one.context)}, with {shown(one.forced)} forced"

    def against(law: str, wrong: str, who: str) -> tuple[Part, ...]:
        healer = Part((f"{name} (heal)",), Answered(f"{wrong} {where}"))
        return (Part((who,), Answered(law)), healer)

    if not one.forced.endswith(leftover):
        law = "what is left over is the end of the forced bytes"
        return "leftover", against(law, f"leaves {shown(leftover)} over", "the rule")
    vocabulary = contract.vocabulary
    if not vocabulary.normalizes and not vocabulary.pieces:
        taken = one.forced[: len(one.forced) - len(leftover)]
        known = all(0 <= token_id < len(vocabulary) for token_id in ids)
        known = known and all(vocabulary.tokens[token_id] is not None for token_id in ids)
        spelled = vocabulary.spell(list(ids)) if known else None
        if spelled != taken:
            wrong = f"forces {list(ids)}, which spell {shown(spelled) if known else 'nothing'},"
            law = f"the forced tokens spell {shown(taken)}, all that is not left over"
            return "spelling", against(law, wrong, "the rule")
    own = (*context.ids, *ids)
    for way, right in zip(one.sentences, sentences, strict=True):
        if not isinstance(right, Encoded) or right.ids[: len(context.ids)] != context.ids:
            continue
        if right.ids[: len(own)] != own:
            canonical = right.ids[len(context.ids) :][: len(ids) + 1]
            given = tokens(vocabulary, canonical)
            law = f"the tokens are {given}, .. when the text goes on with {shown(way)}"
            wrong = f"forces {tokens(vocabulary, ids)}"
            return "canonical", against(law, wrong, f"{whose} (encode)")
    return None


def possible(vocabulary: Vocabulary, one: HealQuestion, texts: Sequence[Outcome]) -> int | None:
    """How many tokens might be forced: those with which all sentences begin, within the forced
    bytes. None where the healer is not told all that may follow, or nobody knows.
    """
    if one.kind not in COMPLETE or one.allowed != one.sentences:
        return None
    if vocabulary.normalizes or vocabulary.pieces:
        return None
    context, *sentences = (ids_of(text) if isinstance(text, Encoded) else None for text in texts)
    size = len(context or ())
    if context is None or any(ids is None or ids[:size] != context for ids in sentences):
        return None
    columns = zip(*(ids[size:] for ids in sentences if ids is not None), strict=False)
    same = takewhile(lambda column: len(set(column)) == 1, columns)
    ends = accumulate(len(vocabulary.spelling(column[0])) for column in same)
    return sum(end <= len(one.forced) for end in ends)


def tokens(vocabulary: Vocabulary, ids: Sequence[int]) -> str:
    """Ids with what they spell, for a person; the last few where they are many."""
    texts = [
        f"{one} ({shown(vocabulary.tokens[one])})" if 0 <= one < len(vocabulary) else str(one)
        for one in ids[-TOKENS_SHOWN:]
    ]
    return ("" if len(ids) <= TOKENS_SHOWN else ".., ") + (", ".join(texts) or "nothing")


def shown(data: bytes | None) -> str:
    """Bytes for a person, the end of them where they are long."""
    data = data or b""
    text = repr(data[-SHOWN:].decode("utf-8", "backslashreplace"))
    return text if len(data) <= SHOWN else f"..{text}"
