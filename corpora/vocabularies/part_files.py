"""Files that have only a part of a tokenizer: a tokenizer.json is made of them.

``vocab.json`` with ``merges.txt``, and BERT's ``vocab.txt``, do not say what comes before the
model: the class that ``tokenizer_config.json`` names says it. CLIP's list of merges says it by its
name.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from corpora.vocabularies import tokenizer_json
from corpora.vocabularies.byte_alphabet import spell
from corpora.vocabularies.limits import COPY, MAX_IDS, MAX_MERGES, check_count
from corpora.vocabularies.model import Vocabulary, VocabularyError
from corpora.vocabularies.patterns import splits_of
from corpora.vocabularies.reading import decode_json, shown, shown_json
from corpora.vocabularies.tokenizer_json_steps import byte_level

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

Json = dict[str, Any]

CONFIG, SPECIALS = "tokenizer_config.json", "special_tokens_map.json"
ADDED = "added_tokens.json"
VOCAB, MERGES, WORDS = FILES = ("vocab.json", "merges.txt", "vocab.txt")

BYTE_LEVEL = {"GPT2": "gpt2", "CodeGen": "gpt2", "Qwen2": "qwen2"}
"""The pattern of classes of byte-level BPE, by their names without ``Tokenizer``."""

SPECIAL = ("<|endoftext|>", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]")
"""The special tokens of these classes where no file names others."""

NORMALIZED = {"Qwen2": {"type": "NFC"}}

WORD_PIECE = frozenset({"Bert", "DistilBert", "Electra"})

CLIP_MERGES = 49152 - 256 - 2
"""CLIP's file has more merges, and it uses the first of them."""

CLIP_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def of_folder(
    folder: Path, contents: Mapping[str, bytes], said: Mapping[str, Json], pattern: str | None
) -> Vocabulary:
    """The vocabulary of a folder that has parts. Raises VocabularyError."""
    config, where = said.get(CONFIG, {}), str(folder)
    kind = (config.get("tokenizer_class") or "").removesuffix("Fast").removesuffix("Tokenizer")
    if VOCAB in contents and MERGES in contents:
        named = pattern or BYTE_LEVEL.get(kind)
        if named is None:
            what = f"names the class {shown(kind)}" if kind else f"names no class in {CONFIG}"
            raise VocabularyError(
                where,
                f"{VOCAB} and {MERGES} do not say how texts are split, and the folder {what}",
                f"add #pattern=NAME, or one of the classes {', '.join(BYTE_LEVEL)} there",
            )
        at = str(folder / VOCAB)
        vocab = decode_json(contents[VOCAB], dict[str, int], at)
        model = {"type": "BPE", "vocab": vocab, "merges": _merges(contents[MERGES], folder)}
        splits = () if named == "gpt2" else splits_of(named, where)
        prefix = bool(config.get("add_prefix_space"))
        before = byte_level(splits, prefix=prefix, use_regex=not splits)
        document: Json = {"normalizer": NORMALIZED.get(kind), "pre_tokenizer": before}
        document["model"] = model
        document["decoder"] = byte_level(use_regex=True)
    elif WORDS in contents:
        if kind not in WORD_PIECE:
            what = f"names the class {shown(kind)}" if kind else "is missing or names no class"
            raise VocabularyError(
                where,
                f"{CONFIG} {what}, which {WORDS} needs",
                "name BertTokenizer",
            )
        document = _wordpiece(contents[WORDS], config, str(folder / WORDS))
    else:
        raise VocabularyError(
            where,
            "is a folder without a tokenizer",
            "it must have tokenizer.json, tokenizer.model, tekken.json, vocab.txt, or vocab.json "
            "with merges.txt; else name a file inside it",
        )
    ids: dict[str, int] = document["model"]["vocab"]
    known = {text: i for tokens in listed(said).values() for text, i in tokens.items()}
    known |= {text: ids[text] for text in SPECIAL if text in ids}
    free = count(max(ids.values(), default=-1) + 1)
    flags = {text_of(one): one for document in said.values() for one in _entries(document)}
    document["added_tokens"] = [
        _added(text, ids.get(text, next(free) if i is None and text not in ids else i), flags)
        for text, i in known.items()
    ]
    return tokenizer_json.from_document(document, folder.name, where)


def listed(said: Mapping[str, Json]) -> dict[str, dict[str, int | None]]:
    """The added and special tokens that each file names, with their ids where it has them."""
    found: dict[str, dict[str, int | None]] = {}
    for name, document in said.items():
        tokens: dict[str, int | None] = {}
        for key, value in document.items():
            if name == ADDED:
                tokens[key] = value if isinstance(value, int) else None
            elif key == "added_tokens_decoder" and isinstance(value, dict):
                entries = [(text_of(one), i) for i, one in value.items() if i.isdigit()]
                tokens |= {text: int(i) for text, i in entries if text}
            elif key.endswith("_token") or key == "additional_special_tokens":
                values = value if isinstance(value, list) else [value]
                for text in filter(None, map(text_of, values)):
                    tokens.setdefault(text, None)
        found[name] = tokens
    return found


def _entries(document: Json) -> list[Json]:
    """The tokens of which a file gives flags."""
    decoder = document.get("added_tokens_decoder")
    there = [*document.values(), *(decoder.values() if isinstance(decoder, dict) else ())]
    return [one for one in there if isinstance(one, dict) and text_of(one)]


def _added(text: str, token_id: int | None, flags: Mapping[str, Json] | None = None) -> Json:
    """The entry of an added token, special unless it says otherwise."""
    own = (flags or {}).get(text, {})
    said = {one: own.get(one) is True for one in ("single_word", "lstrip", "rstrip", "normalized")}
    return {"id": token_id, "content": text, **said, "special": own.get("special") is not False}


def text_of(entry: object) -> str:
    """The text of a token, which is there as it is or with its flags; empty for anything else."""
    text = entry.get("content") if isinstance(entry, dict) else entry
    return text if isinstance(text, str) else ""


def clip(content: bytes, name: str, source: str) -> Vocabulary:
    """The vocabulary of CLIP's ``bpe_simple_vocab_16e6.txt``, as transformers converts it."""
    lines = _lines(content, source)[1 : CLIP_MERGES + 1]
    merges = _pairs(lines, source, 2)
    letters = sorted(map(spell, (bytes([byte]) for byte in range(256))), key=ord)
    # CLIP's own order: the bytes that are letters, then the others.
    ordered = sorted(letters, key=lambda one: (ord(one) >= 256, ord(one)))
    tokens = [*ordered, *(f"{one}</w>" for one in ordered), *map("".join, merges)]
    specials = ["<|startoftext|>", "<|endoftext|>"]
    vocab = {text: i for i, text in enumerate([*tokens, *specials])}
    split = {"type": "Split", "pattern": {"Regex": CLIP_PATTERN}, "behavior": "Removed"}
    document = {
        "added_tokens": [_added(one, vocab[one]) for one in specials],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "NFC"},
                {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
                {"type": "Lowercase"},
            ],
        },
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{**split, "invert": True}, byte_level()],
        },
        "decoder": byte_level(use_regex=True),
        "model": {
            "type": "BPE",
            "vocab": vocab,
            "merges": merges,
            "unk_token": specials[1],
            "end_of_word_suffix": "</w>",
        },
    }
    return tokenizer_json.from_document(document, name, source)


def _merges(content: bytes, folder: Path) -> list[list[str]]:
    where = str(folder / MERGES)
    lines = _lines(content, where)
    first = 1 if lines[:1] and lines[0].startswith("#version") else 0
    return _pairs(lines[first:], where, first + 1)


def _lines(content: bytes, where: str) -> list[str]:
    try:
        lines = content.decode().replace("\r\n", "\n").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise VocabularyError(where, f"is not UTF-8 ({error.reason})", COPY) from None
    check_count(len(lines), MAX_MERGES, "lines", where)
    return lines


def _pairs(lines: Sequence[str], where: str, first: int) -> list[list[str]]:
    pairs = []
    for number, line in enumerate(lines, first):
        if parts := line.split(" ") if line else []:
            if len(parts) != 2 or not all(parts):
                what = f"{shown(line)} is not a pair"
                raise VocabularyError(f"{where}: line {number}", what, "each line is 'a b'")
            pairs.append(parts)
    return pairs


def _wordpiece(content: bytes, config: Json, where: str) -> Json:
    lines = _lines(content, where)
    check_count(len(lines), MAX_IDS, "tokens", where)
    flags = {"lowercase": ("do_lower_case", True), "strip_accents": ("strip_accents", None),
             "handle_chinese_chars": ("tokenize_chinese_chars", True)}  # fmt: skip
    normalizer: Json = {"type": "BertNormalizer", "clean_text": True}
    for flag, (name, usual) in flags.items():
        normalizer[flag] = config.get(name, usual)
        if not isinstance(normalizer[flag], bool | None):
            fault = f"{name} is {shown_json(normalizer[flag])}"
            raise VocabularyError(f"{where}: {CONFIG}", fault, "it must be true or false")
    unknown = text_of(config.get("unk_token")) or "[UNK]"
    model = {"type": "WordPiece", "unk_token": unknown, "continuing_subword_prefix": "##",
             "max_input_chars_per_word": 100,
             "vocab": {text: i for i, text in enumerate(lines)}}  # fmt: skip
    return {
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False},
        "model": model,
    }
