"""Between two references nobody is blamed, by the real command, and it can be replayed."""

from pathlib import Path

import pytest

from tests.doubles.command import summary, tokgate

MUTANTS = Path(__file__).parents[2] / "mutants" / "in_process.py"


@pytest.mark.thorough  # whole runs; test_partition.py has the rule for equals
def test_between_two_references_nobody_is_blamed_and_it_can_be_replayed(tmp_path):
    both = [
        f"--{what}={MUTANTS}:{name}"
        for what in ("impl", "reference")
        for name in ("AlwaysWrong", "Correct")
    ]
    short = ("--vocab=toy_bytes", "--generator=edge", "--check=equivalence", "--budget=60cases")
    for again, command in ((0, ("run", *short, *both)), (1, ("replay", str(tmp_path / "0")))):
        out = tmp_path / str(again)
        done = tokgate(*command, *["--trust"] * again, f"--out={out}")
        assert done.returncode == 1, done.stderr
        found = summary(out)["findings"]
        assert found and all(one["undecided"] for one in found)
        names = {v["bucket"].split("/")[-1] for one in found for v in one["variants"]}
        assert names == {"mini-always-wrong<>mini-correct"}
    assert "nobody is blamed" in (tmp_path / "0" / "summary.md").read_text()
