"""The hunt of mistakes in healing: a walk of our own schemas, judged by the exact policy's proofs.

In this process, as the policies are ours and none of them hangs.
"""

from __future__ import annotations

import base64
import random
import time
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, cast

from corpora.grammars.json_schema import JsonSchemaGrammar
from corpora.grammars.own_schemas import own_cases
from corpora.vocabularies import sources
from harness.studies.forced.policies import EXACT
from harness.studies.forced.walk import Walk
from harness.studies.selftest.events import HuntDone, MistakeJudged
from harness.studies.selftest.hunt import cut_off
from impls.forced.exact import Exact
from impls.forced.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.events import Event
    from harness.studies.selftest.groups import Group
    from impls.forced.interface import Policy

SCHEMAS = 48
"""Three times as many as a run walks."""


def policy_of(spec: str, tokenizer: Tokenizer) -> Policy:
    """The policy of a spec ``module:class``, or of a mutant."""
    module, _, name = spec.partition(":")
    return cast("Policy", attrgetter(name)(import_module(module))(tokenizer))


def hunt_forced(
    group: Group,
    seed: int,
    seconds: float,
    stopped: Callable[[], bool],
    ready: Callable[[], None] = lambda: None,
) -> list[Event]:
    """Walk for at most ``seconds`` besides the loading; HuntDone is the last event.

    stopped: whether to break off, so that what was not caught is said to be cut off. ready: called
    when everything is loaded.
    """
    started = time.monotonic()
    vocabulary = sources.resolve(group.vocabulary)
    tokenizer = Tokenizer(vocabulary)
    specs = {one.name: one.spec for one in group.mistakes}
    named = {name: policy_of(spec, tokenizer) for name, spec in specs.items()}
    named |= {one.name: one for one in (policy_of(s, tokenizer) for s in group.controls)}
    policies: dict[str, Policy] = {EXACT: Exact(tokenizer), **named}
    cases = random.Random(f"forced/{seed}").sample(own_cases("flexible"), SCHEMAS)
    ready()
    began = time.monotonic()
    trouble = ""
    first: dict[str, tuple[int, float, bytes]] = {}
    for walked, case in enumerate(cases, 1):
        if stopped():
            trouble = cut_off(walked - 1, "schemas")
            break
        if time.monotonic() - began > seconds:
            break
        walk = Walk(
            tokenizer, JsonSchemaGrammar(case.schema, "flexible"), policies, case.name, seed
        )
        for text in case.instances:
            walk.instance(text)
        result = walk.finished()
        for name in named:
            tally = result.tallies[name]
            if name not in first and (tally.non_canonical or tally.unsafe):
                shown = next((w.context for w in result.witnesses if w.policy == name), "")
                spent = time.monotonic() - began
                first[name] = walked, spent, base64.b64decode(shown)
    events: list[Event] = [judged(group, name, first.get(name), trouble) for name in named]
    events.append(
        HuntDone(
            vocabulary=group.vocabulary,
            kind=str(group.kind),
            mistakes=list(specs),
            references=[EXACT],
            seconds=time.monotonic() - started,
            cases={},
        )
    )
    return events


def judged(
    group: Group, name: str, first: tuple[int, float, bytes] | None, trouble: str = ""
) -> MistakeJudged:
    """What became of one policy. first: schemas and seconds until its first error, a context.

    trouble: of one that was not caught.
    """
    mutant = next((one for one in group.mistakes if one.name == name), None)
    walked, spent, context = first or (0, 0.0, b"")
    sighting = {
        "generator": "own schemas",
        "check": "canonicality",
        "cases": 0,
        "seconds": spent,
        "all_cases": 0,
        "all_seconds": spent,
    }
    return MistakeJudged(
        name=name,
        family=mutant.family if mutant else "",
        summary=mutant.summary if mutant else "",
        spec=mutant.spec if mutant else name,
        vocabulary=group.vocabulary,
        mode=mutant.mode if mutant else "",
        check="canonicality" if mutant else "",
        stages=[],
        named=["canonicality/"] if first else [],
        bucket=f"canonicality, after {walked} schemas" if first else "",
        input_b64=base64.b64encode(context).decode("ascii"),
        sightings=[sighting] if first else [],
        trouble="" if first else trouble,
    )
