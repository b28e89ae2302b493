"""What others are called and say neither controls a terminal nor forges a line of a report."""

import contextlib
import io
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
from reports.record import RunRecord
from tests.doubles.command import TOKGATE, here, tokgate
from tests.doubles.hostile_plugin import HOSTILE
from tests.properties.reports.records import b64

PLUGIN = Path(__file__).parents[2] / "doubles" / "hostile_plugin.py"

ODD = set(HOSTILE) - set("0123456789[];Jmowned forgdPASbl:/\n\t")
"""The characters that nobody is to get as they are."""

TEXT_ENDS = "\n\t"
"""What a text of several lines keeps in a report: a log with its lines and columns."""

COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\x1b\][0-9]*;?\x1b\\")
"""What Rich itself sends to a terminal: colours, and moves of the cursor by counted lines."""


def raw(text, ends="\n"):
    """Return the characters in an output that are neither visible nor among ``ends``."""
    return {char for char in text if char in ODD or not (char.isprintable() or char in ends)}


def harmless(text):
    """Hold a log to visible characters, and to lines of its own alone."""
    assert raw(text) == set()
    assert not [line for line in text.split("\n") if line.lstrip().startswith("forged")]


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
    assert raw(run.stdout) == set()
    harmless(run.stderr)
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
        harmless(text.replace("\t", " "))
    assert "boom" in text  # what is hostile did come as far as here


def test_a_script_has_visible_characters_alone_and_the_record_keeps_what_was_said(folder, run):
    out = folder / "tokgate-out"
    scripts = list((out / "findings").rglob("repro.py"))
    assert scripts
    for path in scripts:
        assert raw(path.read_text()) == set()
    # Only what is shown is escaped: the record is data, and comparisons are made on it.
    record = RunRecord.from_events(read_events(out / "run.jsonl"))
    assert any(HOSTILE in name for name in record.implementations)


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (0, ["report", "tokgate-out", "--format", "annotations"]),
        (1, ["diff", "empty", "tokgate-out"]),
        (1, ["diff", "empty", "tokgate-out", "--json"]),
        (1, ["diff", "empty", "tokgate-out", "--markdown"]),
        (2, ["report", os.fsdecode(HOSTILE.replace("\0", "").encode("utf-8", "surrogatepass"))]),
        (3, ["run", f"--impl={PLUGIN}:Unimportable"]),
        (3, ["run", f"--impl={PLUGIN}:Unimportable", "--debug"]),
        (0, ["list", "impls"]),
    ],
)
def test_what_is_printed_has_visible_characters_alone(status, line, folder, run):
    (folder / "empty").mkdir(exist_ok=True)
    record = (folder / "tokgate-out" / "run.jsonl").read_text().splitlines(keepends=True)
    kept = [one for one in record if '"event": "Found"' not in one]
    (folder / "empty" / "run.jsonl").write_text("".join(kept))
    done = (tokgate if line[0] == "run" else here)(*line, folder=folder)
    assert done.returncode == status, done.stderr
    assert raw(done.stdout, TEXT_ENDS) == set()
    harmless(done.stderr)
    assert "boom" in done.stdout + done.stderr or line[0] == "list"
    assert status < 2 or line[-1] == "--debug" or len(done.stderr.splitlines()) == 1


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
        with contextlib.suppress(OSError):  # Linux says so when the last writer is gone
            while part := os.read(ours, 1 << 16):
                parts.append(part)
    os.close(ours)
    assert running.returncode == 1
    said = b"".join(parts).decode("utf-8")
    assert "\x1b[1A" in said or "\x1b[2K" in said  # the moving part was on
    assert "\x1b[2J" not in said  # nobody clears the screen
    assert "wrong\\x1b[2J" in said
    harmless(COLOURS.sub("", said))


def shown(part, width=4000, terminal=False):
    """What a display prints."""
    file = io.StringIO()
    Display(file=file, width=width, force_terminal=terminal).print(part)
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


@pytest.mark.parametrize("terminal", [False, True])
def test_lines_are_wrapped_for_a_terminal_alone(terminal):
    for line in ("word " * 20, Text("word " * 20)):
        assert (shown(line, 40, terminal).count("\n") > 1) is terminal
