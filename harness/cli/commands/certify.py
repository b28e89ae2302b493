"""``tokgate certify``: whether ids in files are the encodings of their texts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from corpora.vocabularies import sources
from harness.cli import options
from harness.cli.progress import Progress
from harness.cli.study_command import conducted, show
from harness.studies.certify.inputs import Layout
from harness.studies.certify.jobs import Task
from harness.studies.certify.results import certificate_of
from harness.studies.certify.run import CertifyStudy
from impls.interface import Mode
from reports import certify as told

EPILOG = """
Byte-level BPE is decided without encoding: the ids must spell the text, end where pre-tokens end,
and all neighbours must be pairs that do not merge. Other vocabularies are encoded by tokgate's
plain implementation, and the report says so.

\b
Exit status:
  0    all ids are the encodings of their texts
  1    some are not; the first wrong token of each row is shown with the reason
  2    usage or input error
  3    internal error
  4    no wrong ids, but some rows could not be decided
  130  interrupted (143 by SIGTERM): the same command continues
"""


def command(
    vocab: Annotated[str, typer.Argument(help=options.ONE_VOCAB_HELP, metavar="VOCAB")],
    files: Annotated[
        list[str],
        typer.Argument(
            help="JSON lines or Parquet (extra 'texts') with a text and its ids in each row; with "
            "--ids, a file of texts. Also a folder or a file name pattern. May be repeated.",
            metavar="FILES..",
        ),
    ],
    text_field: Annotated[str, options.option("Field or column of the text.", "NAME")] = "text",
    ids_field: Annotated[str, options.option("Field or column of the ids.", "NAME")] = "ids",
    binary: Annotated[
        bool, options.option("Texts of JSON are bytes in base64.", None, "--binary")
    ] = False,
    ids: Annotated[
        str, options.option("File of raw ids (little-endian uint32) of the texts.", "FILE")
    ] = "",
    separator: Annotated[
        int | None,
        options.option(
            "Id that ends each row of --ids (default: the whole file is one row).", "ID", min=0
        ),
    ] = None,
    skip_id: Annotated[
        list[int],
        options.option(
            "An id that was added before or after texts, such as an end-of-text token: it is left "
            "out there. May be repeated.",
            "ID",
            "--skip-id",
        ),
    ] = [],
    special: Annotated[
        Literal["none", "all"],
        options.option("Special tokens that are found in texts.", "WHICH"),
    ] = "none",
    raw: Annotated[
        bool, options.option("Texts are one piece each, without the pattern.", None, "--raw")
    ] = False,
    jobs: options.Processes = 0,
    memory: options.Memory = 4.0,
    out: options.Out = Path("tokgate-certify"),
    as_json: options.AsJson = False,
) -> int:
    """Check that ids in files are the encodings of their texts.

    No tokenizer runs for byte-level BPE, so that this finds mistakes of any tokenizer in data of
    any size. What cannot be decided, such as truncated rows, is listed and never passed.
    """

    progress = Progress(f"certifying ids of {vocab} in {', '.join(files)}")
    layout = Layout(text_field, ids_field, binary, ids, separator)
    task = Task(sources.resolve(vocab), Mode(not raw, special), skip_id, layout)
    study = CertifyStudy(
        vocab,
        task,
        files,
        jobs or os.cpu_count() or 1,
        options.bytes_of(memory),
        options.command_line(),
        progress.watch,
    )
    finished, events = conducted(study, out, progress)
    found = certificate_of(events)
    if found is not None:
        show("certify", found.to_json(), told.page(found), out, as_json=as_json)
    return finished.exit_status
