"""A campaign asks what it has found again: what is fixed passes, and is new if it comes back."""

from dataclasses import replace

import pytest

from harness.checks import CHECKS
from harness.cli.commands import fuzz as command
from harness.core.exit_statuses import FAILS, HOLDS, NOT_EXAMINED
from harness.engine.selection import SelectionError
from harness.engine.suites import Budget
from harness.events import FindingFixed
from harness.findings.patience import NO_TIME
from harness.findings.questions import Asking
from harness.studies.campaigns.store import CampaignStore
from harness.studies.fuzz.known import comes_back
from harness.studies.fuzz.record import Ended, record
from tests.doubles.command import here
from tests.doubles.fuzz_campaign import no_processes, run, small_plan
from tests.properties.reports import records

__all__ = ["no_processes"]

pytestmark = pytest.mark.usefixtures("no_processes")

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


def ids(findings):
    return {found.id for found in findings}


def fixed(made):
    return ids(event for event in made.events if isinstance(event, FindingFixed))


def test_what_is_fixed_passes_and_what_comes_back_is_new_again(campaign):
    folders = campaign.folder / "out" / "findings"
    first = ids(campaign.session("wrong").new)
    assert first
    # The budget of cases is spent, so that the sessions from here on ask nothing else.
    again = campaign.session("wrong")
    assert (again.new, ids(again.findings)) == ([], first)
    assert {path.name for path in folders.iterdir()} == first
    for _ in range(2):  # a session that goes on knows it
        mended = campaign.session("right")
        assert (mended.finished.verdict, mended.finished.exit_status) == ("pass", HOLDS)
        assert (mended.findings, fixed(mended)) == ([], first)
        assert "fixed, as it no longer shows: equivalence" in " ".join(mended.finished.notes)
        assert not list(folders.iterdir())
    broken = campaign.session("wrong")
    assert broken.finished.exit_status == FAILS
    assert broken.new
    assert ids(broken.new) <= first
    assert not fixed(broken) & ids(broken.findings)


def test_what_shows_in_another_way_is_found_though_no_other_case_is_asked(campaign):
    before = ids(campaign.session("wrong").findings)
    campaign.session("right")
    made = campaign.session("refusing")
    assert made.finished.exit_status == FAILS
    assert ids(made.new) == ids(made.findings)
    assert made.findings
    assert not before & ids(made.findings)
    assert (campaign.folder / "out" / "findings" / made.new[0].id / "input.bin").is_file()


def test_who_does_not_answer_has_fixed_nothing(campaign):
    before = ids(campaign.session("wrong").findings)
    made = campaign.session("silent")
    assert (ids(made.findings), fixed(made)) == (before, set())


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
        assert (made.findings, made.finished.exit_status) == ([], NOT_EXAMINED)
        line = " ".join(made.finished.reasons)
        assert "of mine on toy_bytes/raw not looked into (equivalence)" in line


def test_a_claim_that_is_never_kept_is_told_once_and_until_it_is_kept(campaign):
    campaign.checks = ["survival", "equivalence", "count-till-limit"]
    campaign.cases = 1500
    first = campaign.session("right")
    assert [found.bucket for found in first.new] == ["survival/bpe/raw/false-claim/any/mine"]
    assert (campaign.folder / "out" / "findings" / first.new[0].id / "input.bin").is_file()
    second = campaign.session("right")
    assert (second.new, ids(second.findings)) == ([], ids(first.new))
    assert second.finished.exit_status == FAILS
    campaign.cases = 3000
    kept = campaign.session("counts")
    assert (kept.findings, kept.finished.exit_status) == ([], HOLDS)


@pytest.mark.parametrize(
    ("named", "status"), [(["toy_bytes", "toy_acbb"], NOT_EXAMINED), ([], HOLDS)]
)
def test_a_vocabulary_that_was_named_and_never_reached_is_not_examined(tmp_path, named, status):
    """As where a cluster was lost before it came to one of them; and where nothing was reached."""
    where, plan = str(tmp_path / "a.db"), small_plan(64, ("bpe.heap",), ("toy_bytes", "toy_acbb"))

    def of(**changes):
        return replace(plan, plan=replace(plan.plan, **changes))

    whole = of(asked={"vocabularies": named})
    first = of(vocabularies={"toy_bytes": plan.plan.vocabularies["toy_bytes"]})
    assert run(first, where, tmp_path / "a").finished.verdict == "pass"
    store = CampaignStore(where, "test")
    store.begin(first.identity(), anew=False)
    made = record(whole, store, lambda *_: None, "test", {}, Ended())
    never = run(of(budget=Budget(seconds=0.0)), str(tmp_path / "b.db"), tmp_path / "b")
    for one, expected in ((made, status), (never, NOT_EXAMINED)):
        assert one.finished.exit_status == expected
        told = " ".join([*one.finished.reasons, *one.finished.notes])
        assert "toy_acbb" in told
        assert "give a larger --budget" in told


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
