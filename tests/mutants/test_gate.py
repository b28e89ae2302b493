"""Whole plug-ins that the gate must not pass, each run by ``tokgate run`` beside the references."""

from __future__ import annotations

import json

import pytest

from harness.studies.selftest import gate
from harness.studies.selftest.catalog import mistakes
from harness.studies.selftest.groups import Kind, groups
from tests.doubles.command import tokgate

MUTANTS = [one for one in mistakes().values() if one.family == "gate"]
RIGHT = {one.control: one for one in MUTANTS}
ONE = "gate.lacks-services"
"""The mutant that the command itself is shown with, and so its control."""


@pytest.mark.parametrize(
    "mutant", [pytest.param(one, id=one.name) for one in MUTANTS if one.name != ONE]
)
@pytest.mark.first
@pytest.mark.thorough
def test_the_gate_does_not_pass_it(mutant):
    named, reason = gate.verdict(mutant.vocabulary, mutant.spec, mutant.expect)
    assert named in {"fail", "not-examined"}, reason


@pytest.mark.parametrize(
    "mutant",
    [
        pytest.param(m, id=s.split()[-1][-20:])
        for s, m in RIGHT.items()
        if s != next(one.control for one in MUTANTS if one.name == ONE)
    ],
)
@pytest.mark.first
@pytest.mark.thorough
def test_the_gate_passes_what_is_right(mutant):
    assert gate.verdict(mutant.vocabulary, mutant.control, mutant.expect) == ("pass", "")


@pytest.mark.thorough  # a whole run
def test_it_is_not_passed_for_its_expectations():
    """What a mutant is wrong in besides what is expected is found where nothing is."""
    masked = [one for one in MUTANTS if one.expect]
    assert masked
    for one in masked[:1]:
        named, reason = gate.verdict(one.vocabulary, one.spec)
        assert (named, one.name in reason) == ("fail", True)


def test_a_run_that_cannot_begin_is_said():
    named, reason = gate.verdict("toy_bytes", "no/such/file.py:Mine")
    assert named == "status-2"
    assert "no/such/file.py" in reason


def gated(over=False):
    """What a hunt comes to."""
    [group] = groups(MUTANTS)
    assert group.kind is Kind.GATE
    return gate.gated(group, 0, lambda: over)


class TestHunts:
    def test_verdicts_become_what_was_caught(self, monkeypatch):
        said = {MUTANTS[0].spec: ("not-examined", "nothing"), MUTANTS[2].spec: ("fail", "1 found")}
        monkeypatch.setattr(gate, "verdict", lambda _, spec, *__: said.get(spec, ("pass", "")))
        shown = gated()
        assert shown.keys() == {*RIGHT, *(one.name for one in MUTANTS)}
        assert shown[MUTANTS[0].name].named == ["gate/not-examined"]
        assert (shown[MUTANTS[2].name].named, shown[MUTANTS[2].name].bucket) == (
            ["gate/fail"], "1 found",
        )  # fmt: skip
        assert (shown[MUTANTS[3].name].named, shown[MUTANTS[3].name].trouble) == ([], "")

    def test_what_is_right_and_not_passed_is_a_false_alarm(self, monkeypatch):
        monkeypatch.setattr(gate, "verdict", lambda *_: ("fail", "1 unexpected finding"))
        shown = gated()
        assert all(shown[name].named == ["gate/fail"] for name in RIGHT)

    def test_what_was_cut_off_is_not_said_to_escape(self):
        assert {one.trouble for one in gated(over=True).values()} == {gate.NO_TIME}


@pytest.mark.first
@pytest.mark.thorough  # whole runs, one of them of what is right
def test_a_selftest_of_one(tmp_path):
    """``tokgate selftest`` runs the gate on a mutant, and on what it is without its mistake."""
    ended = tokgate("selftest", "-m", ONE, "--out", str(tmp_path), "--json")
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert [one["named"] for one in told["mistakes"]] == [["gate/fail"]]
    assert [(one["caught"], one["trouble"]) for one in told["controls"]] == [(False, "")]
    [line] = [one for one in told["checks"] if one["name"] == "gate"]
    assert line["caught"] == 1
