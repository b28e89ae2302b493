"""What others are called and say neither controls a terminal nor forges a line of a report."""

import io
import json
import os
import pty
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.table import Table
from rich.text import Text

from harness.cli.display import Display, safe
from harness.events import read_events
from reports import FORMATS
from reports.record import RunRecord
from tests.breadth import thorough
from tests.harness.command import TOKGATE, here, tokgate
from tests.harness.hostile_plugin import HOSTILE
from tests.reports.records import b64

PLUGIN = Path(__file__).with_name("hostile_plugin.py")

ODD = set(HOSTILE) - set("0123456789[];Jmowned forgdPASbl:/\n\t")
"""The characters that nobody is to get as they are."""

TEXT_ENDS = "\n\t"
"""What a text of several lines keeps in a report: a log with its lines and columns."""

COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\x1b\][0-9]*;?\x1b\\")
"""What Rich itself sends to a terminal: colours, and moves of the cursor by counted lines."""


Done = subprocess.CompletedProcess[str]


def raw(text, ends="\n"):
    """Return the characters in an output that are neither visible nor among ``ends``."""
    return {char for char in text if char in ODD or not (char.isprintable() or char in ends)}


def lines_forged(text):
    return [line for line in text.split("\n") if line.lstrip().startswith("forged")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a vocabulary whose file name is hostile, too."""
    made = tmp_path_factory.mktemp("hostile")
    ranks = "".join(f"{one} {i}\n" for i, one in enumerate(b64(bytes([n])) for n in range(256)))
    name = HOSTILE.replace("\0", "").replace("/", "").encode("utf-8", "surrogatepass")
    (made / os.fsdecode(name + b".tiktoken")).write_text(ranks)
    return made


def arguments(folder):
    (vocabulary,) = folder.glob("*.tiktoken")
    return [
        "run", f"--vocab={vocabulary}#pattern=r50k_base", "--vocab=unigram_bytes",
        "--impl=tiktoken", "--impl=sentencepiece", f"--impl={PLUGIN}:Wrong",
        "--generator=edge", "--generator=prose",
        "--budget=200cases", "--check=equivalence", "--check=survival", "--jobs=1",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def run(folder):
    done = tokgate(*arguments(folder), folder=folder)
    assert done.returncode == 1, done.stderr
    return done


def test_a_log_has_visible_characters_alone(run):
    assert raw(run.stdout + run.stderr) == set()
    assert lines_forged(run.stderr) == []
    assert "wrong\\x1b[2J" in run.stderr
    assert "[bold]:boom:[/bold]" in run.stderr


@pytest.mark.parametrize(
    "name", ["report.html", "junit.xml", "summary.md", "report.sarif", "summary.json", "run.jsonl"]
)
def test_a_report_has_visible_characters_alone(name, folder, run):
    text = (folder / "tokgate-out" / name).read_bytes().decode("utf-8")
    assert raw(text, TEXT_ENDS) == set()
    if name == "junit.xml":
        for element in ElementTree.fromstring(text).iter():
            assert all("\n" not in value for value in element.attrib.values())
    elif name != "report.html":  # there white space is folded, but in logs, which have lines
        assert lines_forged(text) == []
    assert "boom" in text  # what is hostile did come as far as here


def test_a_script_has_visible_characters_alone(folder, run):
    scripts = list((folder / "tokgate-out" / "findings").rglob("repro.py"))
    assert scripts
    for path in scripts:
        assert raw(path.read_text()) == set()


def test_a_format_that_is_printed_alone(folder, run):
    done = here("report", "tokgate-out", "--format", "annotations", folder=folder)
    assert done.returncode == 0
    assert raw(done.stdout, TEXT_ENDS) == set()


@pytest.mark.parametrize("form", [[], ["--json"], ["--markdown"]])
def test_a_comparison(form, folder, run):
    (folder / "empty").mkdir(exist_ok=True)
    record = (folder / "tokgate-out" / "run.jsonl").read_text().splitlines(keepends=True)
    kept = [line for line in record if '"event": "Found"' not in line]
    (folder / "empty" / "run.jsonl").write_text("".join(kept))
    done = here("diff", "empty", "tokgate-out", *form, folder=folder)
    assert done.returncode == 1, done.stderr
    assert "boom" in done.stdout
    assert raw(done.stdout + done.stderr) == set()


@pytest.mark.thorough  # a whole run on a terminal
def test_a_terminal_is_sent_the_display_s_own_controls_alone(folder):
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [TOKGATE, *arguments(folder), "--out", "terminal"],
        stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, cwd=folder,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "200"},
    ) as running:  # fmt: skip
        os.close(theirs)
        parts = []
        while True:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # Linux says so when the last writer is gone
                break
            if not part:
                break
            parts.append(part)
    os.close(ours)
    assert running.returncode == 1
    said = b"".join(parts).decode("utf-8")
    assert "\x1b[1A" in said or "\x1b[2K" in said  # the moving part was on
    assert "\x1b[2J" not in said  # nobody clears the screen
    assert "wrong\\x1b[2J" in said
    plain = COLOURS.sub("", said)
    assert raw(plain) == set()
    assert lines_forged(plain) == []


@pytest.mark.thorough  # a whole run
def test_what_fails_to_load(folder):
    done = tokgate(
        "run", "--vocab=toy_bytes", "--impl=tiktoken", f"--impl={PLUGIN}:Unloadable",
        "--budget=10cases", "--out=unloadable", folder=folder,
    )  # fmt: skip
    assert done.returncode == 3
    assert "cannot run toy_bytes" in done.stderr
    assert raw(done.stderr) == set()
    for form in FORMATS:
        told = tokgate("report", "unloadable", "--format", form, folder=folder)
        assert raw(told.stdout, TEXT_ENDS) == set()


def test_what_fails_to_import_is_one_line(folder):
    for more in ([], ["--debug"]):
        done = tokgate("run", f"--impl={PLUGIN}:Unimportable", *more, folder=folder)
        assert done.returncode == 3
        assert raw(done.stderr) == set()
        assert lines_forged(done.stderr) == []
        if not more:
            assert len(done.stderr.splitlines()) == 1


def test_an_error_in_a_path_is_one_line():
    name = HOSTILE.replace("\0", "").encode("utf-8", "surrogatepass")
    done = subprocess.run([TOKGATE, "report", name], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert raw(done.stderr) == set()
    assert len(done.stderr.splitlines()) == 1


def shown(*parts, terminal=False):
    file = io.StringIO()
    display = Display(file=file, width=4000, force_terminal=terminal)
    for part in parts:
        display.print(part, soft_wrap=True)
    return file.getvalue()


def test_a_display_shows_strings_texts_and_tables_alike():
    table = Table(HOSTILE)
    table.add_row(HOSTILE)
    table.add_row(Text(HOSTILE))
    for part in (HOSTILE, Text(HOSTILE), Text.assemble(("a", "bold"), HOSTILE), table):
        assert raw(shown(part)) == set()
        assert len(shown(part).splitlines()) < 10
    assert len(shown(HOSTILE).splitlines()) == 1
    assert "[bold]:boom:" in shown(HOSTILE)


def test_styles_stay_where_they_were():
    text = safe(Display(), Text.assemble("a\x1bb", ("c\u202ed", "bold"), "e"))
    assert text.plain == "a\\x1bbc\\u202ede"
    (span,) = text.spans
    assert text.plain[span.start : span.end] == "c\\u202ed"


def test_the_record_keeps_what_was_said(folder, run):
    """Only what is shown is escaped: the record is data, and comparisons are made on it."""
    events = list(read_events(folder / "tokgate-out" / "run.jsonl"))
    assert any(HOSTILE in name for name in RunRecord.from_events(events).implementations)
    json.loads((folder / "tokgate-out" / "summary.json").read_text())


@pytest.mark.parametrize(
    "command",
    [
        thorough(
            ["fuzz", "--budget=300cases", "--no-coverage", "--no-structured", "--impl=tiktoken"]
        ),
        thorough(["bench", "--input=one-piece", "--size=1KB", "--rounds=1", "--cold=0"]),
        thorough(["worst", "--budget=2s", "--no-keep"]),
        ["list", "impls"],
    ],
    ids=lambda command: command[0],
)
def test_other_commands(command, tmp_path):
    more = [f"--impl={PLUGIN}:Wrong", "--vocab=toy_bytes", f"--out={tmp_path}"]
    done = tokgate(*command, *(more if command[0] != "list" else []), folder=tmp_path)
    assert done.returncode in {0, 1, 3}, done.stderr
    assert raw(done.stdout + done.stderr) == set()
    assert lines_forged(done.stdout + done.stderr) == []
    for path in tmp_path.glob("*.[hjmsx]*"):
        assert raw(path.read_text(encoding="utf-8"), TEXT_ENDS) == set(), path


@pytest.mark.parametrize("terminal", [False, True])
def test_lines_are_wrapped_for_a_terminal_alone(terminal):
    for line in ("word " * 20, Text("word " * 20)):
        file = io.StringIO()
        Display(file=file, width=40, force_terminal=terminal).print(line)
        assert (file.getvalue().count("\n") > 1) is terminal
