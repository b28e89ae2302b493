"""Reproducers: a ``repro.py`` for each finding, that asks the implementations concerned again.

It calls each library as its users do, on the vocabulary in the library's own format (written
once a run into ``vocabularies/``). Implementations without a recipe, plug-ins and programs among
them, are run by tokgate, on the vocabulary as the workers had it. Each is asked in a process of its
own, which may die of it. What the run recorded is shown beside, and proves nothing. The exit status
is 1 if the finding shows again, 0 if it does not, 2 if nothing can be said.
"""

from __future__ import annotations

import base64
import re
import shlex
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corpora.plain_text import printable_line
from harness.checks import CHECKS
from harness.checks.base import Shows, ids_of
from harness.core.outcomes import Encoded, Failed, Status
from harness.findings.recipes import function
from impls.interface import Capability, Reproducible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.checks.base import Violation
    from harness.core.comparisons import Contract
    from harness.core.participants import Participant
    from impls.interface import Recipe

THE_INPUT = ("the input",)
"""The name of a violation's part that is what went in."""

IDS_RECORDED = 24
"""Longer encodings are shown by their first ids: a reproducer is to be read."""

MESSAGE_RECORDED = 200
"""Characters of a recorded message that are shown."""

TEMPLATE = '''\
#!/usr/bin/env python3
"""{title}

{sentence}

Contract: {contract}. Needs: {needs}
Run it: python {file_name}; exit status 1: the finding still shows, 0: it is gone, 2: nothing can
be said, since a library is missing or does not load.
"""
{left_out}
import base64
import os
import pickle
import signal
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
INPUT = base64.b64decode({data})
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

VERDICTS = {
    Shows.DIFFER: DIFFER,
    Shows.FAILS: FAILS,
    Shows.CHANGES: UNSTABLE,
    Shows.ANOTHER_TEXT: ANOTHER_TEXT,
}

QUESTIONS = {"encode": ENCODE, "decode": DECODE, "encode_with_offsets": OFFSETS}
"""The question by the function of a recipe."""


@dataclass(frozen=True, slots=True)
class Library:
    """How a script runs an implementation.

    path: of the recipe's artifact, relative to the finding's folder; empty for none. left_out: the
    reason why it is not the implementation's own recipe, if it has one.
    """

    recipe: Recipe
    path: str
    left_out: str = ""


def asked(violation: Violation, contract: Contract) -> list[Participant]:
    """The participants that a script asks to show a violation, or its absence: the culprits.

    Where outputs were compared also those they were compared with: of each side all that have
    recipes, or the first, if none has. Empty where no script can put the question of the check, or
    where these are too few: ``tokgate replay`` puts it then.
    """
    check = CHECKS.get(violation.check)
    script = None if check is None else check.script
    ends = {part.outcome.status for part in violation.parts}
    if script is None or ends & {Status.LEFT_PROCESSES, Status.FALSE_CLAIM}:
        return []
    known = {one.name: one for one in contract.participants}
    concerned = set(violation.culprits)
    if script.shows is Shows.DIFFER:
        for part in violation.parts:
            members = [name for name in part.names if name in known]
            light = [n for n in members if isinstance(known[n].implementation, Reproducible)]
            concerned.update(light or members[:1])
    decodes = script.asks == "decode"
    found = [
        one
        for name, one in known.items()
        if name in concerned and (not decodes or one.can(Capability.DECODE))
    ]
    alone = script.shows is not Shows.DIFFER or violation.parts[0].names == THE_INPUT
    fails = any(isinstance(part.outcome, Failed) for part in violation.parts)
    least = 1 if alone or (script.asks != "encode" and fails) else 2
    return found if len(found) >= least else []


def replayed(name: str, title: str, sentence: str, contract: Contract) -> str:
    """Return the source of a ``repro.py`` that has tokgate's own check ask again."""
    return REPLAYED.format(
        title=_quoted(title),
        sentence=_quoted(sentence),
        contract=_quoted(contract.id),
        finding=name,
    )


def reproducer(
    title: str,
    sentence: str,
    violation: Violation,
    contract: Contract,
    libraries: Mapping[str, Library],
) -> str:
    """Return the source of ``repro.py``. libraries: by the name of the implementation.

    Whatever comes from an implementation stands in the script as a literal of Python in ASCII, in
    the docstring with its quotes escaped, or in a comment of one line; only the code of recipes is
    code, each in a function of its own.
    """
    script = CHECKS[violation.check].script
    assert script is not None, violation.check
    first = violation.parts[0]
    question, verdict, ids = QUESTIONS[script.asks], VERDICTS[script.shows], ""
    if script.shows is Shows.CHANGES:
        question = ENCODE_OFTEN
    elif script.shows is Shows.DIFFER and first.names == THE_INPUT:
        verdict = DIFFER_FROM_INPUT
    elif script.shows is Shows.DIFFER and len(libraries) < 2:
        verdict = FAILS
    if script.asks == "decode":
        ids = f"IDS = {_list(ids_of(first.outcome))}\n"
    if script.shows is Shows.ANOTHER_TEXT:
        right = (isinstance(first.outcome, Encoded) and first.outcome.text) or b""
        ids += f"RIGHT = {right!a}  # the token's text; none, where there is no token\n"
    starved = any(part.outcome.status is Status.OUT_OF_MEMORY for part in violation.parts)
    functions: dict[str, str] = {}
    table = []
    for name, one in libraries.items():
        loader = "load_" + re.sub(r"[^A-Za-z0-9]", "_", name)[:60]
        while loader in functions:  # a-b and a.b are two implementations
            loader += "_"
        functions[loader] = function(loader, one.recipe.code)
        where = f"str(HERE / {one.path!a})" if one.path else "None"
        table.append(f"    {name!a}: ({loader}, {where}),")
    requirements = sorted({r for one in libraries.values() for r in one.recipe.requirements})
    install = f"pip install {shlex.join(requirements)}" if requirements else "nothing"
    return TEMPLATE.format(
        title=_quoted(title),
        sentence=_quoted(sentence),
        contract=_quoted(contract.id),
        needs=_quoted(install),
        install=ascii(install),
        left_out="".join(
            f"\n# Not by its own recipe, since {one.left_out}: {name!a}"
            for name, one in libraries.items()
            if one.left_out
        ),
        file_name="repro.py",
        data=_literal(base64.b64encode(violation.data).decode("ascii")),
        ids=ids,
        limit=MEMORY_LIMIT if starved else "",
        recorded="\n".join(_recorded(violation, script.asks)),
        functions="\n\n".join(functions.values()).strip("\n"),
        table="\n".join(table),
        question=question,
        verdict=verdict,
    )


def _recorded(violation: Violation, asks: str) -> list[str]:
    lines = []
    for part in violation.parts:
        outcome = part.outcome
        if not isinstance(outcome, Encoded):
            result = f"{outcome.status.label}: {outcome.message}".split("\n", 1)[0]
            value = ascii(result[:MESSAGE_RECORDED])
        elif asks == "decode":
            value = ascii((outcome.text or b"")[:MESSAGE_RECORDED])
        elif asks == "encode_with_offsets":
            spans = [list(span) for span in (outcome.offsets or ())]
            value = ascii(", ".join(map(str, spans[:IDS_RECORDED])))
        else:
            more = len(outcome.ids) - IDS_RECORDED
            result = ", ".join(map(str, outcome.ids[:IDS_RECORDED]))
            value = ascii(f"[{result}, and {more} more]" if more > 0 else f"[{result}]")
        lines += [f"    {name!a}: {value}," for name in part.names]
    return lines


def _list(ids: tuple[int, ...]) -> str:
    """A list as source, in lines that can be read."""
    result = textwrap.wrap(", ".join(map(str, ids)), 92)
    return repr(list(ids)) if len(result) < 2 else "[\n    " + "\n    ".join(result) + "\n]"


def _literal(text: str) -> str:
    """A text of ASCII without quotes as source, in lines that can be read."""
    parts = [text[at : at + 88] for at in range(0, len(text), 88)]
    return f'"{text}"' if len(parts) < 2 else "".join(f'\n    "{one}"' for one in parts) + "\n"


def _quoted(text: str) -> str:
    """Return text as one line of ASCII that may stand in the docstring of a source file."""
    line = printable_line(text).encode("ascii", "backslashreplace").decode("ascii")
    return line.replace("\\", "\\\\").replace('"', '\\"')
