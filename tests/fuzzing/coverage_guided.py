"""Atheris targets: the same property as :mod:`tests.fuzzing.loaders`, guided by coverage.

    python -m tests.fuzzing.coverage_guided FORMAT [CORPUS..] -max_total_time=600

Options are libFuzzer's. The corpus begins with mutants of valid files. A file for which a loader
neither refuses clearly nor loads what is whole ends the process, and libFuzzer keeps it as
``crash-..``; ``-rss_limit_mb`` and ``-timeout`` are set to the limits of the loaders.
"""

import importlib
import random
import sys
import tempfile
from pathlib import Path

import atheris

from tests.fuzzing.loaders import NAMES, SECONDS

INSTRUMENTED = (
    *(
        f"corpora.vocabularies.{name}"
        for name in (
            *(
                "reading",
                "limits",
                "sources",
                "tiktoken_file",
                "tekken",
                "tokenizer_json",
            ),
            *("tokenizer_json_steps", "wordpiece_file", "sentencepiece_model", "gguf_file"),
            *("gguf_metadata", "preflight"),
        )
    ),
    *("corpora.grammars.corpus", "corpora.families.user", "corpora.families.pattern"),
    *("harness.events.base", "harness.verdict.expectations", "harness.verdict.bounds"),
    "harness.studies.survey.defects",
)
"""Modules whose branches guide the fuzzer: the loaders."""

RSS_MB = 2048
"""Of the whole process: with the instrumented interpreter about 600 before the first file."""

MUTANTS = 500
"""Of valid files, written to a corpus that is empty."""


def main():
    """Fuzz the loader of the format that is named first."""
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        sys.exit(f"give a format: {', '.join(NAMES)}")
    name = sys.argv.pop(1)
    with atheris.instrument_imports(include=[*INSTRUMENTED]):
        for module in INSTRUMENTED:
            importlib.import_module(module)
    from tests.fuzzing.formats import FORMATS
    from tests.fuzzing.loaders import mutant

    form = FORMATS[name]
    with tempfile.TemporaryDirectory(prefix="tokgate-fuzz-") as folder:
        path = Path(folder, form.file)

        def one(data):
            path.write_bytes(data or b"\n")
            form.use(path)

        options = [argument for argument in sys.argv[1:] if argument.startswith("-")]
        corpora = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
        corpora = corpora or [str(Path(folder, "corpus"))]
        first = Path(corpora[0])
        first.mkdir(parents=True, exist_ok=True)
        if not any(first.iterdir()):
            for number in range(MUTANTS):
                (first / f"mutant-{number}").write_bytes(mutant(form, 0, number))
        limits = [f"-rss_limit_mb={RSS_MB}", f"-timeout={SECONDS}", "-max_len=65536"]
        one(mutant(form, random.randrange(1 << 30), 0))  # compile before the clock runs
        atheris.Setup([sys.argv[0], *limits, *options, *corpora], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
