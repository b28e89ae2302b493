"""Toy files: small tokenizer.json documents, most of steps that the plain model cannot express.

Those who read the file themselves run these, :mod:`impls.pipeline` among them. Each has steps whose
every flag shows in ids, as nobody can find a mistake that does not show.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from corpora.vocabularies import tokenizer_json
from corpora.vocabularies.byte_alphabet import CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from corpora.vocabularies.model import Vocabulary

Json = dict[str, Any]

_BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def _ids(texts: Iterable[str]) -> dict[str, int]:
    return {text: place for place, text in enumerate(dict.fromkeys(texts))}


def _added(vocab: dict[str, int], *tokens: tuple[str, str]) -> list[Json]:
    """Added tokens, each with its text and its one flag, or none."""
    flags = ("special", "single_word", "lstrip", "rstrip", "normalized")
    found: list[Json] = []
    for text, flag in tokens:
        token_id = vocab.get(text, len(vocab) + sum(one["id"] >= len(vocab) for one in found))
        found.append({"id": token_id, "content": text, **{name: name == flag for name in flags}})
    return found


def _steps(kind: str, *steps: Json) -> Json:
    return {"type": "Sequence", kind: list(steps)}


def _split(pattern: Json, behavior: str, *, invert: bool = False) -> Json:
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


def _document(model: Json, **parts: object) -> Json:
    empty = dict.fromkeys(
        ("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder")
    )
    return {"version": "1.0", "added_tokens": [], **empty, **parts, "model": model}


def _words() -> Json:
    letters = ["a", "b", "c", "ab", "ba", "abc", "cab"]
    others = ["-", ".", "!", "..", "1", "2", "12", " ", "n-e"]
    vocab = _ids(["[UNK]", "[CLS]", "[SEP]", *letters, *others])
    specials = {name: {"id": name, "ids": [vocab[name]]} for name in ("[CLS]", "[SEP]")}
    cls, sep = ({"SpecialToken": {"id": name, "type_id": 0}} for name in ("[CLS]", "[SEP]"))
    first, second = ({"Sequence": {"id": name, "type_id": i}} for i, name in enumerate("AB"))
    return _document(
        {"type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]"},
        added_tokens=_added(
            vocab,
            ("[CLS]", "special"),
            ("[SEP]", "special"),
            ("cab", "single_word"),
            ("<l>", "lstrip"),
            ("<r>", "rstrip"),
            ("n e", "normalized"),
        ),
        normalizer={"type": "Replace", "pattern": {"String": "n e"}, "content": "n-e"},
        pre_tokenizer=_steps(
            "pretokenizers",
            {"type": "CharDelimiterSplit", "delimiter": "-"},
            _split({"Regex": r"[^\n]+"}, "Removed", invert=True),
            _split({"String": "a"}, "MergedWithPrevious"),
            {"type": "Punctuation", "behavior": "Isolated"},
            {"type": "Digits", "individual_digits": True},
        ),
        post_processor={
            "type": "TemplateProcessing",
            "single": [cls, first, sep],
            "pair": [cls, first, sep, second, sep],
            "special_tokens": {name: {**one, "tokens": [name]} for name, one in specials.items()},
        },
        decoder={"type": "WordPiece", "prefix": "##", "cleanup": True},
    )


def _characters() -> Json:
    merged = ["▁a", "ab", "▁ab", "ba", "h▁", "éa"]
    vocab = _ids(["<unk>", *_BYTES, *"▁abch12é日", "▁▁", *merged, "▁1"])
    merges = [[text[:-1], text[-1]] for text in ("▁▁", *merged)]
    return _document(
        {
            "type": "BPE",
            "vocab": vocab,
            "merges": merges,
            "unk_token": "<unk>",
            "fuse_unk": True,
            "byte_fallback": True,
        },
        normalizer=_steps(
            "normalizers",
            {"type": "Strip", "strip_left": True, "strip_right": True},
            {"type": "Lowercase"},
            {"type": "NFKC"},
            {"type": "Replace", "pattern": {"String": "cc"}, "content": "c"},
            {"type": "Prepend", "prepend": "▁"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        ),
        decoder=_steps(
            "decoders",
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ),
    )


def _subwords() -> Json:
    words = ["a", "b", "ab", "é", "e", "日", "本", "!", ".", "'", "s", "n", "a\u200bb"]
    later = ["##a", "##b", "##ab", "##e", "##日", "##本", "##s", "##é"]
    vocab = _ids(["[UNK]", "[CLS]", "[SEP]", *words, *later])
    return _document(
        {
            "type": "WordPiece",
            "vocab": vocab,
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 6,
        },
        added_tokens=_added(vocab, ("[CLS]", "special"), ("[SEP]", "special")),
        normalizer=_steps(
            "normalizers",
            {"type": "Nmt"},
            {
                "type": "BertNormalizer",
                "clean_text": True,
                "handle_chinese_chars": True,
                "strip_accents": None,
                "lowercase": True,
            },
        ),
        pre_tokenizer={"type": "BertPreTokenizer"},
        post_processor={
            "type": "BertProcessing",
            "sep": ["[SEP]", vocab["[SEP]"]],
            "cls": ["[CLS]", vocab["[CLS]"]],
        },
        decoder={"type": "WordPiece", "prefix": "##", "cleanup": True},
    )


def _scores() -> Json:
    scored = {
        "<unk>": 0.0,
        **dict.fromkeys("▁abc", -2.0),
        **{"é": -3.0, "ab": -4.0, "ba": -4.0, "▁a": -4.0, "▁b": -4.0, "aba": -6.0, "b▁": -1.0},
    }
    pieces = [[text, score] for text, score in scored.items()]
    return _document(
        {"type": "Unigram", "unk_id": 0, "vocab": pieces, "byte_fallback": False},
        added_tokens=_added(_ids(scored), ("<x>", "")),
        normalizer={"type": "StripAccents"},
        pre_tokenizer={
            "type": "Metaspace",
            "replacement": "▁",
            "prepend_scheme": "first",
            "split": True,
        },
        decoder={
            "type": "Metaspace",
            "replacement": "▁",
            "prepend_scheme": "first",
            "split": True,
        },
    )


def _affixes() -> Json:
    letters = ["a", "b", "é", "日", "あ", "σ", "ς"]
    shapes = [*letters, *(f"##{one}" for one in letters)]
    merged = ["ab", "ab</w>", "##ab</w>", "##ba", "##bab</w>"]
    vocab = _ids(["<unk>", *shapes, *(f"{one}</w>" for one in shapes), *merged, "aΣ"])
    merges = [["a", "##b"], ["a", "##b</w>"], ["##a", "##b</w>"], ["##b", "##a"]]
    return _document(
        {
            "type": "BPE",
            "vocab": vocab,
            "merges": [*merges, ["##ba", "##b</w>"]],
            "unk_token": "<unk>",
            "continuing_subword_prefix": "##",
            "end_of_word_suffix": "</w>",
            "fuse_unk": False,
        },
        normalizer={"type": "Lowercase"},
        pre_tokenizer=_steps(
            "pretokenizers",
            {"type": "WhitespaceSplit"},
            {"type": "UnicodeScripts"},
            {"type": "FixedLength", "length": 4},
        ),
        decoder={"type": "BPEDecoder", "suffix": "</w>"},
    )


def _dropping() -> Json:
    """Merges of which half are left out; one goes beyond pre-tokens, and "then" has none."""
    merged = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("e", "Ġ"), ("i", "n"), ("in", "g")]
    vocab = _ids([*CHARACTERS, *(left + right for left, right in merged), "then"])
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    return _document(
        {"type": "BPE", "vocab": vocab, "merges": [[*pair] for pair in merged], "dropout": 0.5},
        pre_tokenizer={**byte_level, "use_regex": True},
        decoder={**byte_level, "use_regex": True},
    )


TOY_FILES: dict[str, tuple[str, Callable[[], Json]]] = {
    "toy_file_words": (
        "a tokenizer.json of whole words: a Replace, five pre-tokenizers, added tokens of every "
        "flag, a template for texts and pairs",
        _words,
    ),
    "toy_file_characters": (
        "a tokenizer.json of BPE over characters with byte fallback, with six normalizers and four "
        "decoders",
        _characters,
    ),
    "toy_file_subwords": (
        "a tokenizer.json of WordPiece: Nmt before BertNormalizer, and a short limit on words",
        _subwords,
    ),
    "toy_file_scores": (
        "a tokenizer.json of Unigram: scores that tie, and a Metaspace that marks the beginning of "
        "the text alone",
        _scores,
    ),
    "toy_file_affixes": (
        "a tokenizer.json of BPE with a prefix of continuations and a suffix of ends: lowered, and "
        "parted by white space, script and length",
        _affixes,
    ),
    "toy_file_dropout": (
        "a tokenizer.json of byte-level BPE with dropout, which is otherwise as any",
        _dropping,
    ),
}
"""Name to (why it is there, what it says). They are run where they are named alone."""


def load(name: str) -> Vocabulary:
    """Load one of :data:`TOY_FILES`."""
    content = json.dumps(TOY_FILES[name][1](), ensure_ascii=False).encode()
    return tokenizer_json.from_bytes(content, name, None)
