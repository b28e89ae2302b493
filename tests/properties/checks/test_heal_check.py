import random
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.grammars.finite import FiniteLanguage
from corpora.vocabularies.sources import resolve
from harness.checks import CHECKS
from harness.checks.heal_questions import alike, question
from harness.checks.services import DEFINITION
from harness.engine.selection import SelectionError
from harness.events import BatchDone
from harness.studies.forced.policies import Policies, named, of_libraries
from harness.studies.selftest.catalog import mistakes
from harness.studies.selftest.plain.ways import PlainHealer
from impls import registry
from impls.forced.interface import Context
from impls.interface import Mode, Unsupported
from reports.record import RunRecord
from tests.breadth import thorough
from tests.doubles.local import Local

RAW, TEXT = Mode(pretokenize=False), Mode()
RIGHT = "harness.studies.selftest.plain.ways:PlainHealer"
MISTAKES = [one for one in mistakes().values() if one.family == "healers"]
PROGRAM = f"cmd:{sys.executable} -m harness.studies.selftest.program --kind healer-correct"
HEAL = CHECKS["heal"]


class TakesAllBack(PlainHealer):
    """Forces nothing: right, and of no use."""

    def heal(self, forced, recent, allowed, mode):
        return [], forced


def texts(count=160):
    rng = random.Random(5)
    words = ["the", " tokens", "é", " ", "\n", "日本", "ing", "🙂", "a", "b", "1", " order", "Id"]
    drawn = ["".join(rng.choices(words, k=rng.randrange(14))) for _ in range(count)]
    return [text.encode() for text in ["", "a", *drawn]]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_each_mistake_is_caught_and_named(mistake):
    local = Local(resolve(mistake.vocabulary), [mistake.spec, DEFINITION])
    violations = local.examine(HEAL, texts()).violations
    assert {one.stage for one in violations} == set(mistake.stages)
    for one in violations:
        assert one.stage != "spelling" or ", which spell '" in one.parts[1].outcome.message
    if mistake.name == "healers.heals-nothing":
        right, wrong = violations[0].parts
        assert violations[0].culprits == (mistake.name,)
        assert right.names == (f"{DEFINITION} (encode)",)
        assert right.outcome.message.startswith("the tokens are ")
        assert " forced" in wrong.outcome.message.removeprefix("forces ")


TAKES_ALL_BACK = f"{__name__}:TakesAllBack"


@pytest.mark.parametrize(
    ("vocabulary", "spec", "mode"),
    [
        *(("toy_bytes", RIGHT, mode) for mode in (RAW, TEXT)),
        ("toy_bytes", PROGRAM, RAW),
        ("toy_bytes", TAKES_ALL_BACK, RAW),
        *(thorough(("tekken_240911", RIGHT, mode)) for mode in (RAW, TEXT)),
    ],
)
def test_who_is_right_is_not_accused_though_it_takes_more_back_than_need_be(vocabulary, spec, mode):
    local = Local(resolve(vocabulary), [spec, DEFINITION], mode)
    judgement = local.examine(HEAL, texts())
    assert judgement.violations == []
    assert judgement.exercised[local.contract.names[0]] > 100
    (counts,) = judgement.forced.values()
    assert counts["possible"] > 50
    if spec != PROGRAM:
        share = counts["forced"] / counts["possible"]
        assert share == 0 if spec == TAKES_ALL_BACK else 0.9 <= share <= 1
    assert not HEAL.applies(Local(resolve("toy_bytes"), ["bpe.heap", DEFINITION]).contract)


def test_what_might_be_forced_is_known_only_where_all_that_may_follow_is():
    local = Local(resolve("toy_bytes"), [RIGHT, DEFINITION], RAW)
    drawn = {text: question(text, local.contract.vocabulary, text=False) for text in texts()}
    open_ = [text for text, one in drawn.items() if one.kind in {"regular", "anything"}]
    assert sum(local.examine(HEAL, open_).exercised.values()) > 50
    assert not local.examine(HEAL, open_).forced


@given(st.lists(st.text("ab"), min_size=1))
def test_sequences_are_alike_as_far_as_they_have_one_prefix(sequences):
    first = sequences[0]
    same = [n for n in range(len(first) + 1) if len({one[:n] for one in sequences}) == 1]
    assert alike(sequences) == max(same)


def test_a_program_is_asked_with_pretokenization_only_where_it_says_so():
    encoder = registry.resolve(PROGRAM).load(resolve("toy_bytes"))
    try:
        assert encoder.heal(b"", [], [b""], RAW) == ([], b"")
        with pytest.raises(Unsupported, match="pretokenized_operations"):
            encoder.heal(b"", [], [b""], TEXT)
    finally:
        encoder.close()


def test_all_kinds_of_grammars_are_drawn_alike_each_time():
    vocabulary = resolve("tekken_240911")
    drawn = [question(text, vocabulary, text=True) for text in texts()]

    assert {one.kind for one in drawn} == {"finite", "regular", "schema", "anything"}
    assert drawn == [question(text, vocabulary, text=True) for text in texts()]
    for one in drawn:
        assert (one.allowed is None) == (one.kind == "anything")
        assert all((one.context + one.forced + way).decode() is not None for way in one.sentences)
    contexts = [
        (x, one.context) for x, one in zip(texts(), drawn, strict=True) if x.startswith(one.context)
    ]
    assert any(0 < len(context) < len(x) for x, context in contexts if len(x) < 64)
    # Ends of long tokens are among what may follow.
    assert max(len(one.forced) for one in drawn) > 12


def test_a_plug_in_is_a_policy_as_exact_as_what_it_asks():
    vocabulary = resolve("toy_bytes")
    assert named([RIGHT, "healed"], vocabulary) == [RIGHT, "healed:tokens=4"]
    assert of_libraries([RIGHT, "exact", "healed:tokens=4"]) == [RIGHT]
    policies = Policies(vocabulary).of_schema([RIGHT, "exact"], True, "compact")
    grammar = FiniteLanguage([b"x the", b"e end", b""])

    healed = policies[RIGHT].heal(Context(b"", ()), b"so th", grammar)

    assert healed == policies["exact"].heal(Context(b"", ()), b"so th", grammar)
    assert healed.leftover


def test_what_does_not_heal_is_no_policy():
    with pytest.raises(SelectionError, match="capability 'heal'"):
        named(["harness.studies.selftest.plain.bpe:PlainBpe"])


def test_the_share_stands_in_the_report():
    counted = ({"forced": 3, "possible": 4}, {"forced": 5, "possible": 6})
    batches = [BatchDone("v/raw", "g", 1, 1, 0, {}, {}, {"mine": counts}) for counts in counted]

    assert RunRecord.from_events(batches).healers == {("v/raw", "mine"): 0.8}
