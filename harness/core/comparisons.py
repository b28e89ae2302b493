"""Contracts of comparison: which outputs must agree, and who takes part.

Only implementations under one contract are compared: the same algorithm, vocabulary,
pre-tokenization and special-token policy.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from corpora.vocabularies.model import Algorithm, Alphabet, Vocabulary
from harness.core.quiet import aside
from harness.core.standing import Standing, definitions_of, references_of, standings
from impls import registry
from impls.interface import Law, Mode
from impls.pipeline.encoder import collide

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from harness.core.outcomes import Inputs, Results
    from harness.core.participants import Participant


ComparedGroup: TypeAlias = "Mapping[str, Standing]"
"""Names that are compared with one another, and how much each is trusted."""


class SupportsFailed(Exception):
    """An implementation cannot even say whether it runs a vocabulary."""


def algorithm_of(vocabulary: Vocabulary) -> str:
    """``bpe``, ``spm`` (byte-pair encoding over characters), ``unigram`` or ``wordpiece``."""
    if vocabulary.algorithm is not Algorithm.BPE:
        return str(vocabulary.algorithm)
    return "spm" if vocabulary.alphabet is Alphabet.CHARACTERS else "bpe"


@dataclass(frozen=True, slots=True, eq=False)
class Contract:
    """Implementations that must agree on one vocabulary in one mode.

    participants: in the order of the run. references: names of the trusted ones, declared or by
    the vocabulary's format.
    excluded: the other implementations of the run, with the reason.
    proper: every token encodes to itself, so that looking pre-tokens up whole changes nothing.
    """

    vocabulary: Vocabulary
    mode: Mode
    participants: tuple[Participant, ...]
    references: frozenset[str]
    excluded: Mapping[str, str]
    proper: bool

    def among(self, names: Container[str]) -> Contract:
        """The same contract with those of these names alone."""
        members = tuple(one for one in self.participants if one.name in names)
        return replace(self, participants=members)

    @property
    def id(self) -> str:
        """``tekken_240911/text``."""
        return f"{self.vocabulary.id}/{self.mode.label}"

    @property
    def algorithm(self) -> str:
        """``bpe``, ``spm`` (byte-pair encoding over characters), ``unigram`` or ``wordpiece``."""
        return algorithm_of(self.vocabulary)

    @property
    def names(self) -> list[str]:
        """The participants' names."""
        return [participant.name for participant in self.participants]

    @property
    def exact(self) -> list[str]:
        """The names of those that mean to give the ids that the vocabulary defines."""
        return [c.name for c in self.participants if c.about.law is Law.EXACT]

    @property
    def standing(self) -> dict[str, Standing]:
        """How much each participant is trusted, by its name."""
        definitions = definitions_of(self.vocabulary, self.algorithm)
        return standings(self.participants, self.references, definitions)

    def compared_groups(self, present: Container[str]) -> list[ComparedGroup]:
        """Who is compared with whom, of those present: all that mean the same, then each variant.

        A variant of an engine (``About.engine``) is compared with that engine alone, which is
        trusted unless the variant is a reference and the engine is not.
        """
        engines = {c.name: c.about.engine for c in self.participants if c.name in present}
        common = [name for name, engine in engines.items() if not engine]
        if not common:
            return []
        standing, references = self.standing, self.references
        groups: list[ComparedGroup] = [{name: standing[name] for name in common}]
        for variant, engine in engines.items():
            if engine in common:
                known = [Standing.REFERENCE, Standing.CANDIDATE]
                if variant in references and engine not in references:
                    known.reverse()
                groups.append(dict(zip((engine, variant), known, strict=True)))
        return groups


def modes_of(vocabulary: Vocabulary) -> list[Mode]:
    """The modes worth a contract: with the vocabulary's own pipeline, raw, and with specials."""
    modes = []
    if vocabulary.splits or vocabulary.normalizes or vocabulary.pieces:
        modes.append(Mode(pretokenize=True))
    raw = vocabulary.alphabet is Alphabet.BYTES and vocabulary.algorithm is Algorithm.BPE
    if raw and not vocabulary.unexpressed:
        modes.append(Mode(pretokenize=False))
    if vocabulary.special_tokens and (vocabulary.splits or vocabulary.unexpressed):
        modes.append(Mode(pretokenize=True, special="all"))
    return modes or [Mode(pretokenize=True)]


def answer_of(participant: Participant, vocabulary: Vocabulary, mode: Mode) -> str | None:
    """What ``supports`` says. Raises SupportsFailed where it fails, or says anything else."""
    implementation = participant.implementation
    if vocabulary.unexpressed:
        formats: object = getattr(implementation, "native_formats", ())
        if not isinstance(formats, Collection) or vocabulary.format not in formats:
            return f"cannot read {vocabulary.format}, and the plain model cannot express its steps"
    if vocabulary.native is not None:
        knowing = (*registry.REFERENCES.get(vocabulary.format, ()), *definitions_of(vocabulary, ""))
        if vocabulary.native.shared and participant.spec not in knowing:
            one = min(vocabulary.native.shared)
            return f"two tokens of the file have the id {one}, and only its reference says which"
        if participant.spec not in knowing and collide(vocabulary):
            return "two added tokens are one text once normalized, and its reference takes either"
    own = type(implementation).__module__.startswith("impls.")
    try:
        with contextlib.nullcontext() if own else aside():
            reason = implementation.supports(vocabulary, mode)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        line = str(error).split("\n", 1)[0]
        raise SupportsFailed(f"its supports() raises {type(error).__name__}: {line}") from error
    if reason is not None and not isinstance(reason, str):
        raise SupportsFailed(f"its supports() gives {reason!r}, not None or a line of text")
    return reason


def faulty(vocabulary: Vocabulary, participants: Sequence[Participant]) -> dict[str, str]:
    """Those whose ``supports`` fails on a vocabulary in any mode, with a line on how."""
    faults: dict[str, str] = {}
    for participant in participants:
        try:
            for mode in modes_of(vocabulary):
                answer_of(participant, vocabulary, mode)
        except SupportsFailed as error:
            faults[participant.name] = str(error)
    return faults


def contracts_of(
    vocabulary: Vocabulary,
    participants: Sequence[Participant],
    declared: frozenset[str],
    *,
    proper: bool,
) -> list[Contract]:
    """The contracts of a vocabulary, those with somebody to compare first. Raises SupportsFailed.

    declared: names of the references that the user declared; where none of them takes part, the
    vocabulary's format has one (:func:`harness.core.standing.references_of`).

    A contract with a single implementation is kept only where none has two: its own checks
    (round trip, determinism, validity) still say something.
    """
    contracts = []
    for mode in modes_of(vocabulary):
        excluded: dict[str, str] = {}
        taking_part: list[Participant] = []
        for participant in participants:
            reason = answer_of(participant, vocabulary, mode)
            if reason is None:
                taking_part.append(participant)
            else:
                excluded[participant.name] = reason
        if taking_part:
            members = tuple(taking_part)
            references = references_of(vocabulary, algorithm_of(vocabulary), members, declared)
            contracts.append(Contract(vocabulary, mode, members, references, excluded, proper))
    compared = [contract for contract in contracts if len(contract.participants) > 1]
    return compared or contracts


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """The answers of all participants of a contract to one batch, by name."""

    contract: Contract
    inputs: Inputs
    results: Mapping[str, Results]
