"""The adversary finds unaided what the heuristic gets wrong, and nothing against exact."""

import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from corpora.vocabularies import embedded, sources
from corpora.vocabularies.model import Merges
from harness.core import exit_statuses
from harness.engine.selection import SelectionError
from harness.engine.suites import Budget
from harness.studies.forced import adversary, counterexamples
from harness.studies.forced.adversary import CHAIN, CUT, LONG_TOKEN, LOOK_AHEAD, WAYS, Caught, Round
from harness.studies.forced.counterexamples import Counterexample, Opponent, judged
from harness.studies.forced.hunt import COUNTEREXAMPLES, RECORD, Hunt
from harness.studies.forced.jobs import Task
from harness.studies.forced.policies import EXACT, Policies
from impls.interface import Unsupported
from tests.breadth import thorough_from
from tests.harness.command import here, tokgate
from tests.impls.bpe_vocabularies import vocabulary

HEALED = "healed:tokens=4"
SHIPPED = counterexamples.read(counterexamples.SHIPPED)
REAL = ("tekken_240718", "tekken_240911")
NONE_AT_ALL = {"toy_improper", "toy_acbb"}
"""Embedded vocabularies in which the heuristic, with a window of 4 tokens, was never seen to err:
their longest chains are shorter than the window."""


@pytest.fixture(scope="module")
def policies():
    names = sorted({counterexample.vocabulary for counterexample in SHIPPED} | NONE_AT_ALL)
    return {name: Policies(sources.resolve(name)) for name in names}


def named(counterexample):
    return f"{counterexample.vocabulary}, {counterexample.kind}"


@pytest.mark.parametrize("counterexample", thorough_from(1, SHIPPED), ids=named)
def test_the_heuristic_errs_on_its_counterexample_and_exact_does_not(counterexample, policies):
    own = policies[counterexample.vocabulary]
    assert counterexample.policy == HEALED
    assert counterexamples.again(Opponent(own, HEALED), counterexample) == counterexample
    assert counterexamples.again(Opponent(own, EXACT), counterexample) is None


@pytest.mark.parametrize(
    "counterexample", thorough_from(2, [t for t in SHIPPED if t.vocabulary in REAL]), ids=named
)
def test_the_real_llguidance_errs_on_it_too(counterexample, policies):
    found = counterexamples.again(
        Opponent(policies[counterexample.vocabulary], "llguidance"), counterexample
    )
    assert found is not None
    assert found.depth == counterexample.depth


def test_every_vocabulary_has_its_counterexamples():
    kinds = {}
    for counterexample in SHIPPED:
        kinds.setdefault(counterexample.vocabulary, set()).add(counterexample.kind)
    fit = {
        name
        for name in embedded.embedded()
        if (v := sources.resolve(name)).algorithm == "bpe" and not v.pieces
    }
    assert set(kinds) == fit - NONE_AT_ALL
    for name in REAL:
        assert kinds[name] == {CHAIN, CUT, LONG_TOKEN, LOOK_AHEAD}


def test_the_shipped_file_is_as_it_would_be_written():
    file = Path(counterexamples.__file__).parents[3] / "corpora" / "grammars" / "trophies.json"
    assert file.read_text(encoding="utf-8") == counterexamples.to_json(SHIPPED)


@pytest.mark.parametrize("kind", thorough_from(2, reversed(list(WAYS))))  # the quickest first
@pytest.mark.thorough  # whole rounds
def test_a_round_errs_with_the_heuristic_and_finds_nothing_against_exact(kind, policies):
    own = policies["tekken_240911"]
    beats = []
    caught = adversary.play(Opponent(own, HEALED), kind, 0, beat=lambda: beats.append(1))
    assert caught.tried
    assert beats
    assert caught.counterexample is not None
    again = judged(
        Opponent(own, HEALED), kind, caught.counterexample.context, caught.counterexample.forced,
        caught.counterexample.sentences,
    )  # fmt: skip
    assert again == caught.counterexample
    assert adversary.play(Opponent(own, HEALED), kind, 0) == caught
    against = adversary.play(Opponent(own, EXACT), kind, 0)
    assert (against.tried, against.counterexample) == (caught.tried, None)


@pytest.mark.parametrize("answer", [Unsupported("not UTF-8"), ValueError("no way")])
def test_who_gives_up_on_a_grammar_errs_on_none_and_is_asked_about_the_next(
    answer, policies, monkeypatch
):
    """A healer of the user's own may take texts alone, where a way cuts characters in two."""
    opponent = Opponent(policies["toy_merges"], HEALED)
    asked = []

    def gives_up(*arguments):
        asked.append(arguments)
        raise answer

    monkeypatch.setattr(opponent, "ids", gives_up)
    assert adversary.play(opponent, CHAIN, 0).counterexample is None
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
def test_trails_are_the_longest_in_which_each_pair_merges_before_the_one_to_its_left(
    seed,
):
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
        assert ranks == sorted(ranks, reverse=True)
        assert len(set(ranks)) == len(ranks)


def test_a_sentence_that_changes_the_context_is_no_fault_of_the_policy():
    own = Policies(sources.resolve("toy_acbb"))
    # a | b becomes ab: whatever is forced after a, the context's own token goes.
    encode = own.tokenizer.encode
    assert encode(b"ab") != (*encode(b"a"), *encode(b"b"))
    none = Opponent(own, "none")
    assert judged(none, CHAIN, b"a", b"b", [b"", b"c"]) is None
    found = judged(none, CHAIN, b"", b"a", [b"b", b"c"])
    assert found is not None
    assert found.depth == 1


def test_what_sentences_share_is_forced(policies):
    none = Opponent(policies["tekken_240911"], "none")
    found = judged(none, LONG_TOKEN, b"", b" Wissen", [b"schaften", b"schaftez", b"schaften"])
    assert found is not None
    assert (found.forced, found.sentences) == (b" Wissenschafte", (b"n", b"z"))
    assert judged(none, LONG_TOKEN, b"", b"a", [b"b", b"b"]) is None  # one sentence is no choice


def test_short_and_as_deep(policies):
    healed = Opponent(policies["tekken_240911"], HEALED)
    long = judged(healed, LONG_TOKEN, b"so:", b" the Wissenschafte", [b"n and so on", b"z"])
    assert long is not None
    short = adversary.shortened(healed, long, lambda: None)
    assert short.depth >= long.depth
    assert short.worth > long.worth
    assert (short.context, short.forced) == (b"", b" Wissenschafte")


def counterexample(**changes):
    fields = {"vocabulary": "v", "policy": HEALED, "kind": CHAIN, "context": b"", "forced": b"ab",
              "sentences": (b"c", b"\xe2\x80"), "depth": 2}  # fmt: skip
    return Counterexample(**{**fields, **changes})


def test_counterexamples_travel_as_json(tmp_path):
    many = [counterexample(), counterexample(kind=CUT, forced=b"\xff")]
    path = tmp_path / "trophies.json"
    path.write_text(counterexamples.to_json(many), encoding="utf-8")
    assert json.loads(path.read_text())[1]["forced"] == {"hex": "ff"}
    assert sorted(counterexamples.read(path), key=lambda one: one.kind) == many
    for wrong in ("{", '{"a": 1}', '[{"kind": 1}]', "[1]", '[{"vocabulary": null}]'):
        path.write_text(wrong)
        with pytest.raises(SelectionError, match="not a list of counterexamples"):
            counterexamples.read(path)
    with pytest.raises(SelectionError, match=r"name a trophies\.json"):
        counterexamples.read(tmp_path / "nowhere")


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
    assert json.loads((tmp_path / COUNTEREXAMPLES).read_text())[0]["depth"] == 2
    # A line cut off by a kill is left out; counterexamples of another run are kept, unless beaten.
    with (tmp_path / RECORD).open("a") as file:
        file.write('{"of": ')
    others = [
        counterexample(vocabulary="toy_merges", depth=1),
        counterexample(vocabulary="another"),
    ]
    (tmp_path / COUNTEREXAMPLES).write_text(counterexamples.to_json(others))
    again = replace(hunt, tried=Counter(), broke={})
    assert set(again.journal.done) == {("round", HEALED, CHAIN, 0), ("round", EXACT, CHAIN, 0)}
    assert again.tried == {HEALED: 7, EXACT: 0}
    assert again.broke == {f"{EXACT}, {CHAIN} 0": "no answer"}
    assert {(t.vocabulary, t.depth) for t in again.best.values()} == {
        ("toy_merges", 2), ("another", 2),
    }  # fmt: skip
    assert len((tmp_path / RECORD).read_text().splitlines()) == 2
    # Another seed is another hunt: its rounds are its own.
    other = replace(hunt, task=replace(hunt.task, seed=1))
    assert other.journal.done == {}
    assert len((tmp_path / RECORD).read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "--vocab"),
        (["--vocab=toy_merges", "--budget=soon"], "--budget"),
        (["--vocab=toy_merges", "--policy=best"], "--policy"),
        (["--vocab=toy_wordpiece"], "toy_wordpiece"),
        (["--replay=nowhere.json"], "nowhere.json"),
        (["--replay=shipped", "--vocab=toy_unigram"], "none of them is for toy_unigram"),
    ],
)
def test_each_mistake_is_one_line(options, said, tmp_path):
    ran = here("adversary", *options, f"--out={tmp_path / 'out'}")
    assert ran.returncode == exit_statuses.USAGE, ran.stderr
    line = ran.stderr.strip().splitlines()[-1]
    assert line.startswith("tokgate: ")
    assert said in line


@pytest.mark.thorough  # a process
def test_counterexamples_are_asked_again(tmp_path):
    again = tokgate("adversary", "--replay=shipped", "--vocab=toy_merges", folder=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "wrong tokens" in again.stdout
