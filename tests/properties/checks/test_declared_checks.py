"""A check declares itself: every table elsewhere is derived from what it says."""

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from harness.checks import CHECKS, inputless
from harness.checks.another_way import AsksAgain
from harness.checks.base import Check, Judgement, Observation, Severity, ids_of
from harness.cli.commands.list import rows
from harness.core.outcomes import Encoded, Inputs, Results, Unsupported
from impls.interface import Mode
from reports import html, junit, sarif
from reports.record import RunRecord
from reports.words import severity, spoken
from tests.docs import formulas
from tests.doubles.local import RAW, SPECIAL, TEXT
from tests.doubles.samples import contract
from tests.properties.reports import records

if TYPE_CHECKING:
    pass


class Palindromes(Check):
    """encode(x) backwards = encode(x backwards).

    Of nobody: it is made up.
    """

    name = "palindromes"
    summary = "read backwards, a text has its ids backwards"
    severity = Severity.OFFSETS
    said = "read a text in one direction only"
    asks_further = False

    def judge(self, seen, ask):
        """Nothing is wrong."""
        return Judgement()


class Halves(AsksAgain):
    """|encode(x)| = |encode(u)| + |encode(v)| for the halves u, v of x, the second asked later.

    Of all: it is made up.
    """

    name = "halves"
    summary = "halves have as many ids as the whole"
    severity = Severity.SERVICE

    def look(self, one):
        """One half after the other; who has an empty input is not asked."""
        if not one.data:
            return
        middle = len(one.data) // 2
        (left,) = yield [one.encode(one.data[:middle])]
        (right,) = yield [one.encode(one.data[middle:])]
        same = len(ids_of(left)) + len(ids_of(right)) == len(one.ids)
        fault = "halves", one.says(left, "the first half"), one.says(right, "the second half")
        one.judge(right, [] if same else [fault])


def test_all_inputs_are_asked_about_in_one_request_a_round():
    terms = contract("toy_bytes", "bpe.naive", "bpe.heap")
    first = Results.of([Encoded((1, 2)), Encoded(()), Encoded((1,)), Unsupported()])
    inputs = Inputs.of([b"ab", b"", b"abc", b"d"])
    seen = Observation(terms, inputs, dict.fromkeys(terms.names, first))
    asked = []

    def ask(probes):
        asked.extend((one.implementation, [*one.request.inputs]) for one in probes)
        answer = Results.of([Encoded((1,)), Unsupported() if len(asked) > 3 else Encoded((2,))])
        return [answer] * len(probes)

    judged = Halves().judge(seen, ask)
    rounds = [b"a", b"a"], [b"b", b"bc"]
    assert asked == [(name, texts) for texts in rounds for name in terms.names]
    # The second halves of the third input, which nobody encodes, are not judged.
    assert judged.exercised == dict.fromkeys(terms.names, 1)
    assert judged.violations == []
    wrong = Halves().judge(seen, lambda probes: [Results.of([Encoded((1, 1))] * 2)] * len(probes))
    assert [(one.index, *one.culprits) for one in wrong.violations] == [
        (index, name) for name in terms.names for index in (0, 2)
    ]


def told(*checks):
    """A record with a finding of each of these checks."""
    found = [
        records.found(f"f-{number}", b"ab", check=check, bucket=f"{check}/x")
        for number, check in enumerate(checks)
    ]
    return RunRecord.from_events([*records.opening(), *found, records.finished("fail")])


@pytest.mark.parametrize("check", CHECKS)
def test_every_check_has_a_rule_and_words_of_its_own(check):
    [bucket] = told(check).buckets
    rules = json.loads(sarif.render(records.clean()))["runs"][0]["tool"]["driver"]["rules"]
    assert f"tokgate/{check}" in {rule["id"] for rule in rules}
    assert not spoken(bucket.example).endswith(f": {check}")


def test_a_check_needs_its_declaration_alone(monkeypatch):
    """Beside its file, nothing knows of it but the registry: every table has it all the same."""
    monkeypatch.setitem(CHECKS, Palindromes.name, Palindromes())
    monkeypatch.setattr(records, "CHECKS", [*records.CHECKS, Palindromes.name])
    record = told("palindromes")
    [bucket] = record.buckets
    assert severity(bucket.example) == "wrong offsets"
    words = "tokenizers read a text in one direction only"
    assert words in bucket.headline

    rules = sarif.render(record)
    for part in ("tokgate/palindromes", "Read backwards, a text has its ids backwards.", words):
        assert part in rules
    assert words in junit.render(record) and words in html.render(record)

    line = next(one for one in formulas.page().splitlines() if "palindromes" in one)
    assert line.startswith("| `palindromes` |") and "encode(x) backwards = " in line
    assert f"| `palindromes` | {Palindromes.summary} | wrong offsets |" in formulas.listed()
    assert {"name": "palindromes", "summary": Palindromes.summary} in rows("checks")


def test_what_a_check_declares_is_well_formed():
    plain = contract("toy_bytes", "bpe.naive", mode=Mode())
    claimed = plain.participants[0].about.capabilities
    assert len({check.said for check in CHECKS.values()}) == len(CHECKS)
    for name, check in CHECKS.items():
        assert name == check.name
        assert not check.summary.endswith(".")
        assert check.asks_further or check.every == 1
        if check.needs and claimed.isdisjoint(check.needs):
            assert not check.applies(plain), check.name


@pytest.mark.parametrize("mode", [RAW, TEXT, SPECIAL, replace(SPECIAL, pretokenize=False)])
def test_laws_of_one_piece_are_held_where_they_are_true(mode):
    for name in ("toy_bytes", "toy_characters", "toy_unigram"):
        for proper in (True, False):
            terms = replace(contract(name, "bpe.heap", mode=mode), proper=proper)
            true = name == "toy_bytes" and proper and mode == RAW
            assert CHECKS["validity"].applies(terms) == true
    for names in ("bpe.minimal", "bpe.minimal bpe.heap", "bpe.heap bpe.naive"):
        claimed = names == "bpe.minimal bpe.heap" and mode == RAW
        terms = contract("toy_bytes", *names.split(), mode=mode)
        assert CHECKS["minimality"].applies(terms) == claimed


def test_a_finding_of_a_check_that_is_not_known_here_is_shown():
    """A record of another version may have one."""
    [bucket] = told("palindromes").buckets
    assert severity(bucket.example) == "wrong service"
    assert bucket.headline.startswith("tokenizers: palindromes")


def test_only_what_shows_alone_may_have_no_input_that_brings_it_back():
    assert {name for name in CHECKS if inputless(f"{name}/bpe/raw/ids/Z/mine")} == {
        name for name, check in CHECKS.items() if check.alone
    }
    assert not inputless("unknown-check/determinism/raw")
