"""The page of real vocabulary files: its data, its rows."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from corpora.vocabularies.model import Vocabulary
from harness.studies.survey import files


@dataclass
class Of:
    """What the page tells of a vocabulary."""

    format: str
    unexpressed: tuple[str, ...] = ()

    def __len__(self) -> int:
        return 1000


SUMMARY = {
    "implementations_judged": ["llama.cpp", "tokenizers", "bpe.heap", "bpe.naive"],
    "cases": 10,
    "comparisons": 2000,
    "findings": [
        {"bucket": "equivalence/bpe/text/ids/P/a|b", "expected": None},
        {"bucket": "equivalence/bpe/text/bytes/L/a", "expected": "of old"},
        {"bucket": "equivalence/bpe/text/bytes/Z/a", "expected": "of old"},
    ],
}


def test_sixty_files_of_packages_are_named() -> None:
    known = files.load()
    assert len(known) >= 60
    assert all(source.startswith(("pypi:", "npm:")) and "==" in source for source, _ in known)
    assert len({source for source, _ in known}) == len(known)


def test_a_damaged_list_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "files.toml"
    path.write_text("[[file]]\nsource = 3\nwhat = 'x'\n")
    with pytest.raises(ValueError, match=r"file\[0\].source"):
        files.load(path)


def test_a_row_says_who_was_compared() -> None:
    file = cast("Vocabulary", Of("gguf"))
    assert files.line("pypi:a==1/b.gguf", "A", file, SUMMARY) == (
        "| `pypi:a==1/b.gguf` | A | 1,000 | llama.cpp\\*, tokenizers, 2 ours | 2,000 | "
        "`equivalence/bpe/text/ids/P/a\\|b`; known: `equivalence/bpe/text/bytes/*/a` |"
    )
    steps = cast("Vocabulary", Of("tokenizer.json", ("a step",)))
    alone = files.line("x", "A", steps, {**SUMMARY, "findings": []})
    assert alone.endswith("llama.cpp, tokenizers\\*, 2 ours (a step) | 2,000 | none |")


def test_what_is_not_read_is_said() -> None:
    assert "refused: " in files.row("absent.json", "A")


def test_a_page_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    broken = ["b"]

    def row(source: str, what: str) -> str:
        if source in broken:
            raise KeyboardInterrupt
        asked.append(source)
        return f"| `{source}` | {what} {len(asked)} |"

    path = tmp_path / "page.md"
    monkeypatch.setattr(files, "load", lambda: [(name, "file") for name in "abc"])
    monkeypatch.setattr(files, "row", row)
    monkeypatch.setattr(sys, "argv", ["files", str(path), "--missing"])
    with pytest.raises(KeyboardInterrupt):
        files.main()
    broken.clear()
    files.main()
    assert asked == ["a", "b", "c"]
    assert [*files.lines_of(path.read_text())] == ["a", "b", "c"]
    monkeypatch.setattr(sys, "argv", ["files", str(path)])
    files.main()
    assert asked == [*"abcabc"]
    assert "| file 6 |" in path.read_text()
