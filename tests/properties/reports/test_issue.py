"""The text of an issue: all that a maintainer asks for, and nothing that breaks out of it."""

import re
from dataclasses import replace

import pytest

from reports import html, issue
from reports.record import RunRecord
from tests.properties.reports import records
from tests.properties.reports.records import SHAPES

SCRIPT = "import tiktoken\n\nprint('```')\n"


def made(found, **more):
    began = replace(records.started(), versions={"tiktoken": "0.9", "tokenizers": "1.2"}, **more)
    return issue.render(found, RunRecord.from_events([began]), SCRIPT)


@pytest.mark.parametrize(
    ("folder", "spec", "told"),
    [
        ("/my/repo", "/my/repo/src/mine.py:Mine", "./src/mine.py:Mine"),
        ("/my/repo", "cmd:/my/repo/serve --at=/my/repo/x /srv/my/repo/y",
         "'cmd:./serve --at=./x /srv/my/repo/y'"),
        ("/my/repo", "/my/repository/mine.py:Mine", "/my/repository/mine.py:Mine"),
        ("", "/my/repo/mine.py:Mine", "/my/repo/mine.py:Mine"),
    ],
)  # fmt: skip
def test_files_are_named_from_the_folder_of_the_run(folder, spec, told):
    found = records.found("f-1", "naïve".encode())
    text = made(found, folder=folder, specs={"tokenizers": spec})
    assert f"--impl pip:tiktoken==0.9 --impl {told} --hex" in text


def test_a_death_has_its_message():
    dead = records.died(["tokenizers"], "crashed", "thread 'main' panicked\nat x.rs:1")
    found = records.found("f-1", b"a", partition=[dead], check="survival")
    text = made(found)
    assert "| tokenizers | crashed |" in text
    assert "```\nthread 'main' panicked\nat x.rs:1\n```" in text
    assert "tokgate minimize" not in text


@pytest.mark.parametrize("shape", SHAPES)
def test_every_card_has_it_to_copy_and_to_read_without_a_script(shape):
    record = SHAPES[shape]()
    page = html.render(record)
    assert page.count("Copy issue text") == min(len(record.buckets), 200)
    assert page.count("<summary>Issue text") == page.count("Copy issue text")
    for one in record.buckets[:20]:
        text = issue.render(one.example, record)
        assert not {"\u202e", "\x00"} & {*text}
        assert "<script" not in re.sub(r"(`+).*?\1", "", text, flags=re.DOTALL)
