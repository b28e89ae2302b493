"""Certificate: the ids of candidates are proved right or wrong, without a reference."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from corpora.vocabularies.model import Vocabulary
from harness.checks.base import Ask, Check, Judgement, Observation, encoded_indices, ids_of
from harness.core.comparisons import Contract
from harness.core.outcomes import Encoded, Rejected
from harness.core.partition import Part
from harness.core.rows import Rows
from harness.core.standing import Standing
from impls.interface import Mode

if TYPE_CHECKING:
    from harness.checks.certifier import Certifier


class Certificate(Check):
    """For any x: encode(x) spells x, breaks where the pattern does, and its neighbours are valid.

    Asked of the user's own implementations of byte-level byte-pair encoding, if ``--certify`` or
    ``--check certificate`` is given. Of others the equivalence check says the same. The definition
    confirms what is wrong, and characters are classified by Unicode 16.
    """

    name = "certificate"
    summary = "ids are proved to be the encoding, without a reference (only with `--certify`)"
    said = "gave ids that are proved not to be the encoding"
    by_default = False
    asks_further = False

    def applies(self, contract: Contract) -> bool:
        """With somebody to judge, and where pairs decide."""
        return bool(candidates(contract)) and certifier_of(contract.vocabulary, contract.mode).pairs

    def judge(self, seen: Observation, ask: Ask) -> Judgement:
        """All answers of one implementation together; those that are undecided do not count."""
        judgement, inputs = Judgement(), [*seen.inputs]
        certifier = certifier_of(seen.contract.vocabulary, seen.contract.mode)
        for name in candidates(seen.contract):
            if name not in seen.results:
                continue
            outcomes, some = [*seen.results[name]], encoded_indices(seen.results[name])
            rows = Rows.of([inputs[i] for i in some], [ids_of(outcomes[i]) for i in some])
            for index, found in zip(some, certifier.judge(rows), strict=True):
                judgement.exercised[name] += found.status != "undecided"
                if found.status == "wrong":
                    right = Rejected(found.reason) if found.right is None else Encoded(found.right)
                    parts = (
                        Part((f"the encoding ({found.reason})",), right),
                        Part((name,), outcomes[index]),
                    )
                    fault = self.violation(seen, index, parts, (name,), found.stage)
                    judgement.violations.append(fault)
        return judgement


def candidates(contract: Contract) -> list[str]:
    """The user's own implementations that mean to give what the vocabulary defines."""
    own = {one.name for one in contract.participants if not one.about.engine}
    return [name for name in contract.exact
            if name in own and contract.standing[name] is Standing.CANDIDATE]  # fmt: skip


@lru_cache(maxsize=8)
def certifier_of(vocabulary: Vocabulary, mode: Mode) -> Certifier:
    """What decides the answers of encoders."""
    # Its compiled functions are not imported by who only lists the checks.
    from harness.checks.certifier import Certifier  # noqa: PLC0415

    return Certifier(vocabulary, mode, answers=True)
