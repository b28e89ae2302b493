"""Templates: the special tokens that a library adds to a text stand around what it encodes."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.checks.another_way import AsksAgain, Look, Subject
from harness.checks.base import Judgement, Observation
from harness.core.messages import Template
from harness.core.outcomes import Encoded, Outcome, Unsupported
from harness.core.partition import Part

SHAPES = Template(pair=False), Template(pair=True)

LETTER = b"a"
"""A text that shows what is added. Empty ones do not: some take an empty second text for none."""

Frame = tuple[tuple[int, ...], ...]
"""The ids before, between and after the texts."""


class AddedSpecials(AsksAgain):
    """For added(a) = c encode(a) d with a letter a, and all x: added(x) = c encode(x) d; and of
    pairs for added(a, aa) = c encode(a) d encode(aa) e: added(x, xx) = c encode(x) d encode(xx) e.

    And for A, B who read a file that they alone know, with encode_A = encode_B of both texts:
    added_A(x) = added_B(x), and added_A(x, xx) = added_B(x, xx).

    Of encoders that add special tokens (``AddsSpecials``). Elsewhere each is asked by itself: which
    ones it adds is its vocabulary's own affair, but a text must neither take one away nor add one
    more.
    """

    name = "template"
    summary = "added special tokens surround the ids of a text or a pair and change none of them"
    said = "added special tokens wrongly"
    every = 12
    most = 64

    def look(self, one: Subject) -> Look:
        """Look for the ids of the text and the pair among those with special tokens.

        Returns the answers by template and ids of the texts.
        """
        told: dict[tuple[Template, Frame], Encoded] = {}
        framed_by = yield [
            one.encode(text, shape=each) for each in SHAPES for text in (LETTER, one.data)
        ]
        if all(isinstance(outcome, Unsupported) for outcome in framed_by):
            return told
        letter, letters, twice = yield [*map(one.encode, (LETTER, LETTER * 2, one.data * 2))]
        for number, shape in enumerate(SHAPES):
            shown, outcome = framed_by[2 * number : 2 * number + 2]
            first, ids = (
                texts_of(*both[: 1 + shape.pair])
                for both in ((letter, letters), (one.outcome, twice))
            )
            if ids is None:
                continue
            if isinstance(outcome, Encoded):
                told[shape, ids] = outcome
            if first is None or not isinstance(shown, Encoded):
                continue  # it adds none, or has no letter
            right = sorted(framed(frame, ids) for frame in frames(shown.ids, first))
            wanted = Part((f"encode, {shape}",), Encoded(right[0] if right else ()))
            one.expect(self.name, wanted, outcome, lawful=outcome in [*map(Encoded, right)])
        return told

    def compare(self, seen: Observation, judgement: Judgement, told: Mapping[Subject, Any]) -> None:
        """Blame those who add other tokens to the same ids than who is trusted.

        Who read a file are asked what it adds, where no other can know. Of those who are at fault
        by themselves no more is said.
        """
        if not seen.contract.vocabulary.unexpressed:
            return
        wrong = {(one.index, *one.culprits) for one in judgement.violations}
        answers: dict[Any, dict[str, Outcome]] = {}
        for one, answered in told.items():
            for asked, outcome in answered.items():
                if (one.index, one.name) not in wrong:
                    answers.setdefault((one.index, asked), {})[one.name] = outcome
        for (index, _), outcomes in answers.items():
            for group in seen.contract.compared_groups(outcomes):
                judgement.violations += self.parted(seen, index, outcomes, group, self.name)


def texts_of(*outcomes: Outcome) -> Frame | None:
    """The ids of the text, or of both texts of a pair; None where they are not known."""
    texts = tuple(outcome.ids for outcome in outcomes if isinstance(outcome, Encoded))
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
    return sum((text + after for text, after in zip(texts, frame[1:], strict=True)), frame[0])
