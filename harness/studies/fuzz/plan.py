"""What a campaign does, and what makes it this campaign and no other."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from corpora.generators.base import FunctionGenerator
from corpora.vocabularies.embedded import RANDOM
from harness.core.comparisons import algorithm_of
from harness.engine.selection import SelectionError, vocabularies
from harness.studies.campaigns.units import CampaignPlan
from harness.studies.fuzz.arms import SEEDS, SHARED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from corpora.vocabularies.model import Vocabulary
    from harness.engine.plan import Plan
    from harness.studies.campaigns.state import Kept
    from harness.studies.fuzz.state import State


@dataclass(frozen=True, slots=True)
class FuzzPlan(CampaignPlan):
    """A campaign of behaviours.

    plan.budget: seconds of this session, or cases of each target in all; neither: endless.
    structured: Hypothesis makes inputs, too. coverage: Atheris does, guided by the coverage of our
    interpreted implementations. costly: inputs of new cost join the corpus, which makes the
    campaign depend on the clock. canary: a planted mistake rides along. seeds: inputs to begin
    with. database: Hypothesis's, to share inputs through, or None.
    """

    structured: bool = True
    coverage: bool = True
    costly: bool = False
    canary: bool = True
    seeds: Sequence[bytes] = ()
    database: str | None = None
    doing: ClassVar[str] = "fuzzing"

    def alone(self, source: str) -> Plan:
        """The plan with one vocabulary, and the inputs to begin with as its first generator."""
        generators = list(self.plan.generators)
        if self.seeds:
            given = FunctionGenerator(SEEDS, "inputs to begin with", lambda *_: iter(self.seeds))
            generators.insert(0, given)
        alone = {source: self.plan.vocabularies[source]}
        return replace(self.plan, vocabularies=alone, generators=generators)

    def identity(self) -> dict[str, Any]:
        """As of any campaign, without the expectations."""
        plan = self.plan
        seeds = hashlib.sha256(b"".join(len(d).to_bytes(8, "big") + d for d in self.seeds))
        return CampaignPlan.identity(self) | {
            "shards": self.shards,
            "references": sorted(plan.references),
            "checks": [check.name for check in plan.checks],
            "generators": [generator.name for generator in plan.generators],
            "structured": self.structured,
            "coverage": self.coverage,
            "cost": self.costly,
            "corpus": seeds.hexdigest()[:16] if self.seeds else "none",
            "longest input": plan.suite.max_input,
        }


OFFERED = 16
"""Inputs of its corpus that a target gives to the others of its algorithm."""


def crossing(plan: FuzzPlan, kept: Mapping[str, Kept[State]]) -> dict[str, list[bytes]]:
    """What each target is given of all of its algorithm: what joined their corpora last."""
    offered: dict[str, list[bytes]] = defaultdict(list)
    given = {}
    for name, (source, _) in plan.targets.items():
        given[name] = offered[algorithm_of(plan.plan.vocabularies[source]())]
        entries = kept[name].state.corpus if name in kept else []
        given[name] += [one.data for one in entries if one.origin != SHARED][-OFFERED:]
    return given


RANDOM_VOCABULARIES = 8
"""Drawn besides the embedded ones where none is named: the vocabulary is an input, too."""


def fuzzed(names: Sequence[str], seed: int) -> dict[str, Callable[[], Vocabulary]]:
    """Loaders of the vocabularies of a campaign: the named ones, or else the embedded and random.

    Raises VocabularyError.
    """
    found = vocabularies(names, seed)
    return found if names else found | vocabularies([f"{RANDOM}{RANDOM_VOCABULARIES}"], seed)


def seeds(paths: Sequence[Path]) -> list[bytes]:
    """The contents of files, and of the files below folders, each once, in order of their bytes.

    Raises SelectionError.
    """
    found: set[bytes] = set()
    for path in paths:
        try:
            files = [path] if path.is_file() else sorted(path.rglob("*"))
            if not path.exists():
                raise SelectionError(f"--corpus {path}: no such file or folder; check the path")
            found.update(file.read_bytes() for file in files if file.is_file())
        except OSError as error:
            raise SelectionError(f"--corpus {path}: {error.strerror}; check the path") from error
    return sorted(found, key=lambda data: (len(data), data))


def spent(seconds: float) -> str:
    """A time in words: ``3 h 05 min``, ``12 min``, ``45 s``."""
    minutes = int(seconds // 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60:02} min"
    return f"{minutes} min" if minutes else f"{seconds:.0f} s"
