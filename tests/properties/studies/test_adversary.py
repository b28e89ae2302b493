"""The adversary finds unaided what the heuristic gets wrong, and nothing against exact."""

import json
import random
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.grammars.base import alike
from corpora.vocabularies import embedded, sources
from corpora.vocabularies.model import Merges
from harness.core import exit_statuses
from harness.engine.selection import SelectionError
from harness.engine.suites import Budget
from harness.studies.forced import adversary, counterexamples
from harness.studies.forced.adversary import CHAIN, CUT, LONG_TOKEN, WAYS, Caught, Round
from harness.studies.forced.counterexamples import Counterexample, Opponent, again, judged
from harness.studies.forced.hunt import COUNTEREXAMPLES, Hunt
from harness.studies.forced.jobs import Task
from harness.studies.forced.policies import EXACT, Policies
from impls.forced.interface import Context
from impls.interface import Unsupported
from tests.breadth import thorough_from
from tests.doubles.command import here, tokgate
from tests.doubles.tables import rows
from tests.properties.impls.bpe_vocabularies import vocabulary

HEALED = "healed:tokens=4"
SHIPPED = counterexamples.read(counterexamples.SHIPPED)
REAL = ("tekken_240718", "tekken_240911")
NONE_AT_ALL = {"toy_improper", "toy_acbb"}
"""Embedded vocabularies in which the heuristic, with a window of 4 tokens, was never seen to err:
their longest chains are shorter than the window."""


@cache
def opponent(vocabulary, policy):
    return Opponent(policies_of(vocabulary), policy)


@cache
def policies_of(vocabulary):
    return Policies(sources.resolve(vocabulary))


def named(counterexample):
    return f"{counterexample.vocabulary}, {counterexample.kind}"


@pytest.mark.parametrize(
    "one", thorough_from(1, sorted(SHIPPED, key=lambda one: one.vocabulary in REAL)), ids=named
)
def test_the_heuristic_and_llguidance_err_on_a_counterexample_and_exact_does_not(one):
    assert one.policy == HEALED
    assert again(opponent(one.vocabulary, HEALED), one) == one
    assert again(opponent(one.vocabulary, EXACT), one) is None
    if one.vocabulary in REAL:
        assert again(opponent(one.vocabulary, "llguidance"), one).depth == one.depth


def test_every_vocabulary_has_its_counterexamples_in_the_order_in_which_they_are_written():
    fit = {
        name
        for name in embedded.embedded()
        if (v := sources.resolve(name)).algorithm == "bpe" and not v.pieces
    }
    assert {one.vocabulary for one in SHIPPED} == fit - NONE_AT_ALL
    for name in REAL:
        assert {one.kind for one in SHIPPED if one.vocabulary == name} == {*WAYS}
    file = Path(counterexamples.__file__).parents[3] / "corpora" / "grammars" / "trophies.json"
    assert file.read_text(encoding="utf-8") == counterexamples.to_json(SHIPPED)


@pytest.mark.parametrize("kind", thorough_from(2, reversed(list(WAYS))))  # the quickest first
@pytest.mark.thorough  # whole rounds
def test_a_round_errs_with_the_heuristic_and_finds_nothing_against_exact(kind):
    healed, beats = opponent("tekken_240911", HEALED), []
    caught = adversary.play(healed, kind, 0, beat=lambda: beats.append(1))
    assert caught.tried and beats
    assert again(healed, caught.counterexample) == caught.counterexample
    assert adversary.play(healed, kind, 0) == caught
    against = adversary.play(opponent("tekken_240911", EXACT), kind, 0)
    assert (against.tried, against.counterexample) == (caught.tried, None)


@pytest.mark.parametrize("answer", [Unsupported("not UTF-8"), ValueError("no way")])
def test_who_gives_up_on_a_grammar_errs_on_none_and_is_asked_about_the_next(answer, monkeypatch):
    """A healer of the user's own may take texts alone, where a way cuts characters in two."""
    asked = []

    def gives_up(*arguments):
        asked.append(arguments)
        raise answer

    healed = Opponent(policies_of("toy_merges"), HEALED)
    monkeypatch.setattr(healed, "ids", gives_up)
    assert adversary.play(healed, CHAIN, 0).counterexample is None
    assert len(asked) > 1


class Whole(random.Random):
    """Has all tokens of one letter take part."""

    def choice(self, options):
        return max(options) if isinstance(options[0], float) else min(options)


def longest_trail(pairs, last, below):
    """Pairs of a trail that ends with ``last``, each of lower priority than the next: all tried."""
    found = 0
    for rank in range(below + 1, len(pairs)):
        left, right = pairs[rank]
        if right == last:
            found = max(found, 1 + longest_trail(pairs, left, rank))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_trails_are_the_longest_in_which_each_pair_merges_before_the_one_to_its_left(seed):
    letters = [b"a", b"b", b"c", b"d"]
    pairs = [(a, b) for a in letters for b in letters]
    random.Random(seed).shuffle(pairs)
    tokens = letters + [a + b for a, b in pairs]
    triples = [(tokens.index(a), tokens.index(b), tokens.index(a + b)) for a, b in pairs]
    own = vocabulary(tokens, Merges.of(triples))
    found = adversary.trails(own, frozenset(b"abcd"), Whole(0))
    best = max(longest_trail(pairs, letter, -1) for letter in letters)
    assert len(found[0]) == best + 1
    for text in found:
        ranks = [pairs.index((text[i : i + 1], text[i + 1 : i + 2])) for i in range(len(text) - 1)]
        assert ranks == sorted(set(ranks), reverse=True)


TEXT = st.text("abc", max_size=3).map(str.encode)


@given(TEXT, TEXT, st.lists(TEXT, min_size=1, max_size=4))
def test_a_policy_errs_as_deep_as_its_tokens_are_not_those_of_a_sentence(context, forced, rests):
    """By the definition, of one that forces all; what changes the context's tokens is no fault."""
    none = opponent("toy_acbb", "none")
    encode, start = none.tokenizer.encode, none.tokenizer.encode(context)
    found = judged(none, CHAIN, context, forced, rests)
    if len({*rests}) > 1:  # one sentence is no choice
        size = alike(min(rests), max(rests))  # what all have in common is forced, too
        forced, rests = forced + min(rests)[:size], [rest[size:] for rest in rests]
    right = [encode(context + forced + rest) for rest in rests]
    if len({*rests}) < 2 or not forced or any(one[: len(start)] != start for one in right):
        assert found is None
        return
    given = none.ids(Context(context, start), forced, rests)
    depth = max(len(given) - alike(given, one[len(start) :]) for one in right)
    assert (found.depth if found else 0) == depth
    assert found is None or (found.forced, {*found.sentences}) == (forced, {*rests})


def test_short_and_as_deep():
    healed = opponent("tekken_240911", HEALED)
    long = judged(healed, LONG_TOKEN, b"so:", b" the Wissenschafte", [b"n and so on", b"z"])
    short = adversary.shortened(healed, long, lambda: None)
    assert short.depth >= long.depth
    assert short.worth > long.worth
    assert (short.context, short.forced) == (b"", b" Wissenschafte")


def counterexample(**changes):
    fields = {"vocabulary": "v", "policy": HEALED, "kind": CHAIN, "context": b"", "forced": b"ab",
              "sentences": (b"c", b"\xe2\x80"), "depth": 2}  # fmt: skip
    return Counterexample(**{**fields, **changes})


@pytest.mark.parametrize(
    "wrong", ["{", '{"a": 1}', '[{"kind": 1}]', "[1]", '[{"vocabulary": null}]', None]
)
def test_what_is_no_file_of_counterexamples_is_said(wrong, tmp_path):
    path = tmp_path / "trophies.json"
    if wrong is not None:
        path.write_text(wrong)
    said = r"name a trophies\.json" if wrong is None else "not a list of counterexamples"
    with pytest.raises(SelectionError, match=said):
        counterexamples.read(path)


def test_the_deepest_stays_and_of_these_the_shortest():
    deep, short = counterexample(depth=3), counterexample(forced=b"a")
    assert list(counterexamples.merged([counterexample(), deep, short]).values()) == [deep]
    assert list(counterexamples.merged([counterexample(), short]).values()) == [short]
    assert len(counterexamples.merged([counterexample(), counterexample(policy="none")])) == 2


@pytest.fixture
def hunt(tmp_path):
    task = Task(sources.resolve("toy_merges"), [HEALED, EXACT], "flexible")
    return Hunt(task, Budget(cases=1), tmp_path)


def test_rounds_take_turns_and_pass_over_what_is_done(hunt):
    hunt.add(Round(HEALED, LONG_TOKEN, 0), Caught(5))
    hunt.add(Round(EXACT, LONG_TOKEN, 0), Caught())  # nothing to try: there is no more
    rounds = hunt.rounds()
    found = [next(rounds) for _ in range(8)]
    assert found[0] == Round(HEALED, CUT, 0)
    assert Round(EXACT, LONG_TOKEN, 1) not in found
    assert Round(HEALED, LONG_TOKEN, 1) in found
    for kind in WAYS:
        for policy in (HEALED, EXACT):
            hunt.add(Round(policy, kind, 9), Caught())
    assert not list(hunt.rounds())


def test_the_record_goes_on_and_merges(tmp_path, hunt):
    hunt.add(Round(HEALED, CHAIN, 0), Caught(7, counterexample(vocabulary="toy_merges")))
    hunt.add(Round(EXACT, CHAIN, 0), Caught(broke="no answer"))
    path = tmp_path / COUNTEREXAMPLES
    assert json.loads(path.read_text())[0]["depth"] == 2
    # Counterexamples of another run are kept, unless beaten.
    others = counterexample(vocabulary="toy_merges", depth=1), counterexample(vocabulary="another")
    path.write_text(counterexamples.to_json(others))
    again = replace(hunt, tried=Counter(), broke={})
    assert again.tried == {HEALED: 7, EXACT: 0}
    assert again.broke == {f"{EXACT}, {CHAIN} 0": "no answer"}
    kept = {(one.vocabulary, one.depth) for one in again.best.values()}
    assert kept == {("toy_merges", 2), ("another", 2)}
    # Another seed is another hunt: its rounds are its own.
    assert not replace(hunt, task=replace(hunt.task, seed=1), tried=Counter()).tried


MISTAKES = """
                                      | --vocab
--vocab=toy_merges --budget=soon      | --budget
--vocab=toy_merges --policy=best      | --policy
--vocab=toy_wordpiece                 | toy_wordpiece
--replay=nowhere.json                 | nowhere.json
--replay=shipped --vocab=toy_unigram  | none of them is for toy_unigram
"""


@pytest.mark.parametrize(("options", "said"), rows(MISTAKES))
def test_each_mistake_is_one_line(options, said, tmp_path):
    ran = here("adversary", *options.split(), f"--out={tmp_path / 'out'}")
    assert ran.returncode == exit_statuses.USAGE, ran.stderr
    line = ran.stderr.strip().splitlines()[-1]
    assert line.startswith("tokgate: ")
    assert said in line


@pytest.mark.thorough  # a process
def test_counterexamples_are_asked_again(tmp_path):
    again = tokgate("adversary", "--replay=shipped", "--vocab=toy_merges", folder=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "wrong tokens" in again.stdout
