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
from impls.interface import Mode
from tests.harness.command import here, record, summary, tokgate
from tests.harness.toy_plans import any_plan

MUTANTS = Path(__file__).parents[1] / "mutants"
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


class TestOrder:
    def test_texts_come_before_generators_and_go_on_beside_them(self, corpus):
        events = []
        texts = Texts(plan(corpus, Budget(seconds=1.0)), events.append)
        vocabulary = sources.resolve("toy_bytes")

        first = [batch.generator for batch in texts.first(vocabulary, [], lambda: False)]
        late = [batch.generator for batch in texts.first(vocabulary, [], lambda: True)]

        assert first[:2] == [TEXTS, TEXTS]
        assert set(first[2:]) == {"made"}
        assert late[:3] == [TEXTS, "made", TEXTS]
        read = [one for one in events if isinstance(one, TextsRead)]
        assert read[-1].whole
        assert read[-1].documents == 12

    def test_texts_alone_wait_for_nobody(self, corpus):
        texts = Texts(plan(corpus, Budget(), only=True), lambda _: None)
        made = list(texts.first(sources.resolve("toy_bytes"), [], lambda: True))

        assert {batch.generator for batch in made} == {TEXTS}
        assert sum(len(batch.inputs) for batch in made) == 12

    def test_a_case_knows_its_line(self, corpus):
        texts = Texts(plan(corpus, Budget(), only=True), lambda _: None)
        last = list(texts.batches(sources.resolve("toy_bytes"), Mode()))[-1]
        index = len(last.inputs) - 1

        assert last.case(index).provenance()["place"] == f"{corpus.sources[0].name}:12"
        assert last.case(index).index == 11

    def test_mutants_are_the_same_for_the_same_seed(self, corpus):
        vocabulary = sources.resolve("toy_bytes")
        made = list(islice(mutated(corpus, 3).cases(vocabulary, 3), 200))

        assert made == list(islice(mutated(corpus, 3).cases(vocabulary, 3), 200))
        assert made != list(islice(mutated(corpus, 3).cases(vocabulary, 4), 200))
        assert sum(b"long" in one for one in made) > 50
        assert len(drawn(corpus, 3)) == 12

    def test_an_empty_corpus_has_no_mutants(self, tmp_path):
        (tmp_path / "none.txt").write_text("text")
        empty = Corpus.of([str(tmp_path / "none.txt")])
        (tmp_path / "none.txt").write_text("")
        assert list(mutated(empty, 0).cases(sources.resolve("toy_bytes"), 0)) == []

    def test_they_are_asked_as_they_are_tokenized_in_use(self, corpus):
        vocabulary = sources.resolve("tekken_240911")
        able, _ = participants(["tiktoken", "tokenizers"])
        opened = contracts_of(vocabulary, able, frozenset(), proper=True)
        texts = Texts(plan(corpus, Budget(), only=True), lambda _: None)
        batch = next(texts.first(vocabulary, opened, lambda: False))

        assert [one.mode.label for one in opened if takes(one, batch)] == ["text"]
        assert len(opened) > 1


def said(*events):
    """What a verdict says of the texts: reasons, gaps and notes."""
    judged = gate.judge([], [], Coverage.of(events))
    return [line for line in (*judged.reasons, *judged.notes) if "your texts" in line]


def given(*, only):
    return TextsGiven(["a"], 1, 100, sampled=not only, only=only)


def read(*, whole=True, unreadable=0):
    faults = ["a:7: is not JSON"] * unreadable
    return TextsRead("v", 3, 30, 50, 0, 0, 0, 0, unreadable, faults, whole, 1.0)


COMPARED = TextsCompared("v/text", {"b": TokenCounts("a", 3, 0, 9, 9)})


class TestVerdict:
    def test_what_was_read_and_compared_leaves_nothing_to_say(self):
        assert said() == said(given(only=True), read(), COMPARED) == []

    def test_a_record_that_cannot_be_read_is_a_mistake_of_the_users(self):
        told = [given(only=False), read(unreadable=2), COMPARED]
        judged = gate.judge([], [], Coverage.of(told))
        assert (judged.value, judged.exit_status) == (FAIL, exit_statuses.USAGE)
        assert judged.reasons[0].startswith("2 records of your texts could not be read")
        assert "a:7" in judged.reasons[0]

    def test_texts_that_nobody_compared_are_not_examined(self):
        judged = gate.judge([], [], Coverage.of([given(only=True), read()]))
        assert (judged.value, judged.exit_status) == (UNEXAMINED, exit_statuses.NOT_EXAMINED)
        assert "no document of your texts was compared" in judged.reasons[0]

    def test_what_there_was_no_time_for_is_a_note(self):
        [note] = said(given(only=False), read(whole=False), COMPARED)
        assert "not read completely on v" in note


class TestCommand:
    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["--only-input"], "--only-input needs texts; name some with --input"),
            (["--input=none.txt"], "none.txt: no such file; check the path"),
            (["--input=a.jsonl"], "a.jsonl:1: has no field of a usual name for its text, but x"),
        ],
    )
    def test_mistakes_are_one_line(self, tmp_path, arguments, said):
        (tmp_path / "a.jsonl").write_text('{"x": "text"}\n')
        done = here("run", *arguments, folder=tmp_path)
        assert done.returncode == exit_statuses.USAGE
        assert said in " ".join(done.stderr.split())

    def test_only_the_texts_with_counts_places_and_faults(self, tmp_path):
        lines = ['{"text": "ab"}', '{"text": "ba"}', '{"text": "ab"}', "{", '{"text": "\\u00e9"}']
        (tmp_path / "a.jsonl").write_text("\n".join(lines))
        out = tmp_path / "out"
        wrong = f"{MUTANTS}/in_process.py:AlwaysWrong"
        done = tokgate(
            "run", "--only-input", f"--input={tmp_path}/a.jsonl", "--vocab=toy_bytes",
            "--impl=bpe.naive", f"--impl={wrong}", f"--out={out}",
        )  # fmt: skip

        assert done.returncode == exit_statuses.FAILS, done.stderr
        texts = summary(out)["texts"]
        assert texts["only"]
        (row,) = texts["compared"]
        assert (row["implementation"], row["against"]) == ("mini-always-wrong", "bpe.naive")
        assert (row["documents"], row["differing"]) == (3, 3)
        assert row["tokens"] - row["against_tokens"] == row["more"] - row["fewer"]
        assert [Path(one["place"]).name for one in row["first"]] == [
            "a.jsonl:1", "a.jsonl:2", "a.jsonl:5",
        ]  # fmt: skip
        (told,) = texts["read"]
        assert (told["duplicates"], told["unreadable"], told["whole"]) == (1, 1, True)
        assert "a.jsonl:4: is not JSON" in told["faults"][0]
        told = summary(out)
        assert {Path(one["place"]).name for one in told["findings"]} == {"a.jsonl:1"}
        assert {one["name"] for one in told["generators"]} == {TEXTS}
        for report in ("report.html", "summary.md", "junit.xml"):
            assert "a.jsonl" in (out / report).read_text()
        assert "### Your texts" in (out / "summary.md").read_text()
        assert 'id="texts"' in (out / "report.html").read_text()

    @pytest.mark.thorough  # a whole campaign
    def test_a_campaign_that_begins_with_a_text_names_its_line(self, tmp_path):
        (tmp_path / "a.txt").write_text("fine\n\nanother line\n")
        out = tmp_path / "out"
        done = tokgate(
            "fuzz", f"--input={tmp_path}/a.txt", "--vocab=toy_bytes", "--impl=bpe.naive",
            f"--impl={MUTANTS}/in_process.py:AlwaysWrong", "--check=equivalence", "--no-coverage",
            "--no-structured", "--generator=edge", "--budget=200cases", f"--out={out}",
        )  # fmt: skip

        assert done.returncode == exit_statuses.FAILS, done.stderr
        found = record(out, "Found")
        assert found
        assert {(one["generator"], Path(one["place"]).name) for one in found} <= {
            ("seeds", "a.txt:1"), ("seeds", "a.txt:3"), ("edge", ""),
        }  # fmt: skip
        assert any(one["generator"] == "seeds" for one in found)
