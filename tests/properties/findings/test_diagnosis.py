"""Stages, kinds, buckets, sentences: alike for like causes, whatever the input's length."""

from dataclasses import replace

import pytest

from corpora.vocabularies import sources
from harness.checks.base import Violation
from harness.core.outcomes import Encoded, Failed, Rejected, Status
from harness.core.partition import Part
from harness.findings.description import difference
from harness.findings.diagnosis import (
    bucket,
    categories,
    kind_of,
    signature,
    stage_of,
)
from impls.interface import Mode
from tests.doubles.samples import contract, violation
from tests.doubles.tables import rows

TEXT = Mode(pretokenize=True)
BYTES = sources.resolve("toy_bytes")


def spelled(vocabulary, *texts):
    """The tokens with these texts; one that is none is spelled as a number that no token has."""
    known = {
        token.decode(errors="replace"): i for i, token in enumerate(vocabulary.tokens) if token
    }
    known |= {piece.text: i for i, piece in enumerate(vocabulary.pieces)}
    known |= vocabulary.special_tokens
    return Encoded(tuple(known.get(text, 9999) for text in texts))


TH, T_H = spelled(BYTES, "th"), spelled(BYTES, "t", "h")

NAMES = {
    "toy_bytes": ("bpe.naive", "bpe.heap"),
    "tekken_240911": ("tiktoken", "bpe.heap"),
    "toy_unigram": ("unigram.sentencepiece", "sentencepiece", "mistral-common"),
    "toy_characters": ("sentencepiece", "spm.sentencepiece", "tokenizers"),
    "toy_wordpiece": ("tokenizers", "llama.cpp"),
    "toy_file_subwords": ("tokenizers", "pipeline.huggingface"),
}
"""Two whose inside is known, and a library of which there is no model."""

STAGES = """
toy_bytes         | a       | a               | rejected      | rejection       | rejection
toy_bytes         | a       | rejected        | a             | rejection       | rejection
toy_bytes         | a       | a               | none          | unknown-id      | unknown-id
toy_bytes         | a       | a               | b             | text            | text
toy_bytes         | a       | a               |               | text            | text
toy_bytes         | th      | th              | t h           | merges          | ids
toy_bytes         | the␣␣12 | the ␣ ␣ 12      | the ␣␣ 12     | pre-tokens      | ids
toy_bytes         | 12      | 12              | 1 2           | merges          | ids
toy_unigram       | ab      | a b             | ab            | tie             | ids
toy_unigram       | aba     | a ba            | ab a          | scores          | ids
toy_unigram       | a       | ▁a              | a             | white-space     | white-space
toy_unigram       | é       | é               | <unk>         | unknown         | unknown
toy_unigram       | x       | <unk>           | <unk> <unk>   | unknown-merging | unknown
toy_unigram       | xa      | <unk> a         | <unk> <unk> a | unknown-merging | unknown
toy_unigram       | xaa     | <unk> a a       | <unk> <unk> a | unknown         | unknown
toy_unigram       | é       | é               | a             | normalization   | text
toy_unigram       | cab     | cab             | c ab          | user-defined    | ids
toy_unigram       | <s>     | <unk>           | <s>           | special-tokens  | special-tokens
toy_characters    | è       | ▁ <0xC3> <0xA8> | <unk>         | byte-fallback   | unknown
toy_wordpiece     |         | aba             | ab ##a        | pieces          | ids
toy_wordpiece     |         | aba             | a ba_         | unknown-id      | unknown-id
toy_wordpiece     |         | a ##a           | a a           | words           | ids
toy_wordpiece     |         | a               | a ##a         | normalization   | text
toy_wordpiece     |         | [UNK]           | ab ##ac       | unknown         | unknown
toy_wordpiece     |         | [UNK]           | [UNK] ab      | normalization   | text
toy_wordpiece     |         | a               | [CLS] a       | special-tokens  | special-tokens
tekken_240911     | [INST]  | [INST]          | [ INST ]      | special-tokens  | special-tokens
toy_file_subwords |         | a b             | ab            | ids             | ids
toy_file_subwords |         | a               | ab            | text            | text
"""
"""A vocabulary, a text, the tokens of two encodings (␣: a space; ``none``: of no token),
the stage, and what is said where the inside of one is not known.

GPT-2's pattern, that of toy_bytes, cuts before the digits. Of a file that its readers alone know,
toy_file_subwords, it is said what can be seen."""


@pytest.mark.parametrize(("name", "data", "one", "other", "stage", "seen"), rows(STAGES))
def test_stages(name, data, one, other, stage, seen):
    trusted, culprit, *boxes = NAMES[name]
    terms = contract(name, *NAMES[name], mode=TEXT)
    mine = replace(terms.participants[-1], name="mine", spec="mine.py:Mine")
    terms = replace(terms, participants=(*terms.participants, mine))
    first, second = (
        Rejected("no")
        if texts == "rejected"
        else spelled(terms.vocabulary, *(text.replace("␣", " ") for text in texts.split()))
        for texts in (one, other)
    )

    def said(who, *, swapped=False):
        parts = [(trusted, first), (who, second)]
        if swapped:  # whichever side it stands on
            parts = [(who, first), (trusted, second)]
        declared = replace(terms, references=frozenset([parts[0][0]]))
        text = data.replace("␣", " ").encode()
        return stage_of(violation("equivalence", text, *parts), declared)

    assert said(culprit) == stage
    for box in ("mine", *boxes):
        assert said(box) == seen
    assert said("mine", swapped=True) == seen


def test_the_text_of_the_unknown_token_that_becomes_it_is_no_matter_of_scores():
    terms = contract("toy_unigram", "sentencepiece", "tokenizers", mode=TEXT)
    letters, old = ["<", "u", "n", "k", ">"], terms.vocabulary
    normal = old.pieces[old.ids[b"a"]]
    pieces = (*old.pieces, *(replace(normal, text=one) for one in letters))
    tokens = (*old.tokens, *(one.encode() for one in letters))
    terms = replace(terms, vocabulary=replace(old, id="more", tokens=tokens, pieces=pieces))
    both = [spelled(terms.vocabulary, *texts) for texts in (["a", *letters], ["a", "<unk>"])]
    for one, other in (both, both[::-1]):
        parts = [("sentencepiece", one), ("tokenizers", other)]
        assert stage_of(violation("equivalence", b"a<unk>", *parts), terms) == "unknown"


def test_a_reference_needs_no_model_for_our_own_to_be_diagnosed():
    terms = contract("toy_bytes", "tiktoken", "bpe.heap", "rs-bpe")
    ours = violation("equivalence", b"th", ("tiktoken", TH), ("bpe.heap", T_H))
    theirs = violation("equivalence", b"th", ("tiktoken", TH), ("rs-bpe", T_H))
    assert (stage_of(ours, terms), stage_of(theirs, terms)) == ("merges", "ids")
    # Where neither is trusted, the other one may be wrong, of which nothing is known.
    equals = replace(ours, undecided=True)
    assert stage_of(equals, terms) == "ids"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty"),
        ("a1 ", "L+N+Z"),
        ("\udcff", "bytes"),
        ("e\u0301" * 50 + " text, 12", "Mn"),
        ("\n\u0301", "Cc+Mn"),
        ("\n\u0301\u200d", "mixed"),
    ],
)
def test_kinds_by_category(text, kind):
    assert categories(text.encode(errors="surrogateescape")) == kind


def test_kinds_by_number_of_tokens_and_signatures_whatever_the_length():
    terms = contract("toy_bytes", "bpe.naive", "bpe.heap")
    for count in (1, 10, 1000):
        whole, cut = (Encoded(one.ids * count) for one in (TH, T_H))
        for first, second, kind in ((whole, cut, "more"), (cut, whole, "fewer")):
            parts = ("bpe.naive", first), ("bpe.heap", second)
            one = violation("equivalence", b"th" * count, *parts)
            assert signature(one, terms).stage == "merges"
            assert kind_of(one, "merges", terms) == kind
            assert kind_of(one, "text", terms) == "L"


def test_the_signature_names_culprits_by_part():
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
def test_the_sentence(one, other, place, words):
    found = violation("equivalence", b"a", ("x", one), ("y", other))
    at, sentence = difference(found, BYTES)
    assert at == place
    assert words in sentence
    assert "\n" not in sentence
    # It is about who is blamed where others differ, too.
    dead = Part(("z",), Failed(Status.CRASHED, "killed by SIGABRT\nthe log"))
    more = replace(found, parts=(*found.parts, dead), culprits=("z",))
    assert difference(more, BYTES)[1].endswith("; z: crashed (killed by SIGABRT)")
