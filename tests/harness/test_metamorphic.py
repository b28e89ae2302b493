"""Metamorphic checks: planted violations are named, and nothing is found of what is right."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from corpora.vocabularies.model import Algorithm
from corpora.vocabularies.sources import resolve
from corpora.vocabularies.tokenizer_json import from_document
from harness.checks import CHECKS
from harness.checks.base import first_past
from harness.checks.chunks import lawful_cut, spaces_between, symbols
from harness.checks.specials import never_in_texts, special_ids
from harness.core.messages import Encode, Way
from harness.core.outcomes import Inputs, Status
from harness.core.pretokens import piece_ends
from harness.studies.selftest.catalog import mistakes
from impls.interface import Mode
from tests.breadth import thorough
from tests.harness.test_service_checks import RAW, TEXT, Local

SPECIAL = Mode(special="all")
METAMORPHIC = [
    "batch",
    "reload",
    "re-encoding",
    "specials",
    "streaming",
    "stream-decoder",
    "single-ids",
    "skip-specials",
    "clean-up",
    "template",
    "unstable",
    "surrogates",
    "truncation",
    "padding",
    "chunks",
    "reachability",
]


def texts(seed=3):
    rng = random.Random(seed)
    words = [
        "the",
        " the",
        " tokens",
        "é",
        " ",
        "  ",
        "\n",
        "日本",
        "'t",
        "🙂",
        "a",
        "12",
        "123",
        "!",
        "<s>",
    ]
    made = ["".join(rng.choices(words, k=rng.randrange(9))) for _ in range(40)]
    return [text.encode() for text in ["", "a", " ", "é", *made, "".join(rng.choices(words, k=60))]]


def found(local, inputs, checks=METAMORPHIC):
    return {
        (violation.check, violation.stage)
        for name in checks
        if CHECKS[name].applies(local.contract)
        for violation in local.examine(CHECKS[name], inputs).violations
    }


@pytest.mark.parametrize(
    "mistake",
    [one for one in mistakes().values() if one.family == "ways"],
    ids=lambda one: one.name,
)
def test_a_planted_violation_is_named(mistake):
    mode = {"text": TEXT, "raw": RAW, "special": SPECIAL}[mistake.mode]
    local = Local(resolve(mistake.vocabulary), [mistake.spec], mode)

    assert (mistake.check, mistake.stages[0]) in found(local, [*texts(), *mistake.inputs])


@pytest.mark.parametrize(
    ("name", "check", "stage", "mode"),
    [
        ("specials.always-on", "specials", "off", TEXT),
        ("decoding.strips-space", "streaming", "decode", RAW),
        ("ways.strips-short", "single-ids", "decode", RAW),
    ],
)
def test_mistakes_planted_for_others_show_here_too(name, check, stage, mode):
    mistake = mistakes()[name]
    local = Local(resolve(mistake.vocabulary), [mistake.spec], mode)

    assert (check, stage) in found(local, texts(), [check])


def test_a_batch_encoder_is_held_to_its_single_calls():
    mistake = mistakes()["caches.batch-only"]
    local = Local(resolve("toy_bytes"), [mistake.spec])
    inputs = [b"number %d" % number for number in range(400)]

    assert found(local, inputs, ["batch"]) == {("batch", "single")}


@pytest.mark.parametrize(
    ("vocabulary", "specs", "mode"),
    [
        ("toy_bytes", ["tiktoken", "tokenizers", "bpe.heap"], TEXT),
        ("toy_bytes", ["tiktoken", "tokenizers", "bpe.heap"], RAW),
        thorough(("tekken_240911", ["tiktoken", "tokenizers", "bpe.heap"], SPECIAL)),
        thorough(("mistral_v3", ["sentencepiece", "spm.sentencepiece"], TEXT)),
        ("unigram_nfkc", ["sentencepiece", "unigram.sentencepiece"], TEXT),
        ("toy_wordpiece", ["tokenizers", "wordpiece.bert"], TEXT),
    ],
)
def test_nothing_is_found_where_nothing_is_wrong(vocabulary, specs, mode):
    local = Local(resolve(vocabulary), specs, mode)

    assert found(local, texts()) == set()


def test_an_added_token_is_a_token():
    """Those of a tokenizer.json may have ids past all that the model has."""
    vocabulary = resolve("random:pipeline:2")
    added = max(token.id for token in vocabulary.added_tokens)
    assert added >= len(vocabulary)
    local = Local(vocabulary, ["tokenizers"], TEXT)

    assert found(local, [b"", "o\u030b".encode()], ["single-ids"]) == set()
    assert first_past(vocabulary) == added + 1
    assert vocabulary.spelling(added) == "ő".encode()


def test_what_was_decoded_is_encoded_again():
    """Only what comes back from unknown characters has the mark that goes wrong."""
    spec = mistakes()["unigram.loses-unknown-mark"].spec
    local = Local(resolve("unigram_nfkc"), ["sentencepiece", "unigram.sentencepiece", spec], TEXT)
    inputs = ["end", "end \U00010330 end", "", "\U00010330"]
    inputs = [text.encode() for text in inputs]

    assert not local.examine(CHECKS["equivalence"], inputs).violations
    violations = local.examine(CHECKS["re-encoding"], inputs).violations
    assert {one.check for one in violations} == {"equivalence"}
    assert [one.index for one in violations] == [1, 3]
    assert all("\u2047".encode() in one.data for one in violations)
    assert all(one.culprits == ("unigram.loses-unknown-mark",) for one in violations)


def test_libraries_are_asked_by_their_own_ways():
    local = Local(resolve("toy_bytes"), ["tiktoken", "tokenizers", "bpe.heap"], TEXT)
    batch = local.examine(CHECKS["batch"], texts())
    reload = local.examine(CHECKS["reload"], texts())

    assert set(batch.exercised) == {"tiktoken", "tokenizers", "bpe.heap"}
    assert set(reload.exercised) == {"tiktoken", "tokenizers"}


def test_who_has_no_other_way_says_so():
    local = Local(resolve("toy_bytes"), ["harness.studies.selftest.plain.bpe:PlainBpe"])
    [server] = local.servers.values()
    for way in Way:
        answer = server.answer(Encode(Inputs.of([b"a", b"b"]), RAW, way=way))
        assert set(answer.status.tolist()) == {Status.UNSUPPORTED}


def test_cuts_are_lawful():
    vocabulary = resolve("toy_bytes")
    cut = 0
    for data in texts():
        at = lawful_cut(vocabulary, data)
        if at is None:
            continue
        cut += 1
        halves = piece_ends(vocabulary, data[:at]) | {
            at + end for end in piece_ends(vocabulary, data[at:])
        }
        assert at in piece_ends(vocabulary, data)
        assert halves == piece_ends(vocabulary, data)
    assert cut > 10


def test_a_cut_that_white_space_looks_over_is_none():
    vocabulary = resolve("toy_bytes")

    # "a" then two spaces and a word: cut after the first space, the rest would begin with one.
    assert piece_ends(vocabulary, b"a  the") == {1, 2, 6}
    assert lawful_cut(vocabulary, b"a  the") in {1, 2}
    assert lawful_cut(vocabulary, "é日".encode()) is None


def test_a_text_of_pieces_is_cut_between_plain_words():
    vocabulary = resolve("unigram_nfkc")

    assert b"bar" in symbols(vocabulary)
    assert lawful_cut(vocabulary, b"the end") == 3
    for data in (b"the  end", b"the, end", b"the bar", b"bars end", "thé end".encode(), b" the"):
        assert lawful_cut(vocabulary, data) is None
    assert list(spaces_between(b"a b, c d  e f", [])) == [6, 11]


def test_sums_that_drift_are_told_of_the_reference_alone():
    """Its floats are rounded from the text's beginning, and those who add likewise follow it."""
    specs = ["sentencepiece", "unigram.sentencepiece", "tokenizers", "unigram.huggingface"]
    local = Local(resolve("unigram_nfkc"), specs, TEXT)
    drifts = b"0 333"
    alone = local.examine(CHECKS["chunks"], [drifts])
    local.contract = replace(local.contract, references=frozenset(specs[:1]))
    beside = local.examine(CHECKS["chunks"], [drifts])

    assert [one.culprits for one in alone.violations] == [(specs[0],), (specs[1],)]
    assert [one.culprits for one in beside.violations] == [(specs[0],)]
    assert beside.exercised == dict.fromkeys(specs, 1)


def test_the_unknown_token_is_no_special_one():
    vocabulary = resolve("toy_wordpiece")

    assert vocabulary.unk_id not in special_ids(vocabulary)
    assert special_ids(vocabulary) != set()
    assert special_ids(resolve("toy_ties")) == set()
    assert never_in_texts(vocabulary) == special_ids(vocabulary)
    typeless = replace(vocabulary, format="tokenizer.json", algorithm=Algorithm.UNIGRAM)
    assert never_in_texts(typeless) == set()


def test_a_mark_at_the_end_may_be_held_back():
    local = Local(resolve("toy_bytes"), ["tokenizers"], RAW)
    inputs = [f"{mark}a{mark}".encode() for mark in ("", "\ufffd", "\ufffd\ufffd")]
    judgement = local.examine(CHECKS["stream-decoder"], inputs)

    assert judgement.exercised == {"tokenizers": 3}
    assert not judgement.violations


@pytest.mark.parametrize("normalized", [True, False])
def test_a_special_token_may_be_made_by_normalization(normalized):
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
    added = {"id": 2, "content": "<s>", "special": True, "normalized": normalized, **flags}
    document = {
        "version": "1.0",
        "added_tokens": [added],
        "normalizer": {"type": "Lowercase"},
        "model": {
            "type": "WordLevel",
            "vocab": {"<unk>": 0, "a": 1, "<s>": 2},
            "unk_token": "<unk>",
        },
    }
    vocabulary = from_document(document, "capitals", None)
    local = Local(vocabulary, ["tokenizers", "pipeline.huggingface"], SPECIAL)
    names = [one.name for one in local.contract.participants]

    # It is so in both, and what the file says: nobody is to be blamed for it.
    assert names == ["tokenizers", "pipeline.huggingface"]
    assert found(local, [b"<S>", b"a<S>", b"<s>", b"a"], ["specials"]) == set()
