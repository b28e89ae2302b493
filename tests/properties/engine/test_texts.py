"""The user's texts in a run: their order, what is compared, the verdict, the reports, Ctrl-C."""

from itertools import islice
from pathlib import Path

import pytest

from corpora.generators.base import FunctionGenerator
from corpora.texts.corpus import Corpus
from corpora.vocabularies import sources
from harness.core import exit_statuses
from harness.core.comparisons import contracts_of
from harness.engine.samples import TEXTS, takes
from harness.engine.selection import participants
from harness.engine.suites import Budget
from harness.engine.texts import Texts, drawn, mutated
from harness.events import (
    FAIL,
    UNEXAMINED,
    TextsCompared,
    TextsGiven,
    TextsRead,
    TokenCounts,
)
from harness.verdict import gate
from harness.verdict.coverage import Coverage
from tests.doubles.command import here, record, summary, tokgate
from tests.doubles.toy_plans import any_plan

MUTANTS = Path(__file__).parents[2] / "mutants"
TOY = sources.resolve("toy_bytes")
ENDLESS = FunctionGenerator("made", "", lambda *_: iter([b"generated"] * 999))


def plan(corpus, budget, *, only=False):
    return any_plan(
        generators=[] if only else [ENDLESS], budget=budget, texts=corpus, only_texts=only
    )


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("".join(f"{i} {'long ' * 2000}\n" for i in range(12)))
    return Corpus.of([str(path)])


# The order.


def test_texts_come_before_generators_and_go_on_beside_them(corpus):
    events = []
    texts = Texts(plan(corpus, Budget(seconds=1.0)), events.append)
    first = [batch.generator for batch in texts.first(TOY, [], lambda: False)]
    late = [batch.generator for batch in texts.first(TOY, [], lambda: True)]
    assert first[:2] == [TEXTS, TEXTS]
    assert set(first[2:]) == {"made"}
    assert late[:3] == [TEXTS, "made", TEXTS]
    read = [one for one in events if isinstance(one, TextsRead)]
    assert (read[-1].whole, read[-1].documents) == (True, 12)


def test_texts_alone_wait_for_nobody_and_a_case_knows_its_line(corpus):
    texts = Texts(plan(corpus, Budget(), only=True), lambda _: None)
    made = list(texts.first(TOY, [], lambda: True))
    assert {batch.generator for batch in made} == {TEXTS}
    assert sum(len(batch.inputs) for batch in made) == 12
    last = made[-1].case(len(made[-1].inputs) - 1)
    assert (last.index, last.provenance()["place"]) == (11, f"{corpus.sources[0].name}:12")


def test_mutants_are_the_same_for_the_same_seed(corpus, tmp_path):
    def made(seed):
        return list(islice(mutated(corpus, 3).cases(TOY, seed), 200))

    assert made(3) == made(3) != made(4)
    assert sum(b"long" in one for one in made(3)) > 50
    assert len(drawn(corpus, 3)) == 12
    (tmp_path / "texts.txt").write_text("")  # a corpus that is empty by now has none
    assert list(mutated(corpus, 0).cases(TOY, 0)) == []


def test_they_are_asked_as_they_are_tokenized_in_use(corpus):
    vocabulary = sources.resolve("tekken_240911")
    able, _ = participants(["tiktoken", "tokenizers"])
    opened = contracts_of(vocabulary, able, frozenset(), proper=True)
    texts = Texts(plan(corpus, Budget(), only=True), lambda _: None)
    batch = next(texts.first(vocabulary, opened, lambda: False))
    assert [one.mode.label for one in opened if takes(one, batch)] == ["text"]
    assert len(opened) > 1


# The verdict.


def read(*, whole=True, unreadable=0):
    faults = ["a:7: is not JSON"] * unreadable
    return TextsRead("v", 3, 30, 50, 0, 0, 0, 0, unreadable, faults, whole, 1.0)


COMPARED = TextsCompared("v/text", {"b": TokenCounts("a", 3, 0, 9, 9)})
USAGE, OPEN = exit_statuses.USAGE, exit_statuses.NOT_EXAMINED
UNREAD = "2 records of your texts could not be read"


@pytest.mark.parametrize(
    ("events", "status", "said"),
    [
        ([], None, []),
        ([read(), COMPARED], None, []),
        ([read(unreadable=2), COMPARED], USAGE, [UNREAD, "a:7"]),
        ([read()], OPEN, ["no document of your texts was compared"]),
        ([read(whole=False), COMPARED], None, ["not read completely on v"]),
    ],
)
def test_what_a_verdict_says_of_the_texts(events, status, said):
    given = [TextsGiven(["a"], 1, 100, sampled=False, only=True)] if events else []
    judged = gate.judge([], [], Coverage.of([*given, *events]))
    lines = [one for one in (*judged.reasons, *judged.notes) if "your texts" in one]
    assert len(lines) == bool(said)
    assert all(word in lines[0] for word in said)
    if status is not None:
        assert judged.value == (FAIL if status == USAGE else UNEXAMINED)
        assert judged.exit_status == status


# The command.


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--only-input"], "--only-input needs texts; name some with --input"),
        (["--input=none.txt"], "none.txt: no such file; check the path"),
        (["--input=a.jsonl"], "a.jsonl:1: has no field of a usual name for its text, but x"),
    ],
)
def test_mistakes_are_one_line(tmp_path, arguments, said):
    (tmp_path / "a.jsonl").write_text('{"x": "text"}\n')
    done = here("run", *arguments, folder=tmp_path)
    assert done.returncode == exit_statuses.USAGE
    assert said in " ".join(done.stderr.split())


WRONG = ["--vocab=toy_bytes", "--impl=bpe.naive", f"--impl={MUTANTS}/in_process.py:AlwaysWrong"]


def test_only_the_texts_with_counts_places_and_faults(tmp_path):
    lines = ['{"text": "ab"}', '{"text": "ba"}', '{"text": "ab"}', "{", '{"text": "\\u00e9"}']
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    done = tokgate("run", "--only-input", "--input=a.jsonl", *WRONG, folder=tmp_path)
    assert done.returncode == exit_statuses.FAILS, done.stderr
    out = tmp_path / "tokgate-out"
    told = summary(out)
    texts = told["texts"]
    assert texts["only"]
    (row,) = texts["compared"]
    assert (row["implementation"], row["against"]) == ("mini-always-wrong", "bpe.naive")
    assert (row["documents"], row["differing"]) == (3, 3)
    assert row["tokens"] - row["against_tokens"] == row["more"] - row["fewer"]
    places = [Path(one["place"]).name for one in row["first"]]
    assert places == ["a.jsonl:1", "a.jsonl:2", "a.jsonl:5"]
    (seen,) = texts["read"]
    assert (seen["duplicates"], seen["unreadable"], seen["whole"]) == (1, 1, True)
    assert "a.jsonl:4: is not JSON" in seen["faults"][0]
    assert {Path(one["place"]).name for one in told["findings"]} == {"a.jsonl:1"}
    assert {one["name"] for one in told["generators"]} == {TEXTS}
    for report in ("report.html", "summary.md", "junit.xml"):
        assert "a.jsonl" in (out / report).read_text()


@pytest.mark.thorough  # a whole campaign
def test_a_campaign_that_begins_with_a_text_names_its_line(tmp_path):
    (tmp_path / "a.txt").write_text("fine\n\nanother line\n")
    done = tokgate(
        "fuzz", "--input=a.txt", *WRONG, "--check=equivalence", "--no-coverage", "--no-structured",
        "--generator=edge", "--budget=200cases", "--out=out", folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == exit_statuses.FAILS, done.stderr
    found = [
        (one["generator"], Path(one["place"]).name) for one in record(tmp_path / "out", "Found")
    ]
    assert set(found) <= {("seeds", "a.txt:1"), ("seeds", "a.txt:3"), ("edge", "")}
    assert any(generator == "seeds" for generator, _ in found)
