"""The stages of a proof: no change of a vocabulary passes for none."""

import struct
from dataclasses import replace

import pytest

from corpora.vocabularies import sources
from corpora.vocabularies.embedded import embedded
from corpora.vocabularies.model import AddedToken, Piece, PieceType
from harness.studies.prove.charsmaps import rules
from harness.studies.prove.stages import judged
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
