"""Reproducers: a ``repro.py`` for each finding, that asks the implementations concerned again.

It calls each library as its users do, on the vocabulary in the library's own format (written
once a run into ``vocabularies/``). Implementations without a recipe, plug-ins and programs among
them, are run by tokgate, on the vocabulary as the workers had it. Each is asked in a process of its
own, which may die of it. What the run recorded is shown beside, and proves nothing. The exit status
is 1 if the finding shows again, 0 if it does not, 2 if nothing can be said.
"""

from __future__ import annotations

import shlex
from pprint import pformat
from typing import TYPE_CHECKING

from corpora.plain_text import printable_line
from harness.checks import CHECKS
from harness.checks.base import Shows, ids_of
from harness.core.outcomes import Encoded, Failed, Status
from harness.findings.recipes import function
from impls.interface import Capability, Reproducible

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.checks.base import Script, Violation
    from harness.core.comparisons import Contract
    from harness.core.outcomes import Outcome
    from harness.core.participants import Participant
    from harness.findings.recipes import Library

THE_INPUT = ("the input",)
"""The name of a violation's part that is what went in."""

RECORDED = 200
"""Characters of a recorded answer that are shown: a reproducer is to be read."""

TEMPLATE = '''\
#!/usr/bin/env python3
"""{title}

{sentence}

Contract: {contract}. Needs: {needs}
Run it: python repro.py; exit status 1: the finding still shows, 0: it is gone, 2: nothing can
be said, since a library is missing or does not load.
"""

import os
import pickle
import signal
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
INPUT = {data}
{ids}
SECONDS = 60  # an answer that takes longer is none
# What the run saw, to compare by eye: nothing below is decided by it.
RECORDED = {{
{recorded}
}}

{functions}

LIBRARIES = {{
{table}
}}


def shown(value):
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) < 1000 else text[:1000] + "..."


def ask(load, vocabulary, tell):
    try:
        library = load(vocabulary)
    except ModuleNotFoundError as error:
        return tell(("missing", str(error.name)))
    except BaseException as error:  # a panic is one
        return tell(("unloaded", f"{{type(error).__name__}}: {{error}}"))
    tell(("loaded", None))
    try:
        result = ("answer", {question})
    except BaseException as error:
        refused = type(error).__name__ in ("Rejected", "Unsupported", "UnicodeDecodeError")
        result = ("refused" if refused else "failed", f"{{type(error).__name__}}: {{error}}")
    tell(result)


def apart(load, vocabulary):
    """A kind and a value: what a library does in a process of its own, which may die of it."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.close(reader)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS){limit}
        with os.fdopen(writer, "wb", buffering=0) as pipe:
            ask(load, vocabulary, lambda result: pipe.write(pickle.dumps(result)))
            os._exit(0)
    os.close(writer)
    result = []
    with os.fdopen(reader, "rb") as pipe:
        while True:
            try:
                result.append(pickle.load(pipe))
            except (EOFError, pickle.UnpicklingError):
                break
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if result and result[-1][0] != "loaded":
        return result[-1]
    how = f"exit status {{status}}" if status >= 0 else signal.Signals(-status).name
    if status == -signal.SIGALRM:
        how = f"no answer within {{SECONDS}} s"
    return ("died" if result else "unloaded", f"its process ended: {{how}}")


def main():
    print("input:", shown(INPUT))
    answers = {{name: apart(*how) for name, how in LIBRARIES.items()}}
    for name, (kind, value) in answers.items():
        said = {{"missing": "not installed: ", "unloaded": "cannot be loaded: "}}
        print(f"{{name}}: {{said.get(kind, '')}}{{shown(value)}}")
    for name, value in RECORDED.items():
        print(f"recorded of {{name}}: {{shown(value)}}")
    if any(kind in ("missing", "unloaded") for kind, _ in answers.values()):
        print("nothing can be said without all of them; needed:", {install})
        return 2
    {verdict}


if __name__ == "__main__":
    sys.exit(main())
'''

DIFFER = """\
# Two that refuse the input agree, whatever their messages are.
    alike = {"failed": "refused"}
    given = {
        repr(value) if kind == "answer" else alike.get(kind, kind)
        for kind, value in answers.values()
    }
    print("they differ" if len(given) > 1 else "they agree: the finding is gone")
    return 1 if len(given) > 1 else 0"""

DIFFER_FROM_INPUT = """\
shows = any(answer != ("answer", INPUT) for answer in answers.values())
    print("not the input" if shows else "the input comes back: the finding is gone")
    return 1 if shows else 0"""

ANOTHER_TEXT = """\
lossy = RIGHT.decode("utf-8", "replace").encode()
    shows = False
    for kind, value in answers.values():
        # To refuse a number that is no token's is right, and a panic is no refusal.
        panic = kind == "died" or (kind == "failed" and "anic" in value)
        shows |= value not in (RIGHT, lossy) if kind == "answer" else bool(RIGHT) or panic
    print("another text" if shows else "as it should: the finding is gone")
    return 1 if shows else 0"""

FAILS = """\
shows = any(kind in ("failed", "died") for kind, _ in answers.values())
    print("it fails" if shows else "it answers: the finding is gone")
    return 1 if shows else 0"""

UNSTABLE = """\
shows = False
    for name, (kind, value) in answers.items():
        shows = shows or kind != "answer" or len(value) > 1
        print(f"{name}: {len(value)} different answers in 1,000 calls")
    return 1 if shows else 0"""

ENCODE = '[int(i) for i in library["encode"](INPUT)]'
ENCODE_OFTEN = 'sorted({str([int(i) for i in library["encode"](INPUT)]) for _ in range(1000)})'
DECODE = 'bytes(library["decode"](list(IDS)))'
OFFSETS = '[[int(at) for at in span] for span in library["encode_with_offsets"](INPUT)[1]]'

MEMORY_LIMIT = """
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, 4 << 30))  # 4 GiB"""
"""This stands in a script whose finding is that the memory did not suffice."""

REPLAYED = '''\
#!/usr/bin/env python3
"""{title}

{sentence}

Contract: {contract}. Needs: tokgate, whose check asks again, and this file in the folder of its run
Run it: python repro.py; exit status 1: the finding still shows, 0: it is gone, 2: nothing can be
said. It runs what the record of the run names.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

RUN = Path(__file__).resolve().parent.parent.parent
FINDING = {finding!a}
TOKGATE = "import sys; from harness.cli.application import main; sys.exit(main())"


def main():
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-c", TOKGATE, "replay", FINDING, "--trust"]
        status = subprocess.call([*command, "--run", str(RUN), "--out", out + "/replay"])
    return status if status in (0, 1) else 2


if __name__ == "__main__":
    sys.exit(main())
'''

VERDICTS = {Shows.DIFFER: DIFFER, Shows.FAILS: FAILS, Shows.CHANGES: UNSTABLE,
            Shows.ANOTHER_TEXT: ANOTHER_TEXT}  # fmt: skip

QUESTIONS = {"encode": ENCODE, "decode": DECODE, "encode_with_offsets": OFFSETS}
"""The question by the function of a recipe."""


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
    concerned, least = {*violation.culprits}, 1
    if script.shows is Shows.DIFFER:
        for part in violation.parts:
            members = [name for name in part.names if name in known]
            light = [n for n in members if isinstance(known[n].implementation, Reproducible)]
            concerned.update(light or members[:1])
        fails = any(isinstance(part.outcome, Failed) for part in violation.parts)
        if violation.parts[0].names != THE_INPUT and not (fails and script.asks != "encode"):
            least = 2
    found = [one for name, one in known.items() if name in concerned]
    return found if len(found) >= least else []


def reproducer(
    name: str,
    sentence: str,
    violation: Violation,
    contract: Contract,
    library: Callable[[Participant, Contract, str], Library],
) -> str:
    """Return the source of ``repro.py``. library: how the function of a recipe is called.

    Whatever comes from an implementation stands in the script as a literal of Python in ASCII, in
    the docstring with its quotes escaped, or in a comment of one line; only the code of recipes is
    code, each in a function of its own. Where no script can put the question of the check, or too
    few have recipes for it, ``tokgate replay`` puts it.
    """
    title = f"tokgate finding {name}: {violation.check}"
    about = {"title": title, "sentence": sentence, "contract": contract.id}
    about = {key: _quoted(text) for key, text in about.items()}
    script = CHECKS[violation.check].script if violation.check in CHECKS else None
    ends = {part.outcome.status for part in violation.parts}
    if script is None or ends & {Status.LEFT_PROCESSES, Status.FALSE_CLAIM}:
        return REPLAYED.format(**about, finding=name)
    libraries = {
        one.name: library(one, contract, script.asks) for one in asked(violation, contract, script)
    }
    if not libraries:
        return REPLAYED.format(**about, finding=name)
    first = violation.parts[0]
    question, verdict, ids = QUESTIONS[script.asks], VERDICTS[script.shows], ""
    if script.shows is Shows.CHANGES:
        question = ENCODE_OFTEN
    elif script.shows is Shows.DIFFER and first.names == THE_INPUT:
        verdict = DIFFER_FROM_INPUT
    elif script.shows is Shows.DIFFER and len(libraries) < 2:
        verdict = FAILS
    if script.asks == "decode":
        ids = f"IDS = {_source([*ids_of(first.outcome)])}\n"
    if script.shows is Shows.ANOTHER_TEXT:
        right = (isinstance(first.outcome, Encoded) and first.outcome.text) or b""
        ids += f"RIGHT = {right!a}  # the token's text; none, where there is no token\n"
    table, functions = [], []
    for number, (who, one) in enumerate(libraries.items(), 1):
        where = f"str(HERE / {one.path!a})" if one.path else "None"
        why = f"  # not by its own recipe: {_quoted(one.left_out)}" if one.left_out else ""
        table.append(f"    {who!a}: (load_{number}, {where}),{why}")
        functions.append(function(f"load_{number}", one.recipe.code))
    requirements = sorted({r for one in libraries.values() for r in one.recipe.requirements})
    install = f"pip install {shlex.join(requirements)}" if requirements else "nothing"
    return TEMPLATE.format(
        **about,
        needs=_quoted(install),
        install=ascii(install),
        data=_source(violation.data),
        ids=ids,
        limit=MEMORY_LIMIT if Status.OUT_OF_MEMORY in ends else "",
        recorded="\n".join(
            f"    {who!a}: {_recorded(part.outcome, script.asks)!a},"
            for part in violation.parts
            for who in part.names
        ),
        functions="\n\n".join(functions).strip("\n"),
        table="\n".join(table),
        question=question,
        verdict=verdict,
    )


def _recorded(outcome: Outcome, asks: str) -> str:
    """What a run has seen of an answer, in a line."""
    if not isinstance(outcome, Encoded):
        text = f"{outcome.status.label}: {outcome.message}".split("\n", 1)[0]
    elif asks == "decode":
        text = repr(outcome.text or b"")
    else:
        text = str([*map(list, outcome.offsets or ())] if asks != "encode" else [*outcome.ids])
    return text if len(text) <= RECORDED else f"{text[:RECORDED]}.."


def _source(value: object) -> str:
    """A literal in lines that can be read."""
    return pformat(value, width=92, compact=True)


def _quoted(text: str) -> str:
    """Return text as one line of ASCII that may stand in the docstring of a source file."""
    line = printable_line(text).encode("ascii", "backslashreplace").decode("ascii")
    return line.replace("\\", "\\\\").replace('"', '\\"')
