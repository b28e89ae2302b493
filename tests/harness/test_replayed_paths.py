"""Paths of a run's command, in a replay that is started from another folder."""

from typing import TYPE_CHECKING

import pytest

from harness.studies.given import at

if TYPE_CHECKING:
    pass


@pytest.mark.parametrize(
    "name", ["my.model", "my.model#pattern=gpt2", "./my.py:Mine", "sub/expect"]
)
def test_a_path_begins_where_the_run_was_started(tmp_path, monkeypatch, name):
    there, here = tmp_path / "there", tmp_path / "here"
    here.mkdir()
    (there / "sub").mkdir(parents=True)
    for file in ("my.model", "my.py", "sub/expect"):
        (there / file).touch()
    monkeypatch.chdir(here)

    assert at(str(there), name) == str(there / name)
    monkeypatch.chdir(there)
    assert at(str(there), name) == name


@pytest.mark.parametrize(
    "name", ["tiktoken", "pip:tiktoken==0.12.0", "cmd:./program", "gone.model", "random:bpe:1"]
)
def test_what_is_no_path_stays(tmp_path, name):
    (tmp_path / "tiktoken").touch()

    assert at(str(tmp_path), name) == name
    assert at("", name) == name
