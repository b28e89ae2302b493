"""The vocabularies that need neither network nor a file of the user's."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.vocabularies.model import VocabularyError
from corpora.vocabularies.reading import read_bytes
from corpora.vocabularies.toys import TOYS

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary

RANDOM = "random:"
"""The name of a random vocabulary begins with this: see :mod:`corpora.vocabularies.drawn`."""

_MISTRAL: dict[str, tuple[str, str]] = {
    "tekken_240718": ("tekken_240718.json", "Mistral Nemo: byte-level BPE, 131,072 tokens"),
    "tekken_240911": ("tekken_240911.json", "Pixtral, Ministral: byte-level BPE, 131,072 tokens"),
    "mistral_v1": ("tokenizer.model.v1", "Mistral 7B: SentencePiece BPE, 32,000 pieces"),
    "mistral_v2": (
        "mistral_instruct_tokenizer_240216.model.v2",
        "Mistral Large: SentencePiece BPE, 32,768 pieces",
    ),
    "mistral_v3": (
        "mistral_instruct_tokenizer_240323.model.v3",
        "Mistral 7B v0.3: SentencePiece BPE, 32,768 pieces, user-defined symbols",
    ),
    "mistral_v7": (
        "mistral_instruct_tokenizer_241114.model.v7",
        "Mistral Large 2411: SentencePiece BPE, 32,768 pieces, user-defined symbols",
    ),
    "mistral_v7m1": (
        "mistral_instruct_tokenizer_241114.model.v7m1",
        "Mistral's v7 with images: SentencePiece BPE, 32,768 pieces, user-defined symbols",
    ),
}
"""Name to (file inside mistral-common's data, summary)."""

MISSING = "not installed; pip install 'tokgate[engines]'"
"""What is said of these where mistral-common is not installed."""

ALIKE = {"tekken_240718": "tekken_240911", "mistral_v7m1": "mistral_v7"}
"""Embedded vocabularies that are, to the last token, another one: a run over all takes that."""

_TRAINED: dict[str, tuple[str, str]] = {
    "unigram_nfkc": (
        "unigram_nfkc.model.gz",
        "trained here: unigram, 2,000 pieces, nmt_nfkc, user-defined symbols",
    ),
    "unigram_bytes": (
        "unigram_bytes.model",
        "trained here: unigram, 2,000 pieces, byte fallback, nothing normalized",
    ),
}
"""Name to (file in ``data``, summary)."""


TOY_FILES: dict[str, str] = {
    "toy_file_words": (
        "a tokenizer.json of whole words: a Replace, five pre-tokenizers, added tokens of every "
        "flag, a template for texts and pairs"
    ),
    "toy_file_characters": (
        "a tokenizer.json of BPE over characters with byte fallback, with six normalizers and four "
        "decoders"
    ),
    "toy_file_subwords": (
        "a tokenizer.json of WordPiece: Nmt before BertNormalizer, and a short limit on words"
    ),
    "toy_file_scores": (
        "a tokenizer.json of Unigram: scores that tie, and a Metaspace that marks the beginning of "
        "the text alone"
    ),
    "toy_file_affixes": (
        "a tokenizer.json of BPE with a prefix of continuations and a suffix of ends: lowered, and "
        "parted by white space, script and length"
    ),
    "toy_file_dropout": ("a tokenizer.json of byte-level BPE with dropout"),
}
"""Name to summary of the files ``data/NAME.json``.

Most have steps that the plain model cannot express, and each step's every flag shows in ids, as
nobody can find a mistake that does not show. They are run where they are named, and by those alone
who read the file themselves."""

_DATA = Path(__file__).parent / "data"

_TOY_ALGORITHMS = {"toy_unigram": "unigram", "toy_characters": "spm", "toy_wordpiece": "wordpiece"}
"""The algorithm of each toy that is not byte-level byte-pair encoding."""


def algorithm(name: str) -> str | None:
    """The algorithm of an embedded vocabulary, known without loading it; None for any other name.

    It is ``bpe``, ``spm``, ``unigram`` or ``wordpiece``.
    """
    if name in _MISTRAL:
        return "bpe" if _MISTRAL[name][0].endswith(".json") else "spm"
    if name in _TRAINED:
        return "unigram"
    return _TOY_ALGORITHMS.get(name, "bpe") if name in TOYS else None


def embedded() -> dict[str, str]:
    """Name to one-line summary of each vocabulary that needs neither network nor file."""
    return {
        **{name: summary for name, (_, summary) in _MISTRAL.items()},
        **{name: summary for name, (_, summary) in _TRAINED.items()},
        **{name: why for name, (why, _) in TOYS.items()},
    }


def left_out() -> dict[str, str]:
    """Those of :func:`embedded` whose package is not installed, with what to install."""
    there = importlib.util.find_spec("mistral_common") is not None
    return {} if there else dict.fromkeys(_MISTRAL, MISSING)


def load(name: str) -> Vocabulary:
    """Load one of :func:`embedded`, or of :data:`TOY_FILES`.

    Raises VocabularyError where its package is not installed.
    """
    if name in TOYS:
        return TOYS[name][1]()
    if name in TOY_FILES:
        from corpora.vocabularies import tokenizer_json  # noqa: PLC0415 (only where it is asked)

        document = json.loads((_DATA / f"{name}.json").read_text("utf-8"))
        # Without the white space of the file, as the content is a part of its fingerprint.
        content = json.dumps(document, ensure_ascii=False).encode()
        return tokenizer_json.from_bytes(content, name, None)
    from corpora.vocabularies import sentencepiece_model, tekken  # noqa: PLC0415 (likewise)

    path = _DATA / _TRAINED[name][0] if name in _TRAINED else _of_mistral(name)
    read = tekken.from_bytes if path.suffix == ".json" else sentencepiece_model.from_bytes
    return read(read_bytes(path), name, str(path))


def _of_mistral(name: str) -> Path:
    """The file, found without importing: mistral_common's own import takes seconds."""
    spec = importlib.util.find_spec("mistral_common")
    if spec is None or not spec.submodule_search_locations:
        fault, _, mend = MISSING.partition("; ")
        raise VocabularyError(name, f"mistral-common is {fault}", mend)
    return Path(next(iter(spec.submodule_search_locations))) / "data" / _MISTRAL[name][0]
