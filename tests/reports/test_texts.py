"""The section "Your texts": sums, sentences, and what changed from run to run."""

from dataclasses import asdict, replace

from harness.events import FirstDifference, TextsCompared, TextsGiven, TextsRead, TokenCounts
from reports import junit, markdown
from reports.record import RunRecord
from reports.texts import changes, told
from tests.reports.records import found, started

GIVEN = TextsGiven(["a.txt"], 1, 200, sampled=False, only=True)
READ = TextsRead("v", 7, 90, 200, 1, 0, 2, 0, 0, [], True, 2.0)
COUNTS = TokenCounts("tiktoken", 4, 2, 40, 41, 1, 2, 3, 1, 5)
TRUSTED = TokenCounts("", 0, 0, 41, digest=7)
COMPARED = TextsCompared(
    "v/text", {"mine": COUNTS, "tiktoken": TRUSTED},
    [FirstDifference("mine", "tiktoken", "a.txt:3", 2, 9, 10)],
)  # fmt: skip


def record(*events):
    return RunRecord.from_events([started(), *events])


def test_batches_add_up():
    twice = record(GIVEN, READ, COMPARED, COMPARED)
    texts = twice.texts
    (row,) = texts["compared"]
    sums = asdict(TokenCounts("tiktoken", 8, 4, 80, 82, 2, 4, 6, 2))
    del sums["digest"]
    assert {**row, **sums} == row
    assert [int(one["digest"], 16) for one in texts["digests"]] == [10, 14]
    assert [one["tokens"] for one in texts["digests"]] == [80, 82]
    said = f"{markdown.render(twice)}\n{told(row)}"
    assert "v: 7 documents, 0.0 MiB, all of them, 0.0 MiB/s; duplicates passed over: 1" in said
    assert "other ids than tiktoken in 4 of 8 documents" in said
    assert "2 tokens more and 4 fewer (-2.439 % of 82)" in said
    assert "2 could not be compared" in said
    assert "mine and tiktoken part at token 2 on v/text (9 tokens, 10 of" in said


def test_nothing_is_said_where_no_texts_were_given():
    assert record().texts is None
    assert "Your texts" not in markdown.render(record())


def test_junit_fails_only_for_whom_a_finding_blames():
    blamed = replace(found("f-1", b"x"), contract="v/text", culprits=["mine"])
    assert 'name="texts" tests="1" failures="1"' in junit.render(
        record(GIVEN, READ, COMPARED, blamed)
    )
    assert 'name="texts" tests="1" failures="0"' in junit.render(record(GIVEN, READ, COMPARED))


def test_what_cannot_be_read_is_an_error_in_junit():
    bad = replace(READ, unreadable=1, faults=["a.txt:9: is not JSON"])
    assert "a.txt:9: is not JSON" in junit.render(record(GIVEN, bad, COMPARED))


class TestChanges:
    def test_the_same_ids(self):
        one = record(GIVEN, READ, COMPARED).texts
        assert [line.split(":")[1].strip() for line in changes(one, one)] == [
            "mine gives the same ids as before on v/text",
            "tiktoken gives the same ids as before on v/text",
        ]

    def test_other_ids_with_the_difference_of_counts(self):
        counts = {"mine": replace(COUNTS, tokens=43, digest=6), "tiktoken": TRUSTED}
        other = replace(COMPARED, counts=counts)
        old, new = (record(GIVEN, READ, one).texts for one in (COMPARED, other))
        first = next(changes(old, new))
        assert "mine gives other ids than before on v/text, 40 tokens then and 43 now: +3" in first

    def test_other_documents_are_not_compared(self):
        old = record(GIVEN, READ, COMPARED).texts
        for other in (replace(READ, documents=8), replace(READ, whole=False)):
            (line,) = changes(old, record(GIVEN, other, COMPARED).texts)
            assert "did not read the same documents" in line
        assert list(changes(old, record().texts)) == []
