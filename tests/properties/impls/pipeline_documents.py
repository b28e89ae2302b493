"""Random tokenizer.json documents of steps in any order, and texts that are hard for them."""

import base64
import json
from functools import cache
from typing import Any

from hypothesis import strategies as st

from corpora.vocabularies.byte_alphabet import CHARACTERS
from corpora.vocabularies.sources import resolve

Json = dict[str, Any]

LETTERS = [*"abAée\u0301日-1\u2581 '."]
"""What tokens are made of; others of the texts are unknown."""

SPACES = ["  ", "   ", "\n", "\t", "\r\n", "\xa0", "\u3000", "\x85", "\x1c", "\u200b", "_"]
ODD = [
    "\x00",
    "\ufffd",
    "\u0327",
    "\u0323\u0301",
    "\u0345",
    "\u200d",
    "É",
    "ÅB",
    "İ",
    "ΑΣ",
    "ß",
    "ſ",
]
NUMBERS = ["Ⅷ", "²", "٣", "½", "１", "12"]
SCRIPTS = ["ﬁ", "ｱﾞ", "本", "かな", "カー", "한", "\u1112\u1161\u11ab", "क्षि", "العَ", "ש", "ไ"]
EMOJI = ["😀", "👩\u200d👩\u200d👧", "🇩🇪"]
MARKUP = ["<a>", "<s>", "a<", "<a>b", "[X]", "[UNK]", "<unk>", "<0x61>", "##b", "b</w>", "$", "+"]
WORDS = ["?!", "...", "``", "''", "__", "x", "ab", "aab", "bab", "don't", "they're"]

PARTS = [*LETTERS, *SPACES, *ODD, *NUMBERS, *SCRIPTS, *EMOJI, *MARKUP, *WORDS]

FIRSTS = [
    "",
    "",
    "\x01",
    "\u0301",
    "\u0315\u0301",
    "a",
    "ab",
    " ",
    "日",
    "İ",
    "<a>",
    "\u1109\u1161",
]
"""What is hard at the beginning of a text: what is left out, replaced, or put in order."""

TEXTS = st.one_of(
    st.lists(st.sampled_from(PARTS), max_size=10).map("".join),
    st.lists(st.one_of(st.sampled_from(PARTS), st.characters(exclude_categories=["Cs"]))).map(
        "".join
    ),
    st.builds(str.__add__, st.sampled_from(FIRSTS), st.sampled_from(PARTS)),
)

BEHAVIORS = st.sampled_from(
    ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
)
EXPRESSIONS = st.sampled_from(
    [
        *(r"\s+", r"\d", r" ?\p{L}+", r"[ab]+|1", r"a|ab", r"\s+(?!\S)|\s+", r"[^\s\p{L}\p{N}]+"),
        r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
        *(" {2,}", r"\p{Lu}\p{Ll}*|.", r"[\r\n]", r"(?=a)b|\.{1,2}", r"-|\u2581", r"\p{M}+?"),
    ]
)
PATTERNS = st.one_of(
    st.fixed_dictionaries({"Regex": EXPRESSIONS}),
    st.fixed_dictionaries({"String": st.sampled_from([" ", "a", "ab", "--", "'", "\u2581", "."])}),
)


PARTS_OF_A_FILE = ("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor")
EMPTY = {"version": "1.0", "added_tokens": [], **dict.fromkeys((*PARTS_OF_A_FILE, "decoder"))}
"""A file without steps, which lacks its model."""

FLAGS = ("special", "single_word", "lstrip", "rstrip", "normalized")


def added_token(token_id, text, **flags):
    """An entry of a file's added tokens, without flags but for these."""
    return {"id": token_id, "content": text, **dict.fromkeys(FLAGS, False), **flags}


def typed(kind, **fields):
    """A step of a type with fields that are drawn."""
    return st.fixed_dictionaries({"type": st.just(kind), **fields})


@cache
def charsmap():
    """SentencePiece's rules of NFKC."""
    return base64.b64encode(resolve("unigram_nfkc").normalizer.charsmap or b"").decode()


def normalizers():
    """One step of a normalizer."""
    flag = st.booleans()
    return st.one_of(
        *(typed(kind) for kind in ("NFC", "NFD", "NFKC", "NFKD")),
        *(typed(kind) for kind in ("Lowercase", "StripAccents", "Nmt", "ByteLevel")),
        typed("Strip", strip_left=flag, strip_right=flag),
        typed("Prepend", prepend=st.sampled_from(["\u2581", " ", "ab"])),
        typed("Replace", pattern=PATTERNS, content=st.sampled_from([" ", "", "\u2581", "ab"])),
        typed(
            "BertNormalizer",
            clean_text=flag,
            handle_chinese_chars=flag,
            strip_accents=st.sampled_from([None, True, False]),
            lowercase=flag,
        ),
        typed("Precompiled", precompiled_charsmap=st.just(charsmap())),
    )


def metaspaces():
    """A Metaspace in any scheme."""
    return typed(
        "Metaspace",
        replacement=st.sampled_from(["\u2581", "\u2581", "_"]),
        prepend_scheme=st.sampled_from(["always", "never", "first"]),
        split=st.booleans(),
    )


BEGINNINGS = typed(
    "Metaspace",
    replacement=st.just("\u2581"),
    prepend_scheme=st.just("first"),
    split=st.booleans(),
)


def splitters():
    """One step of a pre-tokenizer."""
    flag = st.booleans()
    return st.one_of(
        typed("Split", pattern=PATTERNS, behavior=BEHAVIORS, invert=flag),
        typed("Split", pattern=PATTERNS, behavior=BEHAVIORS, invert=flag),
        typed("Punctuation", behavior=BEHAVIORS),
        typed("Digits", individual_digits=flag),
        typed("CharDelimiterSplit", delimiter=st.sampled_from(["-", " ", "日", "a"])),
        *(typed(kind) for kind in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer")),
        typed("UnicodeScripts"),
        metaspaces(),
        typed("ByteLevel", add_prefix_space=flag, trim_offsets=st.just(True), use_regex=flag),
        typed("FixedLength", length=st.sampled_from([1, 2, 5])),
    )


def sequence(kind, steps, most=3):
    """Some steps: none at all, one, or a Sequence."""
    many = st.lists(steps, max_size=most)
    return many.map(
        lambda found: (
            (found[0] if found else None) if len(found) < 2 else {"type": "Sequence", kind: found}
        )
    )


@st.composite
def bpe(draw):
    """Merges in any order, with any affixes and flags."""
    letters = [*LETTERS, *(draw(st.sampled_from([[], list(CHARACTERS)])))]
    prefix = draw(st.sampled_from(["", "", "", "##"]))
    suffix = draw(st.sampled_from(["", "", "", "</w>"]))
    spelled = draw(st.sampled_from([(), range(0, 256, 2), range(256)]))
    texts = ["<unk>", *(f"<0x{byte:02X}>" for byte in spelled)]
    firsts = list(dict.fromkeys(letters))
    nexts = [prefix + one for one in firsts]
    lasts = [one + suffix for one in nexts]
    texts += dict.fromkeys([*firsts, *nexts, *lasts, *(one + suffix for one in firsts)])
    lefts, rights = list(firsts[:9]), list(dict.fromkeys([*nexts[:9], *lasts[:9]]))
    if draw(st.booleans()):
        lefts.append("<unk>")
    merges = []
    for _ in range(draw(st.integers(0, 25))):
        left, right = draw(st.sampled_from(lefts)), draw(st.sampled_from(rights))
        merged = left + right[len(prefix) :]
        if len(merged) > 16:
            continue
        merges.append(draw(st.sampled_from([[left, right], f"{left} {right}"])))
        if " " in left + right:
            merges[-1] = [left, right]
        if merged not in texts:
            texts.append(merged)
            lefts.append(merged)
            rights.append(prefix + merged)
            texts += [] if prefix + merged in texts else [prefix + merged]
    merges = draw(st.permutations(merges)) if merges else merges
    if any(isinstance(one, list) for one in merges):
        merges = [one.split(" ") if isinstance(one, str) else one for one in merges]
    return {
        "type": "BPE",
        "dropout": draw(st.sampled_from([None, 0.0])),
        "unk_token": draw(st.sampled_from([None, "<unk>", "<unk>"])),
        "continuing_subword_prefix": prefix or None,
        "end_of_word_suffix": suffix or None,
        "fuse_unk": draw(st.booleans()),
        "byte_fallback": draw(st.booleans()),
        "ignore_merges": draw(st.sampled_from([False, False, True])),
        "vocab": {text: place for place, text in enumerate(texts)},
        "merges": merges,
    }


TOKENS = st.lists(st.sampled_from(LETTERS), min_size=1, max_size=4).map("".join)
"""Texts of tokens that no merges make."""


@st.composite
def unigram(draw):
    """Pieces of scores with ties."""
    spelled = draw(st.sampled_from([(), range(0, 256, 2), range(256)]))
    texts = dict.fromkeys(["<unk>", *(f"<0x{byte:02X}>" for byte in spelled)])
    texts.update(dict.fromkeys(draw(st.lists(TOKENS, max_size=25))))
    # Ties, and numbers whose last digit the library reads otherwise than Python.
    ties = st.sampled_from([-1.0, -1.5, -2.0, -7.0, 0.0, -1.1, -2.2, -3.3])
    scores = st.one_of(ties, st.floats(-20, 0, allow_subnormal=False))
    return {
        "type": "Unigram",
        "unk_id": 0,
        "vocab": [[text, draw(scores)] for text in texts],
        "byte_fallback": draw(st.booleans()),
    }


@st.composite
def words(draw):
    """WordPiece, or WordLevel."""
    texts = ["[UNK]", *LETTERS, *(f"##{one}" for one in LETTERS)]
    texts += draw(st.lists(TOKENS, max_size=15))
    texts += [f"##{one}" for one in draw(st.lists(TOKENS, max_size=15))]
    vocab = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    if draw(st.booleans()):
        return {"type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]"}
    return {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": draw(st.sampled_from([3, 100])),
        "vocab": vocab,
    }


@st.composite
def added(draw, model):
    """Added tokens with any flags; of a text of the model's, or of their own."""
    told = model["vocab"]
    vocab = told if isinstance(told, dict) else {text: i for i, (text, _) in enumerate(told)}
    texts = draw(
        st.lists(
            st.sampled_from(["<a>", "<s>", "a<", "<a>b", "[X]", "A", "日本", "É", "<unk>"]),
            max_size=4,
            unique=True,
        )
    )
    found, highest = [], -1
    flags = st.sampled_from([False, False, True])
    for text in texts:
        token_id = vocab.get(text, max(len(vocab), highest + 1))
        highest = max(highest, token_id)
        found.append(added_token(token_id, text, **{name: draw(flags) for name in FLAGS}))
    return found


@st.composite
def documents(draw, *, beginning=False):
    """A whole file. beginning: with a Metaspace that looks for the beginning of the text."""
    model = draw(st.one_of(bpe(), bpe(), unigram(), words()))
    return {
        **EMPTY,
        "added_tokens": draw(added(model)),
        "normalizer": draw(sequence("normalizers", normalizers())),
        "pre_tokenizer": draw(BEGINNINGS if beginning else sequence("pretokenizers", splitters())),
        "model": model,
    }


def content(document):
    """The file."""
    return json.dumps(document, ensure_ascii=False).encode()
