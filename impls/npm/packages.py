"""The packages of npm that there is an adapter for: how each is given a vocabulary.

As in :mod:`impls.adapters.recipes`, but the lines are JavaScript: of an async function of
``require``, ``load`` (``import`` by name) and ``VOCABULARY``, the path of the file. They give
``encode``, text to ids, and ``decode``, ids to text or bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from impls.adapters.built_in import openai_way
from impls.adapters.recipes import Way
from impls.adapters.vocabularies import ordinary_json, ordinary_trouble, ranked_trouble

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpora.vocabularies.model import Vocabulary
    from impls.adapters.recipes import Ways
    from impls.interface import Mode


@dataclass(frozen=True, slots=True)
class Package:
    """A package with an adapter. native_formats: of files that it is given as they are."""

    name: str
    homepage: str
    ways: Ways
    native_formats: frozenset[str] = frozenset()


RANKS = """\
const { Tiktoken } = require("PACKAGE/lite");
const document = JSON.parse(require("node:fs").readFileSync(VOCABULARY, "utf8"));
const tokenizer = MADE;
return {
  encode: (text) => tokenizer.encode(text, SPECIALS),
  decode: (ids) => tokenizer.decode(IDS),
};
"""

OWN_RANKS = """\
const { Tiktoken } = require("js-tiktoken/lite");
const tokenizer = new Tiktoken(require("js-tiktoken/ranks/NAME"));
return {
  encode: (text) => tokenizer.encode(text, SPECIALS),
  decode: (ids) => tokenizer.decode(ids),
};
"""

WASM_RANKS = """\
const { Tiktoken } = require("tiktoken/lite");
const encoding = require("tiktoken/encoders/NAME");
const tokenizer = new Tiktoken(encoding.bpe_ranks, encoding.special_tokens, encoding.pat_str);
return {
  encode: (text) => tokenizer.encode(text, SPECIALS),
  decode: (ids) => tokenizer.decode(Uint32Array.from(ids)),
};
"""

GPT = """\
const tokenizer = require("gpt-tokenizer/encoding/NAME");
return {
  encode: (text) => tokenizer.encode(text, SPECIALS),
  decode: (ids) => tokenizer.decode(ids),
};
"""

AI = """\
const { Tokenizer } = require("ai-tokenizer");
const tokenizer = new Tokenizer(require("ai-tokenizer/encoding/NAME"));
return {
  encode: (text) => tokenizer.encode(text, SPECIALS),
  decode: (ids) => tokenizer.decode(ids),
};
"""

HUGGING_FACE = """\
const { Tokenizer } = require("@huggingface/tokenizers");
const document = JSON.parse(require("node:fs").readFileSync(VOCABULARY, "utf8"));
const tokenizer = new Tokenizer(document, {});
const plain = { skip_special_tokens: false, clean_up_tokenization_spaces: false };
return {
  encode: (text) => tokenizer.encode(text, { add_special_tokens: false }).ids,
  decode: (ids) => tokenizer.decode(ids, plain),
};
"""

LLAMA = """\
const { default: tokenizer } = await load("llama-tokenizer-js");
return {
  encode: (text) => tokenizer.encode(text, false, true),
  decode: (ids) => tokenizer.decode(ids, false, true),
};
"""

LLAMA_TOKENS = "df98f1f587d477d008f60238c0873ecfe660f63f3afe3ee96a061145be69c720"
"""SHA-256 of the pieces of Llama 1 and 2 with their ids: the vocabulary that it carries."""


def _lists(mode: Mode, _: Vocabulary) -> str:
    """The arguments for special tokens of tiktoken and those that imitate it."""
    return '"all", []' if mode.special == "all" else "[], []"


def _ranks(vocabulary: Vocabulary) -> bytes:
    """Ranks as tiktoken's packages for JavaScript have them: runs of ids, a line each."""
    pairs = sorted((i, token) for token, i in vocabulary.ids.items())
    lines = []
    for _, run in groupby(enumerate(pairs), lambda pair: pair[1][0] - pair[0]):
        tokens = [one for _, one in run]
        spelled = " ".join(base64.b64encode(token).decode() for _, token in tokens)
        lines.append(f"! {tokens[0][0]} {spelled}")
    document = {
        "pat_str": vocabulary.own_pattern,
        "special_tokens": dict(vocabulary.special_tokens),
        "bpe_ranks": "\n".join(lines),
    }
    return json.dumps(document).encode()


def _built_in(code: str, specials: Callable[[Mode, Vocabulary], str]) -> Ways:
    """The ways of a package for the encodings of OpenAI's that it has built in."""
    return lambda vocabulary, mode: openai_way(
        vocabulary,
        mode,
        lambda name: code.replace("NAME", name).replace("SPECIALS", specials(mode, vocabulary)),
    )


def _ranked(package: str, own: str, made: str, ids: str) -> Ways:
    """The ways of a package of tiktoken's: what it has built in, and ranks."""
    built_in = _built_in(own, _lists)
    code = RANKS.replace("PACKAGE", package).replace("MADE", made).replace("IDS", ids)

    def way(vocabulary: Vocabulary, mode: Mode) -> Way | str:
        found = built_in(vocabulary, mode)
        if isinstance(found, Way):
            return found
        own_code = code.replace("SPECIALS", _lists(mode, vocabulary))
        trouble = ranked_trouble(vocabulary, mode)
        return trouble or Way("ranks.json", lambda: _ranks(vocabulary), own_code)

    return way


def _names(mode: Mode, vocabulary: Vocabulary) -> str:
    """The option for special tokens of gpt-tokenizer."""
    if mode.special == "none":
        return "{ disallowedSpecial: new Set() }"
    # By name: its "all" has further tokens, which the published encodings have not.
    # The others are ordinary text, and would be refused unless nothing is.
    names = json.dumps(sorted(vocabulary.special_tokens))
    return f"{{ allowedSpecial: new Set({names}), disallowedSpecial: new Set() }}"


def _hugging_face(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    trouble = ordinary_trouble(vocabulary, mode)
    return trouble or Way("tokenizer.json", lambda: ordinary_json(vocabulary, mode), HUGGING_FACE)


def _llama(vocabulary: Vocabulary, mode: Mode) -> Way | str:
    if mode.special == "all" or not mode.pretokenize:
        return "reads no special tokens, and always puts a space before the text"
    if _digest(vocabulary) != LLAMA_TOKENS or not vocabulary.normalizer.add_dummy_prefix:
        return "has only the vocabulary of Llama 1 and 2"
    return Way("none", bytes, LLAMA)


def _digest(vocabulary: Vocabulary) -> str:
    lines = (f"{i}:{piece.text}\n" for i, piece in enumerate(vocabulary.pieces))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


PACKAGES = {
    package.name: package
    for package in (
        Package(
            "js-tiktoken",
            "https://github.com/dqbd/tiktoken",
            _ranked("js-tiktoken", OWN_RANKS, "new Tiktoken(document)", "ids"),
        ),
        Package(
            "tiktoken",
            "https://github.com/dqbd/tiktoken",
            _ranked(
                "tiktoken",
                WASM_RANKS,
                "new Tiktoken(document.bpe_ranks, document.special_tokens, document.pat_str)",
                "Uint32Array.from(ids)",
            ),
        ),
        Package(
            "gpt-tokenizer", "https://github.com/niieani/gpt-tokenizer", _built_in(GPT, _names)
        ),
        Package("ai-tokenizer", "https://github.com/coder/ai-tokenizer", _built_in(AI, _lists)),
        Package(
            "@huggingface/tokenizers",
            "https://github.com/huggingface/tokenizers.js",
            _hugging_face,
            frozenset({"tokenizer.json"}),
        ),
        Package("llama-tokenizer-js", "https://github.com/belladoreai/llama-tokenizer-js", _llama),
    )
}
"""The packages by name."""
