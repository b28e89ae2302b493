"""Unigram by words: the ids of the plain encoder, whatever it remembers, and where words end."""

import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from corpora.texts import benchmarks
from corpora.vocabularies.model import Normalizer, Piece, PieceType
from corpora.vocabularies.sources import resolve
from impls.fast.kernels.word_cuts import BEGINS, ENDS, cut
from impls.fast.unigram import remembering
from impls.fast.unigram.certainty import UNCERTAIN, bounds_of, certain
from impls.fast.unigram.cuts import make_cuts
from impls.fast.unigram.encoder import IMPLEMENTATION
from impls.fast.unigram.endings import make_endings
from impls.fast.unigram.foreign_words import first_foreign, foreign_word
from impls.fast.unigram.remembering import by_words
from impls.interface import Mode
from impls.unigram import variants
from impls.unigram.encoder import SENTENCEPIECE
from impls.unigram.lexicon import make_lexicon, segmented
from impls.unigram.trie import NOWHERE
from tests.breadth import thorough_from
from tests.data import data_path
from tests.impls.unigram_vocabularies import random_inputs, random_vocabulary, unigram

TEXT = Mode()
BROKEN_ENDS = (b"\xe6\x97", b"\xe6", b"\x97\xe6\x97\xa5", b"\xff\xe6\x97\xa5")


def assert_alike(vocabulary, inputs):
    """All in one batch, twice, so that the second time much is remembered; then each by itself.

    Returns whether the vocabulary has words that are remembered.
    """
    plain, fast = SENTENCEPIECE.load(vocabulary), IMPLEMENTATION.load(vocabulary)
    data, ends = b"".join(inputs), np.cumsum([len(one) for one in inputs], dtype=np.int64)
    ids, id_ends = plain.encode_batch(data, ends, TEXT)
    for _ in range(2):
        found, found_ends = fast.encode_batch(data, ends, TEXT)
        assert np.array_equal(found, ids)
        assert np.array_equal(found_ends, id_ends)
    for one, wanted in zip(inputs, np.split(ids, id_ends[:-1]), strict=True):
        assert fast.encode(one, TEXT) == wanted.tolist(), one
    return by_words(vocabulary, fast.lexicon) is not None


def worded(rng, *, byte_fallback):
    """A vocabulary whose pieces hold white space first, as those of training do."""
    letters = rng.choice(["abcd.(,", "abé日本.", "xy-_ab{}", "abжё日é𝄞"])
    drawn = {"".join(rng.choices(letters, k=rng.randint(1, 5))) for _ in range(rng.randint(5, 60))}
    drawn |= {"▁" + text for text in rng.sample(sorted(drawn), k=len(drawn) // 2)} | {
        "▁",
        "q",
        "qq",
    }
    if rng.random() < 0.3:
        drawn.add(rng.choice(["▁▁", "a▁b", "ab▁▁"]))
    scores = rng.choice(
        [
            [-1.0, -2.0, -3.0, -1.5],  # sums tie
            [-rng.random() * 14 for _ in range(60)],
            [-0.1 * n for n in range(1, 30)],
            [-900.0, -850.3, -950.1],  # SentencePiece's sums are brought back often
        ]
    )
    kinds = [PieceType.NORMAL] * 20 + [PieceType.USER_DEFINED, PieceType.UNUSED]
    pieces = [
        Piece(text, float(np.float32(rng.choice(scores))), rng.choice(kinds))
        for text in sorted(drawn)
    ]
    return unigram(pieces, Normalizer(None, None, True, rng.random() < 0.7, True), byte_fallback)


def texts_for(vocabulary, rng):
    inputs = random_inputs(vocabulary, rng, 25)
    words = [p.text.replace("▁", " ") for p in vocabulary.pieces if p.type is PieceType.NORMAL]
    for size in (30, 400, 3000):
        made = "".join(rng.choice([" ", ""]) + rng.choice([*words, "ü", "7"]) for _ in range(size))
        inputs.append(made.encode())
    # Longer than what is kept at once of a word.
    inputs.append("".join(rng.choices([*"abc", *words], k=9000)).replace(" ", "").encode())
    # Characters that no piece has, between others, and a run that is longer than a window.
    for size in (3, 30, 300):
        atoms = [*words, " ", "日本", "テキスト", "ü", "ж", "한국", "𝄞😀", "a。", "(", "\n"]
        inputs.append("".join(rng.choices(atoms, k=size)).encode())
    inputs.append(("a" + "ü" * 4000 + "テ" * 3000 + "b").encode())
    for size in (1, 10, 60):
        runs = ("".join(rng.choices("日テ。한ü𝄞", k=rng.randint(1, size))) for _ in range(40))
        inputs.append("".join(rng.choice(["a", "▁", " ", "b "]) + run for run in runs).encode())
    return [*inputs, b"", ("ab" * 2000).encode(), (" " + "é" * 90).encode() * 3, b"\xe2\x96"]


@pytest.mark.parametrize("part", thorough_from(2, range(4)))
def test_drawn_vocabularies(part):
    taken = 0
    for number in range(10 * part, 10 * part + 10):
        rng = random.Random(f"by words {number}")
        if number % 3:
            vocabulary = worded(rng, byte_fallback=number % 5 == 0)
        else:
            vocabulary = random_vocabulary(rng, gguf=True)
        taken += assert_alike(vocabulary, texts_for(vocabulary, rng))
    assert taken >= 4


@pytest.mark.data
@pytest.mark.thorough  # large vocabularies
@pytest.mark.parametrize("name", ["t5_base", "albert_fixture", "sp_test_ja_model"])
def test_real_vocabularies_on_real_texts(name):
    vocabulary = resolve(str(data_path(f"vocabs/{name}.model")))
    kinds = [kind for kind in benchmarks.TEXTS if not benchmarks.trouble(kind)]
    texts = [benchmarks.TEXTS[kind].of(vocabulary, 1_000_000, 3) for kind in kinds]
    assert assert_alike(vocabulary, texts)


def test_what_has_no_certain_words_is_left_to_the_plain_encoder():
    vocabulary = worded(random.Random(3), byte_fallback=False)
    lexicon = make_lexicon(vocabulary, variants.SENTENCEPIECE)
    assert by_words(vocabulary, lexicon) is not None
    for older in (variants.SENTENCEPIECE_0_2_1, variants.LLAMA_CPP_FLOAT):
        assert bounds_of(make_lexicon(vocabulary, older)) is None
    # A rule that ends inside a character.
    broken = np.frombuffer(b"\xe2\x96\0", dtype=np.uint8)
    rules = lexicon.rules._replace(replacements=broken)
    assert by_words(vocabulary, lexicon._replace(rules=rules)) is None
    # Extreme scores; sums that would be brought back twice within a piece.
    for text, score, admitted in (("b", -1e30, False), ("a" * 200, -900.0, False),
                                  ("a" * 100, -900.0, True)):  # fmt: skip
        pieces = [Piece(text, score, PieceType.NORMAL), Piece("a", -1.0, PieceType.NORMAL)]
        drawn = unigram(pieces)
        made = by_words(drawn, make_lexicon(drawn, variants.SENTENCEPIECE))
        assert (made is not None) == admitted


def words_of(pieces, text, unknown="<unk>"):
    """Where the words of a text end, a few at a time."""
    known = {piece.encode(): number for number, piece in enumerate([unknown, *pieces])}
    cuts = make_cuts(known, 0, make_endings(known).foreign)
    data = np.frombuffer(text.encode() + bytes(64), dtype=np.uint8)
    segments = np.array([[len(text.encode()), NOWHERE]], dtype=np.int64)
    ends = np.empty(4, dtype=np.int64)
    marks, given = np.empty(3, dtype=np.uint8), np.empty(3, dtype=np.int64)
    found, all_marks = [0], []
    number = position = 0
    while number < len(segments):
        count, number, position, _ = cut(cuts, data, segments, number, position, ends, marks, given)
        found += ends[1 : count + 1].tolist()
        all_marks += marks[:count].tolist()
    assert all_marks[0] & BEGINS
    assert all_marks[-1] & ENDS
    assert not any(mark & BEGINS for mark in all_marks[1:])
    assert not any(mark & ENDS for mark in all_marks[:-1])
    raw = text.encode()
    return [raw[a:b].decode() for a, b in pairwise(found)]


def test_a_word_ends_where_no_piece_goes_on():
    letters = ["a", "b", "c", ".", "("]

    assert words_of([*letters, "▁", "▁a"], "▁ab▁ab") == ["▁ab", "▁ab"]
    assert words_of([*letters, "▁", "▁a", "b▁"], "▁ab▁ac▁a") == ["▁ab▁ac", "▁a"]
    assert words_of([*letters, "▁", "▁▁a", "▁b"], "a▁▁a▁b") == ["a", "▁▁a", "▁b"]
    assert words_of([*letters, "▁a", "▁", "a▁▁b"], "c▁▁a▁b") == ["c", "▁▁a▁b"]
    assert words_of([*letters, "▁a", "▁", "a▁▁b"], "c▁▁a▁b") == ["c", "▁▁a▁b"]
    assert words_of([*letters, ".a"], "ab.ab(a") == ["ab", ".ab", "(", "a"]


def test_no_word_begins_with_what_may_be_unknown():
    assert words_of(["a", "b"], "a▁.b") == ["a▁.", "b"]
    assert words_of(["▁"], "a▁b.b", unknown=".") == ["a", "▁b.b"]
    assert words_of(["▁", ".", "日"], "日本日本日本日本.日▁") == ["日本日本日本日本", ".日", "▁"]


def test_what_no_piece_has_is_a_word_behind_a_known_character():
    assert words_of(["a", "▁"], "a日本a▁日本éé") == ["a", "日本", "a", "▁日本éé"]
    assert words_of(["a", "é"], "é日本a日é") == ["é日本", "a", "日é"]
    assert words_of(["a", "b", "c"], "c日ab日", unknown="ab") == ["c", "日ab日"]  # one id


@pytest.mark.parametrize("seed", range(5))
def test_a_foreign_word_is_one_of_whole_characters_that_no_piece_has(seed):
    """Bytes that begin no character are one each; rules may give some."""
    rng = random.Random(f"foreign {seed}")
    foreign = make_endings([one.encode() for one in ("a", "▁", "é", "β")]).foreign
    parts = ["日".encode(), "本".encode(), "𝄞".encode(), b"\x97", b"\xe6\x97", b"\xc7\xa5"]
    symbol = 7
    for _ in range(300):
        few = rng.choices(parts, k=rng.randint(1, 2))
        if rng.random() < 0.6:
            few = [*few, *parts[:1] * 20]
        word = rng.choice([b"", "▁".encode()]) + b"".join(rng.choices(few, k=rng.randint(1, 45)))
        data = np.frombuffer(b"x" + word + bytes(80), dtype=np.uint8)
        begun = word.startswith("▁".encode()) and len(word) > 3
        at, count = 3 * begun, 0
        while at < len(word) and count >= 0:
            length = int(foreign[word[at]])
            at, count = at + length, count + 1 if length else -1
        expected = (symbol * begun, count) if count >= 0 else (0, 0)
        found = foreign_word(foreign, first_foreign(foreign), symbol, data, 1, 1 + len(word))
        assert found == expected, word


def test_a_tie_is_not_certain_and_a_clear_lead_is():
    def count(scores, text):
        pieces = [Piece(one, score, PieceType.NORMAL) for one, score in scores.items()]
        vocabulary = unigram(pieces)
        lexicon = make_lexicon(vocabulary, variants.SENTENCEPIECE)
        made = segmented(vocabulary, variants.SENTENCEPIECE)
        bounds = bounds_of(lexicon)
        assert bounds is not None
        data = np.frombuffer(text.encode(), dtype=np.uint8)
        weights = np.concatenate((np.full(1, -np.inf, np.float32), lexicon.scores))
        return certain(
            lexicon.ids, float(lexicon.unknown_scores[0]), 0, False, bounds.tolerance,
            *make_endings(made), weights, data, 0, len(data), np.zeros(33),
            np.empty(33, dtype=np.int64), np.empty(40, dtype=np.int32), 0,
        )  # fmt: skip

    assert count({"a": -1.0, "aa": -1.5}, "aa") == 1
    assert count({"a": -1.0, "aa": -2.0}, "aa") == UNCERTAIN
    assert count({"a": -1.0, "aa": -1.99}, "aa") == UNCERTAIN  # within what rounding may do
    assert count({"a": -1.0, "aa": -1.5}, "aaa") == UNCERTAIN  # a aa and aa a are alike
    assert count({"a": -1.0}, "azz") == 2  # the unknown characters are one id


def many_ab(rng, words):
    return " ".join("ab" * rng.randint(1, 3) for _ in range(words)).encode()


def test_words_of_characters_that_no_piece_has():
    """Runs of all lengths around a window, with what is no such character at each place of some."""
    pieces = [
        Piece(text, -1.0 - n, PieceType.NORMAL) for n, text in enumerate(["▁", "a", "é", "."])
    ]
    vocabulary = replace(unigram(pieces), normalizer=Normalizer(None, None, True, True, True))
    texts = ["日" * size for size in range(70)] + ["a" + "日本" * size for size in range(40)]
    texts += ["日" * place + odd + "本" * (45 - place) for place in range(46) for odd in "é𝄞βa▁."]
    texts += [" " + one for one in texts]
    inputs = [one.encode() for one in texts]
    inputs += [b"\xe6\x97\xa5" * size + end for size in (3, 20, 21) for end in BROKEN_ENDS]
    assert assert_alike(vocabulary, inputs)


@pytest.mark.parametrize("planted", ["lead", "rounding"])
def test_a_planted_mistake_is_seen(planted, monkeypatch):
    """Words that are taken for certain where they are not: the comparison above goes red."""
    tolerance = -1.0 if planted == "lead" else 0.0
    bounds = remembering.bounds_of

    def wrong(lexicon):
        found = bounds(lexicon)
        return None if found is None else replace_tolerance(found, tolerance)

    monkeypatch.setattr(remembering, "bounds_of", wrong)
    if planted == "lead":
        scores = {"a": -0.1, "b": -0.1, "ab": -0.2, "▁": -0.7}  # alike before they are rounded
    else:
        scores = {"a": -0.1, "b": -0.2, "ab": -0.3, "▁": -0.7}  # nearly so
    pieces = [
        Piece(text, float(np.float32(score)), PieceType.NORMAL) for text, score in scores.items()
    ]
    vocabulary = replace(unigram(pieces), normalizer=Normalizer(None, None, True, True, True))
    text = many_ab(random.Random(5), 4000)
    with pytest.raises(AssertionError):
        assert_alike(vocabulary, [text])


def replace_tolerance(found, tolerance):
    return found._replace(tolerance=tolerance)
