"""The reference libraries: what they run, what they give, and the recipes that they are."""

import contextlib
import random
from collections import Counter
from dataclasses import replace
from functools import cache
from importlib.metadata import version

import pytest

from corpora.vocabularies import drawn, sources, tokenizer_json
from corpora.vocabularies.merges import merges_from_ranks
from corpora.vocabularies.model import (
    AddedToken,
    Algorithm,
    Merges,
    Normalizer,
    RankOrder,
    Vocabulary,
)
from corpora.vocabularies.patterns import PATTERNS
from corpora.vocabularies.tokenizer_json_out import to_tokenizer_json
from impls.adapters import llguidance, mistral_common, rs_bpe, sentencepiece, tiktoken, tokenizers
from impls.adapters.common import Library, rank_trouble
from impls.bpe.heap import IMPLEMENTATION as HEAP
from impls.interface import Mode, Unsupported
from impls.registry import resolve as resolve_implementation
from tests.data import data_path
from tests.doubles.command import python
from tests.doubles.installed import installed
from tests.properties.impls import recipes

TEXT = Mode()
RAW = Mode(pretokenize=False)
SPECIAL = Mode(special="all")
ADAPTERS = {
    module.IMPLEMENTATION.about.name: module.IMPLEMENTATION
    for module in (tiktoken, tokenizers, sentencepiece, mistral_common, llguidance, rs_bpe)
}
BYTES = tuple(bytes([byte]) for byte in range(256))
SAMPLE = "Hello  wörld, it's 12345 <s>[INST]日本\n\n\t e\u0301 😀!\r\n"


@cache
def resolve(source):
    return tiny_tekken() if source == "tiny_tekken" else sources.resolve(source)


def tiny_tekken():
    """A tekken that loads at once: three special tokens, the bytes, a few merges, its pattern."""
    tokens = (None, None, None, *BYTES, b"lo", b"Hel", b"el", "ö".encode(), b" it")
    return Vocabulary(
        "tiny",
        Algorithm.BPE,
        "tekken",
        tokens,
        merges_from_ranks(tokens),
        splits=PATTERNS["tekken"],
        special_tokens={"<unk>": 0, "<s>": 1, "[INST]": 2},
        ignore_merges=True,
    )


def o200k():
    return resolve(f"{data_path('vocabs/o200k_base.tiktoken.gz')}#pattern=o200k_base")


@cache
def loaded(name, vocabulary):
    """Loading takes longer than the tests; encoders hold no state that a test could spoil."""
    return (HEAP if name == "bpe.heap" else ADAPTERS[name]).load(vocabulary)


def bpe(tokens, merges=None, **fields):
    merges = merges_from_ranks(tokens) if merges is None else merges
    fields = {"rank_order": RankOrder.IDS} | fields
    return Vocabulary("test", Algorithm.BPE, "test", tuple(tokens), merges, **fields)


def agreeing(vocabulary, mode, data, names):
    expected = loaded("bpe.heap", vocabulary).encode(data, mode)
    return all(loaded(name, vocabulary).encode(data, mode) == expected for name in names)


def test_listing_imports_no_library():
    code = (
        "import sys\n"
        "from impls.adapters import "
        "tiktoken, tokenizers, sentencepiece, mistral_common, llguidance, rs_bpe\n"
        "from impls.bpe import heap, naive\n"
        "from impls.unigram import encoder\n"
        "for m in (tiktoken, tokenizers, sentencepiece, mistral_common, llguidance, rs_bpe, "
        "heap, naive): m.IMPLEMENTATION.about\n"
        "encoder.SENTENCEPIECE.about\n"
        "heavy = {'numba', 'tiktoken', 'tokenizers', 'sentencepiece', 'mistral_common', "
        "'llguidance', 'rs_bpe', 'regex'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    assert python("-c", code).stdout.strip() == "[]"


def test_an_absent_library_is_named_with_its_extra():
    absent = Library("x", "https://x", "no-such-thing", extra="field")

    assert absent.version == "not installed"
    with pytest.raises(ImportError, match=r"pip install 'tokgate\[field\]'"):
        absent.load()


@pytest.mark.parametrize(
    ("name", "source", "mode", "fault"),
    [
        ("tiktoken", "tekken_240911", Mode(False, "all"), "special tokens only together"),
        ("tiktoken", "toy_acbb", TEXT, "one pre-tokenizer pattern"),
        ("tiktoken", "toy_merges", RAW, "order of ids"),
        ("tiktoken", "mistral_v3", TEXT, "byte-level"),
        ("tokenizers", "tekken_240911", Mode(False, "all"), None),
        ("sentencepiece", "mistral_v3", SPECIAL, "control tokens"),
        ("sentencepiece", "mistral_v3", RAW, "white space"),
        ("sentencepiece", "tekken_240911", TEXT, "SentencePiece"),
        ("mistral-common", "tekken_240911", SPECIAL, "special tokens"),
        ("mistral-common", "tekken_240911", RAW, "pre-tokenizes"),
        ("mistral-common", "unigram_nfkc", TEXT, "BPE only"),
        ("mistral-common", "toy_bytes", TEXT, "BPE only"),
        ("llguidance", "tekken_240911", SPECIAL, None),
        ("llguidance", "tekken_240911", RAW, "pre-tokenizes"),
        ("llguidance", "mistral_v1", TEXT, "space before"),
        ("llguidance", "toy_unigram", TEXT, "byte-pair"),
        ("rs-bpe", "tekken_240911", TEXT, "o200k_base and cl100k_base"),
    ],
)
def test_supports(name, source, mode, fault):
    answer = ADAPTERS[name].supports(resolve(source), mode)

    assert answer is None if fault is None else fault in answer


def test_who_needs_scores_says_so_of_a_file_that_has_none():
    """As a Llama-2-style tokenizer.json, whose merges are a list."""
    document = to_tokenizer_json(resolve("mistral_v1"), pretokenize=True).encode()
    vocabulary = tokenizer_json.from_bytes(document, "llama-2", None)

    for name in ("sentencepiece", "mistral-common", "kitoken", "transformers-slow"):
        refusal = resolve_implementation(name).supports(vocabulary, TEXT)
        if refusal is None:  # then it can be loaded
            assert resolve_implementation(name).recipe(vocabulary, TEXT).artifact
    assert ADAPTERS["sentencepiece"].supports(vocabulary, TEXT)
    assert ADAPTERS["mistral-common"].supports(vocabulary, TEXT)


def test_tiktoken_refuses_what_it_has_not():
    plain = bpe(BYTES, splits=(r"\w+|\W+",))

    assert ADAPTERS["tiktoken"].supports(plain, TEXT) is None
    for change in (
        {"normalizer": Normalizer(form="NFC")},
        {"added_tokens": (AddedToken("x", 256),)},
        {"splits": (r"\w", r"\W")},
    ):
        assert ADAPTERS["tiktoken"].supports(replace(plain, **change), TEXT)


def test_merges_that_ids_decide_alone():
    tokens = [b"a", b"b", b"c", b"ab", b"bc", b"abc"]

    def trouble(*merges):
        return rank_trouble(bpe(tokens, Merges.of(list(merges)), rank_order=RankOrder.MERGES))

    assert trouble((0, 1, 3), (1, 2, 4), (3, 2, 5)) is None
    assert "order of ids" in trouble((1, 2, 4), (0, 1, 3), (3, 2, 5))
    assert "order of ids" in trouble((0, 1, 3), (1, 2, 4), (3, 2, 5), (0, 4, 5))
    # (a, bc) never comes about, because ab is merged first: abc is out of reach.
    assert "1 tokens" in trouble((0, 1, 3), (1, 2, 4), (0, 4, 5))


@pytest.mark.parametrize("kind", ["bpe", "ranks", "pipeline"])
def test_libraries_give_the_ids_of_the_definition(kind):
    """Wherever they say that they run a vocabulary: it may be ids that decide, or merges."""
    compared = Counter()
    for seed in range(60):
        vocabulary, rng = drawn.draw(kind, seed), random.Random(seed)
        specials = [text.encode() for text in vocabulary.special_tokens]
        atoms = [token for token in (*vocabulary.tokens, *specials) if token]
        several = (rng.choices(rng.sample(atoms, min(5, len(atoms))), k=n) for n in range(20))
        inputs = [data for data in map(b"".join, several) if vocabulary.can_encode(data)]
        defined = HEAP.load(vocabulary)
        for mode in (TEXT, RAW, SPECIAL):
            for name in ("tiktoken", "tokenizers"):
                if any(one.supports(vocabulary, mode) for one in (HEAP, ADAPTERS[name])):
                    continue
                encoder = ADAPTERS[name].load(vocabulary)
                for data in inputs:
                    with contextlib.suppress(Unsupported):  # no text
                        assert encoder.encode(data, mode) == defined.encode(data, mode), data
                        compared[name, mode] += 1
    assert len(compared) > 2 and min(compared.values()) > 9, compared


@pytest.mark.data
@pytest.mark.parametrize("mode", [TEXT, RAW])
def test_rs_bpe_knows_its_own(mode):
    pytest.importorskip("rs_bpe", reason="the extra `field` is not installed")
    assert ADAPTERS["rs-bpe"].supports(o200k(), mode) is None
    assert agreeing(o200k(), mode, SAMPLE.encode(), ["rs-bpe"])
    other = replace(o200k(), splits=(r"\w+",))
    assert "pre-tokenizes" in ADAPTERS["rs-bpe"].supports(other, TEXT)


@pytest.mark.parametrize("name", ["tiktoken", "tokenizers", "mistral-common", "llguidance"])
def test_text_only_where_text_it_must_be(name):
    encoder = loaded(name, resolve("tiny_tekken"))

    with pytest.raises(Unsupported, match="UTF-8"):
        encoder.encode(b"a\xff", TEXT)


def test_offsets_count_bytes():
    data = "né <s>日本".encode()
    tekken = loaded("tokenizers", resolve("tekken_240911"))
    ids, offsets = tekken.encode_with_offsets(data, TEXT)
    pieces = loaded("sentencepiece", resolve("mistral_v3"))

    assert ids == tekken.encode(data, TEXT)
    assert offsets[0][0] == 0
    assert offsets[-1][1] == len(data)
    assert all(data[start:end].decode() for start, end in offsets)
    assert pieces.encode_with_offsets(data, TEXT)[1][-1][1] == len(data)
    assert pieces.encode_with_offsets(b"a\xff", TEXT)[0] == pieces.encode(b"a\xff", TEXT)


@pytest.mark.parametrize(
    ("name", "source", "mode"),
    [
        ("tiktoken", "tiny_tekken", SPECIAL),
        ("tiktoken", "toy_bytes", RAW),
        ("tokenizers", "toy_bytes", RAW),
        ("tokenizers", "unigram_nfkc", TEXT),
        ("sentencepiece", "unigram_bytes", TEXT),
        ("mistral-common", "tiny_tekken", TEXT),
        ("mistral-common", "toy_characters", TEXT),
        ("llguidance", "tiny_tekken", SPECIAL),
        ("llguidance", "toy_bytes", TEXT),
        ("llama.cpp", "toy_bytes", TEXT),
        ("llama.cpp", "toy_characters", SPECIAL),
        pytest.param("rs-bpe", "o200k", TEXT, marks=pytest.mark.data),
        pytest.param("rs-bpe", "o200k", RAW, marks=pytest.mark.data),
    ],
)
def test_a_recipe_runs_without_tokgate(name, source, mode, tmp_path):
    implementation = installed(name)
    vocabulary = o200k() if source == "o200k" else resolve(source)
    recipe = implementation.recipe(vocabulary, mode)
    ids, text = recipes.run(recipe, SAMPLE.encode(), tmp_path)
    encoder = implementation.load(vocabulary)
    assert ids == encoder.encode(SAMPLE.encode(), mode)
    assert text is None or text == encoder.decode(ids).decode()
    distribution, _, pinned = recipe.requirements[0].partition("==")
    assert pinned == version(distribution.partition("[")[0])
