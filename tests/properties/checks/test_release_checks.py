"""Checks of releases of one library: planted differences are named, equal ones pass."""

import os
import random

import pytest

from corpora.vocabularies import sources
from harness.checks import CHECKS
from harness.checks.questions import examine
from harness.checks.releases import drawn_ids, libraries
from harness.core.comparisons import contracts_of
from harness.core.outcomes import Encoded, Failed, Rejected, Status
from harness.engine import selection
from harness.workers import Limits
from impls.interface import Capability
from tests.doubles.plugged import live

RELEASES = """
import os
import random
from impls.interface import About, Capability

CAN = frozenset({Capability.DECODE, Capability.OFFSETS})


class Release:
    def __init__(self, name, library="lib", slip=0, wrong=b"", deadly=b"\\0\\0"):
        self.about = About(name, "1", capabilities=CAN, library=library)
        self.slip, self.wrong, self.deadly = slip, wrong, deadly
    def supports(self, vocabulary, mode): return None
    def load(self, vocabulary):
        self.spell = vocabulary.spelling
        return self
    def encode(self, data, mode): return list(data)
    def encode_with_offsets(self, data, mode):
        if self.deadly in data: os.abort()
        slip = self.slip if b"y" in data else 0
        return list(data), [(i, i + 1 + slip) for i in range(len(data))]
    def decode(self, ids):
        text = b"".join(self.spell(i) for i in ids)  # KeyError: refused
        return text.replace(b"e", self.wrong) if self.wrong else text

OLD = Release("old")
SAME = Release("same")
OTHER_LIBRARY = Release("other", library="another", slip=1, wrong=b"E")
SLIPS = Release("slips", slip=1)
DECODES = Release("decodes", wrong=b"E")
DIES = Release("dies", deadly=b"y")
"""

INPUTS = [b"", b"abc", b"xyz", bytes(range(120))]


@pytest.fixture
def releases(tmp_path):
    path = tmp_path / "releases.py"
    path.write_text(RELEASES)
    return path


def judged(check, path, *names, trusted="old"):
    """The violations of a check: input, stage, culprits; ``trusted`` is declared a reference."""
    specs = [f"{path}:{name}" for name in names]
    with live(specs, "tekken_240911", Limits(seconds=60), frozenset({trusted})) as (
        pool,
        [one, *_],
    ):
        found = examine(pool, one, CHECKS[check], INPUTS)
    return [(one.data, one.stage, one.culprits) for one in found.violations]


@pytest.mark.parametrize("check", ["release-offsets", "release-decode"])
def test_who_answers_otherwise_than_a_release_of_its_library_is_named(check, releases):
    stage, other = check.removeprefix("release-"), {"offsets": "slips", "decode": "decodes"}
    found = judged(check, releases, "OLD", "SAME", other[stage].upper(), "OTHER_LIBRARY")
    assert {(parted, who) for _, parted, who in found} == {(stage, (other[stage],))}
    if stage == "offsets":
        assert {data for data, _, _ in found} == {data for data in INPUTS if b"y" in data}
    # Where neither is a reference none is blamed.
    found = judged(check, releases, "OLD", other[stage].upper(), trusted="")
    assert {who for _, _, who in found} == {tuple(sorted(("old", other[stage])))}


@pytest.mark.thorough  # an environment of its own
def test_a_release_that_dies_of_offsets_is_named(releases):
    found = judged("release-offsets", releases, "OLD", "DIES")
    assert (b"xyz", "crashed", ("dies",)) in found
    assert {who for _, _, who in found} == {("dies",)}


def test_drawn_ids_reach_special_and_unknown_ones():
    vocabulary = sources.resolve("tekken_240911")
    rng = random.Random(3)
    ids = {i for _ in range(400) for i in drawn_ids(rng.randbytes(90), vocabulary)}
    assert set(vocabulary.special_tokens.values()) & ids
    assert max(ids) >= len(vocabulary)
    assert len(drawn_ids(os.urandom(10_000), vocabulary)) == 64
    assert drawn_ids(b"abcdef", vocabulary)[:1] == drawn_ids(b"abc", vocabulary)


def test_implementations_of_no_library_are_not_compared(releases):
    present, _ = selection.participants(
        [f"{releases}:OLD", f"{releases}:OTHER_LIBRARY", "bpe.heap"]
    )
    vocabulary = sources.resolve("tekken_240911")
    contract = contracts_of(vocabulary, present, frozenset(), proper=True)[0]
    assert libraries(contract, Capability.DECODE) == []


def test_an_error_is_how_a_library_refuses_ids_and_nothing_else_is():
    check = CHECKS["release-decode"]
    assert check.answer(Failed(Status.ERRORED, "no such id")) == Rejected("no such id")
    for other in (Failed(Status.CRASHED, "SIGSEGV"), Encoded((1,), text=b"a")):
        assert check.answer(other) is other
