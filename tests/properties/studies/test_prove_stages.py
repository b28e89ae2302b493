"""The stages of a proof: no change of a vocabulary passes for none, of toys and of real ones."""

import os
import random
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from corpora.vocabularies import sources
from corpora.vocabularies.embedded import embedded
from corpora.vocabularies.model import AddedToken, Merges, Piece, PieceType, RankOrder, Vocabulary
from corpora.vocabularies.patterns import PATTERNS
from harness.studies.compare.differences import numbering
from harness.studies.prove import merges, patterns
from harness.studies.prove.charsmaps import rules
from harness.studies.prove.stages import judged
from impls.interface import Mode
from impls.pretokenize.pieces import Cutter, PlainCutter
from impls.unigram.charsmap import load_charsmap

UNUSED = PieceType.UNUSED
PIECES = replace(sources.resolve("unigram_nfkc"), native=None)


def verdicts(a, b):
    """The verdict of each stage."""
    return {one.name: one.verdict for one in judged(a, b)}


@pytest.mark.parametrize("name", [one for one in embedded() if one.startswith(("toy", "unigram"))])
def test_each_vocabulary_is_equal_to_itself_and_to_no_smaller_one(name):
    whole = sources.resolve(name)
    assert {*verdicts(whole, whole).values()} == {"equal"}
    if whole.unexpressed or not whole.tokens:
        return
    plain = replace(whole, native=None)
    at = max(i for i, token in enumerate(plain.tokens) if token is not None)
    if plain.pieces:
        shorter = replace(plain, tokens=plain.tokens[:at], pieces=plain.pieces[:at])
    else:
        kept = replace(plain.merges, **{
            side: getattr(plain.merges, side)[plain.merges.merged != at]
            for side in ("left", "right", "merged")
        })  # fmt: skip
        tokens = (*plain.tokens[:at], None, *plain.tokens[at + 1 :])
        shorter = replace(plain, tokens=tokens, merges=kept)
    for one, other in ((plain, shorter), (shorter, plain)):
        assert {*verdicts(one, other).values()} != {"equal"}


@pytest.mark.parametrize(
    ("stage", "changed"),
    [
        ("normalizer", {"normalizer": replace(PIECES.normalizer, form="NFC")}),
        ("normalizer", {"normalizer": replace(PIECES.normalizer, charsmap=None)}),
        ("added tokens", {"added_tokens": (AddedToken("<x>", 7, lstrip=True),)}),
        ("added tokens", {"special_tokens": {"<x>": 7}}),
        ("pattern", {"splits": (r"\w+",)}),
        ("scores", {"byte_fallback": not PIECES.byte_fallback}),
        ("scores", {"unk_id": 5}),
        ("scores", {"pieces": (*PIECES.pieces[:-1], Piece("a", -3.5, PieceType.NORMAL))}),
        ("scores", {"pieces": (*PIECES.pieces[:-1], replace(PIECES.pieces[-1], score=-3.5))}),
        ("scores", {"pieces": (*PIECES.pieces[:-1], replace(PIECES.pieces[-1], type=UNUSED))}),
    ],
)  # fmt: skip
def test_a_change_is_a_change_of_its_stage_alone(stage, changed):
    told = verdicts(PIECES, replace(PIECES, **changed))
    assert {name for name, verdict in told.items() if verdict != "equal"} == {stage}


def test_a_character_map_is_compared_by_its_rules():
    known = PIECES.normalizer.charsmap
    found = rules(known)
    loaded = load_charsmap("x", known)
    for prefix in found:
        pair = prefix[:2] if len(prefix) > 1 else prefix + b"\0"
        assert len(prefix) < 2 or loaded.begun[pair[0] * 256 + pair[1]]
    assert len(found) > 1000
    assert found["\uff21".encode()] == b"A"
    longer = replace(PIECES, normalizer=replace(PIECES.normalizer, charsmap=known + b"more\0"))
    assert verdicts(PIECES, longer)["normalizer"] == "equal"
    [size] = struct.unpack_from("<I", known)
    changed = known[: 4 + size] + known[4 + size :].replace(b"A", b"B")
    other = replace(PIECES, normalizer=replace(PIECES.normalizer, charsmap=changed))
    [stage] = [one for one in judged(PIECES, other) if one.name == "normalizer"]
    assert stage.verdict == "different" and stage.texts


# Real vocabularies and patterns: what conversions and small changes come to.

DATA = Path(os.environ.get("TOKGATE_DATA", "../shared/data"))
BYTES = sources.resolve("toy_bytes")


def resolved(name):
    """A real vocabulary, where it is."""
    if not (DATA / name.partition("#")[0]).exists():
        pytest.skip(f"{name} is not here")
    return sources.resolve(str(DATA / name))


def converted(folder, vocabulary):
    """The tokenizer.json that tokgate writes of a vocabulary."""
    path = folder / "tokenizer.json"
    path.write_bytes(replace(vocabulary, native=None).as_tokenizer_json())
    return sources.resolve(str(path))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name",
    [
        "gguf/ggml-vocab-gpt-2.gguf",
        "vocabs/cl100k_base.tiktoken.gz#pattern=cl100k_base",
        "vocabs/llama3.tiktoken.gz#pattern=llama3",
    ],
)
def test_a_conversion_is_proved_equal(name, tmp_path):
    vocabulary = resolved(name)
    told = [*judged(vocabulary, converted(tmp_path, vocabulary))]
    assert {one.verdict for one in told} == {"equal"}, told


def swapped(vocabulary, at):
    """The same with two tokens of neighbouring ranks in each other's place."""
    triples = vocabulary.merges.triples()
    triples[at : at + 2] = [triples[at + 1], triples[at]]
    return replace(vocabulary, native=None, rank_order=RankOrder.MERGES, merges=Merges.of(triples))


@pytest.mark.first
@pytest.mark.thorough
def test_tekken_with_two_merges_swapped():
    tekken = sources.resolve("tekken_240911")
    listed = replace(tekken, native=None, rank_order=RankOrder.MERGES)
    numbers, came = numbering(listed, listed), set()
    for at in [0, 1, 2, 5000, 90000]:
        found = merges.alike(listed, swapped(tekken, at), numbers)
        assert not found.undecided
        came.add(bool(found.texts))
    assert came == {True, False}, "some are told apart, and some never are"


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base", "tekken", "qwen2", "qwen35"])
def test_the_scanner_parts_texts_of_all_states_as_its_pattern_does(name):
    """Each state of the pattern's automaton, and each two characters after it."""
    [known] = PATTERNS[name]
    made, [start] = patterns.machine(known)
    texts = {}
    assert not [*patterns.differing(made, (start, start), texts)]
    members, rng = made.letters.members, random.Random(0)
    longer = [text + a + b for text in texts.values() for a in members for b in members]
    datas = [text.encode() for text in rng.sample(longer, min(len(longer), 50_000))]
    vocabulary = Vocabulary("drawn", BYTES.algorithm, "drawn", BYTES.tokens, splits=(known,))
    ends = np.cumsum([len(one) for one in datas], dtype=np.int64)
    scanned, plain = (
        cutter(vocabulary).cut(b"".join(datas), ends, Mode(pretokenize=True))
        for cutter in (Cutter, PlainCutter)
    )
    assert (scanned.ends == plain.ends).all() and (scanned.counts == plain.counts).all()


def test_a_token_that_no_piece_can_have_in_it_makes_no_difference():
    """Both verdicts are told: as one piece it differs, in texts it cannot."""
    ids = BYTES.ids
    triples = BYTES.merges.triples()
    listed = replace(BYTES, native=None, rank_order=RankOrder.MERGES, splits=PATTERNS["gpt2"])
    size = len(BYTES.tokens)
    longer = (*BYTES.tokens, b"1a")
    added = Merges.of([*triples, (ids[b"1"], ids[b"a"], size)])
    told = {one.name: one for one in judged(listed, replace(listed, tokens=longer, merges=added))}
    assert told["merges"].verdict == "equal", told
    assert (
        "'1a' differs" in told["merges"].words
        and "no text has such a piece" in told["merges"].words
    )
