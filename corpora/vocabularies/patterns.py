"""The named pre-tokenizer patterns, and the special tokens that go with named encodings.

Each pattern is a tuple of regular expressions in the syntax of the ``regex`` package that
tiktoken's and Oniguruma's engines read alike: without possessive quantifiers, because Oniguruma
takes ``{1,3}+`` for a repeated repetition. With the tokens of their own encoding they give the
ids that the originals give.

A tuple of several is applied one after another: each match, and each gap between matches, is a
piece that the next expression splits further.
"""

from __future__ import annotations

import difflib
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.plain_text import printable_line
from corpora.vocabularies.limits import MAX_PATTERN, MAX_STEPS, check_count
from corpora.vocabularies.model import VocabularyError
from corpora.vocabularies.pattern_spellings import plain_spelling
from corpora.vocabularies.reading import read_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_TAIL = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
# tiktoken 0.14 (not 0.7) puts "white space up to the end of the text" before line ends, so that
# "\n\n\t" at the end is one piece there and two here. The ids are the same: no token of
# cl100k_base goes on after a line end.
_CL100K = rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|{_TAIL}"
_QWEN2 = rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|{_TAIL}"
# As qwen2's, with marks among the letters.
_QWEN35 = (
    rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}"
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

_UPPER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}"
_LOWER = r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
_CASED = (
    rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]*[{_LOWER}]+",
    rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]+[{_LOWER}]*",
)
_SLASH_TAIL = r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_O200K = "|".join([*(f"{word}{_CONTRACTIONS}?" for word in _CASED), r"\p{N}{1,3}", _SLASH_TAIL])
_TEKKEN = "|".join([*_CASED, r"\p{N}", _SLASH_TAIL])

_HAN_KANA_HANGUL = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
_DEEPSEEK_V3 = (
    r"\p{N}{1,3}",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"
    r"|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
)
_DEEPSEEK_CODER = (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _HAN_KANA_HANGUL, r"\p{N}")
_FALCON = (r"[\p{P}\$\+<=>\^~\|`]+", _GPT2, r"[0-9][0-9][0-9]")
_DEFAULT = (r"[\p{P}\$\+<=>\^~\|]+", _GPT2, r"\p{N}+", r"[0-9][0-9][0-9]")
_BLOOM = r" ?[^(\s|.,!?…。，、।۔،)]+"

PATTERNS: dict[str, tuple[str, ...]] = {
    "none": (),
    "gpt2": (_GPT2,),
    "whisper": (_GPT2,),
    "r50k_base": (_GPT2,),
    "p50k_base": (_GPT2,),
    "p50k_edit": (_GPT2,),
    "cl100k_base": (_CL100K,),
    "o200k_base": (_O200K,),
    "o200k_harmony": (_O200K,),
    "llama3": (_CL100K,),
    "qwen2": (_QWEN2,),
    "qwen35": (_QWEN35,),
    "voyage3_base": (_QWEN2,),
    "tekken": (_TEKKEN,),
    "deepseek_v3": _DEEPSEEK_V3,
    "deepseek_coder": _DEEPSEEK_CODER,
    "falcon": _FALCON,
    "llama_cpp_default": _DEFAULT,
    "bloom": (_BLOOM,),
    "viking": (_BLOOM, r"\p{N}"),
    "starcoder": (r"\p{N}", _GPT2),
}
"""The patterns by the names that may follow ``#pattern=``."""

_GGUF_NAMES: dict[str, tuple[str, ...]] = {
    "gpt2": (
        "gpt-2",
        "phi-2",
        "jina-es",
        "jina-de",
        "jina-v1-en",
        "jina-v2-es",
        "jina-v2-de",
        "jina-v2-code",
        "roberta-bpe",
        "modern-bert",
        "gigachat",
        "a.x-4.0",
        "mellum",
        "olmo",
        "mpt",
        "jais",
        "trillion",
        "granite-docling",
        "exaone4",
    ),
    "llama3": (
        "llama-bpe",
        "llama3",
        "llama-v3",
        "falcon3",
        "falcon-h1",
        "pixtral",
        "midm-2.0",
        "lfm2",
        "dbrx",
        "smaug-bpe",
        "glm4",
        "chatglm-bpe",
    ),
    "qwen2": (
        "qwen2",
        "deepseek-r1-qwen",
        "kormo",
        "stablelm2",
        "megrez",
        "hunyuan",
        "solar-open",
        "grok-2",
    ),
    "qwen35": ("qwen35",),
    "o200k_base": (
        "gpt-4o",
        "llama4",
        "minimax-m2",
    ),
    "tekken": ("tekken",),
    "deepseek_coder": ("deepseek-coder",),
    "deepseek_v3": (
        "deepseek-v3",
        "hunyuan-dense",
    ),
    "falcon": ("falcon",),
    "starcoder": (
        "starcoder",
        "refact",
        "command-r",
        "smollm",
        "codeshell",
        "exaone",
        "minerva-7b",
    ),
    "bloom": (
        "bloom",
        "gpt3-finnish",
        "poro-chat",
    ),
    "viking": ("viking",),
    "llama_cpp_default": ("default",),
}
"""The values of ``tokenizer.ggml.pre`` for each of :data:`PATTERNS`, as ``llama-vocab.cpp`` reads
them; first the one to write."""

GGUF_PRE = {name: pattern for pattern, names in _GGUF_NAMES.items() for name in names}
"""The pattern of each value of ``tokenizer.ggml.pre``."""

GGUF_IGNORE_MERGES = frozenset(
    {
        *("llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"),
        "tekken",
    }
)
"""The pre-tokenizers for which llama.cpp emits a whole pre-token as it is."""


def _llama3_specials() -> dict[str, int]:
    """The 256 that follow Llama 3's tokens, as its first release numbered them."""
    named = {
        0: "<|begin_of_text|>",
        1: "<|end_of_text|>",
        6: "<|start_header_id|>",
        7: "<|end_header_id|>",
        9: "<|eot_id|>",
    }
    specials: dict[str, int] = {}
    reserved = 0
    for offset in range(256):
        text = named.get(offset)
        if text is None:
            text = f"<|reserved_special_token_{reserved}|>"
            reserved += 1
        specials[text] = 128000 + offset
    return specials


def _harmony_specials() -> dict[str, int]:
    specials = {
        "<|startoftext|>": 199998,
        "<|endoftext|>": 199999,
        "<|reserved_200000|>": 200000,
        "<|reserved_200001|>": 200001,
        "<|return|>": 200002,
        "<|constrain|>": 200003,
        "<|reserved_200004|>": 200004,
        "<|channel|>": 200005,
        "<|start|>": 200006,
        "<|end|>": 200007,
        "<|message|>": 200008,
        "<|reserved_200009|>": 200009,
        "<|reserved_200010|>": 200010,
        "<|reserved_200011|>": 200011,
        "<|call|>": 200012,
        "<|endofprompt|>": 200018,
    }
    # Two names share the id 200018 in the original; the reserved one decodes nothing new.
    specials |= {f"<|reserved_{i}|>": i for i in range(200013, 201088) if i != 200018}
    return specials


_FIM = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")

_SPECIALS: dict[str, tuple[int, dict[str, int]]] = {
    "gpt2": (50256, {"<|endoftext|>": 50256}),
    "r50k_base": (50256, {"<|endoftext|>": 50256}),
    "p50k_base": (50280, {"<|endoftext|>": 50256}),
    "p50k_edit": (
        50280,
        {"<|endoftext|>": 50256, **{text: 50281 + i for i, text in enumerate(_FIM)}},
    ),
    "cl100k_base": (
        100256,
        {
            "<|endoftext|>": 100257,
            **{text: 100258 + i for i, text in enumerate(_FIM)},
            "<|endofprompt|>": 100276,
        },
    ),
    "o200k_base": (199998, {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}),
    "o200k_harmony": (199998, _harmony_specials()),
    "llama3": (128000, _llama3_specials()),
    "qwen2": (
        151643,
        {"<|endoftext|>": 151643, "<|im_start|>": 151644, "<|im_end|>": 151645},
    ),
}


def splits_of(given: str, source: str) -> tuple[str, ...]:
    """The pre-tokenizer that a user tells by name, as ``/REGEX/``, or by a file that has it.

    A file holds one regular expression, or, if its name ends in ``.json``, a list of them. A
    VocabularyError about ``source`` for anything else, which suggests a name only where it can
    hardly be another pre-tokenizer.
    """
    return splits_and_own_spelling(given, source)[0]


def splits_and_own_spelling(given: str, source: str) -> tuple[tuple[str, ...], str | None]:
    """:func:`splits_of`, and its expression as the user spelled it, where there is one."""
    if len(given) > 2 and given.startswith("/") and given.endswith("/"):
        return (checked_split(given[1:-1], source, "#pattern"),), given[1:-1]
    if given in PATTERNS:
        return PATTERNS[given], None
    if Path(given).is_file():
        return _splits_of_file(Path(given))
    near = _near(given)
    which = f"did you mean {near}?" if near else f"name one of {', '.join(sorted(PATTERNS))}"
    raise VocabularyError(
        source, f"unknown pattern {given!r}", f"{which} Or give #pattern=/REGEX/, or a file of it"
    )


def _near(given: str) -> str | None:
    """The name that a slip of the finger would have made this of; digits tell versions apart."""
    longer = [name for name in PATTERNS if name.startswith(given)]
    if len(longer) == 1 and longer[0].startswith(f"{given}_"):
        return longer[0]
    digits = [c for c in given if c.isdigit()]
    for name in difflib.get_close_matches(given, PATTERNS, n=3, cutoff=0.8):
        if [c for c in name if c.isdigit()] == digits:
            return name
    return None


def _splits_of_file(path: Path) -> tuple[tuple[str, ...], str | None]:
    content, where = read_bytes(path), str(path)
    try:
        text = content.decode()
        several = json.loads(text) if path.suffix == ".json" else None
    except (ValueError, RecursionError):
        raise VocabularyError(
            where, "is not a text of regular expressions", "give one, or a JSON list of them"
        ) from None
    if several is None:
        own = text.removesuffix("\n").removesuffix("\r")
        return (checked_split(own, where, "the file"),), own
    if not isinstance(several, list) or not all(isinstance(one, str) for one in several):
        raise VocabularyError(where, "is not a JSON list of regular expressions", "give one")
    check_count(len(several), MAX_STEPS, "regular expressions", where)
    splits = tuple(checked_split(one, where, f"[{place}]") for place, one in enumerate(several))
    return splits, None


@cache
def _known() -> dict[str, str]:
    """Every expression of :data:`PATTERNS` by its plain spelling."""
    return {plain_spelling(one): one for steps in PATTERNS.values() for one in steps}


def checked_split(pattern: str, source: str, field: str) -> str:
    """The pattern of a file, if the `regex` package can compile it; a VocabularyError otherwise.

    One that is known here is given as it is spelled here, so that equal ones are equal strings.
    """
    if len(pattern) <= MAX_PATTERN:
        known = _known().get(plain_spelling(pattern))
        if known is not None:
            return known
    import regex  # noqa: PLC0415 (only for patterns that are not known here)

    check_count(len(pattern), MAX_PATTERN, f"characters in {field}", source)
    try:
        regex.compile(pattern)
    except (regex.error, ValueError, OverflowError, RecursionError) as error:
        fault = printable_line(" ".join(str(error).split())[:120])
        raise VocabularyError(
            source,
            f"{field} is not a regular expression ({fault})",
            "correct it, or get another",
        ) from None
    return pattern


def special_tokens_of(name: str | None, tokens: int) -> Mapping[str, int]:
    """The special tokens of the encoding ``name``, if a file of ``tokens`` ranks can be it.

    A pattern may be borrowed for another vocabulary, whose special tokens are not known then.
    """
    size, specials = _SPECIALS.get(name or "", (-1, {}))
    return dict(specials) if size == tokens else {}
