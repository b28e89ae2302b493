"""The section "Your texts": sums, sentences, and what changed from run to run."""

from dataclasses import asdict, replace

import pytest

from harness.events import FirstDifference, TextsCompared, TextsGiven, TextsRead, TokenCounts
from reports import junit
from reports.record import RunRecord
from reports.texts import changes, told
from tests.properties.reports.records import found, started

GIVEN = TextsGiven(["a.txt"], 1, 200, sampled=False, only=True)
READ = TextsRead("v", 7, 90, 200, 1, 0, 2, 0, 0, [], True, 2.0)
COUNTS = TokenCounts("tiktoken", 4, 2, 40, 41, 1, 2, 3, 1, 5)
TRUSTED = TokenCounts("", 0, 0, 41, digest=7)
COMPARED = TextsCompared(
    "v/text", {"mine": COUNTS, "tiktoken": TRUSTED},
    [FirstDifference("mine", "tiktoken", "a.txt:3", 2, 9, 10)],
)  # fmt: skip
OTHER = replace(
    COMPARED, counts={"mine": replace(COUNTS, tokens=43, digest=6), "tiktoken": TRUSTED}
)


def record(*events):
    return RunRecord.from_events([started(), *events])


def test_batches_add_up():
    texts = record(GIVEN, READ, COMPARED, COMPARED).texts
    (row,) = texts["compared"]
    sums = asdict(TokenCounts("tiktoken", 8, 4, 80, 82, 2, 4, 6, 2))
    del sums["digest"]
    assert {**row, **sums} == row
    digests = [(int(one["digest"], 16), one["tokens"]) for one in texts["digests"]]
    assert digests == [(10, 80), (14, 82)]
    assert told(row) == (
        "other ids than tiktoken in 4 of 8 documents: 2 tokens more and 4 fewer (-2.439 % of 82), "
        "with 6 tokens in what differs; 2 could not be compared"
    )
    assert record().texts is None


@pytest.mark.parametrize(
    ("read", "more", "said"),
    [
        (READ, [replace(found("f-1", b"x"), contract="v/text", culprits=["mine"])],
         'name="texts" tests="1" failures="1"'),
        (READ, [], 'name="texts" tests="1" failures="0"'),  # no finding blames anybody
        (replace(READ, unreadable=1, faults=["a.txt:9: is not JSON"]), [], "a.txt:9: is not JSON"),
    ],
)  # fmt: skip
def test_junit_fails_for_whom_a_finding_blames_and_for_what_cannot_be_read(read, more, said):
    assert said in junit.render(record(GIVEN, read, COMPARED, *more))


@pytest.mark.parametrize(
    ("read", "compared", "lines"),
    [
        (READ, COMPARED, ["mine gives the same ids as before on v/text",
                          "tiktoken gives the same ids as before on v/text"]),
        (READ, OTHER, [
            "mine gives other ids than before on v/text, 40 tokens then and 43 now: +3",
            "tiktoken gives the same ids as before on v/text",
        ]),
        *(
            (other, COMPARED,
             ["the two runs did not read the same documents in order; not compared"])
            for other in (replace(READ, documents=8), replace(READ, whole=False))
        ),
    ],
)  # fmt: skip
def test_changes_from_run_to_run(read, compared, lines):
    old, new = record(GIVEN, READ, COMPARED), record(GIVEN, read, compared)
    assert [*changes(old.texts, new.texts)] == [f"your texts: {one}" for one in lines]
    assert [*changes(old.texts, None)] == []
