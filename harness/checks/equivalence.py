"""Equivalence: implementations under one contract give the same ids."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness.checks.base import Ask, Check, Judgement, Observation, Script
from harness.core.comparisons import ComparedGroup, Contract
from harness.core.outcomes import Outcome, Unsupported
from harness.core.standing import Standing


class Equivalence(Check):
    """For all exact implementations A, B under one contract and all x: encode_A(x) = encode_B(x).

    A rejection equals a rejection. What an implementation does not support is not compared, and
    what it dies of is the survival check's. Only answers to inputs that another one answered, too,
    are judged.
    """

    name = "equivalence"
    summary = "the same bytes give the same ids in all implementations"
    script = Script("differ")

    asks_further = False

    def applies(self, contract: Contract) -> bool:
        """With two or more."""
        return len(contract.exact) > 1

    def judge(self, seen: Observation, ask: Ask) -> Judgement:
        """Compare whole batches fast; only those that differ are taken apart."""
        judgement = Judgement()
        exact = [name for name in seen.contract.exact if name in seen.results]
        groups = seen.contract.compared_groups(exact)
        judged: dict[str, Any] = {}
        for group in groups:
            # An answer counts, once, if another one of its group stands beside it.
            answered = {name: seen.results[name].answered for name in group}
            several = np.sum([*answered.values()], axis=0) > 1
            for name, mask in answered.items():
                judged[name] = judged.get(name, False) | (mask & several)
            pivot, *others = (seen.results[name] for name in group)
            suspects = {index for one in others for index in pivot.differing(one)}
            for index in sorted(suspects):
                outcomes = {name: seen.results[name].outcome(index) for name in group}
                if not undefined(seen.contract, group, outcomes):
                    judgement.violations += self.parted(seen, index, outcomes, group)
        judgement.exercised.update({name: int(mask.sum()) for name, mask in judged.items()})
        return judgement


def undefined(contract: Contract, group: ComparedGroup, outcomes: Mapping[str, Outcome]) -> bool:
    """Whether a text has no ids, so that nobody can give others.

    So it is where only those take part who read the file, and all who say what it means refuse the
    text: one with a character that the file has no token for, and no unknown token either.
    """
    judges = [name for name in group if group[name] >= Standing.DEFINITION]
    refused = (isinstance(outcomes[name], Unsupported) for name in judges)
    return bool(contract.vocabulary.unexpressed and judges) and all(refused)
