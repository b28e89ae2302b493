"""The adversary finds unaided what the heuristic gets wrong, and nothing against exact."""

import json
import re
from pathlib import Path

import pytest

import corpora.grammars
from corpora.grammars.finite import FiniteLanguage
from corpora.vocabularies import sources
from harness.forced.adversary import CHAIN, LONG_TOKEN, LOOK_AHEAD, judged, search
from impls.forced.engines import LlguidanceMatcher
from impls.forced.exact import Exact
from impls.forced.heuristics import HealedBack, NoHealing
from impls.forced.interface import Context
from impls.forced.tokenizer import Tokenizer
from impls.references.llguidance import tokenizer_of

TROPHIES = json.loads((Path(corpora.grammars.__file__).parent / "trophies.json").read_text())


@pytest.fixture(scope="module")
def tokenizers():
    names = {trophy["vocabulary"] for trophy in TROPHIES}
    return {name: Tokenizer(sources.resolve(name)) for name in sorted(names)}


@pytest.fixture(scope="module")
def exacts(tokenizers):
    return {name: Exact(tokenizer) for name, tokenizer in tokenizers.items()}


def parts(trophy):
    texts = [trophy["context"], trophy["forced"], *trophy["sentences"]]
    context, forced, *sentences = (text.encode() for text in texts)
    return context, forced, sentences


def named(trophy):
    return f"{trophy['vocabulary']}, {trophy['kind']}"


@pytest.mark.parametrize("trophy", TROPHIES, ids=named)
def test_the_heuristic_errs_on_its_trophy_and_exact_does_not(trophy, tokenizers, exacts):
    tokenizer = tokenizers[trophy["vocabulary"]]
    context, forced, sentences = parts(trophy)
    won = judged(tokenizer, HealedBack(tokenizer), trophy["kind"], context, forced, sentences)
    assert won is not None
    assert won.depth == trophy["depth"]
    exact = exacts[trophy["vocabulary"]]
    assert judged(tokenizer, exact, trophy["kind"], context, forced, sentences) is None


def lark(context, forced, sentences):
    """A grammar of these sentences, as llguidance reads it."""
    ways = " | ".join(json.dumps(way.decode()) for way in sentences)
    return f"start: {json.dumps((context + forced).decode())} ({ways})"


@pytest.mark.parametrize(
    "trophy", [t for t in TROPHIES if t["vocabulary"].startswith("tekken")], ids=named
)
def test_the_real_llguidance_errs_on_it_too(trophy, tokenizers):
    tokenizer = tokenizers[trophy["vocabulary"]]
    context, forced, sentences = parts(trophy)
    engine = tokenizer_of(tokenizer.vocabulary)
    policy = LlguidanceMatcher(tokenizer, engine, lark(context, forced, sentences))
    assert judged(tokenizer, policy, trophy["kind"], context, forced, sentences) is not None


def test_every_kind_is_there_for_a_real_vocabulary():
    kinds = {trophy["kind"] for trophy in TROPHIES if trophy["vocabulary"] == "tekken_240911"}
    assert kinds == {CHAIN, LONG_TOKEN, LOOK_AHEAD}


def test_a_short_search_errs_with_the_heuristic_and_finds_nothing_against_exact(tokenizers, exacts):
    tokenizer = tokenizers["tekken_240911"]
    found = search(tokenizer, HealedBack(tokenizer), seconds=9)
    assert {trophy.kind for trophy in found} & {CHAIN, LOOK_AHEAD}
    assert search(tokenizer, exacts["tekken_240911"], seconds=3) == []


def test_a_sentence_that_changes_the_context_is_no_fault_of_the_policy():
    tokenizer = Tokenizer(sources.resolve("toy_acbb"), pretokenize=False)
    # a | b becomes ab: whatever is forced after a, the context's own token goes.
    assert tokenizer.encode(b"ab") != (*tokenizer.encode(b"a"), *tokenizer.encode(b"b"))
    assert judged(tokenizer, NoHealing(tokenizer), CHAIN, b"a", b"b", [b"", b"c"]) is None
    healed = NoHealing(tokenizer).heal(Context(b"", ()), b"a", FiniteLanguage([b"b", b"c"]))
    assert healed.ids == tokenizer.encode(b"a")


def test_trophies_are_text():
    assert all(re.fullmatch(r"[a-z -]+", trophy["kind"]) for trophy in TROPHIES)
