"""Templates: the special tokens that a library adds to a text stand around what it encodes."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from harness.checks.base import (
    Check,
    Judgement,
    Observation,
    Probe,
    Severity,
    Violation,
    encoded_by,
    stage_of,
)
from harness.core.messages import Encode, Template
from harness.core.outcomes import Encoded, Inputs, Outcome, Results, Unsupported
from harness.core.partition import Part, blames, partition

SINGLE, PAIR = Template(pair=False), Template(pair=True)

LETTER = b"a"
"""A text that shows what is added. Empty ones do not: some take an empty second text for none."""

Frame = tuple[tuple[int, ...], ...]
"""The ids before, between and after the texts."""


class AddedSpecials(Check):
    """For added(a) = c encode(a) d with a letter a, and all x: added(x) = c encode(x) d; and of
    pairs for added(a, aa) = c encode(a) d encode(aa) e: added(x, xx) = c encode(x) d encode(xx) e.

    And for A, B who read a file that they alone know, with encode_A = encode_B of both texts:
    added_A(x) = added_B(x), and added_A(x, xx) = added_B(x, xx).

    Of encoders that add special tokens (``AddsSpecials``). Elsewhere each is asked by itself: which
    ones it adds is its vocabulary's own affair, but a text must neither take one away nor add one
    more.
    """

    name = "template"
    summary = "special tokens that are added to a text or a pair stand around its ids alone"
    severity = Severity.IDS
    said = "added special tokens wrongly"
    every = 12

    def probes(self, seen: Observation) -> list[Probe]:
        """The texts and pairs with special tokens, and each twice over; the letter first."""
        mode = seen.contract.mode
        found = []
        for name, rows in encoded_by(seen):
            inputs = [LETTER, *(seen.inputs[i] for i in rows)]
            texts, twice = Inputs.of(inputs), Inputs.of([data + data for data in inputs])
            requests = [
                Encode(texts, mode, shape=SINGLE),
                Encode(texts, mode, shape=PAIR),
                Encode(twice, mode),
                Encode(Inputs.of([LETTER]), mode),
            ]
            found += [Probe(name, request) for request in requests]
        return found

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Look for the ids of the texts among those with special tokens."""
        judgement = Judgement()
        for place, (name, rows) in enumerate(encoded_by(seen)):
            single, pair, twice, letter = answers[4 * place :][:4]
            for results, shape in ((single, SINGLE), (pair, PAIR)):
                first = texts_of(letter.outcome(0), twice.outcome(0), shape)
                added = results.outcome(0)
                if first is None or not isinstance(added, Encoded):
                    continue  # it adds none, or has no letter
                known = frames(added.ids, first)
                for row, index in enumerate(rows, 1):
                    outcome = results.outcome(row)
                    once = seen.results[name].outcome(index)
                    texts = texts_of(once, twice.outcome(row), shape)
                    if isinstance(outcome, Unsupported) or texts is None:
                        continue
                    judgement.exercised[name] += 1
                    right = {framed(frame, texts) for frame in known}
                    if not isinstance(outcome, Encoded) or outcome.ids not in right:
                        wanted = Encoded(min(right, default=()))
                        judgement.violations.append(
                            violation(seen, index, name, shape, wanted, outcome)
                        )
        if seen.contract.vocabulary.unexpressed:
            wrong = {(one.index, name) for one in judgement.violations for name in one.culprits}
            judgement.violations += unlike(seen, answers, wrong)
        return judgement


def texts_of(once: Outcome, twice: Outcome, shape: Template) -> list[tuple[int, ...]] | None:
    """The ids of the text, of a pair those of both; None where they are not known."""
    outcomes = [once, twice] if shape.pair else [once]
    texts = [outcome.ids for outcome in outcomes if isinstance(outcome, Encoded)]
    return texts if len(texts) == len(outcomes) else None


def frames(ids: tuple[int, ...], texts: Sequence[tuple[int, ...]]) -> set[Frame]:
    """What may have been added to the texts to give ids; nothing where they do not contain them."""
    if not texts:
        return {(ids,)}
    first, *others = texts
    return {
        (ids[:start], *rest)
        for start in range(len(ids) - len(first) + 1)
        if ids[start : start + len(first)] == first
        for rest in frames(ids[start + len(first) :], others)
    }


def framed(frame: Frame, texts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Texts with what is added to them."""
    ids = frame[0]
    for text, after in zip(texts, frame[1:], strict=True):
        ids += text + after
    return ids


def unlike(
    seen: Observation, answers: Sequence[Results], wrong: Collection[tuple[int, str]]
) -> list[Violation]:
    """Violations of those who add other tokens to the same ids than who is trusted.

    Who read a file are asked what it adds, where no other can know. wrong: inputs and who is at
    fault there by itself, of whom no more is said.
    """
    violations = []
    places = [(name, rows, 4 * place) for place, (name, rows) in enumerate(encoded_by(seen))]
    for number, shape in enumerate((SINGLE, PAIR)):
        found: dict[tuple[int, tuple[tuple[int, ...], ...]], dict[str, Outcome]] = {}
        for name, rows, place in places:
            added, twice = answers[place + number], answers[place + 2]
            for row, index in enumerate(rows, 1):
                texts = texts_of(seen.results[name].outcome(index), twice.outcome(row), shape)
                outcome = added.outcome(row)
                if texts is None or (index, name) in wrong:
                    continue
                if isinstance(outcome, Encoded):
                    found.setdefault((index, tuple(texts)), {})[name] = outcome
        for (index, _), outcomes in found.items():
            for group in seen.contract.compared_groups(outcomes):
                told = {name: outcomes[name] for name in group.names}
                violations += [
                    Violation(
                        "template",
                        index,
                        seen.inputs[index],
                        one.parts,
                        one.culprits,
                        "template",
                        one.undecided,
                    )
                    for one in blames(partition(told, group.standing), group.standing)
                ]
    return violations


def violation(
    seen: Observation, index: int, name: str, shape: Template, right: Outcome, outcome: Outcome
) -> Violation:
    """A violation, whose right part has the ids with what is added to a letter."""
    parts = (Part((f"encode, {shape}",), right), Part((name,), outcome))
    stage = stage_of(outcome, "template")
    return Violation("template", index, seen.inputs[index], parts, (name,), stage)
