"""Atheris targets: the same property as :mod:`tests.faults.fuzzing.loaders`, guided by coverage.

    python -m tests.faults.fuzzing.coverage_guided FORMAT [CORPUS..] -max_total_time=600

Options are libFuzzer's. The corpus begins with mutants of valid files. A file for which a loader
neither refuses clearly nor loads what is whole ends the process, and libFuzzer keeps it as
``crash-..``; ``-rss_limit_mb`` and ``-timeout`` are set to the limits of the loaders.
"""

import sys
import tempfile
from pathlib import Path

import atheris

INSTRUMENTED = (
    *("corpora.vocabularies", "corpora.grammars.corpus", "corpora.families"),
    *("harness.events.base", "harness.verdict.expectations", "harness.verdict.bounds"),
    "harness.studies.survey.defects",
)
"""Modules whose branches guide the fuzzer: the loaders."""

LIMITS = ("-rss_limit_mb=2048", "-timeout=20", "-max_len=65536")
"""Memory is that of the whole process, which has about 600 MB before the first file."""

MUTANTS = 500
"""Of valid files, written to a corpus that is empty."""


def main():
    """Fuzz the loader of the format that is named first."""
    with atheris.instrument_imports(include=[*INSTRUMENTED]):
        from tests.faults.fuzzing.formats import FORMATS, mutant

    if len(sys.argv) < 2 or sys.argv[1] not in FORMATS:
        sys.exit(f"give a format: {', '.join(FORMATS)}")
    form = FORMATS[sys.argv.pop(1)]
    with tempfile.TemporaryDirectory(prefix="tokgate-fuzz-") as folder:
        path = Path(folder, form.file)

        def one(data):
            path.write_bytes(data or b"\n")
            form.use(path)

        corpora = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
        options = [argument for argument in sys.argv[1:] if argument not in corpora]
        corpora = corpora or [str(Path(folder, "corpus"))]
        first = Path(corpora[0])
        first.mkdir(parents=True, exist_ok=True)
        if not any(first.iterdir()):
            for number in range(MUTANTS):
                (first / f"mutant-{number}").write_bytes(mutant(form, 0, number))
        one(mutant(form, 1, 0))  # compile before the clock runs
        atheris.Setup([sys.argv[0], *LIMITS, *options, *corpora], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
