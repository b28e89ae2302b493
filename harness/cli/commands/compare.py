"""``tokgate compare``: whether two vocabularies mean the same."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from corpora.vocabularies import sources
from harness.cli import options
from harness.cli.progress import Progress
from harness.cli.study_command import conducted, show
from harness.core.countdown import seconds_text
from harness.events import Compared
from harness.studies.compare.results import comparison_of
from harness.studies.compare.run import CompareStudy
from harness.studies.compare.sides import reader
from reports import compare as told
from reports.studies import of

EPILOG = """
What holds for every text is proved first, as by tokgate prove. Each vocabulary is encoded by the
library whose format it has, such as tokenizers for a tokenizer.json and llama.cpp for a GGUF file.
Your own texts are compared before others, and all of them; the budget is for generated texts.

\b
Exit status:
  0    the same tokens on every text
  1    different tokens; the smallest text of each cause is shown
  2    usage or input error
  3    a library could not be started
  4    no text could be compared
  130  interrupted (143 by SIGTERM)
"""


def command(
    a: Annotated[str, typer.Argument(help=options.ONE_VOCAB_HELP, metavar="A")],
    b: Annotated[str, typer.Argument(help="The vocabulary to compare it with.", metavar="B")],
    texts: options.Inputs = [],
    budget: Annotated[
        str,
        options.option("Time for generated texts, such as 60s or 5m.", "TIME"),
    ] = "30s",
    seed: options.Seed = 0,
    timeout: options.Timeout = 8.0,
    memory: options.Memory = 4.0,
    out: options.Out = Path("tokgate-compare"),
    as_json: options.AsJson = False,
) -> int:
    """Compare two vocabularies that should mean the same.

    The two files may have different formats. What holds for every text is proved first. Then both
    are encoded on your texts, on the tokens of both and on generated texts. Where tokens differ,
    the command shows the smallest text of each cause with both rows of tokens, and says what is
    different in the files. Ids that are only numbered in another way are no difference, and are
    mentioned once.
    """

    line = "comparing {a} with {b} {time}, as {readers} encode them"
    given = texts, budget, seed, timeout, memory
    return conduct(CompareStudy, line, (a, b), *given, out, as_json=as_json)


def conduct(
    kind: type[CompareStudy],
    line: str,
    names: tuple[str, str],
    texts: list[str],
    budget: str,
    seed: int,
    timeout: float,
    memory: float,
    out: Path,
    *,
    as_json: bool,
) -> int:
    """Conduct a study of two vocabularies, show its page, and return the exit status.

    line: what is said at the beginning, with fields for both names, the time and the readers.
    """
    seconds = options.seconds_of(budget)
    both = sources.resolve(names[0]), sources.resolve(names[1])
    readers = reader(both[0]), reader(both[1])
    corpus = options.texts_of(texts)
    titles, (a, b) = " and ".join(one.title for one in readers), names
    said = line.format(a=a, b=b, time=seconds_text(seconds), readers=titles)
    progress = Progress(said, seconds)
    limits = options.limits_of(timeout, memory)
    study = kind(
        names, both, readers, corpus, seconds, seed, limits, options.command_line(), progress.watch
    )
    finished, events = conducted(study, out, progress)
    for event in of(events, Compared):
        report = comparison_of(event.report, kind.made)
        show(kind.name, report.to_json(), told.page(report), out, as_json=as_json)
    return finished.exit_status
