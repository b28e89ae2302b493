"""Windows and padded rows by definition, and that a wrong answer of each sort is named."""

from __future__ import annotations

from typing import Any

import pytest

from corpora.vocabularies.sources import resolve
from harness.checks import CHECKS
from harness.checks.shapes import WINDOWS, masked, unpadded, windows
from harness.core.messages import Padding, Windows
from harness.core.outcomes import Encoded
from impls.adapters import tokenizers
from impls.interface import Unsupported
from tests.harness.test_service_checks import RAW, TEXT, Local

IDS = list(range(10))


@pytest.mark.parametrize(
    ("count", "shape", "cut"),
    [
        (10, Windows(4, 0, left=False), [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]),
        (10, Windows(4, 0, left=True), [[6, 7, 8, 9], [2, 3, 4, 5], [0, 1]]),
        (7, Windows(4, 2, left=False), [[0, 1, 2, 3], [2, 3, 4, 5], [4, 5, 6]]),
        (7, Windows(4, 2, left=True), [[3, 4, 5, 6], [1, 2, 3, 4], [0, 1, 2]]),
        (4, Windows(4, 3, left=False), [[0, 1, 2, 3]]),
        (0, Windows(4, 3, left=True), [[]]),
        (2, Windows(1, 0, left=False), [[0], [1]]),
    ],
)
def test_windows_by_definition(count: int, shape: Windows, cut: list[list[int]]) -> None:
    assert windows(IDS[:count], shape) == cut


@pytest.mark.parametrize("shape", WINDOWS, ids=str)
def test_a_long_text_is_turned_round_once_and_not_for_each_window(shape: Windows) -> None:
    """It took 17 minutes of 100,000 ids."""
    taken: list[int] = []

    class Ids(tuple[int, ...]):
        def __getitem__(self, at: Any) -> Any:
            taken.append(len(range(*at.indices(len(self)))))
            return Ids(super().__getitem__(at))

    windows(Ids(range(500)), shape)
    assert sum(taken) <= 12 * 500


def test_rows_by_definition() -> None:
    rows = [[7], [7, 7], []]
    assert list(masked(rows, Padding(1, left=False))) == [2, 1, 0, 7, 2, 1, 1, 7, 7, 2, 0, 0]
    assert list(masked(rows, Padding(3, left=True))) == [
        3, 0, 0, 1, 7, 3, 0, 1, 1, 7, 7, 3, 0, 0, 0,
    ]  # fmt: skip
    assert list(masked([[], [], []], Padding(4, left=True))) == [0, 0, 0]


def test_what_stands_where_the_mask_is_0_does_not_matter() -> None:
    answer = Encoded((3, 1, 0, 0, 7, 5, 5, 1, 1, 8))
    assert unpadded(answer) == Encoded((3, 1, 0, 0, 7, 1, 1, 8))


def test_a_library_is_asked_in_every_shape() -> None:
    local = Local(resolve("toy_bytes"), ["tokenizers", "bpe.heap"], RAW)
    inputs = [b"text number %d, long enough" % number for number in range(60)]

    for check in ("truncation", "padding"):
        judgement = local.examine(CHECKS[check], inputs)
        assert judgement.exercised == {"tokenizers": 60}
        assert not judgement.violations


def test_a_window_leaves_room_for_the_tokens_that_a_file_adds() -> None:
    """``tokenizers`` refuses an overlap of 4 in a window of 5 where two tokens may be added."""
    inputs = [b"text number %d, long enough" % number for number in range(60)]
    for name in ("toy_file_words", "toy_file_subwords"):
        local = Local(resolve(name), ["tokenizers"], TEXT)
        judgement = local.examine(CHECKS["truncation"], inputs)
        assert judgement.exercised == {"tokenizers": 60}
        assert not judgement.violations


def test_the_adapter_refuses_what_its_library_refuses() -> None:
    encoder = tokenizers.IMPLEMENTATION.load(resolve("toy_file_subwords"))
    assert len(encoder.truncated(b"one two three four five six seven", 5, 2, True, TEXT)) > 1
    with pytest.raises(Unsupported, match="no room"):
        encoder.truncated(b"one two", 5, 3, False, TEXT)
