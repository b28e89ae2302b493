"""The conformance test of an implementation: the checks of a run, put to it in this process.

:func:`harness.testing.assert_conforms` is for the author's own tests. It takes a few seconds on the
toy vocabularies; what it cannot see (crashes, hangs, rare inputs) is what ``tokgate run`` is for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from corpora.generators.material import is_text
from corpora.vocabularies.model import Vocabulary
from corpora.vocabularies.preflight import is_proper, preflight
from harness.checks import DEFAULT
from harness.checks.base import Observation, Probe, Violation, ids_of, spelled, verbatim
from harness.core.comparisons import (
    Contract,
    SupportsFailed,
    algorithm_of,
    answer_of,
    modes_of,
)
from harness.core.messages import Encode, Load, Loaded, packed
from harness.core.outcomes import Encoded, Inputs, Outcome, Rejected, Results, Status
from harness.core.participants import Participant
from harness.core.standing import definitions_of
from harness.findings.description import difference
from harness.workers.cell import Progress
from harness.workers.claims import Claim, noted, summed
from harness.workers.requests import first_line
from harness.workers.server import Server
from impls import registry
from impls.external import ExternalImplementation
from impls.interface import About, Capability, Encoder, Implementation

SHOWN = 3
"""Breaches of one rule on one vocabulary that are described; more are counted."""

LONGEST_SHOWN = 200

NOTHING = "nothing was compared"

SHARED = 20
"""Answers whose list is changed, to see whether the next answer is changed, too."""


@dataclass(frozen=True, slots=True)
class Breach:
    """What is wrong: by which rule, where (a vocabulary and a mode, or nothing), and in words.

    rule: the name of a check (docs/checks.md), or of a part of the interface.
    """

    rule: str
    where: str
    message: str

    def __str__(self) -> str:
        place = f" on {self.where}" if self.where else ""
        return f"{self.rule}{place}: {self.message}"


InputsOf = Callable[[Vocabulary], Iterable[bytes]]
"""What makes the inputs for a vocabulary."""


def breaches_of(
    implementation: Implementation,
    vocabularies: Sequence[Vocabulary],
    inputs_of: InputsOf,
    *,
    whole: bool,
) -> list[Breach]:
    """Every breach, of each kind the first ones, and then how many more there are.

    whole: the implementation must run every vocabulary, and not just any of them.
    """
    try:
        about: object = implementation.about
    except Exception as error:
        return [Breach("about", "", f"raises {type(error).__name__}: {error}")]
    breaches = [Breach("about", "", fault) for fault in faults_of(about)]
    if isinstance(about, About):
        breaches += Conformance(implementation, about).breaches(vocabularies, inputs_of, whole)
    found: dict[tuple[str, str], list[Breach]] = {}
    for one in breaches:
        found.setdefault((one.rule, one.where), []).append(one)
    first = [one for some in found.values() for one in some[:SHOWN]]
    more = {kind: len(some) - SHOWN for kind, some in found.items() if len(some) > SHOWN}
    return [*first, *(Breach(*kind, f"and {number:,} more") for kind, number in more.items())]


def faults_of(about: object) -> Iterator[str]:
    """What is wrong with how an implementation introduces itself."""
    if not isinstance(about, About):
        yield f"is a {type(about).__name__}, not an About"
        return
    for field in ("name", "version"):
        value = getattr(about, field)
        if not isinstance(value, str) or not value:
            yield f"{field} is {value!r}, not a text"
    for one in about.capabilities:
        if not isinstance(one, Capability):
            yield f"capabilities has {one!r}, which is no Capability"
    if about.max_input is not None and about.max_input < 1:
        yield f"max_input is {about.max_input}; None means any length"


class Conformance:
    """The examination of one implementation, compared with ours for each algorithm."""

    def __init__(self, implementation: Implementation, about: About) -> None:
        self._implementation, self._about = implementation, about
        self._claims: list[Claim] = []
        self._declined: dict[str, str] = {}
        """Why nothing was compared on a vocabulary."""

    def breaches(
        self, vocabularies: Sequence[Vocabulary], inputs_of: InputsOf, whole: bool
    ) -> Iterator[Breach]:
        """Everything that can be said; see :func:`breaches_of`."""
        longest = self._about.max_input or float("inf")
        for vocabulary in vocabularies:
            inputs = [data for data in dict.fromkeys(inputs_of(vocabulary)) if len(data) <= longest]
            yield from self._on(vocabulary, Inputs.of(inputs))
        if whole or len(self._declined) == len(vocabularies):
            mend = "; if it need not run this vocabulary, leave it out" if whole else ""
            for where, reason in self._declined.items():
                yield Breach("answers", where, f"{NOTHING}: {reason}{mend}")
        for claim in summed(self._claims):
            if claim.name == self._about.name and not claim.kept:
                line = f"claims {claim.capability!r} but answered none of {claim.declined:,} "
                line += f"requests for it; the first answer was Unsupported: {claim.reason}"
                yield Breach("claims", "", line)

    def _on(self, vocabulary: Vocabulary, inputs: Inputs) -> Iterator[Breach]:
        """What is wrong on a vocabulary."""
        mine = Participant(self._about.name, "", self._about, self._implementation)
        members = [mine, *definitions(vocabulary, mine.name)]
        proper = is_proper(preflight(vocabulary))
        contracts: list[Contract] = []
        for mode in modes_of(vocabulary):
            try:
                said = {one: answer_of(one, vocabulary, mode) for one in members}
            except SupportsFailed as error:
                yield Breach("supports", f"{vocabulary.id}/{mode.label}", str(error))
                continue
            if said[mine] is None:
                able = tuple(one for one in members if said[one] is None)
                trusted = frozenset(one.name for one in able[1:])
                contracts.append(Contract(vocabulary, mode, able, trusted, {}, proper))
            else:
                self._declined.setdefault(vocabulary.id, f"supports() says: {said[mine]}")
        if not contracts:
            return
        self._declined.pop(vocabulary.id, None)
        with contextlib.ExitStack() as ending:
            servers: dict[str, Server] = {}
            for one in members:
                servers[one.name] = server = Server(Progress(-1), find=finding(one))
                ending.callback(server.close)
                loaded = server.answer(Load("", packed(vocabulary), (contracts[0].mode,)))
                assert isinstance(loaded, Loaded)
                if loaded.error is None:
                    continue
                if one is not mine:  # then nobody says which ids are right
                    contracts = [contract.among({mine.name}) for contract in contracts]
                    continue
                if loaded.kind == Status.UNSUPPORTED.label:  # a program is asked only now
                    self._declined[vocabulary.id] = f"load() says: {loaded.error}"
                else:
                    yield Breach("load", vocabulary.id, loaded.error)
                return
            silent: dict[str, str] = {}
            for contract in contracts:
                encode = Encode(inputs, contract.mode)
                asked = [Probe(name, encode) for name in contract.names]
                results = dict(zip(contract.names, self._put(servers, asked), strict=True))
                if why := silence(inputs, results[mine.name]):
                    silent[contract.id] = why
                yield from self._under(Observation(contract, inputs, results), servers)
        # A program says only when it is asked which modes it does.
        if not isinstance(self._implementation, ExternalImplementation):
            for where, why in silent.items():
                yield Breach("answers", where, f"{NOTHING}: {why}")
        elif len(silent) == len(contracts):
            self._declined[vocabulary.id] = next(iter(silent.values()))

    def _put(self, servers: Mapping[str, Server], probes: Sequence[Probe]) -> Sequence[Results]:
        """The answers to questions, with note taken of what they say of claims."""
        made = [servers[one.implementation].answer(one.request) for one in probes]
        answers = cast("list[Results]", made)
        for probe, answer in zip(probes, answers, strict=True):
            self._claims += noted(probe.implementation, probe.request, answer)
        return answers

    def _under(self, seen: Observation, servers: Mapping[str, Server]) -> Iterator[Breach]:
        """What the checks say of the answers under a contract."""
        contract, names = seen.contract, seen.contract.names
        ask, inputs, answer = partial(self._put, servers), seen.inputs, seen.results[names[0]]
        for check in DEFAULT.values():
            violations = check.judge(seen, ask).violations if check.applies(contract) else ()
            for one in sorted(violations, key=lambda one: len(one.data)):
                if names[0] in one.culprits:
                    _, sentence = difference(one, contract.vocabulary)
                    message = f"{shown(one.data)}: {sentence}{hint(one, contract.vocabulary)}"
                    yield Breach(check.name, contract.id, message)
        for data, outcome in zip(inputs, answer, strict=True):
            if len(names) == 1 and (fault := unlawful(contract, data, outcome)):
                yield Breach("spelling", contract.id, f"{shown(data)}: {fault}")
        encoder = servers[names[0]].encoder
        for row, outcome in enumerate([*answer][:SHARED]):
            if isinstance(outcome, Encoded) and shares(encoder, inputs[row], contract):
                message = f"a change to the list of encode({shown(inputs[row])}) stays"
                yield Breach("sharing", contract.id, message)


def silence(inputs: Inputs, answer: Results) -> str:
    """Why nothing was compared, where no input but the empty one is done; else nothing."""
    said = [
        line for row, line in answer.messages.items()
        if inputs[row] and answer.status[row] == Status.UNSUPPORTED
    ]  # fmt: skip
    if not said or len(said) < sum(map(bool, inputs)):
        return ""
    line = f"encode answers none of {len(said):,} inputs"
    return f"{line}; the first answer was Unsupported: {first_line(said[0])}"


def definitions(vocabulary: Vocabulary, name: str) -> list[Participant]:
    """Our definition of what a vocabulary means, if there is one of another name."""
    found = [one for one in definitions_of(vocabulary, algorithm_of(vocabulary)) if one != name]
    implementations = {one: registry.resolve(one) for one in found[:1]}
    return [Participant(one, one, made.about, made) for one, made in implementations.items()]


def finding(one: Participant) -> Callable[[str], Implementation]:
    """What finds the implementation of a participant by any name."""
    return lambda spec: one.implementation


def unlawful(contract: Contract, data: bytes, outcome: Outcome) -> str | None:
    """What is wrong with an answer where no definition says which ids are right."""
    if isinstance(outcome, Rejected) and is_text(data):
        return "is rejected, though it can be encoded"
    if isinstance(outcome, Encoded) and verbatim(contract):
        text = spelled(contract.vocabulary, outcome.ids)
        if text is None:
            return f"has ids that the vocabulary lacks: {shown(outcome.ids)}"
        if text != data:
            return f"the ids spell {shown(text)}"
    return None


def shares(encoder: Encoder, data: bytes, contract: Contract) -> bool:
    """Whether what a caller does to a list that was returned changes the next answer."""
    given: Any = encoder.encode(data, contract.mode)
    if not isinstance(given, list):
        return False
    before = [*given]
    given.append(-1)
    return [*encoder.encode(data, contract.mode)] != before


def hint(violation: Violation, vocabulary: Vocabulary) -> str:
    """Say what is probably missing: whole pieces, in a vocabulary that looks them up first."""
    if violation.check != "equivalence" or not vocabulary.ignore_merges:
        return ""
    right, *wrong = (len(ids_of(part.outcome)) for part in violation.parts)
    if right >= max(wrong):
        return ""
    return (
        ". vocabulary.ignore_merges is set here: a piece that is itself a token becomes this "
        "token without merges. Look up whole pieces first, or let supports() return a reason "
        "if vocabulary.ignore_merges is set"
    )


def shown(value: object) -> str:
    """A value in a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 2]}.."
