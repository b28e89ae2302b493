"""Which failures are told, and how some of them are made small before."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from corpora.grammars.corpus import compact_json
from harness.studies.forced.jobs import MinimiseWitness
from harness.studies.forced.policies import EXACT
from harness.studies.forced.pool import results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from corpora.grammars.corpus import SchemaCase
    from harness.events import ForcedWitness
    from harness.studies.forced.jobs import Minimised, Task

SHOWN = 20
"""Failures of one policy in the report; ``forced.jsonl`` has more."""

MINIMISED = 3
"""So many witnesses are minimised where nothing else is asked for, as more of them show the same
again."""

SECONDS = 10.0
"""The time for minimising one witness. Most end by themselves within two seconds; of large schemas
the best so far is told."""

GRAMMAR_SHOWN = 4000
"""Characters of a schema that are told."""

Key = tuple[str, str, str, str]


def key(witness: ForcedWitness) -> Key:
    """What tells a failure from the others of a walk."""
    return witness.policy, witness.schema, witness.context, witness.forced


def shown(witnesses: Iterable[ForcedWitness], policies: Sequence[str]) -> list[ForcedWitness]:
    """Those of the report, policy by policy: the shortest, and of many schemas rather than of one.

    Errors of the exact policy come first: there should be none.
    """
    found: list[ForcedWitness] = []
    by_policy: dict[str, list[ForcedWitness]] = {name: [] for name in policies}
    for witness in witnesses:
        by_policy.setdefault(witness.policy, []).append(witness)
    for name in sorted(by_policy, key=lambda name: name != EXACT):
        ordered = sorted(by_policy[name], key=lambda one: (_length(one), key(one)))
        seen: dict[str, int] = {}
        ranked = []
        for witness in ordered:
            rank = seen[witness.schema] = seen.get(witness.schema, 0) + 1
            ranked.append((rank, witness))
        ranked.sort(key=lambda pair: pair[0])  # stable: by length within a rank
        found += [witness for _, witness in ranked[:SHOWN]]
    return found


def _length(witness: ForcedWitness) -> int:
    return len(witness.context) + len(witness.forced) + len(witness.continuation)


def to_minimise(witnesses: Iterable[ForcedWitness], each: int) -> list[ForcedWitness]:
    """The first of each policy."""
    taken: dict[str, int] = {}
    found = []
    for witness in witnesses:
        taken[witness.policy] = taken.get(witness.policy, 0) + 1
        if taken[witness.policy] <= each:
            found.append(witness)
    return found


def minimise(
    task: Task,
    witnesses: Sequence[ForcedWitness],
    cases: Mapping[str, SchemaCase],
    processes: int,
    heard: Callable[[Minimised], None],
    left: Callable[[str], None],
) -> None:
    """Make witnesses small, in workers; ``heard`` is told each as it comes.

    left: told what workers leave behind, a line each.
    """
    jobs = [
        MinimiseWitness(witness, cases[witness.schema], SECONDS)
        for witness in witnesses
        if witness.schema in cases
    ]
    processes = min(processes, max(1, len(jobs)))
    with contextlib.closing(results(task, jobs, processes, left=left)) as answers:
        for found in answers:
            heard(found)


def completed(
    witness: ForcedWitness, case: SchemaCase | None, smallest: ForcedWitness | None
) -> ForcedWitness:
    """The witness with its schema, and the smallest one like it."""
    grammar = "" if case is None else compact_json(case.schema).decode()
    if len(grammar) > GRAMMAR_SHOWN:
        grammar = f"{grammar[:GRAMMAR_SHOWN]}…"
    return replace(witness, grammar=grammar, minimal=smallest)
