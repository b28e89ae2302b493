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
TEXTS = {"cleans-bytes": "clean-up", "names-trimmed": "token-strings"}
LOCATED = "harness.studies.selftest.catalog:offsets.leaves-marks-out"


def plugged(caught):
    """How those plug-ins are named to a run."""
    classes = {one.name: one for one in vars(kinds).values() if hasattr(one, "about")}
    return [f"{kinds.__file__}:{classes[name].__qualname__}" for name in caught]


@pytest.mark.parametrize(
    ("vocabulary", "caught", "specs", "budget", "checks"),
    [
        ("toy_bytes", STREAMS, plugged(STREAMS), "600cases", ["stream-decoder"]),
        ("toy_bytes", CALLS, plugged(CALLS), "600cases", ["mixed-calls", "equivalence"]),
        ("toy_bytes", TEXTS, plugged(TEXTS), "4000cases", ["clean-up", "token-strings"]),
        ("unigram_nfkc", {"offsets.leaves-marks-out": "offsets"}, [LOCATED], "2000cases",
         ["offsets"]),
    ],
    ids=["streams", "calls", "texts", "offsets"],
)  # fmt: skip
@pytest.mark.first
@pytest.mark.thorough  # whole runs
def test_each_is_named_by_its_check(vocabulary, caught, specs, budget, checks, tmp_path):
    named = [part for spec in specs for part in ("--impl", spec)]
    named += [part for check in checks for part in ("--check", check)]
    out = tmp_path / "out"
    done = tokgate("run", *named, "--vocab", vocabulary, "--budget", budget, "--out", str(out))
    assert done.returncode in {0, 1}, done.stderr
    found = json.loads((out / "summary.json").read_text())["findings"]
    buckets = [one["bucket"].split("/") for one in found]
    for name, check in caught.items():
        shown = {bucket[0] for bucket in buckets if name in bucket[-1]}
        assert check in shown if check else not shown, (name, shown)
