"""Defects of the field that were found, and whether they are still there: ``defects.toml``.

Each is confirmed by the library alone: the lines of its recipe (as in a finding's ``repro.py``) and
one question, in a Python of its own that imports nothing of ours. All of them are asked again, and
the table printed, by ``python -m harness.studies.survey.defects``.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import tempfile
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec

from corpora.vocabularies import scratch, sources
from corpora.vocabularies.model import VocabularyError
from corpora.vocabularies.reading import fault_of, line_of, read_toml
from impls import registry
from impls.interface import Mode, Reproducible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary

KNOWN = Path(__file__).with_name("defects.toml")

SECONDS = 300.0
"""The time limit of a question, which is there for hangs: what is asked takes a moment, an import
on a busy machine does not."""

ASK = """

import base64, json, os, time
question = json.loads({question!r})
try:
    if question["ask"] == "encode":
        answer = [int(i) for i in encode(base64.b64decode(question["input"]))]
    elif question["ask"] == "growth":
        data = base64.b64decode(question["input"])
        def seconds(part):
            spent = []
            for _ in range(3):
                start = time.process_time()
                encode(part)
                spent.append(time.process_time() - start)
            return min(spent)
        quarter = seconds(data[: len(data) // 4])
        answer = "superlinear" if seconds(data) > quarter * 4 ** 1.5 else "linear"
    elif question["ask"] == "stream" and "decode_stream_after" in globals():
        answer = list(decode_stream_after(question["prompt"], question["ids"]))
    else:
        answer = list(decode(question["ids"]))
except BaseException as error:
    kinds = [kind.__name__ for kind in type(error).__mro__]
    answer = "panic" if "Exception" not in kinds else "error"
os.write({descriptor}, json.dumps(answer).encode())
"""

Answer = list[int] | str
"""Ids, the bytes of a text, or ``error``, ``panic``, ``died``; of growth ``linear`` or
``superlinear``; in the file also ``answers``, for ids or bytes that do not matter."""


FAILURES = ("error", "panic", "died")
"""Answers that are failures, the worst one last."""


class Status(StrEnum):
    """What became of a defect."""

    CONFIRMED = "confirmed"
    CHANGED = "changed"
    """The library answers otherwise than it did, and still not as the reference does."""
    WORSE = "worse"
    """The defect shows by a worse failure than before, which is a panic or the end of the
    process."""
    GONE = "gone"
    ABSENT = "not installed"


class Defect(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One defect, by its smallest input: a table of the file.

    library, reference: names of implementations. version: of the library when it was found.
    ask: ``encode`` (of the input), ``decode`` (of ``ids``), ``stream``: what is given out for them
    after a ``prompt``, which is their text where a library has no streams; or ``growth``: whether
    all of the input takes more than eight times as long as a quarter of it, which is an exponent
    above 1.5. gives: what the library answered; right: what the reference does. special: whether
    special tokens are read from the text. The input is ``hex``, or ``text`` so many ``times``.
    """

    library: str
    version: str
    title: str
    vocabulary: str
    ask: str
    gives: Answer
    right: Answer
    reference: str
    text: str = ""
    times: Annotated[int, msgspec.Meta(ge=1, le=1 << 24)] = 1
    hex: str = ""
    ids: tuple[int, ...] = ()
    prompt: tuple[int, ...] = ()
    special: bool = False

    @property
    def input(self) -> bytes:
        """The input in full."""
        return bytes.fromhex(self.hex) or (self.text * self.times).encode()

    @property
    def mode(self) -> Mode:
        """The mode in which it shows."""
        return Mode(special="all" if self.special else "none")


class _File(msgspec.Struct):
    defect: list[Defect]


def load(path: Path = KNOWN) -> list[Defect]:
    """The defects of a file, in its order. Raises OSError, and ValueError with one line."""
    try:
        defects = msgspec.convert(read_toml(path), _File).defect
        for one in defects:
            _ = one.input
    except msgspec.ValidationError as error:
        raise ValueError(f"{path}: {fault_of(error)}") from error
    except ValueError as error:
        raise ValueError(f"{path}: {line_of(error)}") from error
    return defects


def answer(name: str, vocabulary: Vocabulary, defect: Defect) -> Answer:
    """What an implementation, its library alone, answers. Raises ImportError if it is not there."""
    implementation = registry.resolve(name)
    assert isinstance(implementation, Reproducible)
    recipe = implementation.recipe(vocabulary, defect.mode)
    data = base64.b64encode(defect.input).decode("ascii")
    ids = {"ids": defect.ids, "prompt": defect.prompt}
    question = json.dumps({"ask": defect.ask, "input": data, **ids})
    with scratch.temporary("defect-") as folder, tempfile.TemporaryFile(dir=folder) as output:
        path = Path(folder, recipe.artifact_name)
        path.write_bytes(recipe.artifact)
        code = f"VOCABULARY = {str(path)!r}\n{recipe.code}"
        code += ASK.format(question=question, descriptor=output.fileno())
        script = Path(folder, "ask.py")  # too long for an argument
        script.write_text(code)
        done = subprocess.run(
            [sys.executable, "-I", str(script)],
            cwd=folder,
            pass_fds=[output.fileno()],
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        output.seek(0)
        content = output.read()
    if not content:
        if done.returncode > 0:
            raise RuntimeError(done.stderr.decode(errors="replace")[-2000:])
        return "died"
    found: Answer = json.loads(content)
    return found


def confirm(defect: Defect) -> Status:
    """Ask the library and the reference again."""
    try:
        vocabulary = sources.resolve(defect.vocabulary)
        given = answer(defect.library, vocabulary, defect)
        right = answer(defect.reference, vocabulary, defect)
    except (ImportError, VocabularyError):
        return Status.ABSENT
    return judged(defect, given, right)


def judged(defect: Defect, given: Answer, right: Answer) -> Status:
    """What became of a defect, by what the library and the reference answer now.

    It is gone only where the library answers as it should.
    """
    answered = defect.right == "answers"
    if given == defect.gives and (right == defect.right or (answered and isinstance(right, list))):
        return Status.CONFIRMED
    if given == right or (answered and isinstance(given, list)):
        return Status.GONE
    if given == defect.gives:
        return Status.CONFIRMED
    # Whatever is an answer is less of a failure than any.
    ranks = {answer: rank for rank, answer in enumerate(FAILURES, 1)}
    now, then = (ranks.get(str(one), 0) for one in (given, defect.gives))
    return Status.WORSE if now > then else Status.CHANGED


def table(defects: Sequence[Defect]) -> str:
    """The table in Markdown, each defect asked again."""
    lines = ["| library | defect | smallest input | |", "|---|---|---|---|"]
    for one in defects:
        status = confirm(one)
        lines.append(f"| {one.library} {one.version} | {one.title} | {shown(one)} | {status} |")
    return "\n".join(lines)


def shown(defect: Defect) -> str:
    """The question in Python."""
    if defect.ask == "decode":
        return f"`decode({list(defect.ids)})`"
    if defect.ask == "stream":
        return f"`decode_stream_after({list(defect.prompt)}, {list(defect.ids)})`"
    data = defect.input
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return f"`{data!r}`"
    if len(text) > 40 and text == text[0] * len(text):
        return f"`{text[0]!a} * {len(text)}`"
    return f"`{text!a}`"


if __name__ == "__main__":
    print(table(load()))
