"""A campaign asks what it has found again: what is fixed passes, and is new if it comes back."""

from dataclasses import replace

import pytest

from harness.checks import CHECKS
from harness.cli.commands import fuzz as command
from harness.core import exit_statuses
from harness.engine.selection import SelectionError
from harness.engine.suites import Budget
from harness.events import FindingFixed
from harness.findings.patience import NO_TIME
from harness.findings.questions import Asking
from harness.studies.campaigns.store import CampaignStore
from harness.studies.fuzz.known import comes_back
from harness.studies.fuzz.record import Ended, record
from tests.harness.command import here
from tests.harness.fuzz_campaign import run, small_plan
from tests.reports import records

PLUG_IN = """
from harness.studies.selftest.plain.bpe import PlainBpe
from impls.interface import Capability, Rejected, Unsupported
from pathlib import Path
from typing import Any

HOW = Path(__file__).with_name("how")

class Mine(PlainBpe):
    name = "mine"
    capabilities = PlainBpe.capabilities | {Capability.COUNT}

    def encode(self, data, mode):
        ids, how = super().encode(data, mode), HOW.read_text()
        if b"th" in data and how == "wrong":
            return [*ids[:-1], 65]
        if b"th" in data and how == "silent":
            raise Unsupported("not any more")
        if b"th" in data and how == "refusing":
            raise Rejected("no such text")
        return ids

    def count(self, data, mode):
        if HOW.read_text() != "counts":
            raise Unsupported("not yet")
        return len(self.encode(data, mode))
"""


class Campaign:
    """A campaign on an implementation that a test makes right or wrong between its sessions."""

    def __init__(self, folder):
        self.folder, self.cases = folder, 300
        self.checks = ["survival", "equivalence"]
        self.asked = {}
        (folder / "mine.py").write_text(PLUG_IN)

    def session(self, how, vocabularies=("toy_bytes",)):
        (self.folder / "how").write_text(how)
        mine = f"{self.folder}/mine.py:Mine"
        whole = small_plan(self.cases, (mine,), vocabularies)
        checks = [CHECKS[name] for name in self.checks]
        plan = replace(whole, plan=replace(whole.plan, asked=self.asked, checks=checks))
        return run(plan, str(self.folder / "campaign.db"), self.folder / "out")


@pytest.fixture
def campaign(tmp_path):
    return Campaign(tmp_path)


def fixed(made):
    return [event.id for event in made.events if isinstance(event, FindingFixed)]


def test_what_is_fixed_passes_and_what_comes_back_is_new_again(campaign):
    first = campaign.session("wrong")
    assert first.finished.exit_status == exit_statuses.FAILS
    ids = {found.id for found in first.new}
    assert ids
    # The budget of cases is spent, so that the sessions from here on ask nothing else.
    assert campaign.session("wrong").new == []
    assert {path.name for path in (campaign.folder / "out" / "findings").iterdir()} == ids

    mended = campaign.session("right")
    assert (mended.finished.verdict, mended.finished.exit_status) == ("pass", exit_statuses.HOLDS)
    assert mended.findings == []
    assert set(fixed(mended)) == ids
    assert any("fixed, as it no longer shows: equivalence" in n for n in mended.finished.notes)
    assert not list((campaign.folder / "out" / "findings").iterdir())
    assert set(fixed(campaign.session("right"))) == ids  # a session that goes on knows it

    broken = campaign.session("wrong")
    assert broken.finished.exit_status == exit_statuses.FAILS
    assert {found.id for found in broken.new} <= ids
    assert broken.new
    assert not set(fixed(broken)) & {found.id for found in broken.findings}


def test_what_shows_in_another_way_is_found_though_no_other_case_is_asked(
    campaign,
):
    ids = {found.id for found in campaign.session("wrong").findings}
    campaign.session("right")
    made = campaign.session("refusing")
    assert made.finished.exit_status == exit_statuses.FAILS
    assert {found.id for found in made.new} == {found.id for found in made.findings}
    assert made.findings
    assert not ids & {found.id for found in made.findings}
    assert (campaign.folder / "out" / "findings" / made.new[0].id / "input.bin").is_file()


def test_who_does_not_answer_has_fixed_nothing(campaign):
    found = campaign.session("wrong").findings
    made = campaign.session("silent")
    assert {one.id for one in made.findings} == {one.id for one in found}
    assert fixed(made) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, True),
        ({"minimal": False, "unminimised": "it took too long"}, True),
        ({"minimal": False}, False),
        ({"check": "determinism"}, False),
        ({"check": "reachability"}, False),
        ({"minimal": False, "unminimised": NO_TIME}, False),
    ],
)
def test_only_what_came_back_can_be_seen_to_be_gone(change, told):
    assert comes_back(records.found("f-1", b"b", **change)) is told


def test_what_nobody_could_tell_is_no_pass_as_long_as_a_campaign_lasts(campaign, monkeypatch):
    campaign.asked = {"implementations": ["mine"]}
    campaign.session("wrong")
    assert campaign.session("right").finished.verdict == "pass"
    with monkeypatch.context() as patch:
        patch.setattr(Asking, "confirm", lambda *asked: "unsure")
        first = campaign.session("wrong")
    for made in (first, campaign.session("right")):
        assert made.findings == []
        assert made.finished.exit_status == exit_statuses.NOT_EXAMINED
        line = " ".join(made.finished.reasons)
        assert "of mine on toy_bytes/raw not looked into (equivalence)" in line
        assert "it gave no answer when it was asked again" in line


def test_a_claim_that_is_never_kept_is_told_once_and_until_it_is_kept(campaign):
    campaign.checks = ["survival", "equivalence", "count-till-limit"]
    campaign.cases = 1500
    first = campaign.session("right")
    assert [found.bucket for found in first.new] == ["survival/bpe/raw/false-claim/any/mine"]
    assert (campaign.folder / "out" / "findings" / first.new[0].id / "input.bin").is_file()
    second = campaign.session("right")
    assert (second.new, len(second.findings)) == ([], 1)
    assert second.finished.exit_status == exit_statuses.FAILS
    campaign.cases = 3000
    kept = campaign.session("counts")
    assert kept.findings == []
    assert kept.finished.exit_status == exit_statuses.HOLDS


def test_a_campaign_that_came_to_nothing_is_not_examined(tmp_path):
    whole = small_plan(64, ("bpe.heap",), ("toy_bytes", "toy_acbb"))
    plan = replace(whole.plan, budget=Budget(seconds=0.0), asked={"vocabularies": []})
    made = run(replace(whole, plan=plan), str(tmp_path / "b.db"), tmp_path / "b")
    assert made.finished.exit_status == exit_statuses.NOT_EXAMINED
    told = " ".join([*made.finished.reasons, *made.finished.notes])
    assert "toy_acbb" in told
    assert "give a larger --budget" in told


@pytest.mark.parametrize("named", [True, False])
def test_a_vocabulary_that_was_named_and_never_reached_is_not_examined(tmp_path, named):
    """As where a cluster was lost before it came to one of them."""
    plan = small_plan(64, ("bpe.heap",), ("toy_bytes", "toy_acbb"))
    first = replace(
        plan,
        plan=replace(plan.plan, vocabularies={"toy_bytes": plan.plan.vocabularies["toy_bytes"]}),
    )
    store = CampaignStore(str(tmp_path / "a.db"), "test")
    assert run(first, str(tmp_path / "a.db"), tmp_path / "a").finished.verdict == "pass"
    store.begin(first.identity(), anew=False)
    asked = {"vocabularies": ["toy_bytes", "toy_acbb"] if named else []}
    whole = replace(plan, plan=replace(plan.plan, asked=asked))
    made = record(whole, store, lambda *_: None, "test", {}, Ended())
    status = exit_statuses.NOT_EXAMINED if named else exit_statuses.HOLDS
    assert made.finished.exit_status == status
    assert "toy_acbb" in " ".join([*made.finished.reasons, *made.finished.notes])


def test_the_command_says_what_was_named(tmp_path, monkeypatch):
    asked = []

    def execute(campaign, *rest, **options):
        asked.append({kind: list(names) for kind, names in campaign.plan.asked.items()})
        raise SelectionError("enough")

    monkeypatch.setattr(command.run, "execute", execute)
    options = ("fuzz", "--impl", "bpe.naive", "--out", str(tmp_path))
    here(*options, "--vocab", "toy_bytes", "--check", "equivalence")
    here(*options)
    named = {"vocabularies": ["toy_bytes"], "checks": ["equivalence"]}
    assert asked == [named, {"vocabularies": [], "checks": []}]
