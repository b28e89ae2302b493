"""WordPiece against a definition in plain Python, and against tokenizers and llama.cpp."""

import random
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import normalizers, pre_tokenizers

from corpora.vocabularies.model import AddedToken, WordPieceRules
from corpora.vocabularies.sources import resolve
from corpora.vocabularies.wordpiece_file import gguf_texts, make, texts_of
from impls import registry
from impls.adapters.common import ABSENT
from impls.adapters.tokenizers import IMPLEMENTATION as TOKENIZERS
from impls.errors import ImplementationError
from impls.interface import Mode, Rejected, Unsupported
from impls.wordpiece.characters import (
    ALONE,
    CODE_BITS,
    CODE_MASK,
    NOTHING,
    SEPARATOR,
    make_characters,
)
from impls.wordpiece.encoder import BERT_IMPLEMENTATION, LLAMA_CPP_IMPLEMENTATION
from impls.wordpiece.variants import BERT, LLAMA_CPP
from tests.data import data_path

TEXT = Mode()
GOLDEN = "gguf/ggml-vocab-bert-bge.gguf"
SCALARS = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
ODD = "aabcéÉΣσςİıßẞ日豈한Åſﬁ\u0301\u0327\u302e\u1b44"
"""Letters that casing, decomposition and reordering change; all older than any engine's tables."""
PARTING = " \t\n\x00\x0b\x1c\x85\u200b\u3000\ufffd.,'#$-"


def wordpiece(*texts, rules=None, added=()):
    every = ["[UNK]", *texts]
    return make(
        "test",
        every,
        {"[UNK]": 0},
        rules or WordPieceRules(),
        unk_id=0,
        added=added,
        file_format="test",
        source_path=None,
    )


def llama_cpp():
    try:
        found = registry.resolve("llama.cpp")
    except ImplementationError as error:
        pytest.skip(str(error))
    if found.about.version == ABSENT:
        pytest.skip("xllamacpp is not installed")
    return found


# The definition


def is_chinese(character):
    blocks = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF))
    return any(first <= ord(character) <= last for first, last in blocks)


def is_punctuation(character):
    ascii_symbol = character.isascii() and character.isprintable() and not character.isalnum()
    return unicodedata.category(character)[0] == "P" or (ascii_symbol and character != " ")


def is_control(character):
    return character == "\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Co")


def bert_words(text, rules):
    if rules.clean_text:
        text = "".join(c for c in text if c in "\t\n\r" or not is_control(c))
    if rules.handle_chinese_chars:
        text = "".join(f" {c} " if is_chinese(c) else c for c in text)
    if rules.strip_accents:
        text = unicodedata.normalize("NFD", text)
        text = "".join(c for c in text if unicodedata.category(c) != "Mn")
    if rules.lowercase:
        text = "".join(c.lower() for c in text)
    spaced = "".join(f" {c} " if is_punctuation(c) else c for c in text)
    # \s, not str.split: the separators U+001C to U+001F are no white space to Unicode.
    for separator in "\x1c\x1d\x1e\x1f":
        spaced = spaced.replace(separator, chr(0xF0000 + ord(separator)))
    words = spaced.split()
    return ["".join(chr(ord(c) % 0xF0000) for c in word) for word in words]


def llama_words(text, rules):
    words = [""]
    for character in text:
        base = unicodedata.normalize("NFD", character)[0] if rules.strip_accents else character
        if base.isspace() and base not in "\x1c\x1d\x1e\x1f":
            words.append("")
        elif is_control(base) or (rules.strip_accents and unicodedata.category(base)[0] == "M"):
            continue
        elif is_punctuation(base) or is_chinese(base):
            words += [base.lower() if rules.lowercase else base, ""]
        else:
            words[-1] += base.lower()[0] if rules.lowercase else base
    return [word for word in words if word]


def longest_first(word, pieces, later):
    """The ids of the pieces, None where one is missing. ``later`` names a part that goes on."""
    ids = []
    start = 0
    while start < len(word):
        ends = range(len(word), start, -1)
        named = ((end, later(word[start:end]) if start else word[start:end]) for end in ends)
        found = next(((end, text) for end, text in named if text in pieces), None)
        if found is None:
            return None
        ids.append(pieces[found[1]])
        start = found[0]
    return ids


def defined(vocabulary, text, variant):
    rules = vocabulary.wordpiece
    ids = []
    if variant is BERT:
        pieces = {text: token_id for token_id, text in texts_of(vocabulary).items()}
        words = bert_words(text, rules)
    else:
        pieces = {text: token_id for token_id, text in gguf_texts(vocabulary).items()}
        words = ["▁" + word for word in llama_words(text, rules)]
    for word in words:
        if variant is BERT:
            long = len(word) > rules.max_word
            found = None if long else longest_first(word, pieces, lambda part: rules.prefix + part)
        else:
            found = longest_first(word, pieces, lambda part: part)
        ids += [vocabulary.unk_id] if found is None else found
    return ids


FLAGS = ((True,) * 4, (True, True, False, False), (False, True, True, False), (False,) * 4)
"""Few, for a table of characters takes a while: each flag with and without the others."""


@st.composite
def vocabularies(draw, optional=True):
    prefix = draw(st.sampled_from(["##", "##", "@@", "x"]))
    flags = draw(st.sampled_from(FLAGS if optional else FLAGS[:2]))
    rules = WordPieceRules(*flags, prefix=prefix, max_word=draw(st.sampled_from([100, 100, 4])))
    part = st.text(st.sampled_from("aaabbc" + ODD + "x▁."), min_size=1, max_size=4)
    texts = draw(st.lists(st.tuples(st.booleans(), part), max_size=40))
    every = {prefix + text if later else text: None for later, text in texts}
    return wordpiece(*every, rules=rules)


@st.composite
def cases(draw, optional=True):
    vocabulary = draw(vocabularies(optional))
    tokens = [t.decode().removeprefix(vocabulary.wordpiece.prefix) for t in vocabulary.tokens if t]
    parts = st.sampled_from([*tokens, *ODD, *PARTING, *ODD.upper()])
    return vocabulary, "".join(draw(st.lists(parts, max_size=24)))


@given(cases())
def test_bert_is_its_definition(case):
    vocabulary, text = case

    ids = BERT_IMPLEMENTATION.load(vocabulary).encode(text.encode(), TEXT)
    assert ids == defined(vocabulary, text, BERT)


@given(cases(optional=False))
def test_llama_cpp_is_its_definition(case):
    vocabulary, text = case
    if LLAMA_CPP_IMPLEMENTATION.supports(vocabulary, TEXT) is None:
        ids = LLAMA_CPP_IMPLEMENTATION.load(vocabulary).encode(text.encode(), TEXT)
        assert ids == defined(vocabulary, text, LLAMA_CPP)


# The engines


@given(cases())
def test_bert_is_tokenizers(case):
    vocabulary, text = case
    ours, theirs = BERT_IMPLEMENTATION.load(vocabulary), TOKENIZERS.load(vocabulary)
    ids = theirs.encode(text.encode(), TEXT)

    assert ours.encode(text.encode(), TEXT) == ids
    assert ours.decode(ids) == theirs.decode(ids)


@given(cases(optional=False))
def test_llama_cpp_is_llama_cpp(case):
    engine = llama_cpp()
    vocabulary, text = case
    if LLAMA_CPP_IMPLEMENTATION.supports(vocabulary, TEXT) is None:
        ours, theirs = LLAMA_CPP_IMPLEMENTATION.load(vocabulary), engine.load(vocabulary)
        ids = list(theirs.encode(text.encode(), TEXT))

        assert ours.encode(text.encode(), TEXT) == ids
        assert ours.decode(ids) == theirs.decode(ids)


def split_by(characters, text):
    """The words that a table makes of a text."""
    entries = characters.entries
    made = {}
    for code in np.nonzero(entries != np.arange(len(entries)))[0].tolist():
        entry = int(entries[code])
        symbols = [entry] if entry >= 0 else []
        if entry < NOTHING:
            first = -1 - entry
            count = int(characters.sequences[first - 1])
            symbols = characters.sequences[first : first + count].tolist()
        made[code] = "".join(spelled(symbol) for symbol in symbols)
    return [word for word in text.translate(made).split(" ") if word]


def spelled(symbol):
    kind, letter = symbol >> CODE_BITS & 3, chr(symbol & CODE_MASK)
    return " " if kind == SEPARATOR else f" {letter} " if kind == ALONE else letter


USUAL = [c for c in SCALARS if ord(c) < 0x32000 or 0xDFFF0 <= ord(c) < 0xE0200]
"""Beyond these and before them, nothing is assigned but for private use."""


def check_characters(flags, scalars):
    clean, chinese, strip, lower = flags
    normalizer = normalizers.BertNormalizer(
        clean_text=clean, handle_chinese_chars=chinese, strip_accents=strip, lowercase=lower
    )
    split = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    text = "".join(f"q{character}q " for character in scalars)
    theirs = []
    for start in range(0, len(text), 1 << 14):
        part = normalizer.normalize_str(text[start : start + (1 << 14)])
        theirs += [word for word, _ in split(part)]
    ours = split_by(make_characters(BERT, WordPieceRules(*flags)), text)
    unlike = [pair for pair in zip(ours, theirs, strict=False) if pair[0] != pair[1]]
    assert unlike[:1] == []
    assert len(ours) == len(theirs)


@pytest.mark.thorough  # every character
def test_every_character_is_what_tokenizers_takes_it_for():
    check_characters((True, True, True, True), USUAL)


def test_marks_are_put_in_the_order_of_tokenizers():
    marks = [chr(c) for c in range(0x300, 0x1F000) if unicodedata.combining(chr(c))]
    rng = random.Random(7)
    runs = ["q" + "".join(rng.choices(marks, k=rng.randrange(2, 9))) for _ in range(3000)]
    strip = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=True, lowercase=True
    )
    kept = sorted({c for run in runs for c in strip.normalize_str(run)} - {"q"})
    vocabulary = wordpiece("q", *(f"##{mark}" for mark in kept))
    ours, theirs = BERT_IMPLEMENTATION.load(vocabulary), TOKENIZERS.load(vocabulary)

    for run in runs:
        assert ours.encode(run.encode(), TEXT) == theirs.encode(run.encode(), TEXT), ascii(run)


@pytest.mark.thorough  # every character
def test_every_character_is_what_llama_cpp_takes_it_for():
    engine = llama_cpp()
    alphabet = [c for c in SCALARS[0x21:0x3100] + SCALARS[0x10400:0x10600] if c.isprintable()]
    vocabulary = wordpiece(*alphabet, *(f"##{c}" for c in alphabet if c != "▁"))
    ours, theirs = LLAMA_CPP_IMPLEMENTATION.load(vocabulary), engine.load(vocabulary)
    for start in range(0, len(USUAL), 4096):
        block = USUAL[start : start + 4096]
        text = "".join(f"q{character}q " for character in block).encode()
        assert ours.encode(text, TEXT) == list(theirs.encode(text, TEXT)), hex(start)


@pytest.mark.data
def test_the_golden_vectors_of_llama_cpp():
    vocabulary = resolve(str(data_path(GOLDEN)))
    encoder = LLAMA_CPP_IMPLEMENTATION.load(vocabulary)
    separator = b"\n__ggml_vocab_test__\n"
    inputs = data_path(f"{GOLDEN}.inp").read_bytes().split(separator)
    lines = data_path(f"{GOLDEN}.out").read_text().split("\n")

    assert len(inputs) == len(lines) == 47
    for data, line in zip(inputs, lines, strict=True):
        assert encoder.encode(data, TEXT) == [int(number) for number in line.split()], data


# Worked examples


@pytest.mark.parametrize("implementation", [BERT_IMPLEMENTATION, LLAMA_CPP_IMPLEMENTATION])
def test_the_longest_match_first_may_leave_a_word_unknown(implementation):
    encoder = implementation.load(wordpiece("ab", "aba", "##ac", "##b"))

    assert encoder.encode(b"abab abac ab", TEXT) == [2, 4, 0, 1]


def test_where_the_variants_part():
    vocabulary = wordpiece("aa", "##a", "i", "##i", "##\u0307", "##▁", rules=WordPieceRules())
    bert, llama = (one.load(vocabulary) for one in (BERT_IMPLEMENTATION, LLAMA_CPP_IMPLEMENTATION))

    def both(text):
        return bert.encode(text.encode(), TEXT), llama.encode(text.encode(), TEXT)

    assert both("a" * 101) == ([0], [1] + [2] * 99)  # only one has a longest word
    assert both("a\x0ba") == ([1], [6, 2, 6, 2])  # a separator, or nothing
    assert both("a") == ([0], [6, 2])  # U+2581 alone continues, or begins a word
    with pytest.raises(Unsupported):
        bert.encode(b"a\xff", TEXT)
    assert llama.encode(b"aa\xff", TEXT) == [1]
    assert llama.encode(b"a\xc1\x81", TEXT) == [1]  # an overlong A
    with pytest.raises(Rejected):
        llama.encode(b"\xf4\x90\x80\x80", TEXT)


def test_the_dotted_capital_i():
    kept = WordPieceRules(strip_accents=False)
    vocabulary = wordpiece("i", "##\u0307", rules=kept)

    assert BERT_IMPLEMENTATION.load(vocabulary).encode("İ".encode(), TEXT) == [1, 2]
    assert LLAMA_CPP_IMPLEMENTATION.load(vocabulary).encode("İ".encode(), TEXT) == [1]


def test_decoders():
    vocabulary = wordpiece("don", "'", "t", "##t", "s", ".")
    ids = [1, 2, 3, 4, 2, 5, 6, 0, 99]

    assert BERT_IMPLEMENTATION.load(vocabulary).decode(ids) == b"don ' tt ' s. [UNK]"
    assert LLAMA_CPP_IMPLEMENTATION.load(vocabulary).decode(ids) == b" don'tt's.[UNK]"
    # A space serves one apostrophe only.
    assert LLAMA_CPP_IMPLEMENTATION.load(vocabulary).decode([1, 2, 2, 3]) == b" don'' t"


# What the harness asks of it


def test_a_batch_is_its_inputs_one_by_one():
    encoder = BERT_IMPLEMENTATION.load(resolve("toy_wordpiece"))
    inputs = [b"", b"unaffable", "É\u0301 ab日".encode(), b" ", b"!!!", b""]
    ends = np.cumsum([len(data) for data in inputs])
    ids, id_ends = encoder.encode_batch(b"".join(inputs), ends, TEXT)

    parts = [part.tolist() for part in np.split(ids, id_ends[:-1])]
    assert parts == [encoder.encode(data, TEXT) for data in inputs]
    with pytest.raises(Unsupported):  # the bytes of a character in two inputs
        encoder.encode_batch("é".encode(), np.array([1, 2]), TEXT)


@pytest.mark.parametrize("implementation", [BERT_IMPLEMENTATION, LLAMA_CPP_IMPLEMENTATION])
def test_long_words_and_long_runs_of_marks(implementation):
    # A quadratic path would take minutes: the time-out of the suite is the judge.
    size = 300_000
    rules = WordPieceRules(max_word=size)
    encoder = implementation.load(
        wordpiece("a", "##a", "##aa", "##\u302e", "##\u1b44", rules=rules)
    )

    assert encoder.encode(b"a" * (size - 1), TEXT) == [1] + [3] * (size // 2 - 1)
    assert encoder.encode(b"a" * (size - 2) + b"b", TEXT) == [0]
    marks = encoder.encode(("a" + "\u302e\u1b44" * 50_000).encode(), TEXT)
    expected = [1] + [5] * 50_000 + [4] * 50_000
    assert marks == (expected if implementation is BERT_IMPLEMENTATION else [1])


def test_supports():
    toy = resolve("toy_wordpiece")
    for implementation in (BERT_IMPLEMENTATION, LLAMA_CPP_IMPLEMENTATION):
        assert implementation.supports(toy, TEXT) is None
        assert implementation.supports(toy, Mode(pretokenize=False))
        assert implementation.supports(toy, Mode(special="all"))
        assert implementation.supports(resolve("toy_acbb"), TEXT)
        assert implementation.supports(wordpiece("a", added=[AddedToken("a", 1)]), TEXT)
    unclean = wordpiece("a", rules=WordPieceRules(clean_text=False))
    assert BERT_IMPLEMENTATION.supports(unclean, TEXT) is None
    assert LLAMA_CPP_IMPLEMENTATION.supports(unclean, TEXT)
    assert LLAMA_CPP_IMPLEMENTATION.supports(wordpiece("a", "##▁a"), TEXT)
