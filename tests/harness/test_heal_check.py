import random
import sys

import pytest

from corpora.grammars.finite import FiniteLanguage
from corpora.vocabularies.sources import resolve
from harness.checks import CHECKS
from harness.checks.heal_questions import question
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
from tests.breadth import thorough_from
from tests.harness.local import Local

RAW, TEXT = Mode(pretokenize=False), Mode()
RIGHT = "harness.studies.selftest.plain.ways:PlainHealer"
MISTAKES = [one for one in mistakes().values() if one.family == "healers"]
PROGRAM = f"cmd:{sys.executable} -m harness.studies.selftest.program --kind healer-correct"
HEAL = CHECKS["heal"]


def texts(count=160):
    rng = random.Random(5)
    words = ["the", " tokens", "é", " ", "\n", "日本", "ing", "🙂", "a", "b", "1", " order", "Id"]
    drawn = ["".join(rng.choices(words, k=rng.randrange(14))) for _ in range(count)]
    return [text.encode() for text in ["", "a", *drawn]]


def stages(local):
    return {violation.stage for violation in local.examine(HEAL, texts()).violations}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_each_mistake_is_caught_and_named(mistake):
    found = stages(Local(resolve(mistake.vocabulary), [mistake.spec, DEFINITION]))

    assert found == set(mistake.stages)


@pytest.mark.parametrize("mode", [RAW, TEXT])
@pytest.mark.parametrize("vocabulary", thorough_from(1, ["toy_bytes", "tekken_240911"]))
def test_a_right_healer_is_not_accused(vocabulary, mode):
    local = Local(resolve(vocabulary), [RIGHT, DEFINITION], mode)

    judgement = local.examine(HEAL, texts())

    assert judgement.violations == []
    assert judgement.exercised["plain.healer"] > 100


def test_a_right_program_is_not_accused():
    local = Local(resolve("toy_bytes"), [PROGRAM, DEFINITION])

    judgement = local.examine(HEAL, texts())

    assert judgement.violations == []
    assert judgement.exercised["healer-correct"] > 100


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
    # Ends of long tokens are among what may follow.
    assert max(len(one.forced) for one in drawn) > 12


def test_a_finding_says_what_was_forced_and_what_is_right():
    one = next(one for one in MISTAKES if one.name == "healers.heals-nothing")
    local = Local(resolve(one.vocabulary), [one.spec, DEFINITION])

    violation = local.examine(HEAL, texts()).violations[0]

    right, wrong = violation.parts
    assert violation.culprits == ("healers.heals-nothing",)
    assert right.names == (f"{DEFINITION} (encode)",)
    assert right.outcome.message.startswith("the tokens are ")
    assert wrong.outcome.message.startswith("forces ")
    assert " forced" in wrong.outcome.message


def test_nobody_who_heals_nothing_to_check():
    assert not HEAL.applies(Local(resolve("toy_bytes"), ["bpe.heap", DEFINITION]).contract)


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


@pytest.mark.parametrize(
    ("spec", "least", "most"),
    [
        (RIGHT, 0.9, 1.0),
        pytest.param(f"{__name__}:TakesAllBack", 0.0, 0.0, id="takes-all-back"),
    ],
)
def test_a_healer_that_takes_more_back_than_need_be_is_not_accused(spec, least, most):
    local = Local(resolve("toy_bytes"), [spec, DEFINITION])

    judgement = local.examine(HEAL, texts())

    (counts,) = judgement.forced.values()
    assert judgement.violations == []
    assert counts["possible"] > 50
    assert least <= counts["forced"] / counts["possible"] <= most


def test_the_share_stands_in_the_report():
    counted = ({"forced": 3, "possible": 4}, {"forced": 5, "possible": 6})
    batches = [BatchDone("v/raw", "g", 1, 1, 0, {}, {}, {"mine": counts}) for counts in counted]

    assert RunRecord.from_events(batches).healers == {("v/raw", "mine"): 0.8}


class TakesAllBack(PlainHealer):
    """Forces nothing: right, and of no use."""

    def heal(self, forced, recent, allowed, mode):
        return [], forced
