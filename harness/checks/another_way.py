"""How most checks ask: a way on from an answer, question by question."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, NamedTuple, cast

from corpora.vocabularies.model import Vocabulary
from harness.checks.base import (
    Ask,
    Check,
    Judgement,
    Observation,
    Probe,
    Severity,
    encoded_indices,
    ids_of,
    packed,
    stage_of,
)
from harness.core.comparisons import Contract
from harness.core.messages import Decode, Encode, Serve, Way
from harness.core.outcomes import Inputs, Outcome, Results, Unsupported
from harness.core.participants import Participant
from harness.core.partition import Part
from impls.interface import Capability, Mode


class Question(NamedTuple):
    """What a check asks about one input; those of one kind are put in one request.

    A tuple, as checks make hundreds of thousands in a minute.

    implementation: who is asked. request, how: the class of the request, and what it is made with
    besides what each input has of its own, and the mode of the comparison. row: a text, or ids to
    decode. given: what a service takes.
    """

    implementation: str
    request: type[Encode | Decode | Serve]
    how: tuple[tuple[str, Any], ...]
    row: Any
    given: tuple[Any, ...] = ()


def put(questions: Sequence[Question], mode: Mode, ask: Ask) -> Iterator[Outcome]:
    """Put questions in as few requests as can be; the answers come in their order.

    What is asked twice is put twice: a second answer shows that the first one was no accident.
    """
    alike: dict[tuple[object, ...], list[Question]] = {}
    for one in questions:
        alike.setdefault(one[:3], []).append(one)
    probes = []
    for some in alike.values():
        name, request, how, *_ = some[0]
        rows, known = [one.row for one in some], dict(how)
        if request is Decode:
            probes.append(Probe(name, Decode(*packed(rows), **known)))
            continue
        known = {"inputs": Inputs.of(rows), "mode": mode, **known}
        if request is Serve:
            known["given"] = tuple(one.given for one in some)
        probes.append(Probe(name, cast("Any", request)(**known)))
    outcomes = dict(zip(alike, map(iter, ask(probes)), strict=True))
    return (next(outcomes[one[:3]]) for one in questions)


Look = Generator[Sequence[Question], Sequence[Outcome], Any]
"""How a check looks at one input of one implementation: it yields questions, and is sent the
answers in their order, as often as it likes. What it returns is compared with what it returns of
others."""

Fault = tuple[str, Part, Part]
"""The stage of a violation, what is right, and what is wrong."""


@dataclass(slots=True, eq=False)
class Subject:
    """An input and an implementation that answered it: how to ask further, and tell what is wrong.

    Not frozen, which would take half the time of a check that finds nothing.

    data: the input. outcome: what was answered at first. judgement: what the check makes of all.
    """

    check: Check
    seen: Observation
    participant: Participant
    index: int
    data: bytes
    outcome: Outcome
    judgement: Judgement

    @property
    def name(self) -> str:
        """The implementation's."""
        return self.participant.name

    @property
    def contract(self) -> Contract:
        """The comparison."""
        return self.seen.contract

    @property
    def vocabulary(self) -> Vocabulary:
        """That of the comparison."""
        return self.contract.vocabulary

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids that it answered, if any."""
        return ids_of(self.outcome)

    def encode(self, data: bytes, by: str = "", **how: Any) -> Question:
        """Ask to encode, as :class:`Encode` has it; ``by`` another implementation, if named."""
        return Question(by or self.name, Encode, tuple(how.items()), data)

    def decode(self, ids: Sequence[int], **how: Any) -> Question:
        """Ask to decode, as :class:`Decode` has it."""
        return Question(self.name, Decode, tuple(how.items()), tuple(ids))

    def serve(self, service: Capability, data: bytes, *given: Any) -> Question:
        """Ask for a service about an input; given: what its method takes, but for the mode."""
        return Question(self.name, Serve, (("service", service),), data, given)

    def says(self, outcome: Outcome, words: str = "") -> Part:
        """Its part in a violation; words: by which way it came to the outcome."""
        return Part((f"{self.name} ({words})" if words else self.name,), outcome)

    def judge(self, outcome: Outcome, faults: Iterable[Fault]) -> None:
        """Note the first fault of an outcome, if any; who does not do this is not judged."""
        if isinstance(outcome, Unsupported):
            return
        self.judgement.exercised[self.name] += 1
        for stage, *parts in islice(faults, 1):
            found = self.check.violation(self.seen, self.index, (*parts,), (self.name,), stage)
            self.judgement.violations.append(found)

    def expect(
        self,
        stage: str,
        right: Part,
        outcome: Outcome,
        words: str = "",
        lawful: bool | None = None,
    ) -> None:
        """Judge an outcome by whether it is the right one, unless it is said whether it is lawful.

        stage: of ids or a text that are wrong; what is neither is a stage of its own. words: as
        :meth:`says` has them.
        """
        fault = stage_of(outcome, stage), right, self.says(outcome, words)
        fine = outcome == right.outcome if lawful is None else lawful
        self.judge(outcome, [] if fine else [fault])


class AsksAgain(Check):
    """A check that judges each implementation on each input by answers to further questions."""

    def look(self, one: Subject) -> Look:
        """Ask about an input, and judge the answers."""
        raise NotImplementedError

    def rows(self, results: Results) -> Sequence[int]:
        """The inputs that it looks at, in this order: those that were encoded."""
        return encoded_indices(results)

    def compare(self, seen: Observation, judgement: Judgement, told: Mapping[Subject, Any]) -> None:
        """Compare implementations with one another; told: what ``look`` returned."""

    def judge(self, seen: Observation, ask: Ask) -> Judgement:
        """Look at all side by side: each round of questions is put at the same time."""
        judgement, told, inputs = Judgement(), dict[Subject, Any](), [*seen.inputs]
        looks: list[tuple[Subject, Look, Any]] = []
        for one in self.asked(seen):
            outcomes = [*seen.results[one.name]]
            for row in self.rows(seen.results[one.name]):
                subject = Subject(self, seen, one, row, inputs[row], outcomes[row], judgement)
                looks.append((subject, self.look(subject), None))
        while looks:
            asking: list[tuple[Subject, Look, Sequence[Question]]] = []
            for subject, look, answer in looks:
                try:
                    asking.append((subject, look, look.send(answer)))
                except StopIteration as end:
                    told[subject] = end.value
            every = [question for *_, questions in asking for question in questions]
            answers = put(every, seen.contract.mode, ask)
            looks = [(one, look, [*islice(answers, len(some))]) for one, look, some in asking]
        self.compare(seen, judgement, told)
        return judgement


class Decodes(AsksAgain):
    """A check of what decoders make of ids."""

    severity = Severity.TEXT
    needs = (Capability.DECODE,)


class EncodesAnotherWay(AsksAgain):
    """The same inputs, encoded by another way, have the same ids.

    Who does not know a way answers that it is unsupported.
    """

    stages: ClassVar[tuple[tuple[Way, str], ...]] = ()
    """The ways, and what to call them."""

    def ways(self, one: Subject) -> Sequence[tuple[str, str, Mapping[str, Any]]]:
        """The stage of each way, what it is called beside a name, and how it is asked for."""
        return [(stage, way.words, {"way": way}) for way, stage in self.stages]

    def right(self, one: Subject, outcome: Outcome) -> bool:
        """Whether an outcome of another way is what it must be."""
        return outcome == one.outcome

    def look(self, one: Subject) -> Look:
        """The same answer by each way."""
        ways = self.ways(one)
        answers = yield [one.encode(one.data, **how) for _, _, how in ways]
        for (stage, words, _), outcome in zip(ways, answers, strict=True):
            fault = stage, one.says(one.outcome), one.says(outcome, words)
            one.judge(outcome, [] if self.right(one, outcome) else [fault])
