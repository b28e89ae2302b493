"""A failure that only a further question of a check brings out is a finding, too."""

from dataclasses import replace

import pytest

from corpora.vocabularies.model import AddedToken
from harness.checks.base import Observation
from harness.checks.minimality import Minimality
from harness.checks.round_trip import RoundTrip, loses
from harness.checks.validity import Validity
from harness.core.outcomes import Encoded, Failed, Inputs, Rejected, Results, Status
from harness.findings.description import difference
from impls.interface import Mode
from tests.doubles.samples import contract, encoded, given

FAILED = Failed(Status.TIMED_OUT, "no answer")
ONE = Encoded((5,))
DECODERS = ("sentencepiece", "tokenizers")
NORMALIZED = contract("unigram_nfkc", *DECODERS, mode=Mode(pretokenize=True))


def judged(check, terms, data, seen, asked):
    """What a check finds of one input. seen: each one's answer; asked: to a further question."""
    results = {name: Results.of([one]) for name, one in zip(terms.names, seen, strict=True)}
    observed = Observation(terms, Inputs.of([data]), results)
    found = check.judge(observed, given(*(Results.of([one]) for one in asked))).violations
    assert all(difference(one, terms.vocabulary)[1] for one in found)
    return found


@pytest.mark.parametrize("other", [Encoded((5,), text=b"a"), FAILED], ids=["one", "both"])
def test_a_decoder_that_fails_where_text_is_normalized(other):
    found = judged(RoundTrip(), NORMALIZED, b"a", [ONE, ONE], [other, FAILED])
    blamed = [("tokenizers",)] if other != FAILED else [(name,) for name in DECODERS]
    assert [one.culprits for one in found] == blamed
    assert {one.stage for one in found} == {"timed-out"}


@pytest.mark.parametrize(("answer", "faults"), [(FAILED, ["timed-out"]), (Rejected("no"), [])])
def test_a_part_of_an_encoding_that_fails(answer, faults):
    terms = contract("toy_bytes", "bpe.naive")
    whole = encoded(terms, "bpe.naive", b"the cat")
    found = judged(Validity(), terms, b"the cat", [whole], [answer])
    assert [violation.stage for violation in found] == faults


def test_one_violation_an_input_however_many_are_shorter():
    terms = contract("toy_bytes", "bpe.minimal", "bpe.heap", "bpe.naive")

    def spelled(*tokens):
        return Encoded(tuple(terms.vocabulary.ids[token] for token in tokens))

    long, short, shortest = spelled(b"t", b"h", b"e"), spelled(b"th", b"e"), spelled(b"the")
    another = spelled(b"a")  # shortest of all, but it is another text
    for answers in ([long, short, shortest], [long, another, short]):
        [found] = judged(Minimality(), terms, b"the", [*answers], [])
        assert (found.parts[0].names, found.culprits) == (("bpe.naive",), ("bpe.minimal",))
    assert judged(Minimality(), terms, b"the", [shortest, short, long], []) == []


@pytest.mark.parametrize(
    ("theirs", "data", "blamed"),
    [
        (Rejected("not UTF-8"), b"\xba", []),
        (Encoded((6,)), b"\xba", []),
        (ONE, b"\xba", [("tokenizers",)]),
        (Encoded((6,)), b"a", [("tokenizers",)]),
    ],
)
def test_who_takes_text_alone_is_not_held_to_decode_bytes_that_are_none(theirs, data, blamed):
    decoded = [Encoded((5,), text=x) for x in (b"\xba", "\ufffd".encode())]
    found = judged(RoundTrip(), NORMALIZED, data, [ONE, theirs], decoded)
    assert [violation.culprits for violation in found] == blamed


@pytest.mark.parametrize("side", ["lstrip", "rstrip"])
def test_white_space_that_an_added_token_takes_does_not_come_back(side):
    plain = contract("toy_bytes", "bpe.naive", "bpe.heap", mode=Mode(special="all"))

    def adding(**flags):
        token = AddedToken("<x>", len(plain.vocabulary), **flags)
        return replace(plain, vocabulary=replace(plain.vocabulary, added_tokens=(token,)))

    for special in (False, True):
        terms = adding(special=special, **{side: True})
        assert loses(terms)
        assert loses(replace(terms, mode=Mode())) is not special
    assert not loses(adding())
    for decoded, parted in ((b"<x>", False), (b" ", True)):
        answers = [Encoded((5,), text=text) for text in (b"<x>", decoded)]
        assert bool(judged(RoundTrip(), terms, b" <x>", [ONE, ONE], answers)) is parted
