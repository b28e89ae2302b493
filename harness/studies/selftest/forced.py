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

from corpora.grammars.corpus import own_cases
from corpora.grammars.json_schema import JsonSchemaGrammar
from corpora.vocabularies import sources
from harness.studies.forced.policies import EXACT
from harness.studies.forced.walk import Walk
from harness.studies.selftest.events import Sighting
from harness.studies.selftest.groups import Shown
from impls.forced.exact import Exact
from impls.forced.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.studies.selftest.groups import Group
    from impls.forced.interface import Policy

SCHEMAS = 48
"""Three times as many as a run walks."""


def policy_of(spec: str, tokenizer: Tokenizer) -> Policy:
    """The policy of a spec ``module:class``, or of a mutant."""
    module, _, name = spec.partition(":")
    return cast("Policy", attrgetter(name)(import_module(module))(tokenizer))


def walked(
    group: Group, seed: int, seconds: float, began: Callable[[], None], over: Callable[[], bool]
) -> dict[str, Shown]:
    """Walk for at most ``seconds`` besides the loading; what showed, by name.

    began: called when everything is loaded. over: whether to break off.
    """
    tokenizer = Tokenizer(sources.resolve(group.vocabulary))
    named = {one.name: policy_of(one.spec, tokenizer) for one in group.mistakes}
    named |= {spec: policy_of(spec, tokenizer) for spec in group.controls}
    shown = dict.fromkeys(named, Shown())
    began()
    start = time.monotonic()
    cases = random.Random(f"forced/{seed}").sample(own_cases("flexible"), SCHEMAS)
    for place, case in enumerate(cases, 1):
        spent = time.monotonic() - start
        if over() or spent > seconds:
            break
        policies = {EXACT: Exact(tokenizer), **named}
        grammar = JsonSchemaGrammar(case.schema, "flexible")
        walk = Walk(tokenizer, grammar, policies, case.name, seed)
        for text in case.instances:
            walk.instance(text)
        result = walk.finished()
        for name in named:
            tally = result.tallies[name]
            if not shown[name].named and (tally.non_canonical or tally.unsafe):
                context = next((one.context for one in result.witnesses if one.policy == name), "")
                first = Sighting("own schemas", "canonicality", 0, spent, 0, spent)
                bucket = f"canonicality, after {place} schemas"
                data = base64.b64decode(context)
                shown[name] = Shown(["canonicality/"], bucket, data, [first])
    return shown
