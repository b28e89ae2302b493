"""llguidance's own forced tokens as policies: our heuristic does what it does."""

import pytest

from corpora.grammars.corpus import own_cases
from corpora.grammars.json_schema import JsonSchemaGrammar, llguidance_grammar
from corpora.vocabularies import sources
from impls.adapters.llguidance import tokenizer_of
from impls.forced.engines import LlguidanceMatcher, LlguidancePartial
from impls.forced.healed import HealedBack
from impls.forced.interface import Context
from impls.forced.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer(sources.resolve("tekken_240911"))


@pytest.fixture(scope="module")
def engine(tokenizer):
    return tokenizer_of(tokenizer.vocabulary)


def points(tokenizer, case):
    """Contexts, forced bytes and the states after them, along the instances."""
    for text in case.instances:
        state, place = JsonSchemaGrammar(case.schema), 0
        ids = tokenizer.encode(text)
        for index, token_id in enumerate(ids):
            forced = state.forced()
            if forced:
                yield Context(text[:place], ids[:index]), forced, state.after(forced)
            step = tokenizer.spelling(token_id)
            state, place = state.after(step), place + len(step)


def test_the_heuristic_is_what_llguidance_does(tokenizer, engine):
    ours = HealedBack(tokenizer)
    asked = 0
    # Every other kind: where forced bytes begin or end inside a character it goes its own way.
    for case in own_cases("flexible")[::16]:
        theirs = LlguidanceMatcher(tokenizer, engine, llguidance_grammar(case.schema, "flexible"))
        for context, forced, after in points(tokenizer, case):
            expected = theirs.heal(context, forced, after)
            assert ours.heal(context, forced, after) == expected, (case.name, context, forced)
            spelled = b"".join(map(tokenizer.spelling, expected.ids))
            assert spelled + expected.leftover == forced
            asked += 1
    assert asked > 300


def test_partial_spells_the_forced_bytes(tokenizer, engine):
    policy = LlguidancePartial(engine)
    for case in own_cases("flexible")[::40]:
        for context, forced, after in points(tokenizer, case):
            healed = policy.heal(context, forced, after)
            spelled = b"".join(map(tokenizer.spelling, healed.ids))
            assert spelled + healed.leftover == forced


def test_contexts_need_not_go_on_from_one_another(tokenizer, engine):
    schema = {"enum": ["University of Pennsylvania", "University of Pennsylvanicus"]}
    policy = LlguidanceMatcher(tokenizer, engine, llguidance_grammar(schema, "flexible"))
    start = JsonSchemaGrammar(schema)
    forced = start.forced()
    first = policy.heal(Context(b"", ()), forced, start.after(forced))
    ids = tokenizer.encode(b'"University')
    inner = JsonSchemaGrammar(schema).after(b'"University')
    rest = inner.forced()
    policy.heal(Context(b'"University', ids), rest, inner.after(rest))
    assert policy.heal(Context(b"", ()), forced, start.after(forced)) == first
    with pytest.raises(ValueError, match="llguidance"):
        policy.heal(Context(b"]", tokenizer.encode(b"]")), forced, start.after(forced))
