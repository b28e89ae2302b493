"""Adapters of the field: the ids of the reference on plain text, and the recipe that they are."""

import numpy as np
import pytest

from corpora.vocabularies import sources
from corpora.vocabularies.model import Algorithm, Alphabet, Vocabulary, WordPieceRules
from impls import roster
from impls.adapters import sentencepiece, tiktoken, tokenizers
from impls.interface import Mode, Reproducible, Unsupported
from impls.prepared import Prepares
from tests.breadth import thorough_from
from tests.data import data_path
from tests.doubles.installed import installed
from tests.properties.impls import recipes
from tests.properties.impls.test_peers import ranked

TEXT = Mode()
# Whatever white space, digits and letters: what all of them ought to agree on.
TEXTS = [
    b"",
    b"a",
    b"Hello world, it's 123 o'clock.",
    "Größe und Länge".encode(),
    b"x = y + 1;\n",
]

OTHERS = {
    "wordchipper",  # OpenAI's vocabularies alone, as the next three
    "puretiktoken",
    "bpe-openai",
    "c-bpe",
    "nanotoken",  # WordPiece alone, as the next
    "flash-tokenizer",
}
"""They run none of these vocabularies: further tests give them theirs."""

ASTRAY = {"budtiktok"}
"""They encode even plain text otherwise than their reference (``defects.toml``)."""

PLAINEST = [b"a", "Größe und Länge".encode()]
"""Where pieces have scores, they part on an empty text, on white space and on ties."""


def vocabularies():
    names = ["mistral_v1", "unigram_nfkc"]
    return [ranked(2000), *(sources.resolve(name) for name in names)]


def reference(vocabulary):
    return sentencepiece.IMPLEMENTATION if vocabulary.pieces else tiktoken.IMPLEMENTATION


@pytest.mark.parametrize("name", thorough_from(4, roster.field()))
def test_the_field_gives_the_ids_of_the_reference(name):
    found, run = installed(name), 0
    if name in ASTRAY:
        pytest.skip("known to go astray")
    for vocabulary in vocabularies():
        if found.supports(vocabulary, TEXT) is not None:
            continue
        run += 1
        encoder, trusted = found.load(vocabulary), reference(vocabulary).load(vocabulary)
        for data in PLAINEST if vocabulary.pieces else TEXTS:
            ids = list(encoder.encode(data, TEXT))
            assert ids == list(trusted.encode(data, TEXT)), (vocabulary.id, data)
            if isinstance(encoder, Prepares):  # what is measured
                made = encoder.prepare(data, TEXT)()
                assert isinstance(made, np.ndarray)
                assert made.tolist() == ids
            if not vocabulary.pieces:
                assert encoder.decode(ids) == data
        with pytest.raises(Unsupported):
            encoder.encode(b"\xff", TEXT)
    assert run or name in OTHERS


@pytest.mark.parametrize("name", thorough_from(2, roster.field()))
def test_an_adapter_is_its_recipe(name, tmp_path):
    found = installed(name)
    vocabulary = next((v for v in vocabularies() if found.supports(v, TEXT) is None), None)
    if vocabulary is None:
        pytest.skip("has vocabularies of its own alone")
    assert isinstance(found, Reproducible)
    recipe = found.recipe(vocabulary, TEXT)
    distribution = found.about.name.removesuffix("-slow").removesuffix("-converted")
    assert recipe.requirements[0].startswith(f"{distribution}==")
    data = TEXTS[2]
    ids, text = recipes.run(recipe, data, tmp_path)
    assert ids == list(found.load(vocabulary).encode(data, TEXT))
    assert name in ASTRAY or "Hello world" in text


@pytest.mark.parametrize("name", thorough_from(1, ["riptoken", "kitoken", "transformers"]))
@pytest.mark.thorough  # every library of the field
def test_special_tokens_are_read_only_where_asked(name):
    found = installed(name)
    vocabulary = sources.resolve("tekken_240911")
    if found.supports(vocabulary, Mode(special="all")) is not None:
        pytest.skip("reads none here")
    special = "<SPECIAL_30>" if "<SPECIAL_30>" in vocabulary.special_tokens else "[INST]"
    data = f"a {special} b".encode()
    encoder, trusted = found.load(vocabulary), tokenizers.IMPLEMENTATION.load(vocabulary)
    for mode in (Mode(), Mode(special="all")):
        assert list(encoder.encode(data, mode)) == list(trusted.encode(data, mode))
    assert vocabulary.special_tokens[special] in encoder.encode(data, Mode(special="all"))


@pytest.mark.data
@pytest.mark.parametrize(
    "name", thorough_from(1, ["wordchipper", "puretiktoken", "bpe-openai", "c-bpe"])
)
def test_those_of_openais_vocabularies_run_them(name):
    found = installed(name)
    path = data_path("vocabs/cl100k_base.tiktoken.gz")
    vocabulary = sources.resolve(f"{path}#pattern=cl100k_base")
    assert found.supports(vocabulary, TEXT) is None
    encoder, trusted = found.load(vocabulary), tiktoken.IMPLEMENTATION.load(vocabulary)
    for data in TEXTS:
        assert list(encoder.encode(data, TEXT)) == list(trusted.encode(data, TEXT))


@pytest.mark.parametrize("name", ["nanotoken", "morpheme", "flash-tokenizer"])
def test_those_of_wordpiece_run_it(name):
    found = installed(name)
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "gr", "##o", "un", "##d", "a", "##b"]
    vocabulary = Vocabulary(
        id="words",
        algorithm=Algorithm.WORDPIECE,
        format="toy",
        tokens=(*[None] * 5, *[token.encode() for token in tokens[5:]]),
        alphabet=Alphabet.CHARACTERS,
        special_tokens={token: i for i, token in enumerate(tokens[:5])},
        unk_id=1,
        wordpiece=WordPieceRules(),
    )
    assert found.supports(vocabulary, TEXT) is None
    encoder, trusted = found.load(vocabulary), tokenizers.IMPLEMENTATION.load(vocabulary)
    for data in (b"a", b"ab und  groo", "Ä b".encode(), b"abc [MASK] aa", b""):
        assert list(encoder.encode(data, TEXT)) == list(trusted.encode(data, TEXT)), data
