"""The definition of byte-pair encoding over characters against the library that it defines."""

import json
import random
from dataclasses import replace

import pytest

from corpora.vocabularies.drawn.pieces import characters
from corpora.vocabularies.model import Normalizer, PieceType
from corpora.vocabularies.sources import resolve
from corpora.vocabularies.tokenizer_json import from_document
from corpora.vocabularies.tokenizer_json_out import to_tokenizer_json
from impls import registry
from impls.interface import Mode
from impls.spm.hugging_face import IMPLEMENTATION
from tests.properties.impls.pipeline_documents import added_token
from tests.properties.impls.spm_definition import spm

TEXT = Mode()


def document(seed):
    """The file of a drawn vocabulary, with its merges in any order and added tokens besides."""
    rng = random.Random(seed)
    drawn = characters(rng)
    spaces = Normalizer(add_dummy_prefix=rng.random() < 0.6, escape_whitespaces=True)
    pieces = [replace(one, type=PieceType.NORMAL) for one in drawn.pieces[1:]]
    made = json.loads(to_tokenizer_json(spm(pieces, spaces), pretokenize=True))
    made["model"]["byte_fallback"] = rng.random() < 0.7
    rng.shuffle(made["model"]["merges"])
    made["added_tokens"] += [
        added_token(len(pieces) + place, text, special=special)
        for place, (text, special) in enumerate((("<a>", False), ("<a>b", True), ("b<", False)), 1)
    ]
    return made


def agrees(vocabulary, rng, count):
    assert vocabulary.unexpressed == ()
    assert IMPLEMENTATION.supports(vocabulary, TEXT) is None
    ours = IMPLEMENTATION.load(vocabulary)
    library = registry.resolve("tokenizers").load(vocabulary)
    texts = (piece.text for piece in vocabulary.pieces if len(piece.text) < 4)
    parts = [*texts, " ", "  ", "<a>", "<a>b", "b<", "x", "ü", "\n"]
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
