"""Paths of a run's command, in a replay that is started from another folder."""

import pytest

from harness.studies.given import at

PATHS = ["my.model", "my.model#pattern=gpt2", "./my.py:Mine", "sub/expect"]
NO_PATHS = ["tiktoken", "pip:tiktoken==0.12.0", "cmd:./program", "gone.model", "random:bpe:1"]


@pytest.mark.parametrize("name", PATHS + NO_PATHS)
def test_a_path_begins_where_the_run_was_started_and_what_is_none_stays(
    tmp_path, monkeypatch, name
):
    (tmp_path / "sub").mkdir()
    for file in ("my.model", "my.py", "sub/expect", "tiktoken"):
        (tmp_path / file).touch()
    there = str(tmp_path)
    monkeypatch.chdir("/")
    assert at(there, name) == (str(tmp_path / name) if name in PATHS else name)
    assert at("", name) == name
    monkeypatch.chdir(there)
    assert at(there, name) == name
