"""What a run's batches add up to for each implementation on each vocabulary."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.events import BatchDone, ContractOpened


@dataclass(frozen=True, slots=True)
class Tallied:
    """The counts of :class:`harness.ledger.models.RunTally`."""

    implementation: str
    vocabulary: str
    cases: int
    compared: int
    wrong: int
    deaths: int
    trusted: bool
    checks: list[str]
    generators: list[str]


class Counting:
    """Adds up batches. A case counts once under each contract, however many checks judged it."""

    def __init__(self) -> None:
        self._contracts: dict[str, ContractOpened] = {}
        self._judged: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._at_fault: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._generators: dict[tuple[str, str], set[str]] = defaultdict(set)

    def opened(self, contract: ContractOpened) -> None:
        """Take note of the vocabulary of a contract, and of whom it trusts."""
        self._contracts[contract.id] = contract

    def done(self, batch: BatchDone) -> None:
        """Add a batch."""
        for counted, sums in (
            (batch.exercised, self._judged),
            (batch.violations, self._at_fault),
        ):
            for check, by_name in counted.items():
                for name, number in by_name.items():
                    sums[batch.contract, name][check] += number
                    if number:
                        self._generators[batch.contract, name].add(batch.generator)

    def tallied(self) -> list[Tallied]:
        """The sums, by vocabulary, those of all contracts on one together."""
        sums: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        checks: dict[tuple[str, str], set[str]] = defaultdict(set)
        generators: dict[tuple[str, str], set[str]] = defaultdict(set)
        trusted = set()
        for (identity, name), judged in self._judged.items():
            contract = self._contracts.get(identity)
            if contract is None:
                continue
            faults = self._at_fault.get((identity, name), Counter())
            place = name, contract.vocabulary
            sums[place]["cases"] += max(judged.values(), default=0)
            sums[place]["compared"] += judged["equivalence"]
            sums[place]["wrong"] += min(faults["equivalence"], judged["equivalence"])
            sums[place]["deaths"] += faults["survival"]
            checks[place].update(check for check, number in judged.items() if number)
            generators[place] |= self._generators[identity, name]
            if name in contract.references:
                trusted.add(place)
        return [
            Tallied(
                *place,
                one["cases"],
                one["compared"],
                one["wrong"],
                one["deaths"],
                place in trusted,
                sorted(checks[place]),
                sorted(generators[place]),
            )
            for place, one in sums.items()
        ]
