"""Plug-ins with mistakes that maintainers report: a run names each, and nobody else."""

import json

import pytest

from tests.doubles import kinds
from tests.doubles.command import tokgate

STREAMS = {"prompt-again": "stream-decoder", "holds-back": "stream-decoder", "incremental": ""}
CALLS = {
    "borrowed": "mixed-calls",
    "keeps-padding": "mixed-calls",
    "trimmed-keys": "equivalence",
}
LOCATED = "harness.studies.selftest.catalog:offsets.leaves-marks-out"


def plugged(caught):
    """How those plug-ins are named to a run."""
    classes = {one.name: one for one in vars(kinds).values() if hasattr(one, "about")}
    return [f"{kinds.__file__}:{classes[name].__qualname__}" for name in caught]


@pytest.mark.parametrize(
    ("vocabulary", "caught", "specs"),
    [
        ("toy_bytes", STREAMS, plugged(STREAMS)),
        ("toy_bytes", CALLS, plugged(CALLS)),
        ("tekken_240911", {"cut-at-lines": "equivalence"}, plugged(["cut-at-lines"])),
        ("tekken_240911", {"threaded": ""}, plugged(["threaded"])),
        ("unigram_nfkc", {"offsets.leaves-marks-out": "offsets"}, [LOCATED]),
    ],
    ids=["streams", "calls", "lines", "right", "offsets"],
)
@pytest.mark.thorough  # whole runs
def test_each_is_named_by_its_check(vocabulary, caught, specs, tmp_path):
    named = [part for spec in specs for part in ("--impl", spec)]
    out = tmp_path / "out"
    done = tokgate("run", *named, "--vocab", vocabulary, "--budget", "90s", "--out", str(out))
    assert done.returncode in {0, 1}, done.stderr
    found = json.loads((out / "summary.json").read_text())["findings"]
    buckets = [one["bucket"].split("/") for one in found]
    for name, check in caught.items():
        checks = {bucket[0] for bucket in buckets if name in bucket[-1]}
        assert check in checks if check else not checks, (name, checks)
