"""Compiled code on disk is that of the source: an edited helper, or constant, is compiled anew."""

import pytest

from tests.doubles.command import ROOT, python

CALLER = """
from impls.compiled.jit import njit
from helper import BY, more

@njit
def twice(number):
    return once(once(number)) * BY

@njit
def once(number):
    return more(number)
"""
HELPER = """
from impls.compiled.jit import njit

BY = {by}

@njit
def more(number):
    return number + {more}
"""
RUN = """
import sys, caller
result, hits = caller.twice(1), caller.twice.stats.cache_hits
print(result, sum(hits.values()), int("numba.cpython.unicode" in sys.modules))
"""


def run(folder, *, by=1, more=1):
    """What the caller gives in a process of its own, and how often its code came from disk.

    All that Numba can compile is imported only where something is compiled.
    """
    (folder / "caller.py").write_text(CALLER)
    (folder / "helper.py").write_text(HELPER.format(by=by, more=more))
    environment = {
        "NUMBA_DISABLE_JIT": "0",
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": f"{folder}:{ROOT}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = python("-c", RUN, folder=folder, **environment)
    result, hits, compilers = map(int, done.stdout.split())
    assert compilers == (hits == 0)
    return result, hits


@pytest.mark.parametrize("change", [{"more": 5}, {"by": 3}])
def test_what_is_called_and_what_is_constant_are_part_of_a_function(change, tmp_path):
    assert run(tmp_path) == (3, 0)
    assert run(tmp_path) == (3, 1)
    changed, hits = run(tmp_path, **change)
    assert (changed, hits) == (11 if "more" in change else 9, 0)
    assert run(tmp_path, **change) == (changed, 1)
