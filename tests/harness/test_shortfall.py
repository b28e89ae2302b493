"""Why a run compared nothing: each sentence follows from the events, whatever they are."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.checks import CHECKS, NEEDS
from harness.core import exit_statuses
from harness.events import (
    NOTHING_TO_COMPARE,
    BatchDone,
    ContractOpened,
    Event,
    VocabularyLoaded,
    Withdrawn,
)
from harness.verdict import gate
from harness.verdict.shortfall import Shortfall, unable
from impls.interface import Mode
from tests.harness.samples import contract
from tests.reports.records import died, found


def opened(*names: str) -> ContractOpened:
    return ContractOpened("toy/raw", "bpe", "toy", "raw", list(names), ["right"], {}, [])


def batch(exercised: dict[str, int], violations: dict[str, int], cases: int = 128) -> BatchDone:
    return BatchDone(
        "toy/raw", "edge", cases, 9, 0, {"survival": exercised}, {"survival": violations}
    )


RAISING = found(
    "f-1",
    b"",
    check="survival",
    culprits=["mine"],
    partition=[died(["mine"], "errored", "RuntimeError: no weights\n  at line 7")],
)


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([opened("mine")], "no two implementations share a vocabulary and mode"),
        ([], "no two implementations share a vocabulary and mode"),
        ([opened("mine", "right")], "no case was answered by all before the end"),
        (
            [opened("mine", "right"), batch({"mine": 128, "right": 128}, {"mine": 128}), RAISING],
            "all 128 calls of mine gave no answer (RuntimeError: no weights)",
        ),
        (
            [opened("mine", "right"), batch({"mine": 128, "right": 128}, {"mine": 127}), RAISING],
            "in 128 cases no two implementations that are held to the same answer gave one",
        ),
    ],
    ids=["alone", "nobody", "no case", "all raised", "all but one raised"],
)
def test_the_sentence_follows_from_the_record(events: Sequence[Event], said: str) -> None:
    sentence = Shortfall.of(events).compared_nothing()
    assert said in sentence
    others = {"no two implementations share", "no case was", "calls of mine", "in 128 cases"}
    assert sum(other in sentence for other in others) == 1


def test_withdrawals_are_lines() -> None:
    gone = Withdrawn("mine", "toy", "withdrawn after 3 time-outs\nmore")
    [line] = Shortfall.of([gone, gone]).withdrawals()
    assert line == "mine was not asked to the end on toy: withdrawn after 3 time-outs"


def test_whom_no_check_asks_is_told_why() -> None:
    claims = {"healer": {"heal", "decode"}, "mine": {"decode"}}
    assert unable(claims, {"heal": ("heal",)}) == {
        "mine": "heal asks for the capability heal, which it does not claim"
    }
    line = unable(claims, {"heal": ("heal",), "interval": ("interval",)})["mine"]
    assert line == (
        "heal and interval ask for the capability heal or interval, which it does not claim"
    )
    assert unable(claims, {"heal": ("heal",), "survival": ()}) == {}


def verdict(*, complete: bool) -> gate.Verdict:
    return gate.judge(
        (), (), (), frozenset(), [], 0, compared_nothing="nothing at all", idle=["mine"],
        complete=complete,
    )  # fmt: skip


def test_a_whole_run_that_passed_somebody_over_says_so() -> None:
    reasons = verdict(complete=True).reasons
    assert reasons == ("asked for by name and never judged: mine", "nothing at all")


def test_an_interrupted_one_blames_the_interruption() -> None:
    assert verdict(complete=False).reasons == (
        "the end came before any outcome was judged of: mine",
    )


def test_a_vocabulary_without_its_pattern_is_told_of() -> None:
    def loaded(remarks: list[str]) -> VocabularyLoaded:
        return VocabularyLoaded("ranks", "tiktoken", "bpe", 256, "", None, [], remarks=remarks)

    assert Shortfall.of([loaded([])]).limits() == []
    assert Shortfall.of([loaded(["no pre-tokenizer"])]).limits() == ["ranks: no pre-tokenizer"]


def test_who_was_compared_is_counted() -> None:
    done = BatchDone("toy/raw", "edge", 9, 9, 0, {"equivalence": {"a": 9, "b": 9, "c": 0}}, {})
    assert Shortfall.of([opened("a", "b", "c", "d"), done]).compared == {"a", "b"}


def loaded(name: str, *, unexpressed: bool) -> VocabularyLoaded:
    told = ["compared among those only who read it"] if unexpressed else []
    return VocabularyLoaded(
        *(name, "gguf", "bpe", 9, "", None, []), remarks=told, unexpressed=unexpressed
    )


def opened_on(name: str, *readers: str) -> ContractOpened:
    return ContractOpened(f"{name}/text", "bpe", name, "text", list(readers), [], {}, [])


def test_a_vocabulary_that_one_alone_reads_is_one_line() -> None:
    alone = [loaded("odd", unexpressed=True), opened_on("odd", "llama.cpp")]
    line = "odd: llama.cpp alone reads it of those that take part: nothing to compare with"
    assert Shortfall.of(alone).limits() == [line]
    assert Shortfall.of(alone).nothing_to_compare() == [line]
    others = [loaded("toy", unexpressed=False), opened_on("toy", "mine", "right")]
    both = Shortfall.of([*alone, *others])
    assert both.limits() == [line]
    assert both.nothing_to_compare() == []


@pytest.mark.parametrize(
    ("unexpressed", "readers"), [(False, ["mine"]), (True, ["mine", "right"]), (True, [])]
)
def test_nobody_else_is_said_to_be_alone(unexpressed: bool, readers: list[str]) -> None:
    seen = Shortfall.of([loaded("odd", unexpressed=unexpressed), opened_on("odd", *readers)])
    assert seen.nothing_to_compare() == []


def test_a_run_without_a_rival_neither_fails_nor_passes() -> None:
    why = Shortfall.of([]).compared_nothing()
    nothing = gate.Verdict(False, (why,), exit_statuses.FAILS)
    lone = gate.without_rival(nothing, why, rivals=False)
    assert lone is not None
    assert lone.reasons == (NOTHING_TO_COMPARE,)
    assert lone.exit_status == exit_statuses.FAILS
    assert gate.without_rival(nothing, why, rivals=True) is None
    found_too = gate.Verdict(False, ("1 unexpected finding", why), exit_statuses.FAILS)
    assert gate.without_rival(found_too, why, rivals=False) is None


def test_a_check_that_applies_to_nobody_is_one_line() -> None:
    alone = Shortfall.of([opened_on("toy", "mine")])
    line = alone.inapplicable({"heal": ("heal",)})
    asks = "nothing was checked: heal asks for the capability heal, which"
    assert line == f"{asks} mine does not claim"
    crowd = Shortfall.of([opened_on("toy", "a", "b", "c", "d")])
    assert crowd.inapplicable({"heal": ("heal",)}) == f"{asks} a, b, c and 1 more do not claim"
    assert crowd.inapplicable({"batch": ()}) == "nothing was checked: batch does not apply"
    told = gate.judge((), (), (), (), [], 0, inapplicable=line, idle=["mine"])
    assert told.reasons == (line,)
    assert told.exit_status == exit_statuses.FAILS


def test_a_check_that_applied_anywhere_is_not_told() -> None:
    contract = ContractOpened("toy/text", "bpe", "toy", "text", ["mine"], [], {}, ["heal"])
    assert Shortfall.of([contract]).inapplicable({"heal": ("heal",), "split": ("split",)}) == ""
    assert Shortfall.of([]).inapplicable({"heal": ("heal",)}) == ""


def test_a_check_that_needs_a_capability_does_not_apply_without_it() -> None:
    for check, asked in NEEDS.items():
        plain = contract("toy_bytes", "bpe.naive", mode=Mode())
        claimed = plain.participants[0].about.capabilities
        assert CHECKS[check].applies(plain) == (not claimed.isdisjoint(asked)), check


def test_who_gives_special_tokens_for_ordinary_text_is_told_how_to_say_so() -> None:
    off = found("f-2", b"<s>", check="specials", stage="off", culprits=["mine"])
    on = found("f-3", b"<s>", check="specials", stage="on", culprits=["other"])
    theirs = found("f-4", b"<s>", check="specials", stage="off", culprits=["tokenizers"])
    lines = Shortfall.of([off, on, theirs]).always_special({"tokenizers"})
    assert lines == [
        "mine gives special tokens where they are ordinary text: a plug-in that cannot switch "
        "them off says always_special = True (docs/plugins.md)"
    ]
