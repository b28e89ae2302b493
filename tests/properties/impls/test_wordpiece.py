"""WordPiece against a definition in plain Python, and against tokenizers and llama.cpp."""

import random
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import normalizers

from corpora.vocabularies.model import AddedToken, WordPieceRules
from corpora.vocabularies.sources import resolve
from corpora.vocabularies.wordpiece_file import gguf_texts, make, texts_of
from impls import registry
from impls.adapters.common import ABSENT
from impls.adapters.tokenizers import IMPLEMENTATION as TOKENIZERS
from impls.errors import ImplementationError
from impls.interface import Mode, Rejected, Unsupported
from impls.wordpiece.encoder import BERT_IMPLEMENTATION, LLAMA_CPP_IMPLEMENTATION
from impls.wordpiece.variants import BERT, LLAMA_CPP

TEXT = Mode()
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


def installed(name):
    """An engine, None where its library is not installed."""
    try:
        found = registry.resolve(name)
    except ImplementationError:
        return None
    return None if found.about.version == ABSENT else found


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


def assert_defined(ours, engine, vocabulary, text, variant):
    """By the definition and by the engine, back to text, too."""
    encoder = ours.load(vocabulary)
    ids = encoder.encode(text.encode(), TEXT)
    assert ids == defined(vocabulary, text, variant)
    if engine is not None:
        theirs = engine.load(vocabulary)
        assert ids == list(theirs.encode(text.encode(), TEXT))
        assert encoder.decode(ids) == theirs.decode(ids)


@given(cases())
def test_bert_is_its_definition(case):
    assert_defined(BERT_IMPLEMENTATION, TOKENIZERS, *case, BERT)


@given(cases(optional=False))
def test_llama_cpp_is_its_definition(case):
    if LLAMA_CPP_IMPLEMENTATION.supports(case[0], TEXT) is None:
        assert_defined(LLAMA_CPP_IMPLEMENTATION, installed("llama.cpp"), *case, LLAMA_CPP)


# The engines


USUAL = [c for c in SCALARS if ord(c) < 0x32000 or 0xDFFF0 <= ord(c) < 0xE0200]
"""Beyond these and before them, nothing is assigned but for private use."""


@pytest.mark.thorough  # every character
@pytest.mark.parametrize(
    ("ours", "name"), [(BERT_IMPLEMENTATION, "tokenizers"), (LLAMA_CPP_IMPLEMENTATION, "llama.cpp")]
)
def test_every_character_is_what_the_engine_takes_it_for(ours, name):
    """Part of a word, alone, white space or nothing; and what casing and decomposing make of it."""
    engine = installed(name)
    if engine is None:
        pytest.skip(f"{name} is not installed")
    alphabet = {*SCALARS[0x21:0x3100], *SCALARS[0x10400:0x10600]}
    for character in USUAL:
        made = unicodedata.normalize("NFD", character).lower()
        alphabet |= {*made} if made != character else set()
    letters = sorted(one for one in alphabet if one.isprintable() and one != " ")
    vocabulary = wordpiece(*letters, *(f"##{c}" for c in letters if c != "▁"))
    ours, theirs = ours.load(vocabulary), engine.load(vocabulary)
    for start in range(0, len(USUAL), 4096):
        block = USUAL[start : start + 4096]
        text = "".join(f"q{character}q " for character in block).encode()
        assert ours.encode(text, TEXT) == list(theirs.encode(text, TEXT)), hex(start)


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


# Worked examples


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


def test_decoders():
    vocabulary = wordpiece("don", "'", "t", "##t", "s", ".")
    ids = [1, 2, 3, 4, 2, 5, 6, 0, 99]  # the last one is no id

    assert BERT_IMPLEMENTATION.load(vocabulary).decode(ids) == b"don ' tt ' s. [UNK]"
    assert LLAMA_CPP_IMPLEMENTATION.load(vocabulary).decode(ids) == b" don'tt's.[UNK]"


# What the harness asks of it


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
