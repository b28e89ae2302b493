"""Stand-alone reproducers: a ``repro.py`` that needs only the libraries concerned.

It calls each library as its users do, on the vocabulary in the library's own format (written
once a run into ``vocabularies/``), prints what each gives beside what the run recorded, and exits
with 1 if the finding shows again, 0 if it does not, 2 if a library is missing.
"""

from __future__ import annotations

import base64
import re
import shlex
from typing import TYPE_CHECKING, Protocol, cast

from corpora.plain_text import printable_line
from harness.checks.base import ids_of
from harness.core.outcomes import Encoded
from harness.findings.recipes import function
from impls.interface import Implementation, Recipe, Reproducible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.checks.base import Violation
    from harness.core.comparisons import Contract

IDS_RECORDED = 500
"""Longer encodings are recorded by their first ids: a reproducer is to be read."""

TEMPLATE = '''\
#!/usr/bin/env python3
"""{title}

{sentence}

Contract: {contract}. Needs: {needs}
Run it: python {file_name}; exit status 1: the finding still shows, 0: it is gone, 2: a library
is missing.
"""
{left_out}
import base64
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
INPUT = base64.b64decode("{data}")
{ids}
IDS_RECORDED = {ids_recorded}
RECORDED = {{
{recorded}
}}

{functions}

LIBRARIES = {{
{table}
}}


def shown(value):
    text = repr(value)
    return text if len(text) < 1000 else text[:1000] + "..."


def main():
    print("input:", shown(INPUT))
    answers, missing = {{}}, []
    for name, (load, vocabulary) in LIBRARIES.items():
        try:
            answers[name] = {question}
        except ModuleNotFoundError as error:
            missing.append(name)
            print(f"{{name}}: not installed ({{error.name}})")
        except BaseException as error:  # a panic is one
            answers[name] = f"{{type(error).__name__}}: {{error}}"
    answers |= {{name: ids for name, ids in RECORDED.items() if name not in LIBRARIES}}
    for name, answer in answers.items():
        again = "" if name in LIBRARIES else " (as recorded)"
        print(f"{{name}}{{again}}: {{shown(answer)}}")
    if missing:
        print("nothing can be said without them:", {install})
        return 2
    {verdict}


if __name__ == "__main__":
    sys.exit(main())
'''

DIFFER = """\
given = {repr(answers[name]) for name in LIBRARIES if name in answers}
    # What was recorded was cut to its first ids.
    firsts = {repr(a[:IDS_RECORDED] if isinstance(a, list) else a) for a in answers.values()}
    shows = len(given) > 1 or len(firsts) > 1
    print("they differ" if shows else "they agree: the finding is gone")
    return 1 if shows else 0"""

DIFFER_FROM_INPUT = """\
shows = any(answer != INPUT for answer in answers.values())
    print("not the input" if shows else "the input comes back: the finding is gone")
    return 1 if shows else 0"""

ANOTHER_TEXT = """\
right = next(iter(RECORDED.values()))  # the token's bytes; none, where there is no such token
    lossy = right.decode("utf-8", "replace").encode()
    given = [answers[name] for name in LIBRARIES if name in answers]
    # To refuse a number that is no token's is right, and a panic is no refusal.
    texts = [one for one in given if isinstance(one, bytes) or right or "anic" in one]
    shows = any(one not in (right, lossy) for one in texts)
    print("another text" if shows else "as it should: the finding is gone")
    return 1 if shows else 0"""

FAILS = """\
shows = any(isinstance(answer, str) for answer in answers.values())
    print("it fails" if shows else "it answers: the finding is gone")
    return 1 if shows else 0"""

UNSTABLE = """\
shows = False
    for name, (load, vocabulary) in LIBRARIES.items():
        run = load(vocabulary)["encode"]
        seen = {repr(list(run(INPUT))) for _ in range(1000)}
        shows = shows or len(seen) > 1
        print(f"{name}: {len(seen)} different answers in 1,000 calls")
    return 1 if shows else 0"""

ENCODE = 'list(load(vocabulary)["encode"](INPUT))'
DECODE = 'load(vocabulary)["decode"](list(IDS))'
OFFSETS = '[list(span) for span in load(vocabulary)["encode_with_offsets"](INPUT)[1]]'

NEEDED = {
    "round-trip": "decode",
    "single-ids": "decode",
    "release-decode": "decode",
    "release-offsets": "encode_with_offsets",
}
"""The function, by check, that a recipe must define to show a violation where ``encode`` does
not."""


UNASKED = frozenset({"stream-decoder", "skip-specials", "truncation", "padding"})
"""Checks of what recipes have no function for: a script that encodes would say nothing of them."""


def reproducer(
    title: str,
    sentence: str,
    violation: Violation,
    contract: Contract,
    recipes: Mapping[str, tuple[Recipe, str]],
    left_out: Mapping[str, str] | None = None,
) -> str:
    """Return the source of ``repro.py``.

    recipes: by implementation, as :func:`harness.findings.recipes.sound` gives them, with the path
    of the artifact relative to the finding's folder. Implementations without one stand with what
    the run recorded of them. left_out: those among them whose recipe is not sound, with the reason.

    Whatever comes from an implementation stands in the script as a literal of Python in ASCII, in
    the docstring with its quotes escaped, or in a comment of one line; only the code of recipes is
    code, each in a function of its own.
    """
    question, verdict, ids = ENCODE, DIFFER, ""
    if violation.check == "survival":
        verdict = FAILS
    elif violation.check == "determinism":
        verdict = UNSTABLE
    elif violation.check == "release-offsets":
        question = OFFSETS
    elif NEEDED.get(violation.check) == "decode":
        question = DECODE
        ids = f"IDS = {list(ids_of(violation.parts[0].outcome))!r}\n"
        verdict = DIFFER_FROM_INPUT if violation.parts[0].names == ("the input",) else DIFFER
        if violation.check == "single-ids":
            verdict = ANOTHER_TEXT
    functions, table = [], []
    taken: set[str] = set()
    for name, (recipe, path) in recipes.items():
        loader = "load_" + re.sub(r"[^A-Za-z0-9]", "_", name)[:60]
        while loader in taken:  # a-b and a.b are two implementations
            loader += "_"
        taken.add(loader)
        functions.append("\n" + function(loader, recipe.code))
        where = f"str(HERE / {path!a})" if path else "None"
        table.append(f"    {name!a}: ({loader}, {where}),")
    requirements = sorted({r for recipe, _ in recipes.values() for r in recipe.requirements})
    install = f"pip install {shlex.join(requirements)}" if requirements else "nothing"
    return TEMPLATE.format(
        title=_quoted(title),
        sentence=_quoted(sentence),
        contract=_quoted(contract.id),
        needs=_quoted(install),
        install=ascii(install),
        left_out="".join(
            f"\n# Not run here, since {why}: {name!a}" for name, why in (left_out or {}).items()
        ),
        file_name="repro.py",
        data=base64.b64encode(violation.data).decode("ascii"),
        ids_recorded=IDS_RECORDED,
        ids=ids,
        recorded="\n".join(_recorded(violation)),
        functions="\n".join(functions).strip("\n"),
        table="\n".join(table),
        question=question,
        verdict=verdict,
    )


class ReproducibleImplementation(Implementation, Reproducible, Protocol):
    """An implementation that has recipes."""


def reproducible(violation: Violation, contract: Contract) -> list[ReproducibleImplementation]:
    """The implementations concerned that can be run without tokgate.

    A disagreement concerns all who were compared, any other violation its culprits (and, for a
    failure, nobody else: it shows by itself).
    """
    if violation.check in UNASKED:
        return []
    concerned = set(violation.culprits)
    if violation.check == "equivalence" or violation.check in NEEDED:
        concerned.update(name for part in violation.parts for name in part.names)
    return [
        cast("ReproducibleImplementation", participant.implementation)
        for participant in contract.participants
        if participant.name in concerned and isinstance(participant.implementation, Reproducible)
    ]


def _recorded(violation: Violation) -> list[str]:
    lines = []
    for part in violation.parts:
        outcome = part.outcome
        if not isinstance(outcome, Encoded):
            value = f"{outcome.status.label}: {outcome.message}".split("\n", 1)[0]
            lines += [f"    {name!a}: {value!a}," for name in part.names]
        elif NEEDED.get(violation.check) == "decode":
            lines += [f"    {name!a}: {outcome.text!a}," for name in part.names]
        elif violation.check == "release-offsets":
            spans = [list(span) for span in (outcome.offsets or ())[:IDS_RECORDED]]
            lines += [f"    {name!a}: {spans!a}," for name in part.names]
        else:
            ids = list(outcome.ids[:IDS_RECORDED])
            lines += [f"    {name!a}: {ids!a}," for name in part.names]
    return lines


def _quoted(text: str) -> str:
    """Return text as one line of ASCII that may stand in the docstring of a source file."""
    line = printable_line(text).encode("ascii", "backslashreplace").decode("ascii")
    return line.replace("\\", "\\\\").replace('"', '\\"')
