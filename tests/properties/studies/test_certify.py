"""Certifying ids: by brute force over all spellings of all short texts, and what cannot be decided.

The model is the definition in plain Python (``bpe_vocabularies``), with pre-tokens by `re`.
"""

import random
import re
from dataclasses import replace
from itertools import islice, pairwise, product

import numpy as np
import pytest

from corpora.vocabularies import sources
from corpora.vocabularies.model import AddedToken
from harness.checks.certifier import Certifier
from harness.core.rows import Rows
from impls.bpe import certificate
from impls.interface import Mode
from tests.properties.impls.bpe_vocabularies import (
    oracle,
    oracle_by_spelling,
    random_vocabulary,
    vocabulary,
)

TEXT = Mode()
RAW = Mode(pretokenize=False)
PATTERNS = (r"a+|b", r"ab|[^a]", r"b(?!a)|a", r"..", r"b*a")


def spellings(tokens, text):
    """All ways to spell a text by the ids of tokens of one byte and more."""
    if not text:
        yield []
    for token_id, token in enumerate(tokens):
        if token and text.startswith(token):
            for rest in spellings(tokens, text[len(token) :]):
                yield [token_id, *rest]


def pieces(text, pattern):
    """The matches of a pattern, and the gaps between them."""
    cuts = sorted(
        {0, len(text), *(cut for one in re.finditer(pattern, text) for cut in one.span())}
    )
    return [text[start:end] for start, end in pairwise(cuts)]


def defined(drawn, text):
    """The ids that the definition gives."""
    by_rank = drawn.rank_order == "ids"
    encode = oracle_by_spelling if by_rank else oracle
    parts = pieces(text, drawn.splits[0].encode()) if drawn.splits else [text] * bool(text)
    whole = drawn.ids if drawn.ignore_merges else {}
    return [i for part in parts for i in ([whole[part]] if part in whole else encode(drawn, part))]


def drawn_vocabulary(seed):
    """Its letters and a vocabulary: proper or not, with ids that no text yields, with patterns."""
    rng = random.Random(seed)
    if rng.random() < 0.5:
        letters, drawn = b"ab", None
        while drawn is None or set(letters) != set(b"ab"):
            letters, drawn = random_vocabulary(rng, proper=rng.random() < 0.5)
            letters = bytes(sorted(letters))
            if set(letters) >= set(b"ab"):
                letters = b"ab"
        drawn = replace(drawn, splits=(rng.choice(PATTERNS),))
    else:
        letters, drawn = random_vocabulary(rng, proper=rng.random() < 0.5)
    if rng.random() < 0.3:  # a second id of the same bytes, an empty one, and one of none
        again = drawn.tokens[rng.randrange(len(drawn.tokens))]
        drawn = replace(drawn, tokens=(*drawn.tokens, again, b"", None))
    if rng.random() < 0.3:
        drawn = replace(drawn, ignore_merges=True)
    return bytes(letters)[:3], drawn


def wrong_verdicts(seed, longest):
    """Rows of which the verdict is not that of the definition; and how many were decided by it."""
    letters, drawn = drawn_vocabulary(seed)
    mode = Mode(pretokenize=bool(drawn.splits))
    texts, ids, right = [], [], []
    for size in range(longest + 1):
        for one in product(letters, repeat=size):
            text = bytes(one)
            expected = defined(drawn, text)
            for spelled in islice(spellings(drawn.tokens, text), 200):
                texts.append(text)
                ids.append(spelled)
                right.append(spelled == expected)
            assert any(right), "the encoding is one of the spellings"
    found = Certifier(drawn, mode).found(Rows.of(texts, ids))[:, certificate.CODE]
    undecided = found == certificate.LEFT_OPEN
    wrong = ((found == certificate.RIGHT) != np.array(right)) & ~undecided
    return [(texts[i], ids[i], right[i]) for i in np.flatnonzero(wrong)], (~undecided).sum()


def check(seeds, longest):
    decided = 0
    for seed in seeds:
        wrong, count = wrong_verdicts(seed, longest)
        assert not wrong, (seed, wrong[:3])
        decided += count
    return decided


def test_of_all_spellings_the_encoding_alone_is_certified():
    assert check(range(60), 5) > 20_000


@pytest.mark.thorough
@pytest.mark.first
def test_of_all_spellings_the_encoding_alone_is_certified_on_thousands_of_vocabularies():
    assert check(range(1000, 2000), 6) > 300_000


def test_improper_vocabularies_are_decided_by_the_definition_where_pairs_do_not_decide():
    drawn = vocabulary([b"a", b"b", b"c", b"abc", b"bc"])  # by rank: abc is out of order
    certifier = Certifier(drawn, RAW)
    rows = Rows.of([b"abc", b"abc", b"bc"], [[3], [0, 4], [4]])
    assert certifier.found(rows)[:, 0].tolist()[:2] == [certificate.LEFT_OPEN] * 2
    assert oracle_by_spelling(drawn, b"abc") == [3]
    assert [one.status for one in certifier.judge(rows)] == ["right", "wrong", "right"]


TOY = sources.resolve("toy_bytes")


def verdict(text, ids, mode=TEXT, vocabulary=TOY, **more):
    (found,) = Certifier(vocabulary, mode, **more).judge(Rows.of([text], [ids]))
    return found


def encoded(text, mode=TEXT, vocabulary=TOY):
    return [*Certifier(vocabulary, mode)._plain.encode(text, mode)]


def test_the_first_wrong_token_is_named_with_the_reason_and_the_right_ones():
    the = TOY.ids[b" the"]
    good = encoded(b"all the")
    assert verdict(b"all the", good).status == "right"
    apart = [*encoded(b"all"), *(TOY.ids[bytes([one])] for one in b" the")]
    found = verdict(b"all the", apart)
    assert (found.status, found.right[found.same :]) == ("wrong", (the,))
    assert found.right == tuple(good)
    assert "would have merged" in found.reason
    parted = vocabulary([b"a", b"b", b"ab"], splits=("a|b",))
    assert "boundary of the pattern at byte 2" in verdict(b"bab", [1, 2], TEXT, parted).reason
    other = verdict(b"all the", [*good[:-1], TOY.ids[b"z"]])
    assert other.status == "wrong"
    assert f"does not spell the text at byte {len('all')}" in other.reason


@pytest.mark.parametrize(
    ("text", "ids", "said"),
    [
        (b"the the", encoded(b"the"), "truncated"),
        (b"\xff", [255], "UTF-8"),
        (b"the", [9000, *encoded(b"the")], "--skip-id 9000"),
    ],
)
def test_what_cannot_be_decided_is_never_passed(text, ids, said):
    special = replace(TOY, special_tokens={"<end>": 9000}, native=None)
    found = verdict(text, ids, vocabulary=special)
    assert found.status == "undecided"
    assert said in found.reason


def test_answers_of_an_encoder_are_neither_truncated_nor_marked():
    special = replace(TOY, special_tokens={"<end>": 9000}, native=None)
    right = encoded(b"the the")
    for ids in ([9000, *right], [*right, 9000], right[:-1], []):
        found = verdict(b"the the", ids, vocabulary=special, answers=True)
        assert (found.status, found.right) == ("wrong", tuple(right)), ids
        assert found.same == next((i for i, one in enumerate(ids) if one == 9000), len(ids))
    assert verdict(b"the the", right, vocabulary=special, answers=True).status == "right"
    assert verdict(b"\xff", [255], answers=True).status == "undecided"


def test_ids_of_an_empty_text_are_wrong_or_added():
    special = replace(TOY, special_tokens={"<end>": 9000}, native=None)
    assert verdict(b"", [], vocabulary=special).status == "right"
    assert verdict(b"", [9000], vocabulary=special).status == "undecided"
    assert verdict(b"", [9000], vocabulary=special, skipped=[9000]).status == "right"
    assert verdict(b"", [116], vocabulary=special).status == "wrong"
    rows = Rows.of([b"", b"the", b""], [[116], encoded(b"the"), []])
    found = [one.status for one in Certifier(TOY, TEXT).judge(rows)]
    assert found == ["wrong", "right", "right"]


def test_ids_around_a_text_are_left_out_where_the_user_says_so():
    special = replace(TOY, special_tokens={"<end>": 9000}, native=None)
    ids = [9000, 9000, *encoded(b"the"), 9000]
    assert verdict(b"the", ids, vocabulary=special, skipped=[9000]).status == "right"
    wrong = verdict(b"the", [9000, *b"the", 9000], vocabulary=special, skipped=[9000])
    assert (wrong.status, wrong.token) == ("wrong", 2), "the index is that of the whole row"


def test_special_tokens_in_the_text_are_decided_where_the_user_says_so():
    special = replace(TOY, special_tokens={"<end>": 9000}, native=None)
    mode = Mode(special="all")
    assert (
        verdict(b"the<end>the", [*encoded(b"the"), 9000, *encoded(b"the")], mode, special).status
        == "right"
    )
    assert verdict(b"the<end>", encoded(b"the<end>"), mode, special).status == "wrong"


def test_normalized_texts_and_other_algorithms_are_decided_by_their_definition():
    pieces_ = sources.resolve("unigram_bytes")
    ids = encoded(b"and the", vocabulary=pieces_)
    assert verdict(b"and the", ids, vocabulary=pieces_).status == "right"
    found = verdict(b"and the", [*ids[:-1], 5], vocabulary=pieces_)
    assert (found.status, found.token) == ("wrong", len(ids) - 1)
    assert (found.right, found.same) == (tuple(ids), len(ids) - 1)
    stripping = replace(TOY, added_tokens=(AddedToken("<x>", 9000, lstrip=True),))
    assert verdict(b"the", encoded(b"the"), vocabulary=stripping).status == "undecided"


def test_a_batch_with_a_row_that_is_no_text_decides_the_others():
    texts = [b"the", b"\xff\xfe", b"the"]
    rows = Rows.of(texts, [encoded(b"the"), [255, 254], [*b"the"]])
    found = [one.status for one in Certifier(TOY, Mode()).judge(rows)]
    assert found == ["right", "undecided", "wrong"]
