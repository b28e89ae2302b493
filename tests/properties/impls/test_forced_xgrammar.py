"""The policy of XGrammar: by a stand-in of its matcher, and by itself where it is installed."""

import json
import sys
import types

import pytest

from corpora.grammars.finite import FiniteLanguage
from corpora.vocabularies import sources
from impls.forced import engines
from impls.forced.engines import XgrammarJump
from impls.forced.interface import Context
from impls.forced.none import NoHealing
from impls.forced.tokenizer import Tokenizer

SENTENCES = (b'{"order":1}', b'{"orderId":2}', b'{"name":3}')


class Matcher:
    """XGrammar's over the sentences of a schema's enum, which it keeps to the letter."""

    def __init__(self, start):
        self._start = self._state = start

    def reset(self):
        self._state = self._start

    def accept_string(self, data):
        if not self._state.viable(data):
            return False
        self._state = self._state.after(data)
        return True

    def find_jump_forward_string(self):
        return self._state.forced().decode()


class Compiler:
    def __init__(self, info, max_threads):
        pass

    def compile_json_schema(self, schema, any_whitespace, separators):
        if json.loads(schema) == {}:
            raise RuntimeError("no such\nschema")
        return FiniteLanguage(SENTENCES)


@pytest.fixture
def stand_in(monkeypatch):
    module = types.SimpleNamespace(
        GrammarMatcher=Matcher,
        GrammarCompiler=Compiler,
        TokenizerInfo=lambda *_, **__: None,
        VocabType=types.SimpleNamespace(RAW=0),
    )
    monkeypatch.setitem(sys.modules, "xgrammar", module)
    engines._compiler.cache_clear()
    yield
    engines._compiler.cache_clear()


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer(sources.resolve("tekken_240911"))


@pytest.mark.usefixtures("stand_in")
def test_all_of_the_jump_is_forced(tokenizer):
    policy = XgrammarJump(tokenizer, {"enum": []}, "compact")
    start = FiniteLanguage(SENTENCES)
    for before in (b"", b'{"order', b'{"n', b'{"orderId"', b""):
        context = Context(before, tokenizer.encode(before))
        state = start.after(before)
        forced = state.forced()
        expected = NoHealing(tokenizer).heal(context, forced, state.after(forced))
        assert policy.heal(context, forced, state.after(forced)) == expected


@pytest.mark.usefixtures("stand_in")
def test_a_longer_jump_ends_where_the_forced_bytes_do(tokenizer):
    policy = XgrammarJump(tokenizer, {"enum": []}, "compact")
    context = Context(b'{"orderI', tokenizer.encode(b'{"orderI'))
    healed = policy.heal(context, b'd"', FiniteLanguage(SENTENCES))
    spelled = b"".join(map(tokenizer.spelling, healed.ids))
    assert spelled + healed.leftover == b'd"'


@pytest.mark.usefixtures("stand_in")
def test_where_it_goes_another_way_it_gives_up(tokenizer):
    policy = XgrammarJump(tokenizer, {"enum": []}, "compact")
    state = FiniteLanguage(SENTENCES)
    with pytest.raises(ValueError, match="jumps to"):
        policy.heal(Context(b"", ()), b"[1", state)
    with pytest.raises(ValueError, match="does not take"):
        policy.heal(Context(b"[", tokenizer.encode(b"[")), b"1", state)
    with pytest.raises(ValueError, match="refuses the schema: no such schema"):
        XgrammarJump(tokenizer, {}, "compact").heal(Context(b"", ()), b"{", state)


def test_xgrammar_itself(tokenizer):
    pytest.importorskip("torch")
    pytest.importorskip("xgrammar")
    schema = {
        "type": "object",
        "properties": {"orderId": {"type": "integer"}},
        "required": ["orderId"],
        "additionalProperties": False,
    }
    policy = XgrammarJump(tokenizer, schema, "compact")
    forced = b'{"orderId":'
    healed = policy.heal(Context(b"", ()), forced, FiniteLanguage([b"1}"]))
    assert healed.ids == tokenizer.encode(forced)
