"""A campaign in several sessions, or of several targets, comes to what it comes to otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.events import Found
from tests.harness.fuzz_campaign import everything, run, small_plan

pytestmark = pytest.mark.thorough  # whole campaigns, several a test


def test_more_cases_go_on_where_the_campaign_was(tmp_path: Path) -> None:
    where = str(tmp_path / "1.db")
    first = run(small_plan(600), where, tmp_path / "1")
    before = everything(where)["inputs"]
    second = run(small_plan(1500), where, tmp_path / "1")
    assert (first.campaign["cases"], second.campaign["cases"]) == (600, 1500)
    assert everything(where)["inputs"][: len(before)] == before
    # Only what the second session found is new to it.
    old = {found.id for found in first.new}
    assert old
    assert not old & {found.id for found in second.new}
    assert [e for e in second.events if isinstance(e, Found)] == second.findings


def test_targets_do_not_disturb_one_another(tmp_path: Path) -> None:
    """Two vocabularies side by side come to what each comes to alone."""
    from dataclasses import replace

    impls = ("bpe.naive", "bpe.heap")
    both = small_plan(600, impls, ("toy_bytes", "toy_acbb"))
    side_by_side = replace(both, plan=replace(both.plan, jobs=2), shards=2)
    together, alone = str(tmp_path / "1.db"), str(tmp_path / "2.db")
    run(side_by_side, together, tmp_path / "1")
    run(small_plan(600, impls, ("toy_bytes",)), alone, tmp_path / "2")
    targets = everything(together)["strands"]
    assert set(targets) == {f"toy_{kind}#{n}" for kind in ("bytes", "acbb") for n in (0, 1)}
    assert targets["toy_bytes#0"] == everything(alone)["strands"]["toy_bytes#0"]
    assert targets["toy_bytes#1"][3] != targets["toy_bytes#0"][3]
