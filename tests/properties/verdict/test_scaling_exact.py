"""Steps: an exact measure of growth, live."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from corpora.vocabularies import sources
from corpora.vocabularies.patterns import PATTERNS
from harness.engine import selection
from harness.workers.meters import interpreted, steps
from impls.interface import Mode
from impls.pretokenize.character_classes import NUMBER
from impls.pretokenize.scanner_kernel import SIZE_BITS


def ours(participant):
    """Whether it is an algorithm of ours in Python."""
    module = type(participant.implementation).__module__
    python = participant.about.language == "python" and module.startswith("impls.")
    return python and not module.startswith("impls.adapters.")


def test_steps_are_lines_of_own_source():
    def loop(count):
        total = 0
        for number in range(count):
            total += number
        return total

    # Two lines a turn, the last look at the range, and three around it.
    assert steps(lambda: loop(100)) - steps(lambda: loop(50)) == 100
    assert steps(lambda: sum(range(1000))) == steps(lambda: sum(range(10)))


@pytest.mark.parametrize(
    "vocabulary",
    [
        replace(sources.resolve("toy_bytes"), splits=PATTERNS["o200k_base"]),
        sources.resolve("toy_unigram"),
        sources.resolve("toy_wordpiece"),
    ],
    ids=("bpe", "unigram", "wordpiece"),
)
@pytest.mark.thorough  # interprets all of ours
def test_steps_do_not_depend_on_what_memory_held(vocabulary, monkeypatch):
    every, _ = selection.participants(None)
    text = b"low lower'll 12345 " * 12 + "né 中文\n  ".encode() * 12
    mode, empty = Mode(), np.empty
    looked = 0
    for one in filter(ours, every):
        if one.implementation.supports(vocabulary, mode) is not None:
            continue
        encoder = one.implementation.load(vocabulary)
        call = partial(encoder.encode, text, mode)
        found = {tuple(call())}  # and whoever remembers has something to
        counted = set()
        for held in (0x00, 1 << SIZE_BITS | NUMBER, 0xFF):

            def filled(*given, held=held, **named):
                made = empty(*given, **named)
                made.view(np.uint8).fill(held)
                return made

            with monkeypatch.context() as patched:
                patched.setattr(np, "empty", filled)
                counted.add(steps(lambda: found.add(tuple(call()))))  # noqa: B023 - called here
        assert len(counted) == len(found) == 1, one.name
        looked += 1
    assert looked >= 2


def test_compiled_code_is_interpreted_inside_only():
    import numba

    if numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled")

    @numba.njit
    def kind():
        return 1

    before = type(kind).__call__
    assert kind() == 1
    with interpreted():
        assert type(kind).__call__ is not before
        assert kind() == 1
    assert type(kind).__call__ is before
