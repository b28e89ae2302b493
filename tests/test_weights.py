"""The house stays light: no room weighs more than it did when it was weighed last.

A room's weight is its number of tokens of code, as Python's tokenizer tells them: names, numbers,
strings and operators. Comments, docstrings and layout weigh nothing. Whoever makes a room lighter
lowers its number here.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

AT_MOST = {
    "corpora": 74_300,
    "impls": 146_300,
    "impls/fast": 40_800,
    "harness": 271_700,
    "harness/workers": 22_800,
    "harness/engine": 24_900,
    "harness/checks": 23_600,
    "harness/findings": 16_600,
    "harness/cli": 19_900,
    "harness/studies": 124_600,
    "reports": 47_600,
    "tests": 341_400,
}
"""Tokens of code, by room."""

LIGHT = frozenset(
    {
        *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
        *(tokenize.ENCODING, tokenize.ENDMARKER),
    }
)
"""Kinds of tokens that weigh nothing."""

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def weight(source: str) -> int:
    """The tokens of code of a file; the strings that stand alone in a body are docstrings."""
    texts = {
        (one.lineno, one.col_offset)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, DOCUMENTED)
        for one in node.body
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
    }
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return sum(one.type not in LIGHT and one.start not in texts for one in tokens)


def test_a_file_is_weighed_without_its_explanations() -> None:
    assert (
        weight('"""A page."""\n\nx = 1  # one\n\n\ndef f():\n    """Say."""\n    return x\n') == 10
    )


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="the tokens of f-strings are more there")
@pytest.mark.parametrize("room", AT_MOST)
def test_no_room_grows(room: str) -> None:
    weights = {file: weight(file.read_text()) for file in (ROOT / room).rglob("*.py")}
    heaviest = sorted(weights, key=weights.__getitem__, reverse=True)[:5]
    told = ", ".join(f"{one.relative_to(ROOT)} {weights[one]:,}" for one in heaviest)
    assert sum(weights.values()) <= AT_MOST[room], f"{room} grows; its heaviest files: {told}"
