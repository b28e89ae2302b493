"""What people and programs read of each report, kept whole: a difference is part of the review.

Where a change is meant, ``python -m tests.properties.reports.test_golden`` keeps it.
"""

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from harness.events import (
    Counted,
    ExpectationJudged,
    FamiliesMeasured,
    GrowthJudged,
    Withdrawn,
)
from reports import FORMATS, comment, issue
from reports.last_words import closing
from reports.record import RunRecord
from tests.properties.reports import (
    every_page,
    records,
    test_blocks,
    test_campaigns,
    test_cluster,
    test_forced,
    test_last_words,
    test_texts,
)

GOLDEN = Path(__file__).with_name("golden")
OVER = GrowthJudged("heap", "v", "runs", "time", "linear", "fail", "ours", "exponent 2.00")
OPEN = replace(OVER, outcome="inconclusive", family="prose", line="1.2 to 1.4")
KEPT = GrowthJudged("bpe.naive", "v", "runs", "time", "quadratic", "pass", "by definition")
WHO = ["tiktoken", "tokenizers"]
GONE = Withdrawn("llama.cpp", "tekken_240911", "withdrawn after 3 time-outs\nlog")


def variants():
    """One cause on three kinds of input, of which one is expected."""
    for kind, reason in (("Mn", "known"), ("L", None), ("So", None)):
        bucket = f"equivalence/bpe/text/merges/{kind}/tokenizers"
        yield records.found(
            f"f-{kind}", kind.encode(), bucket=bucket, stage="merges", expected=reason
        )
        yield Counted(bucket, 7 * len(kind))


def undecided(check):
    """Two that are trusted equally differ."""
    bucket = f"{check}/bpe/text/merges/L/tiktoken<>tokenizers"
    return records.found(
        f"f-{check}", b"a", check=check, bucket=bucket, stage="merges", culprits=WHO, undecided=True
    )


def special():
    """What seldom happens, all in one run."""
    return records.run(
        GONE,
        FamiliesMeasured("toy", 40, [*map(str, range(13))], [*map(str, range(10))]),
        ExpectationJudged("b", "not-exercised", "other suite", None, ["tokenizers"]),
        ExpectationJudged("c", "not-exercised", "of who takes no part", None, ["x"]),
        records.special()[0], undecided("equivalence"), undecided("round-trip"), *variants(),
        records.cell("heap", "v", "prose", 1.3, "inconclusive"), OPEN, OVER,
        records.cell("bpe.naive", "v", "runs", 1.98, "superlinear"), KEPT,
        records.cell("heap", "v", "prose", 1.0, "linear", measure="steps"),
        test_campaigns.event(), *test_cluster.EVENTS, test_cluster.used(),
        test_forced.ROW, test_forced.CORPUS, test_forced.witness(),
        test_texts.GIVEN, test_texts.READ, *[test_texts.COMPARED] * 2,
        verdict="fail",
    )  # fmt: skip


def cut_off():
    """A campaign on a cluster that was killed."""
    told = GONE, test_campaigns.event(canary=False), *test_cluster.EVENTS
    return RunRecord.from_events([*records.opening()[:5], *told])


def seen(page):
    """What is read of a page: a line for each row, paragraph or heading, and hints in braces."""
    plain = re.sub(r"<(style|script)\b.*?</\1>", "", " ".join(page.split()))
    plain = re.sub(r'<[^>]* title="([^"]*)"[^>]*>', r"{\1} ", plain)
    plain = re.sub(r"</?(tr|p|h\d|li|d[ltd]|div|section|pre|summary)\b[^>]*>", "\n", plain)
    lines = unescape(re.sub(r"<[^>]*>", " ", plain)).splitlines()
    return "".join(f"{' '.join(line.split())}\n" for line in lines if line.strip())


def results(text):
    """Of a file of SARIF what changes from run to run."""
    return json.dumps(json.loads(text)["runs"][0]["results"], indent=1)


def told():
    """All that is kept, by the names of the files."""
    shorter = {"html": seen, "sarif": results}
    made = {one.__name__: one() for one in (records.three, special, cut_off, test_forced.walked)}
    for record, (name, render) in ((r, f) for r in made for f in FORMATS.items()):
        yield f"{record}.{name}", shorter.get(name, str)(render(made[record]))
    for study, files in every_page.STUDIES.items():
        for name, text in files():
            kind = name.rpartition(".")[2]
            yield f"{study}.{kind}", shorter.get(kind, str)(text)
    kinds = ("html", "markdown", "terminal")
    for kind, text in zip(kinds, test_blocks.shown(*test_blocks.BLOCKS), strict=True):
        yield f"blocks.{kind}", shorter.get(kind, str)(text)
    yield "changes.comment", comment.render(made["special"], made["three"])
    finding, folder = made["special"].unexpected[0].example, Path("out")
    yield "issue.md", issue.render(finding, made["special"], "import tiktoken\n\nprint('```')\n")
    ended = test_last_words.ended(["known differences are gone"], ["not tested: x (no time)"])
    end = closing(ended, "9 findings", folder / "report.html", [finding] * 9)
    yield "end.txt", "\n".join(test_last_words.printed(end))


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.iterdir()))
def test_a_report_says_what_it_said(name, every):
    assert every[name] == (GOLDEN / name).read_text("utf-8")


def test_every_report_is_kept(every):
    assert {path.name for path in GOLDEN.iterdir()} == every.keys()


@pytest.fixture(scope="module")
def every():
    """All that is told, as a file has it."""
    return {name: text.encode("utf-8", "backslashreplace").decode() for name, text in told()}


if __name__ == "__main__":
    for name, text in told():
        (GOLDEN / name).write_text(text, "utf-8", "backslashreplace")
