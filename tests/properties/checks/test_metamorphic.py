"""What checks take for right, rule by rule, and differences that no other check sees."""

import random
from dataclasses import replace
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.vocabularies.model import Algorithm, Alphabet
from corpora.vocabularies.sources import resolve
from corpora.vocabularies.tokenizer_json import from_document
from harness.checks import CHECKS
from harness.checks.base import first_past
from harness.checks.chunks import lawful_cut, spaces_between, symbols
from harness.checks.clean_up import cleaned, texts_of
from harness.checks.round_trip import without_betters
from harness.checks.shapes import WINDOWS, masked, unpadded, windows
from harness.checks.specials import never_in_texts, special_ids
from harness.checks.stream_decoder import drawn, kinds
from harness.checks.surrogates import lawful, readings
from harness.checks.template import framed, frames
from harness.core.messages import Padding, Windows, numbers_of, sequences_in
from harness.core.outcomes import Encoded, Failed, Status
from harness.core.pretokens import piece_ends
from harness.core.standing import Standing
from harness.studies.selftest.catalog import mistakes
from impls.adapters import tokenizers
from impls.interface import Unsupported
from tests.doubles.local import RAW, SPECIAL, TEXT, Local, found, texts

BYTES = resolve("toy_bytes")


def test_an_added_token_is_a_token():
    """Those of a tokenizer.json may have ids past all that the model has."""
    vocabulary = resolve("random:pipeline:2")
    added = max(token.id for token in vocabulary.added_tokens)
    assert first_past(vocabulary) == added + 1 > len(vocabulary)
    assert (
        found(Local(vocabulary, ["tokenizers"], TEXT), [b"", "o\u030b".encode()], ["single-ids"])
        == {}
    )


def test_what_was_decoded_is_encoded_again():
    """Only what comes back from unknown characters has the mark that goes wrong."""
    spec = mistakes()["unigram.loses-unknown-mark"].spec
    local = Local(resolve("unigram_nfkc"), ["sentencepiece", "unigram.sentencepiece", spec], TEXT)
    inputs = [text.encode() for text in ("end", "end \U00010330 end", "", "\U00010330")]

    assert not local.examine(CHECKS["equivalence"], inputs).violations
    violations = local.examine(CHECKS["re-encoding"], inputs).violations
    assert [(one.check, one.index, *one.culprits) for one in violations] == [
        ("equivalence", index, "unigram.loses-unknown-mark") for index in (1, 3)
    ]
    assert all("\u2047".encode() in one.data for one in violations)


@pytest.mark.parametrize(
    ("vocabulary", "specs", "applies"),
    [
        ("unigram_nfkc", ["sentencepiece", "unigram.sentencepiece"], True),
        ("unigram_nfkc", ["sentencepiece"], False),
        ("toy_bytes", ["tiktoken", "bpe.heap"], False),  # what is decoded is what was encoded
    ],
)
def test_two_who_normalize_are_asked_again(vocabulary, specs, applies):
    assert (
        CHECKS["re-encoding"].applies(Local(resolve(vocabulary), specs, TEXT).contract) == applies
    )


def test_who_keeps_what_the_reference_loses_is_not_held_against_it():
    data, lost = b"a\xff", "a\ufffd".encode()
    texts = {"first": lost, "same": lost, "kept": data, "more": b"a\xff\xff", "wrong": b"b"}
    outcomes = {name: Encoded((1,), text=text) for name, text in texts.items()}
    standing = dict.fromkeys(outcomes, Standing.CANDIDATE) | {"first": Standing.REFERENCE}
    left = without_betters(outcomes, data, standing)
    assert {*left} == {"first", "same", "more", "wrong"}
    # Where nothing was lost, everybody is held to it.
    assert without_betters(outcomes, lost, standing) == outcomes


def test_stable_ids_that_spell_something_else_are_named():
    local = Local(BYTES, ["tiktoken"], TEXT)
    encoder = local.servers["tiktoken"].encoder
    for stable in ([len(BYTES) + 99], [ord("z")]):
        encoder.encode_with_unstable = lambda data, mode, ids=stable: (ids, [])
        violations = local.examine(CHECKS["unstable"], [b"text"]).violations
        assert [one.stage for one in violations] == ["spelling"]


def test_cuts_are_lawful():
    cut = 0
    for data in texts():
        at, ends = lawful_cut(BYTES, data), piece_ends(BYTES, data)
        if at is not None:
            cut += 1
            right = {at + end for end in piece_ends(BYTES, data[at:])}
            assert piece_ends(BYTES, data[:at]) | right == ends
    assert cut > 10
    # "a" then two spaces and a word: cut after the first space, the rest would begin with one.
    assert piece_ends(BYTES, b"a  the") == {1, 2, 6}
    assert lawful_cut(BYTES, b"a  the") in {1, 2}
    assert lawful_cut(BYTES, "é日".encode()) is None


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


@pytest.mark.parametrize("normalized", [True, False])
def test_a_special_token_may_be_made_by_normalization(normalized):
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
    added = {"id": 2, "content": "<s>", "special": True, "normalized": normalized, **flags}
    model = {"type": "WordLevel", "vocab": {"<unk>": 0, "a": 1, "<s>": 2}, "unk_token": "<unk>"}
    document = {"added_tokens": [added], "normalizer": {"type": "Lowercase"}, "model": model}
    vocabulary = from_document(document, "capitals", None)
    local = Local(vocabulary, ["tokenizers", "pipeline.huggingface"], SPECIAL)

    # It is so in both, and what the file says: nobody is to be blamed for it.
    assert len(local.contract.names) == 2
    assert found(local, [b"<S>", b"a<S>", b"<s>", b"a"], ["specials"]) == {}


def test_a_mark_at_the_end_of_a_stream_may_be_held_back():
    inputs = [f"{mark}a{mark}".encode() for mark in ("", "\ufffd", "\ufffd\ufffd")]
    judgement = Local(BYTES, ["tokenizers"]).examine(CHECKS["stream-decoder"], inputs)
    assert judgement.exercised == {"tokenizers": 3}
    assert not judgement.violations


KINDS = "tests.doubles.kinds"
STREAMED = ["", "a", "é日", "Hello \ufffd\ufffd b \ufffd", "a日🙂b" * 9, "\ufffd" * 20]


@pytest.mark.parametrize("name", ["toy_bytes", "tekken_240911"])
@pytest.mark.parametrize(
    ("spec", "stages"),
    [
        (f"{KINDS}:Incremental", set()),
        ("harness.studies.selftest.plain.ways:Streams", set()),
        ("tiktoken", set()),
        (f"{KINDS}:PromptAgain", {"prompt"}),
        (f"{KINDS}:HoldsBack", {"held"}),
        ("tokenizers", {"prompt", "held"}),  # 0.23.3
    ],
)
def test_streams_of_any_ids_are_those_of_a_decoder_that_waits_for_characters(name, spec, stages):
    rng = random.Random(7)
    inputs = [text.encode() for text in STREAMED] + [
        rng.randbytes(rng.randrange(24)) for _ in range(300)
    ]
    mode = RAW if spec != "tokenizers" else TEXT
    judgement = Local(resolve(name), [spec], mode).examine(CHECKS["stream-decoder"], inputs)
    assert judgement.exercised.total() >= len(STREAMED)
    assert {one.stage for one in judgement.violations} == stages


COMPOSED = ["e\u0301", "\u1100\u1161 a", "a\u1100\u1161\u11a8", "\ufb01", "\uff11", "a b", ""]


@pytest.mark.parametrize(
    ("form", "lost"), [("NFKC", {0, 1, 2}), ("NFD", set()), ("Lowercase", set())]
)
def test_each_character_that_came_into_a_token_is_in_its_range(form, lost):
    """tokenizers 0.23.3 gives what it composes the range of its first character."""
    letters = ["<unk>", "a", "b", "e", "f", "i", "1", "\u00e9", "\uac00", "\uac01", "\u0301"]
    model = {"type": "BPE", "vocab": {one: i for i, one in enumerate(letters)}, "merges": []}
    document = {"normalizer": {"type": form}, "model": model | {"unk_token": "<unk>"}}
    document |= {"decoder": {"type": "Fuse"}}
    local = Local(from_document(document, "composing", None), ["tokenizers"], TEXT)
    judgement = local.examine(CHECKS["offsets"], [text.encode() for text in COMPOSED])
    assert {one.index for one in judgement.violations} == lost
    assert {one.stage for one in judgement.violations} == ({"cover"} if lost else set())


def test_what_was_dropped_need_be_in_no_range():
    local = Local(resolve("toy_wordpiece"), ["tokenizers"], TEXT)
    inputs = ["e\u0301 a\u0327\u0301", "a\u00a0b", "\u200da\u0000b", "the the"]
    assert not local.examine(CHECKS["offsets"], [one.encode() for one in inputs]).violations


def test_ids_of_streams_are_of_all_kinds_and_fewer_where_the_input_is_shorter():
    vocabulary = resolve("tekken_240911")
    every, cut, special, mark = kinds(vocabulary)
    rng = random.Random(7)
    streams = [drawn(vocabulary, rng.randbytes(12)) for _ in range(400)]
    for some in (cut, special, mark, set(every) - set(cut)):
        assert any(set(some) & set(ids) for ids in streams)
    assert all(len(set(ids[:12])) == 1 for ids in streams if len({*ids[:2]}) == 1 and ids[0] in cut)
    assert drawn(vocabulary, b"") == ()
    assert max(map(len, streams)) == 16


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (b" a . b ?! c ! , d", b" a. b?! c!, d"),
        (b"it 's I 'm we 've they 're do n't", b"it's I'm we've they're don't"),
        (b"rock ' n ' roll", b"rock'n'roll"),
        (b"a  .", b"a ."),
        (b" ; a\n. b", b" ; a\n. b"),
    ],
)
def test_spaces_are_cleaned_up_by_the_rule(text, clean):
    assert cleaned(text) == clean
    # A text of byte-pair encoding may stay as it is; one of bytes stays so.
    assert texts_of(BYTES, text) == [text]
    assert texts_of(replace(BYTES, alphabet=Alphabet.CHARACTERS), text) == [text, clean]
    assert texts_of(replace(BYTES, algorithm=Algorithm.WORDPIECE), text) == [clean]


def test_what_half_a_pair_of_utf_16_may_become():
    for data in (b"", b"a", "é 日本 🙂".encode(), *(b"text number %d" % i for i in range(30))):
        *read, raw = readings(data)
        assert all(text.decode() for text in read[:-1])
        assert read[-1] == data
        assert len(raw) == len(data) + 3
        with pytest.raises(UnicodeDecodeError):
            raw.decode()
    known = [Encoded((1,)), Encoded((2,))]
    for outcome, right in (
        (Failed(Status.ERRORED, "UnicodeEncodeError"), True),
        (Failed(Status.CRASHED, "PanicException"), False),
        (Encoded((2,)), True),
        (Encoded((3,)), False),
    ):
        assert lawful(outcome, known) is right
    assert lawful(Encoded((3,)), [])


@pytest.mark.parametrize(
    ("ids", "texts", "around"),
    [
        ((1, 7, 2), [(7,)], {((1,), (2,))}),
        ((7, 7), [(7,)], {((), (7,)), ((7,), ())}),
        ((1, 7, 2, 7, 7, 3), [(7,), (7, 7)], {((1,), (2,), (3,))}),
        ((1, 2), [(7,)], set()),
    ],
)
def test_special_tokens_that_may_have_been_added(ids, texts, around):
    assert frames(ids, texts) == around
    assert all(framed(one, texts) == ids for one in around)


def test_stable_ids_travel_as_numbers_and_of_a_large_batch_some_are_asked_wherever_they_stand():
    parts = [(1, 2), (), (3,)]
    assert sequences_in(numbers_of(parts)) == parts
    local = Local(BYTES, ["tiktoken"], TEXT)
    inputs = [b"text number %d" % number for number in range(200)]
    one, other = (
        local.examine(CHECKS["unstable"], order).exercised["tiktoken"]
        for order in (inputs, inputs[::-1])
    )
    assert 0 < one == other < 30


@given(st.integers(0, 30), st.integers(1, 6), st.integers(0, 5), st.booleans())
def test_windows_by_definition(count, size, overlap, left):
    overlap = min(overlap, size - 1)
    ids = [*range(count)][:: -1 if left else 1]
    cut = [ids[at : at + size] for at in range(0, max(1, count - overlap), size - overlap)]
    shape = Windows(size, overlap, left=left)
    assert windows(range(count), shape) == [one[:: -1 if left else 1] for one in cut]


@pytest.mark.parametrize("shape", WINDOWS, ids=str)
def test_a_long_text_is_turned_round_once_and_not_for_each_window(shape):
    """It took 17 minutes of 100,000 ids."""
    taken = []

    class Ids(tuple[int, ...]):
        def __getitem__(self, at):
            taken.append(len(range(*at.indices(len(self)))))
            return Ids(super().__getitem__(at))

    windows(Ids(range(500)), shape)
    assert sum(taken) <= 12 * 500


def test_padded_rows_by_definition():
    rows = [[7], [7, 7], []]
    assert masked(rows, Padding(1, left=False)) == [2, 1, 0, 7, 2, 1, 1, 7, 7, 2, 0, 0]
    left = [[3, 0, 0, 1, 7], [3, 0, 1, 1, 7, 7], [3, 0, 0, 0]]
    assert masked(rows, Padding(3, left=True)) == [*chain(*left)]
    assert masked([[], [], []], Padding(4, left=True)) == [0, 0, 0]
    # What stands where the mask is 0 does not matter.
    answer = Encoded((3, 1, 0, 0, 7, 5, 5, 1, 1, 8))
    assert unpadded(answer) == Encoded((3, 1, 0, 0, 7, 1, 1, 8))


def test_the_adapter_refuses_what_its_library_refuses():
    encoder = tokenizers.IMPLEMENTATION.load(resolve("toy_file_subwords"))
    assert len(encoder.truncated(b"one two three four five six seven", 5, 2, True, TEXT)) > 1
    with pytest.raises(Unsupported, match="no room"):
        encoder.truncated(b"one two", 5, 3, False, TEXT)
