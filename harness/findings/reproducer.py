"""Reproducers: a ``repro.py`` for each finding, that asks the implementations concerned again.

It calls each library as its users do, on the vocabulary in the library's own format (written
once a run into ``vocabularies/``). Implementations without a recipe, plug-ins and programs among
them, are run by tokgate, on the vocabulary as the workers had it. Each is asked in a process of its
own, which may die of it. What the run recorded is shown beside, and proves nothing. The exit status
is 1 if the finding shows again, 0 if it does not, 2 if nothing can be said.

The script is ``repro.py.j2``. Whatever comes from an implementation stands in it as a literal of
Python in ASCII, in the docstring with its quotes escaped, or in a comment of one line; only the
code of recipes is code, each in a function of its own.
"""

import shlex
from collections.abc import Callable
from pathlib import Path
from pprint import pformat

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from corpora.plain_text import printable_line
from harness.checks import CHECKS
from harness.checks.base import Script, Violation, ids_of
from harness.core.comparisons import Contract
from harness.core.outcomes import Encoded, Failed, Outcome, Status
from harness.core.participants import Participant
from harness.findings.recipes import Library, function
from impls.interface import Capability, Reproducible

THE_INPUT = ("the input",)
"""The name of a violation's part that is what went in."""

RECORDED = 200
"""Characters of a recorded answer that are shown: a reproducer is to be read."""


def asked(violation: Violation, contract: Contract, script: Script) -> list[Participant]:
    """The participants that a script asks to show a violation, or its absence: the culprits.

    Where outputs were compared also those they were compared with: of each side all that have
    recipes, or the first, if none has. Empty where these are too few for the question.
    """
    known = {
        one.name: one
        for one in contract.participants
        if script.asks != "decode" or one.can(Capability.DECODE)
    }
    concerned, parts = {*violation.culprits}, violation.parts
    for part in parts if script.shows == "differ" else ():
        members = [name for name in part.names if name in known]
        light = [n for n in members if isinstance(known[n].implementation, Reproducible)]
        concerned.update(light or members[:1])
    found = [one for name, one in known.items() if name in concerned]
    fails = script.asks != "encode" and any(isinstance(one.outcome, Failed) for one in parts)
    alone = script.shows != "differ" or parts[0].names == THE_INPUT or fails
    return found if alone or len(found) > 1 else []


def reproducer(
    name: str,
    sentence: str,
    violation: Violation,
    contract: Contract,
    library: Callable[[Participant, Contract, str], Library],
) -> str:
    """Return the source of ``repro.py``. library: how the function of a recipe is called.

    Where no script can put the question of the check, or too few have recipes for it,
    ``tokgate replay`` puts it.
    """
    script = CHECKS[violation.check].script if violation.check in CHECKS else None
    ends, first = {part.outcome.status for part in violation.parts}, violation.parts[0]
    if script is None or ends & {Status.LEFT_PROCESSES, Status.FALSE_CLAIM}:
        script, members = Script("fails"), []
    else:
        members = asked(violation, contract, script)
    libraries = {one.name: library(one, contract, script.asks) for one in members}
    requirements = sorted({r for one in libraries.values() for r in one.recipe.requirements})
    return TEMPLATES.get_template("repro.py.j2" if libraries else "replay.py.j2").render(
        title=f"tokgate finding {name}: {violation.check}",
        name=name,
        sentence=sentence,
        contract=contract.id,
        install=f"pip install {shlex.join(requirements)}" if requirements else "nothing",
        data=violation.data,
        ids=[*ids_of(first.outcome)],
        right=getattr(first.outcome, "text", None) or b"",
        from_input=first.names == THE_INPUT,
        asks=script.asks,
        shows=script.shows,
        out_of_memory=Status.OUT_OF_MEMORY in ends,
        parts=violation.parts,
        libraries=libraries,
    )


def recorded(outcome: Outcome, asks: str) -> str:
    """What a run has seen of an answer, in a line."""
    if not isinstance(outcome, Encoded):
        text = f"{outcome.status.label}: {outcome.message}".split("\n", 1)[0]
    elif asks == "decode":
        text = repr(outcome.text or b"")
    else:
        text = str([*map(list, outcome.offsets or ())] if asks != "encode" else [*outcome.ids])
    return text if len(text) <= RECORDED else f"{text[:RECORDED]}.."


def source(value: object) -> str:
    """A literal in lines that can be read."""
    return pformat(value, width=92, compact=True)


def quoted(text: str) -> str:
    """Return text as one line of ASCII that may stand in the docstring of a source file."""
    line = printable_line(text).encode("ascii", "backslashreplace").decode("ascii")
    return line.replace("\\", "\\\\").replace('"', '\\"')


TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
TEMPLATES.filters |= {
    "function": function,
    "literal": ascii,
    "quoted": quoted,
    "recorded": recorded,
    "source": source,
}
