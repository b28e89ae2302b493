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
from functools import partial
from pathlib import Path
from pprint import pformat

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from corpora.plain_text import printable_line
from harness.checks import CHECKS
from harness.checks.base import Script, Violation
from harness.core.comparisons import Contract
from harness.core.outcomes import Failed, Status
from harness.core.participants import Participant
from harness.findings.recipes import function
from impls.interface import Capability, Recipe, Reproducible

THE_INPUT = ("the input",)
"""The name of a violation's part that is what went in."""

INPUTLESS = {Status.LEFT_PROCESSES, Status.FALSE_CLAIM}
"""Ends that no input brings about."""


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
    recipe: Callable[[Participant, Contract, str], Recipe],
) -> str:
    """Return the source of ``repro.py``. recipe: of an implementation, in which
    a path stands for its artifact, given the function that is called.

    Where no script can put the question of the check, or too few have recipes for it,
    ``tokgate replay`` puts it.
    """
    script = CHECKS[violation.check].script if violation.check in CHECKS else None
    recipes: dict[str, Recipe] = {}
    if script and INPUTLESS.isdisjoint(part.outcome.status for part in violation.parts):
        members = asked(violation, contract, script)
        recipes = {one.name: recipe(one, contract, script.asks) for one in members}
    requirements = sorted({r for one in recipes.values() for r in one.requirements})
    return TEMPLATES.get_template("repro.py.j2" if recipes else "replay.py.j2").render(
        name=name,
        sentence=sentence,
        violation=violation,
        contract=contract,
        script=script,
        recipes=recipes,
        install=f"pip install {shlex.join(requirements)}" if requirements else "nothing",
    )


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
    "source": partial(pformat, width=92, compact=True),
}
