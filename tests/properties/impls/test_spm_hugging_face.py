"""The definition of byte-pair encoding over characters against the library that it defines."""

import json
import random
from typing import Any

import pytest

from corpora.vocabularies.sources import resolve
from corpora.vocabularies.tokenizer_json import from_document
from corpora.vocabularies.tokenizer_json_out import to_tokenizer_json
from impls import registry
from impls.interface import Mode
from impls.spm.hugging_face import IMPLEMENTATION

Json = dict[str, Any]
TEXT = Mode()


def document(seed, **changes):
    """Merges in any order over a few letters; all, some or none of the bytes; added tokens."""
    rng = random.Random(seed)
    letters = ["\u2581", "a", "b", "é", "日"]
    bytes_there = rng.choice((range(256), range(0, 256, 2), ()))
    texts = ["<unk>", *(f"<0x{byte:02X}>" for byte in bytes_there), *letters]
    merges = []
    usable = list(letters)
    for _ in range(rng.choice((6, 40))):
        left, right = rng.choice(usable), rng.choice(usable)
        if len(left + right) > 9:
            continue
        if left + right not in texts:
            texts.append(left + right)
            usable.append(left + right)
        merges.append([left, right])
    rng.shuffle(merges)
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    added = [
        {"id": len(texts) + place, "content": text, "special": special, **flags}
        for place, (text, special) in enumerate((("<a>", False), ("<a>b", True), ("b<", False)))
    ]
    steps = []
    if rng.random() < 0.6:
        steps.append({"type": "Prepend", "prepend": "\u2581"})
    steps.append({"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"})
    return {
        "version": "1.0",
        "added_tokens": added,
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "model": {
            "type": "BPE",
            "unk_token": "<unk>",
            "fuse_unk": True,
            "byte_fallback": rng.random() < 0.7,
            "vocab": {text: place for place, text in enumerate(texts)},
            "merges": merges,
            **changes,
        },
    }


def agrees(vocabulary, rng, count):
    assert vocabulary.unexpressed == ()
    assert IMPLEMENTATION.supports(vocabulary, TEXT) is None
    ours = IMPLEMENTATION.load(vocabulary)
    library = registry.resolve("tokenizers").load(vocabulary)
    parts = [
        "a",
        "b",
        " ",
        "  ",
        "é",
        "日",
        "\u2581",
        "<a>",
        "<a>b",
        "b<",
        "x",
        "ü",
        "<0x61>",
        "\n",
    ]
    for _ in range(count):
        data = "".join(rng.choices(parts, k=rng.randrange(12))).encode()
        assert ours.encode(data, TEXT) == list(library.encode(data, TEXT)), data


@pytest.mark.parametrize("seed", range(30))
def test_it_gives_the_ids_of_the_library(seed):
    agrees(from_document(document(seed), "drawn", None), random.Random(seed), 60)


def test_on_a_real_vocabulary():
    content = json.loads(to_tokenizer_json(resolve("mistral_v1"), pretokenize=True))
    agrees(from_document(content, "llama-2", None), random.Random(1), 200)


@pytest.mark.parametrize("source", ["mistral_v1", "tekken_240911", "unigram_bytes"])
def test_what_it_does_not_define(source):
    assert IMPLEMENTATION.supports(resolve(source), TEXT) is not None


def test_a_long_run_takes_a_moment():
    encoder = IMPLEMENTATION.load(from_document(document(0), "drawn", None))
    assert len(encoder.encode(b"ab" * 20_000, TEXT)) > 0
