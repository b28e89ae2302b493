"""The mutants of ``selftest`` that show in the ids or in the decoded text of a single input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.core.comparisons import answer_of
from harness.core.participants import Participant
from harness.studies.selftest.catalog import mistakes
from impls.interface import Decodes, Mode, Rejected, Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.studies.selftest.catalog import Mutant
    from impls.interface import Encoder

KINDS = frozenset({"equivalence", "round-trip"})
"""The checks that compare ids, and decoded texts, of one input. Vectors ask nothing else."""

ELSEWHERE = frozenset({"processes", "growth", "gate"})
"""Families of mistakes that show in the life of a process or in time."""

REJECTED = "rejected"
"""The answer of an encoder that refuses an input, as it must where a byte has no token."""

Answer = tuple[int, ...] | str


@dataclass(slots=True)
class Subject:
    """A mutant that runs a vocabulary in a mode."""

    mutant: Mutant
    mode: Mode
    encoder: Encoder

    def fails(self, data: bytes, ids: Answer, lossless: bool) -> bool:
        """Whether it fails a vector. lossless: decoding the ids must give the input, too."""
        if encoded(self.encoder, data, self.mode) not in (None, ids):
            return True
        return lossless and not isinstance(ids, str) and self.decoded(ids) not in (None, data)

    def decoded(self, ids: Sequence[int]) -> Any:
        """The text of ids, None where it does not decode."""
        if not isinstance(self.encoder, Decodes) or not self.mutant.check.startswith("round"):
            return None
        try:
            return self.encoder.decode(ids)
        except Exception as error:
            return None if isinstance(error, Unsupported) else type(error).__name__


def encoded(encoder: Encoder, data: bytes, mode: Mode) -> Answer | None:
    """The ids of an input; ``rejected``, or the name of an error; None if it is not taken."""
    try:
        return tuple(encoder.encode(data, mode))
    except Unsupported:
        return None
    except Rejected:
        return REJECTED
    except Exception as error:
        return type(error).__name__


def applicable(vocabulary: Vocabulary, modes: Sequence[Mode]) -> Iterator[Subject]:
    """The mutants that run a vocabulary, one after another, as each has tables of its own."""
    for mutant in mistakes().values():
        if mutant.check not in KINDS or mutant.family in ELSEWHERE or not mutant.base:
            continue
        one = mutant.implementation
        for mode in modes:
            taking = Participant(mutant.name, mutant.spec, one.about, one)
            if answer_of(taking, vocabulary, mode) is None:
                try:
                    loaded = one.load(vocabulary)
                except Exception:  # the vocabulary has nothing that the mistake could change
                    break
                yield Subject(mutant, mode, loaded)
