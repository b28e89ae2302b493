"""Stages, kinds, buckets, sentences: alike for like causes, whatever the input's length."""

from __future__ import annotations

from dataclasses import replace

import pytest

from corpora.vocabularies import sources
from corpora.vocabularies.model import Vocabulary
from harness.checks.base import Violation
from harness.core.outcomes import Encoded, Failed, Outcome, Rejected, Status
from harness.core.partition import Part
from harness.core.pretokens import piece_ends
from harness.findings.describing import difference
from harness.findings.diagnosis import (
    bucket,
    categories,
    kind_of,
    signature,
    stage_of,
)
from impls.interface import Mode
from tests.harness.samples import contract, violation

TEXT = Mode(pretokenize=True)


def ids_of(vocabulary: Vocabulary, *tokens: bytes) -> Encoded:
    return Encoded(tuple(vocabulary.ids[token] for token in tokens))


def pieces(vocabulary: Vocabulary, *texts: str) -> Encoded:
    by_text = {piece.text: i for i, piece in enumerate(vocabulary.pieces)}
    return Encoded(tuple(by_text[text] for text in texts))


def bpe_stage(mode: Mode, data: bytes, one: Outcome, other: Outcome) -> str:
    terms = contract("toy_bytes", "bpe.naive", "bpe.heap", mode=mode)
    return stage_of(violation("equivalence", data, ("bpe.naive", one), ("bpe.heap", other)), terms)


BYTES = sources.resolve("toy_bytes")


@pytest.mark.parametrize(
    ("data", "one", "other", "stage"),
    [
        (b"a", ids_of(BYTES, b"a"), Rejected("no"), "rejection"),
        (b"a", Rejected("no"), ids_of(BYTES, b"a"), "rejection"),
        (b"a", ids_of(BYTES, b"a"), Encoded((9999,)), "unknown-id"),
        (b"a", ids_of(BYTES, b"a"), Encoded((-1,)), "unknown-id"),
        (b"a", ids_of(BYTES, b"a"), ids_of(BYTES, b"b"), "text"),
        (b"a", ids_of(BYTES, b"a"), Encoded(()), "text"),
        (b"th", ids_of(BYTES, b"th"), ids_of(BYTES, b"t", b"h"), "merges"),
        (b"the", ids_of(BYTES, b"th", b"e"), ids_of(BYTES, b"t", b"h", b"e"), "merges"),
    ],
)
def test_stages_of_byte_pair_encoding(
    data: bytes, one: Outcome, other: Outcome, stage: str
) -> None:
    assert bpe_stage(Mode(pretokenize=False), data, one, other) == stage


def test_a_cut_that_the_pattern_makes_and_one_side_does_not() -> None:
    # GPT-2's pattern cuts before the digits.
    whole, cut = ids_of(BYTES, b"the", b" ", b" ", b"12"), ids_of(BYTES, b"the", b"  ", b"12")
    assert bpe_stage(TEXT, b"the  12", whole, cut) == "pre-tokens"
    assert bpe_stage(TEXT, b"12", ids_of(BYTES, b"12"), ids_of(BYTES, b"1", b"2")) == "merges"
    assert piece_ends(BYTES, b"the  12") == {3, 4, 7}
    assert piece_ends(BYTES, b"\xff") == set()


def test_special_tokens() -> None:
    terms = contract("tekken_240911", "tiktoken", "bpe.heap", mode=Mode(special="all"))
    token_id = terms.vocabulary.special_tokens["[INST]"]
    spelled = tuple(terms.vocabulary.ids[bytes([byte])] for byte in b"[INST]")
    parts = (("a", Encoded((token_id,))), ("b", Encoded(spelled)))
    assert stage_of(violation("equivalence", b"[INST]", *parts), terms) == "special-tokens"


ENGINES = ("unigram.sentencepiece", "sentencepiece")


@pytest.mark.parametrize(
    ("one", "other", "seen"),
    [
        (("a", "b"), ("ab",), "ids"),
        (("a", "ba"), ("ab", "a"), "ids"),
        (("▁a",), ("a",), "white-space"),
        (("é",), ("<unk>",), "unknown"),
        (("<unk>",), ("<unk>", "<unk>"), "unknown"),
        (("é",), ("a",), "text"),
        (("cab",), ("c", "ab"), "ids"),
        (("<unk>",), ("<s>",), "special-tokens"),
    ],
)
def test_of_a_black_box_only_what_can_be_seen_is_said(
    one: tuple[str, ...], other: tuple[str, ...], seen: str
) -> None:
    """The user's own, and a library of which there is no model, whichever side they stand on."""
    terms = contract("toy_unigram", *ENGINES, "mistral-common", mode=TEXT)
    own = replace(terms.participants[1], name="mine", spec="mine.py:Mine")
    terms = replace(terms, participants=(*terms.participants, own), references=frozenset({"mine"}))
    first, second = (pieces(terms.vocabulary, *spelled) for spelled in (one, other))
    for box in ("mine", "mistral-common"):
        ours = ("unigram.sentencepiece", first)
        assert stage_of(violation("equivalence", b"", ours, (box, second)), terms) == seen
        assert stage_of(violation("equivalence", b"", (box, second), ours), terms) == seen


def test_a_reference_needs_no_model_for_our_own_to_be_diagnosed() -> None:
    terms = contract("toy_bytes", "tiktoken", "bpe.heap", "rs-bpe")
    right, wrong = ids_of(BYTES, b"th"), ids_of(BYTES, b"t", b"h")
    ours = violation("equivalence", b"th", ("tiktoken", right), ("bpe.heap", wrong))
    theirs = violation("equivalence", b"th", ("tiktoken", right), ("rs-bpe", wrong))
    assert (stage_of(ours, terms), stage_of(theirs, terms)) == ("merges", "ids")
    # Where neither is trusted, the other one may be wrong, of which nothing is known.
    equals = replace(ours, undecided=True)
    assert stage_of(equals, terms) == "ids"


@pytest.mark.parametrize(
    ("data", "one", "other", "stage"),
    [
        ("ab", ("a", "b"), ("ab",), "tie"),
        ("aba", ("a", "ba"), ("ab", "a"), "scores"),
        ("a", ("▁a",), ("a",), "white-space"),
        ("é", ("é",), ("<unk>",), "unknown"),
        ("x", ("<unk>",), ("<unk>", "<unk>"), "unknown-merging"),
        ("xax", ("<unk>", "a", "<unk>"), ("<unk>", "<unk>", "a", "<unk>"), "unknown-merging"),
        ("xaa", ("<unk>", "a", "a"), ("<unk>", "<unk>", "a"), "unknown"),
        ("é", ("é",), ("a",), "normalization"),
        ("cab", ("cab",), ("c", "ab"), "user-defined"),
        ("<s>", ("<unk>",), ("<s>",), "special-tokens"),
    ],
)
def test_stages_of_unigram(
    data: str, one: tuple[str, ...], other: tuple[str, ...], stage: str
) -> None:
    terms = contract("toy_unigram", *ENGINES, mode=TEXT)
    texts = zip(ENGINES, (one, other), strict=True)
    made = [(name, pieces(terms.vocabulary, *spelled)) for name, spelled in texts]
    assert stage_of(violation("equivalence", data.encode(), *made), terms) == stage


def test_byte_fallback() -> None:
    engines = ("sentencepiece", "tokenizers", "spm.sentencepiece")
    terms = contract("toy_characters", *engines, mode=TEXT)
    one = pieces(terms.vocabulary, "▁", "<0xC3>", "<0xA8>")
    other = Encoded((terms.vocabulary.unk_id or 0,))
    trusted = ("sentencepiece", one)
    box = violation("equivalence", "è".encode(), trusted, ("tokenizers", other))
    model = violation("equivalence", "è".encode(), trusted, ("spm.sentencepiece", other))
    assert (stage_of(box, terms), stage_of(model, terms)) == ("unknown", "byte-fallback")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "empty"),
        (b"abc", "L"),
        (b"a1 ", "L+N+Z"),
        (b"\xff", "bytes"),
        ("e\u0301".encode(), "Mn"),
        (("e\u0301" * 50 + " text, 12").encode(), "Mn"),
        ("\n\u0301".encode(), "Cc+Mn"),
        ("\n\u0301\u200d".encode(), "mixed"),
    ],
)
def test_kinds_by_category(data: bytes, kind: str) -> None:
    assert categories(data) == kind


def test_kinds_by_number_of_tokens() -> None:
    terms = contract("toy_bytes", "bpe.naive", "bpe.heap")
    whole, cut = ids_of(BYTES, b"th"), ids_of(BYTES, b"t", b"h")
    more = violation("equivalence", b"th", ("a", whole), ("b", cut))
    fewer = violation("equivalence", b"th", ("a", cut), ("b", whole))
    assert kind_of(more, "merges", terms) == "more"
    assert kind_of(fewer, "merges", terms) == "fewer"
    assert kind_of(more, "text", terms) == "L"


def test_the_signature_names_culprits_by_part() -> None:
    terms = contract("toy_bytes", "bpe.naive", "bpe.heap")
    good, bad, worse = (Encoded((i,)) for i in (97, 98, 99))
    parts = (Part(("a", "b"), good), Part(("c", "d"), bad), Part(("e",), worse))
    one = Violation("equivalence", 0, b"a", parts, ("c", "d", "e"))
    sign = signature(one, terms)
    assert (sign.check, sign.stage, sign.culprits) == ("equivalence", "text", "c=d|e")
    assert bucket(sign, terms, "L") == "equivalence/bpe/raw/text/L/c=d|e"
    equals = replace(one, culprits=("e", "b", "d", "c"), undecided=True)
    assert signature(equals, terms).culprits == "b<>c=d<>e"
    alone = violation("survival", b"a", ("x", Failed(Status.CRASHED, "")), stage="crashed")
    assert signature(alone, terms).culprits == "x"


def test_the_signature_does_not_depend_on_the_length() -> None:
    terms = contract("toy_bytes", "bpe.naive", "bpe.heap")
    for count in (1, 10, 1000):
        whole = ids_of(BYTES, *[b"th"] * count)
        cut = ids_of(BYTES, *[b"t", b"h"] * count)
        one = violation("equivalence", b"th" * count, ("bpe.naive", whole), ("bpe.heap", cut))
        assert signature(one, terms).stage == "merges"
        assert kind_of(one, "merges", terms) == "more"


@pytest.mark.parametrize(
    ("one", "other", "place", "words"),
    [
        (Encoded((97, 98)), Encoded((97, 99)), 1, "token 1: 98 ('b') in x, 99 ('c') in y"),
        (Encoded((97,)), Encoded((97, 255)), 1, "token 1: the end in x, 255 (b'\\xff') in y"),
        (Encoded((97,)), Encoded((9999,)), 0, "9999 (not in the vocabulary) in y"),
        (Encoded((97,)), Rejected("too odd\nreally"), None, "x: 1 token; y: rejected (too odd)"),
        (Encoded((97,), b"a"), Encoded((97,), b"\xff"), None, "y decodes b'\\xff' where x has 'a'"),
        (
            Encoded((97,)),
            Encoded((97,), offsets=((0, 9),)),
            None,
            "y: offsets [(0, 9)] do not fit the text",
        ),
    ],
)
def test_the_sentence(one: Outcome, other: Outcome, place: int | None, words: str) -> None:
    found = violation("equivalence", b"a", ("x", one), ("y", other))
    at, sentence = difference(found, BYTES)
    assert at == place
    assert words in sentence
    assert "\n" not in sentence


def test_the_sentence_is_about_who_is_blamed_where_others_differ_too() -> None:
    dead = Failed(Status.CRASHED, "killed by SIGABRT\nthe log")
    found = violation("survival", b"a", ("x", Encoded((97,))), ("y", Encoded((98,))), ("z", dead))
    told = difference(replace(found, culprits=("z",)), BYTES)
    assert told == (None, "x: 1 token; z: crashed (killed by SIGABRT)")
