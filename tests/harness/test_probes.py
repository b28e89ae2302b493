"""A failure that only a further question of a check brings out is a finding, too."""

from __future__ import annotations

from dataclasses import replace

import pytest

from corpora.vocabularies.model import AddedToken
from harness.checks.base import Observation
from harness.checks.minimality import Minimality
from harness.checks.round_trip import RoundTrip, loses
from harness.checks.validity import Validity
from harness.core.outcomes import Encoded, Failed, Inputs, Outcome, Rejected, Results, Status
from harness.findings.describing import difference
from impls.interface import Mode
from tests.harness.samples import contract, encoded, given

FAILED = Failed(Status.TIMED_OUT, "no answer")


@pytest.mark.parametrize("other", [Encoded((5,), text=b"a"), FAILED], ids=["one", "both"])
def test_a_decoder_that_fails_where_text_is_normalized(other: Outcome) -> None:
    names = ("sentencepiece", "tokenizers")
    terms = contract("unigram_nfkc", *names, mode=Mode(pretokenize=True))
    results = Results.of([Encoded((5,))])
    seen = Observation(terms, Inputs.of([b"a"]), dict.fromkeys(names, results))
    judgement = RoundTrip().judge(seen, given(Results.of([other]), Results.of([FAILED])))
    blamed = [violation.culprits for violation in judgement.violations]
    assert blamed == ([("tokenizers",)] if other != FAILED else [(name,) for name in names])
    for violation in judgement.violations:
        assert violation.stage == "timed-out"
        assert difference(violation, terms.vocabulary)[1]


@pytest.mark.parametrize(("answer", "faults"), [(FAILED, ["timed-out"]), (Rejected("no"), [])])
def test_a_part_of_an_encoding_that_fails(answer: Outcome, faults: list[str]) -> None:
    terms = contract("toy_bytes", "bpe.naive")
    seen = Observation(
        terms,
        Inputs.of([b"the cat"]),
        {"bpe.naive": Results.of([encoded(terms, "bpe.naive", b"the cat")])},
    )
    judgement = Validity().judge(seen, given(Results.of([answer])))
    assert [violation.stage for violation in judgement.violations] == faults
    for violation in judgement.violations:
        assert difference(violation, terms.vocabulary)[1]


def test_one_violation_an_input_however_many_are_shorter() -> None:
    terms = contract("toy_bytes", "bpe.minimal", "bpe.heap", "bpe.naive")
    ids = terms.vocabulary.ids

    def spelled(*tokens: bytes) -> Encoded:
        return Encoded(tuple(ids[token] for token in tokens))

    long, short, shortest = spelled(b"t", b"h", b"e"), spelled(b"th", b"e"), spelled(b"the")
    another = spelled(b"a")  # shortest of all, but it is another text
    seen = Observation(
        terms,
        Inputs.of([b"the", b"the", b"the"]),
        {
            "bpe.minimal": Results.of([long, long, shortest]),
            "bpe.heap": Results.of([short, another, short]),
            "bpe.naive": Results.of([shortest, short, long]),
        },
    )
    found = Minimality().judge(seen, given()).violations
    assert [violation.index for violation in found] == [0, 1]
    assert [violation.parts[0].names for violation in found] == [("bpe.naive",), ("bpe.naive",)]
    assert {violation.culprits for violation in found} == {("bpe.minimal",)}


def test_who_takes_text_alone_is_not_held_to_decode_bytes_that_are_none() -> None:
    names = ("sentencepiece", "tokenizers")
    terms = contract("unigram_nfkc", *names, mode=Mode(pretokenize=True))
    for theirs, data, blamed in (
        (Rejected("not UTF-8"), b"\xba", []),
        (Encoded((6,)), b"\xba", []),
        (Encoded((5,)), b"\xba", [("tokenizers",)]),
        (Encoded((6,)), b"a", [("tokenizers",)]),
    ):
        results = {"sentencepiece": Results.of([Encoded((5,))]), "tokenizers": Results.of([theirs])}
        seen = Observation(terms, Inputs.of([data]), results)
        texts = (Encoded((5,), text=b"\xba"), Encoded((5,), text="\ufffd".encode()))
        judgement = RoundTrip().judge(seen, given(*(Results.of([text]) for text in texts)))
        assert [violation.culprits for violation in judgement.violations] == blamed


@pytest.mark.parametrize("side", ["lstrip", "rstrip"])
def test_white_space_that_an_added_token_takes_does_not_come_back(side: str) -> None:
    terms = contract("toy_bytes", "bpe.naive", "bpe.heap", mode=Mode(pretokenize=True))
    plain = terms.vocabulary
    for special, modes in ((False, {"none", "all"}), (True, {"all"})):
        token = AddedToken("<x>", len(plain), special=special, **{side: True})
        vocabulary = replace(plain, added_tokens=(token,))
        losing = {
            mode
            for mode in ("none", "all")
            if loses(replace(terms, vocabulary=vocabulary, mode=Mode(special=mode)))
        }
        assert losing == modes
    assert not loses(
        replace(terms, vocabulary=replace(plain, added_tokens=(AddedToken("<x>", 9),)))
    )

    seen = Observation(
        replace(terms, vocabulary=vocabulary, mode=Mode(special="all")),
        Inputs.of([b" <x>"]),
        dict.fromkeys(("bpe.naive", "bpe.heap"), Results.of([Encoded((5,))])),
    )
    texts = [Encoded((5,), text=text) for text in (b"<x>", b"<x>", b" ")]
    told = [Results.of([text]) for text in texts]
    assert RoundTrip().judge(seen, given(*told[:2])).violations == []
    assert RoundTrip().judge(seen, given(*told[1:])).violations != []
