"""The walk of forced tokens: hand-computed counts, planted policies, witnesses."""

from __future__ import annotations

import base64
import random

import pytest

from corpora.grammars.corpus import own_cases
from corpora.grammars.finite import FiniteLanguage
from corpora.grammars.json_schema import JsonSchemaGrammar
from corpora.vocabularies import sources
from corpora.vocabularies.merges import merges_from_ranks
from harness.engine.selection import SelectionError
from harness.studies.forced.judge import LISTED, Point
from harness.studies.forced.policies import Policies, named
from harness.studies.forced.results import total
from harness.studies.forced.walk import Walk
from impls.forced.exact import Exact
from impls.forced.interface import Context, Healed
from impls.forced.none import NoHealing
from impls.forced.spellings import cut_off
from impls.forced.tokenizer import Tokenizer
from tests.impls.bpe_vocabularies import vocabulary

TOKENS = [b"a", b"b", b"c", b"d", b"x", b"ab", b"abc"]


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer(vocabulary(TOKENS, merges_from_ranks(TOKENS)), pretokenize=False)


class Planted:
    """A policy that does as it is told."""

    def __init__(self, heal):
        self.heal = heal


def gives_up(context, forced, grammar):
    raise ValueError("gave up")


SILENT = Planted(lambda context, forced, grammar: Healed((), forced))
BROKEN = Planted(gives_up)


def overconfident(tokenizer):
    """Forces everything: as the exact policy it is what the cross-check is for."""
    return Planted(lambda context, forced, _: Healed(tokenizer.encode(forced), b""))


def walked(tokenizer, sentences, texts, **policies):
    walk = Walk(tokenizer, FiniteLanguage(sentences), policies, "test")
    for text in texts:
        walk.instance(text)
    return walk.finished()


def counts(tally):
    return tally.sequences, tally.forced_tokens, tally.non_canonical, tally.unsafe


def test_hand_computed(tokenizer):
    # xabc encodes to x abc. Forced at 0: xab, at 1: ab; both can go on with c, to abc.
    policies = {"none": NoHealing(tokenizer), "exact": Exact(tokenizer), "silent": SILENT}
    result = walked(tokenizer, [b"xabc", b"xabd"], [b"xabc"], **policies)
    assert (result.instances, result.tokens, result.refused_instances) == (1, 2, 0)
    # x ab against x abc, then ab against abc.
    assert counts(result.tallies["none"]) == (2, 3, 2, 2)
    assert result.tallies["none"].longer == 2
    assert (
        result.tallies["none"].non_canonical_instances,
        result.tallies["none"].non_canonical_schemas,
    ) == (1, 1)
    # x, and then nothing is sure.
    assert counts(result.tallies["exact"]) == (1, 1, 0, 0)
    assert counts(result.tallies["silent"]) == (0, 0, 0, 0)
    assert result.tallies["silent"].non_canonical_schemas == 0
    [first, second] = result.witnesses
    assert (first.policy, first.schema, first.of) == ("none", "test", "instance")
    assert base64.b64decode(first.continuation) == b"c"
    assert [base64.b64decode(s) for s in first.surfaces] == [b"x", b"ab"]
    assert [base64.b64decode(s) for s in first.canonical_surfaces] == [b"x", b"abc"]
    assert base64.b64decode(second.context) == b"x"


def test_texts_of_one_schema_are_counted_as_if_each_was_walked_by_itself():
    tokenizer = Tokenizer(sources.resolve("toy_bytes"))
    policies = {"exact": Exact(tokenizer), "none": NoHealing(tokenizer)}
    for case in own_cases("flexible")[::10]:
        grammar = JsonSchemaGrammar(case.schema)

        def tallies(texts, grammar=grammar):
            walk = Walk(tokenizer, grammar, policies, "test")
            for text in texts:
                walk.instance(text)
            return walk.finished().tallies

        together, alone = tallies(case.instances), [tallies([text]) for text in case.instances]
        for name, tally in together.items():
            each = [counts(one[name]) for one in alone]
            assert counts(tally) == tuple(map(sum, zip(*each, strict=True)))


def test_where_exact_was_not_asked_it_is_not_compared(tokenizer):
    """It forces xa, of which the other policy, wrong at the start, is asked for the a, too."""

    def late(context, forced, grammar):
        return Healed(tokenizer.encode(forced)[:: 1 if context.ids else -1], b"")

    result = walked(tokenizer, [b"xd"], [b"xd"], exact=Exact(tokenizer), late=Planted(late))
    assert counts(result.tallies["late"]) == (2, 3, 1, 1)
    assert (result.tallies["late"].longer, result.tallies["late"].shorter) == (0, 0)


def test_what_is_canonical_is_stepped_over(tokenizer):
    result = walked(tokenizer, [b"xdd"], [b"xdd"], none=NoHealing(tokenizer), silent=SILENT)
    assert counts(result.tallies["none"]) == (1, 3, 0, 0)
    assert counts(result.tallies["silent"]) == (0, 0, 0, 0)


def test_the_text_at_hand_may_hide_what_another_sentence_shows(tokenizer):
    # xabd encodes to x ab d, as forced; xabc speaks against it.
    exact = Exact(tokenizer)

    def greedy(context, forced, grammar):
        """One token more than is safe, where there is one."""
        safe = exact.heal(context, forced, grammar).ids
        everything = tokenizer.encode(context.text + forced)[len(context.ids) :]
        return Healed(everything[: len(safe) + 1], b"")

    policies = {"none": NoHealing(tokenizer), "exact": exact, "greedy": Planted(greedy)}
    result = walked(tokenizer, [b"xabc", b"xabd"], [b"xabd"], **policies)
    for name in ("none", "greedy"):
        tally = result.tallies[name]
        assert (tally.non_canonical, tally.unsafe, tally.undecided) == (0, 1, 0), name
    witnesses = [w for w in result.witnesses if w.policy == "greedy"]
    assert [(base64.b64decode(w.continuation), w.of) for w in witnesses] == [(b"c", "sentence")]
    assert result.tallies["exact"].unsafe == 0


def checked(tokenizer, grammar, text, policy):
    """A walk in which each answer of exact is checked."""
    walk = Walk(tokenizer, grammar, {"exact": policy}, "test", sampled_every=1)
    walk.instance(text)
    return walk.finished()


def test_a_judge_that_is_wrong_is_seen_by_all_sentences(tokenizer):
    few = FiniteLanguage([b"xabc", b"xabd"])
    result = checked(tokenizer, few, b"xabd", overconfident(tokenizer))
    assert result.tallies["exact"].non_canonical == 0
    # Forced at the start, all of it: and so nowhere else.
    assert (result.listed, result.sampled, result.misjudged) == (1, 0, 1)
    [found] = result.witnesses
    assert (found.policy, base64.b64decode(found.continuation)) == ("exact", b"c")
    right = checked(tokenizer, few, b"xabd", Exact(tokenizer))
    # x at the start; then ab, of which nothing is sure; d is not forced.
    assert (right.listed, right.listed_tokens, right.listed_short, right.misjudged) == (2, 1, 0, 0)


def test_what_exact_does_not_force_of_what_all_sentences_prove_is_counted(tokenizer):
    few = FiniteLanguage([b"xabc", b"xabd"])
    short = checked(tokenizer, few, b"xabd", SILENT)
    assert (short.listed, short.listed_tokens, short.listed_short) == (2, 1, 1)
    assert short.misjudged == 0


def test_a_judge_that_is_wrong_is_seen_by_samples(tokenizer):
    many = FiniteLanguage([b"xab" + b"cd"[n % 2 : n % 2 + 1] + b"d" * n for n in range(LISTED + 1)])
    misjudged = 0
    for seed in range(20):
        policies = {"exact": overconfident(tokenizer)}
        walk = Walk(tokenizer, many, policies, "test", seed, sampled_every=1)
        walk.instance(b"xabdd" + b"d" * 2)
        result = walk.finished()
        assert result.sampled == 1  # further on few sentences are left, and these are listed
        misjudged += result.misjudged
    assert 0 < misjudged < 20


def test_only_some_answers_are_checked(tokenizer):
    walk = Walk(tokenizer, FiniteLanguage([b"xd"]), {"exact": Exact(tokenizer)}, "test")
    for _ in range(200):
        walk.instance(b"xd")
    assert 0 < walk.finished().listed < 50


@pytest.mark.parametrize("seed", range(30))
def test_the_oracle_is_the_definition(tokenizer, seed):
    rng = random.Random(seed)
    ways = ["".join(rng.choices("abcdx", k=rng.randrange(5))).encode() for _ in range(3)]
    context = Context(b"x", tokenizer.encode(b"x"))
    forced = "".join(rng.choices("abcd", k=4)).encode()
    point = Point(tokenizer, context, forced, FiniteLanguage(ways))
    found = point.oracle(ways)
    whole = [tokenizer.encode(b"x" + forced + way) for way in ways]
    best = ()
    for size in range(9):
        tried = whole[0][:size]
        spelled = b"".join(map(tokenizer.spelling, tried[1:]))
        if all(one[:size] == tried for one in whole) and tried[:1] == context.ids:
            best = tried[1:] if forced.startswith(spelled) else best
    assert found == best
    assert point.refuted(found, ways) is None
    longer = whole[0][1 : len(found) + 2]
    if forced.startswith(b"".join(map(tokenizer.spelling, longer))) and longer != found:
        assert point.refuted(longer, ways) is not None


def test_texts_that_the_grammar_refuses(tokenizer):
    result = walked(
        tokenizer, [b"xabc", b"xabd"], [b"xab", b"abc", b"xabcc", b"xabc"], silent=SILENT
    )
    assert (result.instances, result.refused_instances, result.tokens) == (1, 3, 2)


def test_a_policy_that_gives_up(tokenizer):
    result = walked(tokenizer, [b"xabc", b"xabd"], [b"xabc"], broken=BROKEN)
    tally = result.tallies["broken"]
    assert (tally.gave_up, tally.sequences) == (2, 0)


def test_where_exact_gives_up_it_is_asked_again(tokenizer):
    policies = {"exact": BROKEN, "none": NoHealing(tokenizer)}
    result = walked(tokenizer, [b"xabc"], [b"xabc", b"xabc"], **policies)
    assert result.tallies["exact"].gave_up == 4
    assert result.tallies["none"].longer == 2


def test_seams_are_counted():
    class Contrary:
        """Encodes xa, by itself, otherwise than before b."""

        def encode(self, data):
            return (3,) if data == b"xa" else tuple(data)

        def stands_alone(self, context):
            return self.encode(context.text) == context.ids

        def steps(self, data):
            return [(token_id, self.spelling(token_id)) for token_id in self.encode(data)]

        def spelling(self, token_id):
            return bytes((token_id,))

    def first(context, forced, grammar):
        return Healed(tuple(forced[:1]), forced[1:])

    result = walked(Contrary(), [b"xab"], [b"xab"], all=Planted(first))
    tally = result.tallies["all"]
    assert (tally.sequences, tally.seam, tally.non_canonical) == (3, 1, 0)


def test_witnesses_are_cut_after_what_shows_them(tokenizer):
    ids = tokenizer.encode(b"ab")
    point = Point(tokenizer, Context(b"", ()), b"ab", FiniteLanguage([b"cddddd"]))
    assert point.minimised(ids, b"cddddd") == b"c"


def test_results_are_added_up(tokenizer):
    policies = {"none": NoHealing(tokenizer), "exact": Exact(tokenizer)}
    result = walked(tokenizer, [b"xabc", b"xabd"], [b"xabc"], **policies)
    sums = total([result, result], ["exact", "none"])
    assert list(sums.tallies) == ["exact", "none"]
    assert (sums.schemas, sums.instances, sums.tokens) == (2, 2, 4)
    assert counts(sums.tallies["none"]) == (4, 6, 4, 4)


def test_names_of_policies():
    assert named(["healed", "exact", "healed:4"]) == ["healed:tokens=4", "exact"]
    assert named(["healed:bytes=7:conservative"]) == ["healed:bytes=7:conservative"]
    assert "llguidance" in named([])
    for wrong in ("healed:words=3", "exactly", "", "healed:tokens=", "none:4"):
        with pytest.raises(SelectionError, match="--policy"):
            named([wrong])


def test_every_policy_can_be_made():
    policies = Policies(sources.resolve("toy_bytes"))
    names = [name for name in named([]) if not name.startswith("llguidance")]
    names.append("healed:bytes=7:conservative")
    made = policies.of_schema(names, {"type": "integer"}, "compact")
    assert list(made) == names


def test_parts_of_characters_at_either_end():
    tokenizer = Tokenizer(sources.resolve("toy_bytes"))
    rng = random.Random(0)
    for _ in range(200):
        text = "".join(rng.choices("aé漢🙂 1", k=6)).encode()
        start, end = rng.randrange(len(text)), rng.randrange(len(text) + 1)
        part = text[start:end]
        assert b"".join(map(tokenizer.spelling, tokenizer.encode(part))) == part
    assert [cut_off(b) for b in (b"", b"a", b"\x82a", b"\x98\x80\x80", b"\x98\x80\x80\x80")] == [
        *(0, 0, 1, 3, 3),
    ]
