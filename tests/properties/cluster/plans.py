"""Plans and records that tests of executors share."""

import dataclasses
import pickle
from dataclasses import replace
from itertools import zip_longest

import pytest

from corpora.generators.catalog import generators
from corpora.vocabularies import sources
from harness.checks import CHECKS
from harness.engine.flow import Ways, execute
from harness.engine.journal import Journal
from harness.engine.suites import Budget
from harness.findings.folder import RunFolder
from harness.studies.default import studies
from harness.studies.preparation import prepare
from harness.workers import Limits
from tests.doubles.command import record
from tests.doubles.toy_plans import any_plan

VOCABULARIES = ("toy_bytes", "random:4")
IMPLEMENTATIONS = ("bpe.naive", "bpe.heap", "bpe.table")

WRONG = '''
"""A plug-in that is wrong wherever two equal bytes meet."""

from impls.bpe.heap import IMPLEMENTATION as HEAP
from impls.interface import About


class Encoder:
    def __init__(self, right):
        self.right = right

    def encode(self, data, mode):
        ids = list(self.right.encode(data, mode))
        return ids[1:] if any(a == b for a, b in zip(data, data[1:])) else ids


class Wrong:
    about = About("wrong", "1", "Python", "drops a token where two equal bytes meet")

    def supports(self, vocabulary, mode):
        return HEAP.supports(vocabulary, mode)

    def load(self, vocabulary):
        return Encoder(HEAP.load(vocabulary))
'''
"""A candidate with findings on every vocabulary, as a file of the driver's."""


def plug_in(folder):
    """Write the wrong candidate, and return how it is named."""
    path = folder / "wrong_plug_in.py"
    path.write_text(WRONG)
    return f"{path}:Wrong"


def small_plan(*besides, cases=150, fail_fast=False):
    """A run of a few seconds whose budget is a number of cases."""
    return any_plan(
        [*IMPLEMENTATIONS, *besides],
        VOCABULARIES,
        seed=5,
        generators=list(generators().values()),
        checks=[CHECKS["equivalence"], CHECKS["survival"]],
        budget=Budget(cases=cases),
        fail_fast=fail_fast,
        # Three nodes that compile everything at once on two cores take their time.
        limits=Limits(seconds=120.0, load_seconds=1200.0),
    )


CLAIMING = """
from impls import registry
from impls.interface import About, Capability, Unsupported

class Never:
    about = About(name="never", version="1", capabilities=frozenset((Capability.COUNT,)))
    def supports(self, vocabulary, mode): return None
    def load(self, vocabulary):
        self._id, self._inner = vocabulary.id, registry.resolve("bpe.heap").load(vocabulary)
        return self
    def encode(self, data, mode): return self._inner.encode(data, mode)
    def count(self, data, mode): raise Unsupported("not yet")

class Once(Never):
    about = About(name="once", version="1", capabilities=Never.about.capabilities)
    def count(self, data, mode):
        if self._id != {there!r}: raise Unsupported("of one vocabulary only")
        return len(self.encode(data, mode))

class Here(Never):
    def supports(self, vocabulary, mode): return None if vocabulary.id == {there!r} else "another"
"""
"""One that never keeps a claim, one that keeps it on one vocabulary, and one that knows no other
vocabulary."""


def claiming_plan(folder, name, *, cases, fail_fast=False):
    """A small plan with one of those that claim to count."""
    path = folder / "claiming.py"
    path.write_text(CLAIMING.format(there=sources.resolve(VOCABULARIES[0]).id))
    checks = [CHECKS["survival"], CHECKS["count-till-limit"]]
    return replace(small_plan(f"{path}:{name}", cases=cases, fail_fast=fail_fast), checks=checks)


def finished(
    plan,
    out,
    executor=None,
    consume=lambda event: None,
    journal=None,
    *,
    resume=False,
):
    """Run a plan here, or by an executor."""
    ways = Ways(prepare, journal, resume, executor)
    return execute(plan, RunFolder(out), [consume], "tokgate run", studies, ways)


def sat(plan, out, consume=lambda event: None, *, resume=True, executor=None):
    """One sitting of a run."""
    with Journal(out, plan) as journal:
        return finished(plan, out, executor, consume, journal, resume=resume)


class Usual:
    """The run of this machine that others are held to: its plan, its result, its folder."""

    def __init__(self, folder):
        self.plan = small_plan(plug_in(folder))
        self.out = folder / "usual"
        self.result = finished(self.plan, self.out)


@pytest.fixture(scope="session")
def usual(tmp_path_factory):
    """It is made once."""
    return Usual(tmp_path_factory.mktemp("usual"))


OF_THE_MACHINE = (
    "Started", "Finished", "Phase", "Preparing", "NodeJoined", "NodeLeft", "ClusterUsed",
)  # fmt: skip
"""Events that tell of time and machines, as do all of units."""


def record_of(out):
    """What the record of a run says of its cases and findings, in order."""
    return [
        one
        for one in record(out)
        if one["event"] not in OF_THE_MACHINE and not one["event"].startswith("Unit")
    ]


def equal(there, here, elsewhere, usual):
    """Hold what a run came to elsewhere to what it comes to here: all of it, exactly."""
    for one in (here, there):  # else it is a part that is compared
        assert one.finished.complete, f"not whole: {one.finished.reasons}"
    assert record_of(elsewhere) == record_of(usual), differing(elsewhere, usual)
    assert there.findings == here.findings
    assert there.expectations == here.expectations
    assert verdict_of(there) == verdict_of(here)
    assert files_of(elsewhere) == files_of(usual)
    assert len(here.findings) > 1, "else the rest says little"


def differing(elsewhere, usual):
    """Where two records part: the first events that differ."""
    both = zip_longest(record_of(elsewhere), record_of(usual))
    return next((f"there: {there}\nhere: {here}" for there, here in both if there != here), None)


def verdict_of(result):
    """The verdict, and all that it says but the time, and in how many sittings it was made."""
    notes = [note for note in result.finished.notes if "earlier run" not in note]
    one = replace(result.finished, seconds=0.0, prepared=0.0, notes=notes)
    return dataclasses.astuple(one)


def files_of(out):
    """The findings of a run, and the vocabularies beside them, as files.

    Of a pickle what it holds: two of one vocabulary may share their parts in other ways.
    """
    return {
        str(path.relative_to(out)): content_of(path)
        for folder in ("findings", "vocabularies")
        for path in sorted((out / folder).rglob("*"))
        if path.is_file()
    }


def content_of(path):
    """The bytes of a file, or of what was pickled there."""
    if path.suffix != ".pickle":
        return path.read_bytes()
    return repr(pickle.loads(path.read_bytes())).encode("utf-8", "surrogatepass")
