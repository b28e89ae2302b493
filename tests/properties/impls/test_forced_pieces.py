"""Forced tokens of SentencePiece BPE and unigram: the exact policy equals the definition."""

import random
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from corpora.grammars.finite import FiniteLanguage
from corpora.vocabularies import sources
from corpora.vocabularies.model import Normalizer, Piece, PieceType
from harness.engine.selection import SelectionError
from harness.studies.forced.policies import named
from impls.forced.alignment import Aligner
from impls.forced.exact import Exact
from impls.forced.futures import INSIDE
from impls.forced.healed import HealedBack
from impls.forced.interface import Context
from impls.forced.none import NoHealing
from impls.forced.piece_tokenizer import PieceTokenizer
from impls.forced.segments import Segments
from impls.forced.spellings import Spellings
from impls.forced.tokenizer import Tokenizer
from impls.interface import Unsupported
from impls.unigram.normalizer import make_rules, normalize
from tests.breadth import thorough_from
from tests.properties.impls.forced_definition import Letters, Unlisted, assert_defined, defined
from tests.properties.impls.spm_definition import spm
from tests.properties.impls.unigram_vocabularies import ODD, unigram

LETTERS = ("ab", "abc", "a b", "ab▁ ", "aé b", "aé😀", "日本 語", "e\u0301a ", "a½ﬁ ")

WIDE = "ab\uff41\uff42"
"""Two letters, and those that the charsmap makes the same."""


def random_case(rng, kind):
    """A vocabulary of few letters, so that pieces compete all the time, and texts for it."""
    letters = rng.choice(LETTERS)
    alphabet = letters.replace(" ", "▁")
    drawn = {"".join(rng.choices(alphabet, k=rng.randint(1, 5))) for _ in range(rng.randint(2, 25))}
    if rng.random() < 0.7:
        drawn |= set(alphabet)
    if kind == "bpe":
        drawn |= {text[:2] for text in drawn}
    scores = rng.choice([[-1.0, -2.0, -3.0, -4.0], [-rng.random() * 12 for _ in range(8)], [-1.0]])
    kinds = [PieceType.NORMAL] * rng.choice((5, 1000)) + [PieceType.USER_DEFINED]
    pieces = [
        Piece(text, float(np.float32(rng.choice(scores))), rng.choice(kinds))
        for text in sorted(drawn)
    ]
    charsmap = sources.resolve("unigram_nfkc").normalizer.charsmap if rng.random() < 0.3 else None
    flags = [rng.random() < 0.6, rng.random() < 0.4, rng.random() < 0.9]
    make = unigram if kind == "unigram" else spm
    return letters, make(pieces, Normalizer(charsmap, None, *flags), rng.random() < 0.5)


def random_text(rng, letters, most):
    return "".join(rng.choices(letters, k=rng.randint(0, most))).encode()


def compare(rng, kind, most=12):
    """One random vocabulary, and four grammars. most: characters of a context."""
    letters, vocabulary = random_case(rng, kind)
    tokenizer = PieceTokenizer(vocabulary)
    exact = Exact(tokenizer, budget=400)
    for _ in range(4):
        text = random_text(rng, letters, most)
        forced = random_text(rng, letters, 12) or letters[0].encode()
        sentences = [random_text(rng, letters, rng.choice([3, 8, 16])) for _ in range(5)]
        if rng.random() < 0.3:  # forced up to inside a character
            cut = rng.randint(1, len(forced))
            sentences = [forced[cut:] + sentence for sentence in sentences]
            forced = forced[:cut]
        context, _ = assert_defined(exact, tokenizer, text, forced, sentences)
        told = (vocabulary.pieces, vocabulary.normalizer, context, forced, sentences)

        anything = [b"", *(random_text(rng, letters, 10) for _ in range(150))]
        anything += [
            piece.text[size:].replace("▁", " ").encode() + more
            for piece in vocabulary.pieces
            for size in range(1, len(piece.text))
            if (text + forced)
            .decode(errors="replace")
            .replace(" ", "▁")
            .endswith(piece.text[:size])
            for more in (b"", letters[0].encode())
        ]
        used = {*letters.encode()}
        healed = Exact(tokenizer, budget=2).heal(context, forced, Letters(used))
        if len(letters.encode()) == len(letters):
            expected = defined(tokenizer, context, forced, anything)
            assert healed.ids == expected[: len(healed.ids)], told
            ways = [*anything, *(future.continuation for future in healed.proof)]
            if not vocabulary.normalizer.remove_extra_whitespaces and all(
                future.kind != "stand-in" for future in healed.proof
            ):
                assert healed.ids == defined(tokenizer, context, forced, ways), told


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@pytest.mark.parametrize(
    ("seed", "most"),
    [
        *thorough_from(3, [(n, 12) for n in range(8)]),
        *thorough_from(1, [(n, 120) for n in range(5)]),
    ],
)
def test_it_is_the_definition(seed, most, kind):
    """Behind a context, short or long."""
    compare(random.Random(f"{kind}/{seed}"), kind, most)


SEEDS = {
    # No piece has the space, and the context ends with one: three tokens stand for it.
    "a window may begin with a space that bytes spell": [314, 489, 712],
    # The text ends with a symbol that begins a longer one: which of them comes is not known.
    "nothing goes over the beginning of a symbol that comes for sure": [862],
    # The budget ends before it is seen that a bound is reached by no text.
    "what is not proved is shown beside what is": [1782],
}


@pytest.mark.parametrize("seed", [seed for seeds in SEEDS.values() for seed in seeds])
def test_vocabularies_that_it_was_wrong_on(seed):
    compare(random.Random(f"slow/bpe/{seed}"), "bpe")


@pytest.mark.parametrize("seed", [134, 147, *range(4)])
def test_symbols_are_found_anew_in_what_is_normalized(seed):
    """A wide letter is no part of a symbol, and may be one of another once it is normalized."""
    rng = random.Random(f"symbols/{seed}")
    drawn = {"".join(rng.choices("ab", k=rng.randint(1, 4))) for _ in range(rng.randint(3, 12))}
    pieces = []
    for text in sorted(drawn | {"a", "b", "▁"}):
        score, symbol = -float(rng.randint(1, 4)), text != "▁" and rng.random() < 0.6
        pieces.append(Piece(text, score, PieceType.USER_DEFINED if symbol else PieceType.NORMAL))
    charsmap = sources.resolve("unigram_nfkc").normalizer.charsmap
    tokenizer = PieceTokenizer(spm(pieces, Normalizer(charsmap, None, False, False, True), True))
    exact = Exact(tokenizer, budget=200)
    for _ in range(6):
        text, forced = random_text(rng, WIDE, 5), random_text(rng, WIDE, 6) or b"a"
        sentences = [random_text(rng, WIDE, rng.choice((1, 3, 6))) for _ in range(4)]
        assert_defined(exact, tokenizer, text, forced, sentences)


@pytest.mark.parametrize("seed", range(20))
def test_what_goes_on_over_the_end_of_a_text_begins_where_it_is_said_to(seed):
    rng = random.Random(seed)
    drawn = {bytes(rng.choices(b"ab", k=rng.randint(1, 6))): token for token in range(12)}
    spellings = Spellings(drawn)
    for _ in range(20):
        text = bytes(rng.choices(b"ab", k=rng.randint(0, 12)))
        expected = [
            start
            for start in range(len(text))
            if any(one.startswith(text[start:]) and one != text[start:] for one in drawn)
        ]
        assert spellings.starts(text) == expected


@pytest.mark.parametrize("seed", range(6))
def test_a_normalized_text_knows_where_it_comes_from(seed):
    rng = random.Random(seed)
    letters, vocabulary = random_case(rng, "unigram")
    aligner, rules = Aligner(vocabulary), make_rules(vocabulary)
    for _ in range(20):
        atoms = [*letters, *ODD, " ", "  ", "ab"]
        data = "".join(rng.choices(atoms, k=rng.randint(0, 10))).encode()
        data = data[: len(data) - rng.choice([0, 0, 0, 1])]
        out = np.empty((len(data) + 1) * rules.growth + 8, dtype=np.uint8)
        size = normalize(rules, np.frombuffer(data, dtype=np.uint8), 0, len(data), out, 0)
        found = aligner.aligned(data)
        assert found.text == out[:size].tobytes()
        assert len(found.ends) == size + len(found.owed) + 1
        known = [end for end in found.ends if end != INSIDE]
        assert known == sorted(known)
        assert known[-1] <= len(data)

        # What is settled stays, whatever comes.
        place = rng.randint(0, len(data))
        state = Unlisted(FiniteLanguage([data[place:], b"x"]))
        opened = aligner.aligned(data[:place], state)
        assert found.text.startswith(opened.text)
        kept = len(opened.text) + 1
        assert found.ends[:kept] == opened.ends[:kept]


MODELS = ["toy_unigram", "toy_characters", "unigram_nfkc", "unigram_bytes", "mistral_v3"]

TEXTS = (
    b'{"order": [1, 2.50, true], "name_of_the_person": "J\xc3\xbcrgen \xe6\x97\xa5\xe6\x9c\xac"}',
    b"{}", b" a  b ", "caf\u0301e ① ½ ﬁ".encode(), b"\n\t x", b"",
)  # fmt: skip


@pytest.fixture(scope="module", params=thorough_from(1, MODELS))
def tokenizer(request):
    return PieceTokenizer(sources.resolve(request.param))


def test_steps_spell_the_text(tokenizer):
    for text in TEXTS:
        steps = tokenizer.steps(text)
        assert tuple(token_id for token_id, _ in steps) == tokenizer.encode(text)
        assert b"".join(step for _, step in steps) == (text if steps else b"")


def test_along_a_text_it_is_the_definition(tokenizer):
    """At each boundary of a text, with what may come instead."""
    exact, naive = Exact(tokenizer), NoHealing(tokenizer)
    healed = [HealedBack(tokenizer), HealedBack(tokenizer, conservative=True)]
    text = TEXTS[0]
    place, before = 0, ()
    for token_id, step in tokenizer.steps(text):
        context = Context(text[:place], before)
        forced = text[place : place + 9]
        sentences = [text[place + 9 :], b'x"}', b"", b" y", "é".encode()]
        grammar = FiniteLanguage(sentences)
        expected = defined(tokenizer, context, forced, sentences)
        assert exact.heal(context, forced, grammar).ids == expected
        got = exact.heal(context, forced, Unlisted(grammar)).ids
        assert got == expected[: len(got)]
        assert naive.heal(context, forced, grammar).leftover == b""
        for policy in healed:
            assert forced.endswith(policy.heal(context, forced, grammar).leftover)
        place, before = place + len(step), (*before, token_id)


def test_what_is_unsound_is_refused():
    toy = sources.resolve("toy_unigram")
    suffix = replace(toy, normalizer=replace(toy.normalizer, treat_whitespace_as_suffix=True))
    with pytest.raises(Unsupported, match="suffix"):
        PieceTokenizer(suffix)
    pieces = [Piece("a", -1.0, PieceType.NORMAL), Piece("aa", -1.0, PieceType.UNUSED)]
    with pytest.raises(Unsupported, match="UNUSED"):
        PieceTokenizer(spm(pieces))
    with pytest.raises(Unsupported, match="look like bytes"):
        PieceTokenizer(
            spm([Piece("a", -1.0, PieceType.NORMAL), Piece("<0x41>", -2.0, PieceType.NORMAL)])
        )
    assert PieceTokenizer(toy)


def test_bytes_of_cut_characters_are_steps_of_their_own():
    tokenizer = PieceTokenizer(sources.resolve("mistral_v3"))
    context = Context(b'{"', tokenizer.encode(b'{"'))
    for data in (b"\xf0\x9f\x99", b"ab\xe6\x97", b"\x88 c", b"\xe6\x97\xa5"):
        assert b"".join(step for _, step in tokenizer.steps_after(context, data)) == data


def test_policies_that_take_no_pieces_are_left_out_or_named():
    toy = sources.resolve("toy_unigram")
    usual = named([], toy)
    assert "exact" in usual
    assert not {"drop-pretoken", "llguidance", "llguidance.partial"} & set(usual)
    assert "llguidance" in named([], sources.resolve("toy_characters"))
    with pytest.raises(SelectionError, match="drop-pretoken: SentencePiece has no pre-tokens"):
        named(["drop-pretoken"], toy)


@pytest.mark.parametrize(
    ("make", "model", "parts"),
    [
        (PieceTokenizer, "mistral_v3", [(Segments, "_tokens")]),
        (PieceTokenizer, "unigram_bytes", [(Segments, "_tokens")]),
        *(
            (
                partial(Tokenizer, pretokenize=cut),
                "tekken_240911",
                [(Tokenizer, "_encode"), (Tokenizer, "encode_pieces"), (Tokenizer, "piece_ends")],
            )
            for cut in (True, False)
        ),
    ],
)
def test_the_work_is_linear_in_the_forced_bytes(make, model, parts, monkeypatch):
    """Bytes that are encoded or cut: twice as many for twice as long a text."""
    seen = []

    def counted(of, name):
        plain = getattr(of, name)

        def call(self, given):
            seen.append(len(given if isinstance(given, bytes) else b"".join(given)))
            return plain(self, given)

        monkeypatch.setattr(of, name, call)

    for part in parts:
        counted(*part)
    exact = Exact(make(sources.resolve(model)))
    work = []
    for length in (1024, 2048, 4096):
        forced = (b"the order of things, whichever; " * 200)[:length]
        seen.clear()
        exact.heal(Context(b"", ()), forced, Unlisted(FiniteLanguage([b"ing", b" 1", b"x"])))
        work.append(sum(seen))
    # One that grows with the square of the length would give 4.
    assert work[1] < 2.5 * work[0]
    assert work[2] < 2.5 * work[1]
    assert work[2] > 4000
