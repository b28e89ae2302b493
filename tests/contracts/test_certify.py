"""``tokgate certify``: files of texts and ids, what is said of wrong ones, statuses, going on."""

import base64
import gzip
import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from corpora.vocabularies import sources
from impls import registry
from impls.interface import Mode
from tests.doubles.command import TOKGATE, here, summary, tokgate

TEXTS = ["the theory of the thing", "all that, 123", "", "a\nb"]
TOY = sources.resolve("toy_bytes")
ENCODER = registry.resolve("bpe.heap").load(TOY)
IDS = [[*ENCODER.encode(text.encode(), Mode())] for text in TEXTS]
END = 9999


def rows(path, ids=IDS, texts=TEXTS, times=1):
    lines = [json.dumps({"text": a, "ids": b}) for a, b in zip(texts, ids, strict=True)]
    path.write_text("".join(f"{line}\n" for line in lines * times))
    return str(path)


def certified(folder, *arguments):
    """The status, what is printed, and the JSON."""
    done = here("certify", "toy_bytes", *arguments, "--jobs", "1", folder=folder)
    told = folder / "tokgate-certify" / "certify.json"
    return done.returncode, done.stdout, json.loads(told.read_text()) if told.exists() else done


def test_right_ids_pass_and_the_first_wrong_token_is_named(tmp_path):
    status, _, told = certified(tmp_path, rows(tmp_path / "a.jsonl"))
    assert (status, told["verdict"], told["rows"]) == (0, "right", len(TEXTS))
    assert told["tokens"] == sum(map(len, IDS))
    wrong = [*IDS]
    wrong[0] = [*b"the", *IDS[0][1:]]
    rows(tmp_path / "b.jsonl", wrong)
    status, said, told = certified(tmp_path, "b.jsonl")
    [example] = told["examples"]
    assert (status, told["wrong"], example["token"]) == (1, 1, 1)
    assert example["place"].endswith("b.jsonl:1")
    assert f"{ord('t')} ('t') and {ord('h')} ('h') would have merged" in example["reason"]
    assert example["right"][0].startswith(str(IDS[0][0]))
    assert "would have merged" in " ".join(said.split())


def test_what_cannot_be_decided_has_a_status_of_its_own(tmp_path):
    cut = [*IDS[:1], IDS[1][:2], *IDS[2:]]
    status, said, told = certified(tmp_path, rows(tmp_path / "a.jsonl", cut))
    assert (status, told["verdict"], told["wrong"], told["undecided"]) == (4, "not-examined", 0, 1)
    assert "truncated" in said
    (tmp_path / "b.jsonl").write_text('{"text": "the"}\n' + (tmp_path / "a.jsonl").read_text())
    _, _, told = certified(tmp_path, "b.jsonl")
    assert (told["undecided"], told["unreadable"]) == (2, 1)
    assert {one["place"] for one in told["examples"]} == {"b.jsonl:1", "b.jsonl:3"}
    (tmp_path / "c.jsonl").write_text("")
    assert certified(tmp_path, "c.jsonl")[0] == 4, "nothing examined is no pass"


def test_all_layouts_say_the_same(tmp_path):
    texts, ids = TEXTS[:2], IDS[:2]
    with_end = [[*row, END] for row in ids]
    encoded = [base64.b64encode(text.encode()).decode() for text in texts]
    rows(tmp_path / "a.jsonl", with_end, encoded)
    again = (tmp_path / "a.jsonl").read_text().replace('"text"', '"b"').replace('"ids"', '"i"')
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(again.encode()))
    (tmp_path / "texts.txt").write_text("\n".join(texts))
    np.concatenate(with_end).astype("<u4").tofile(tmp_path / "ids.bin")
    named = ("--binary", "--text-field", "b", "--ids-field", "i", "--skip-id", str(END))
    raw = ("texts.txt", "--ids", "ids.bin", "--separator", str(END))
    expected = sum(map(len, ids))
    for arguments, tokens in ((("a.jsonl.gz", *named), expected + 2), (raw, expected)):
        status, _, told = certified(tmp_path, *arguments)
        assert (status, told["rows"], told["tokens"]) == (0, 2, tokens)
    np.array(ids[0], dtype="<u4").tofile(tmp_path / "one.bin")
    (tmp_path / "one.txt").write_text(texts[0])
    assert certified(tmp_path, "one.txt", "--ids", "one.bin")[0] == 0
    done = here("certify", "toy_bytes", "texts.txt", "--ids", "one.bin", folder=tmp_path)
    assert done.returncode == 4, "the ids of the first line are those of a truncated file"


@pytest.mark.parametrize("compression", ["snappy", "none"])
def test_parquet_is_read_by_row_groups(tmp_path, compression):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table(
        {
            "text": TEXTS * 3,
            "ids": pyarrow.array([*IDS * 2, [1], *IDS[1:]], pyarrow.list_(pyarrow.int32())),
        }
    )
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=5, compression=compression)
    status, _, told = certified(tmp_path, "a.parquet")
    assert (status, told["rows"], told["wrong"]) == (1, 12, 1)
    assert told["examples"][0]["place"].endswith("row 9")
    nulls = pyarrow.table({"text": ["the", None], "ids": [[*b"the"], [1]]})
    parquet.write_table(nulls, tmp_path / "b.parquet")
    status, _, told = certified(tmp_path, "b.parquet")
    assert (status, told["wrong"], told["unreadable"]) == (1, 1, 1)
    done = certified(tmp_path, "a.parquet", "--text-field", "body")
    assert done[0] == 2


def test_mistakes_of_the_user_are_one_line(tmp_path):
    rows(tmp_path / "a.jsonl")
    for arguments, said in (
        (("missing.jsonl",), "no such file"),
        (("a.jsonl", "--ids", "missing.bin"), "missing.bin"),
        (("a.jsonl", "a.jsonl", "--ids", "a.jsonl"), "just one"),
    ):
        done = here("certify", "toy_bytes", *arguments, folder=tmp_path)
        assert done.returncode == 2
        assert said in done.stderr
        assert done.stderr.strip().count("\n") <= 1


@pytest.mark.thorough
def test_an_interrupted_audit_goes_on_and_says_what_a_whole_one_says(tmp_path):
    """In parts, by two processes; the interrupted one has decided some, and does the rest only."""
    rows(tmp_path / "a.jsonl", times=300_000)
    with (tmp_path / "a.jsonl").open("a") as file:
        file.write('{"text": "the", "ids": [116, 104, 101]}\n')
    command = (TOKGATE, "certify", "toy_bytes", "a.jsonl", "--jobs", "2")
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
    record = tmp_path / "tokgate-certify" / "run.jsonl"
    while not record.exists() or '"PartCertified"' not in record.read_text():
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    before = record.read_text().count('"PartCertified"')
    told = json.loads((tmp_path / "tokgate-certify" / "certify.json").read_text())
    assert told["complete"] is False
    done = tokgate(*command[1:], folder=tmp_path)
    assert done.returncode == 1, done.stderr
    again = json.loads((tmp_path / "tokgate-certify" / "certify.json").read_text())
    assert (again["rows"], again["wrong"]) == (1_200_001, 1)
    assert again["examples"][0]["place"] == "a.jsonl:1200001"
    parts = [json.loads(line) for line in record.read_text().splitlines()]
    names = [one["part"] for one in parts if one["event"] == "PartCertified"]
    assert before < len(names) == len(set(names))


RIGHT = """
from impls.interface import About
from impls.registry import resolve

class Right:
    about = About(name="right", version="1.0")

    def supports(self, vocabulary, mode):
        return "not pre-tokenized" if mode.pretokenize else None

    def load(self, vocabulary):
        return resolve("bpe.heap").load(vocabulary)
"""


@pytest.mark.parametrize(("plug_in", "status"), [("mine.py:Mine", 1), ("right.py:Right", 0)])
def test_a_run_certifies_a_plug_in_without_a_reference(tmp_path, plug_in, status):
    shutil.copy(Path(__file__).parent / "mine.py", tmp_path)
    (tmp_path / "right.py").write_text(RIGHT)
    given = "--vocab", "toy_bytes", "--impl", f"./{plug_in}", "--budget", "300cases"
    done = tokgate("run", *given, "--check", "survival", "--certify", folder=tmp_path)
    assert done.returncode == status, done.stdout
    told = summary(tmp_path / "tokgate-out")
    checks = {one["check"] for one in told["findings"]}
    assert checks == ({"certificate"} if status else set())
    assert {one["implementation"] for one in told["coverage"]["comparisons"]} == {
        plug_in.partition(".")[0]
    }
    [judged] = [one["judged"] for one in told["coverage"]["comparisons"]]
    assert judged["certificate"] > 100


def test_a_run_that_certifies_nobody_does_not_pass(tmp_path):
    """The ids of built-in implementations are not judged in this way."""
    given = "--vocab", "toy_bytes", "--impl", "bpe.heap", "--check", "survival"
    done = tokgate("run", *given, "--certify", "--budget", "100cases", folder=tmp_path)
    told = summary(tmp_path / "tokgate-out")
    assert (done.returncode, told["verdict"]) == (4, "not-examined")
    assert any("the check certificate was requested" in one for one in told["reasons"])
