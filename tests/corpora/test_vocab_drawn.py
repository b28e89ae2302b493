"""Random vocabularies: what a name means, and that they have what they are drawn for."""

import os
import subprocess
import sys

import pytest

from corpora.vocabularies import drawn, sources
from corpora.vocabularies.model import PieceType, RankOrder, VocabularyError
from corpora.vocabularies.preflight import preflight

MANY = 60


def all_of(kind):
    return [drawn.draw(kind, seed) for seed in range(MANY)]


@pytest.mark.parametrize("kind", drawn.KINDS)
def test_a_name_decides_all_of_it(kind):
    name = f"random:{kind}:7"
    first, again = sources.resolve(name), sources.resolve(name)
    assert first.id == name
    assert first.fingerprint == again.fingerprint
    assert len({vocabulary.fingerprint for vocabulary in all_of(kind)}) > MANY // 2


@pytest.mark.thorough  # processes of their own
def test_it_is_the_same_in_each_process():
    # Sets of strings have another order in each.
    code = (
        "from corpora.vocabularies import drawn\n"
        f"for kind in {sorted(drawn.KINDS)}:\n"
        "    print(*(drawn.draw(kind, seed).fingerprint for seed in range(8)))"
    )
    first, second = (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    )  # fmt: skip
    assert first.count("\n") == len(drawn.KINDS)
    assert first == second


@pytest.mark.parametrize(
    "name", ["random:", "random:bpe", "random:bpe:", "random:bpe:x", "random:no:1"]
)
def test_a_name_that_is_none_is_told_the_kinds(name):
    with pytest.raises(VocabularyError, match="give random:KIND:SEED, with KIND one of bpe, ranks"):
        sources.resolve(name)


def test_sources_go_round_the_kinds_and_seeds_give_others():
    names = drawn.sources(2 * len(drawn.KINDS), 3)
    assert len(set(names)) == len(names)
    assert {name.split(":")[1] for name in names} == set(drawn.KINDS)
    assert not set(names) & set(drawn.sources(2 * len(drawn.KINDS), 4))


def test_byte_level_ones_have_every_oddity():
    found = all_of("bpe")
    kinds = {problem.kind for vocabulary in found for problem in preflight(vocabulary)}
    assert {"ids-not-merge-order", "several-merges", "not-self-encoding", "missing-bytes"} <= kinds
    assert any(vocabulary.splits for vocabulary in found)
    assert any(vocabulary.ignore_merges for vocabulary in found)
    assert all(vocabulary.rank_order is RankOrder.MERGES for vocabulary in found)
    for vocabulary in found:
        merges = vocabulary.merges
        for left, right, merged in zip(merges.left, merges.right, merges.merged, strict=True):
            assert vocabulary.tokens[left] + vocabulary.tokens[right] == vocabulary.tokens[merged]


def test_ranks_are_proper_and_not():
    kinds = [{problem.kind for problem in preflight(one)} for one in all_of("ranks")]
    assert any("no-valid-split" in one for one in kinds)
    assert any(not one for one in kinds)
    assert any(None in one.tokens for one in all_of("ranks"))


def test_pipelines_set_every_flag():
    added = [token for one in all_of("pipeline") for token in one.added_tokens]
    for flag in ("special", "single_word", "lstrip", "rstrip", "normalized"):
        assert {getattr(token, flag) for token in added} == {False, True}
    assert {one.normalizer.form for one in all_of("pipeline")} == {
        None,
        "NFC",
        "NFD",
        "NFKC",
        "NFKD",
    }


@pytest.mark.parametrize("kind", ["characters", "unigram"])
def test_pieces_have_ties_types_and_part_of_the_bytes(kind):
    found = all_of(kind)
    types = {piece.type for one in found for piece in one.pieces}
    assert types == set(PieceType)
    bytes_each = {sum(p.type is PieceType.BYTE for p in one.pieces) for one in found}
    assert bytes_each == {0, 200, 256}
    scored = [[p.score for p in one.pieces if p.type is PieceType.NORMAL] for one in found]
    assert sum(len(set(scores)) < len(scores) for scores in scored) > MANY // 3
    assert any(one.normalizer.charsmap for one in found)


def test_wordpiece_sets_every_rule():
    rules = [one.wordpiece for one in all_of("wordpiece")]
    for flag in ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase"):
        assert {getattr(one, flag) for one in rules} == {False, True}


def test_mutated_ones_differ_from_what_they_were():
    from corpora.vocabularies.toys import TOYS

    known = {make().fingerprint for _, make in TOYS.values()}
    changed = sum(one.fingerprint not in known for one in all_of("mutated"))
    assert changed > MANY // 2
