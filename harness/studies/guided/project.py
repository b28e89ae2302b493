"""What OSS-Fuzz and ClusterFuzzLite run: for each algorithm a program, a dictionary, and seeds.

    python -m harness.studies.guided.project OUT [--seeds FOLDER] [--python COMMAND]

The folder is all that the machine which fuzzes gets. ``build.sh`` puts Python, tokgate and the
libraries into it; this writes the rest. seeds: a corpus of ``tokgate fuzz --save-corpus``, which
the seeds of every target begin with.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.generators.catalog import generators
from corpora.vocabularies import sources
from harness.studies.guided.making import dictionary
from harness.studies.guided.subject import ALGORITHMS, small
from harness.studies.guided.target import LONGEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from corpora.vocabularies.model import Vocabulary

OF_EACH = 24
"""Inputs of each generator among the seeds."""

PYTHON = '"$here/python/bin/python3"'
"""As ``build.sh`` leaves it."""

PROGRAM = """\
#!/bin/sh
# LLVMFuzzerTestOneInput: by this word it is known for a fuzz target.
here=$(cd "$(dirname "$0")" && pwd)
findings="${{TOKGATE_FINDINGS:-/tmp/tokgate-guided}}"
exec {python} -m harness.studies.guided.target {algorithm} --findings "$findings" "$@"
"""

OPTIONS = """\
[libfuzzer]
max_len = {longest}
dict = {name}.dict
timeout = 600
"""


def seeds(vocabularies: Sequence[Vocabulary], given: Iterable[bytes]) -> list[bytes]:
    """Return inputs to begin with: those that are given, and some of each generator, each once."""
    found = dict.fromkeys(given)
    for vocabulary in vocabularies:
        for one in generators().values():
            found |= dict.fromkeys(itertools.islice(one.cases(vocabulary, 0), OF_EACH))
    return [data for data in found if len(data) <= LONGEST]


def write(out: Path, algorithm: str, given: Iterable[bytes], python: str = PYTHON) -> None:
    """Write the files of one target."""
    vocabularies = [sources.resolve(name) for name in small(algorithm)]
    name = f"fuzz_{algorithm}"
    program = out / name
    program.write_text(PROGRAM.format(python=python, algorithm=algorithm))
    program.chmod(0o755)
    (out / f"{name}.dict").write_text(dictionary(vocabularies))
    (out / f"{name}.options").write_text(OPTIONS.format(longest=LONGEST, name=name))
    with zipfile.ZipFile(out / f"{name}_seed_corpus.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for data in seeds(vocabularies, given):
            archive.writestr(hashlib.sha1(data, usedforsecurity=False).hexdigest(), data)


def main(arguments: Sequence[str]) -> None:
    """Write all of it."""
    parser = argparse.ArgumentParser(prog="guided.project")
    parser.add_argument("out", type=Path)
    parser.add_argument("--seeds", type=Path)
    parser.add_argument("--python", default=PYTHON)
    options = parser.parse_args(arguments)
    files = sorted(options.seeds.iterdir()) if options.seeds else []
    given = [file.read_bytes() for file in files]
    options.out.mkdir(parents=True, exist_ok=True)
    for algorithm in ALGORITHMS:
        write(options.out, algorithm, given, options.python)


if __name__ == "__main__":
    main(sys.argv[1:])
