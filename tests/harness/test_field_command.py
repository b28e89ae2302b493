"""``tokgate field``: who meets whom, matches that are there already, the page."""

import pytest
from typer.testing import CliRunner

from corpora.vocabularies import sources
from harness.cli.application import app
from harness.engine import selection
from harness.engine.suites import Budget
from harness.events import MatchPlayed
from harness.studies.survey.plan import done, libraries, matches, plan_of, reference_of
from reports.field import document, files, verdict
from tests.impls.test_peers import ranked


def participant(spec):
    return selection.participants([spec])[0][0]


def test_the_field_is_of_libraries_and_of_all_of_them():
    present, missing = libraries([])
    names = {one.name for one in present}
    assert "tokenizers" in names
    assert not any(name.startswith(("bpe.", "unigram.", "spm.", "wordpiece.")) for name in names)
    assert names.isdisjoint(missing)
    assert all(one.about.library for one in present)


def test_the_reference_is_the_one_whose_file_is_read():
    pieces, tokenizers = sources.resolve("unigram_nfkc"), participant("tokenizers")
    assert reference_of(pieces, tokenizers) == "sentencepiece"
    assert reference_of(ranked(), tokenizers) == "tiktoken"
    assert reference_of(sources.resolve("toy_wordpiece"), tokenizers) == "tokenizers"
    tokie = pytest.importorskip("tokie") and participant("tokie")
    assert reference_of(pieces, tokie) == "tokenizers"  # it is given a tokenizer.json


def test_a_library_is_not_matched_with_itself_and_says_what_it_does_not_run():
    loaders = selection.vocabularies(["toy_wordpiece"], 0)
    found = matches([participant("tokenizers"), participant("llguidance")], loaders)
    assert [(one.library.name, one.reference.name) for one in found] == [
        ("llguidance", "tokenizers")
    ]
    assert "byte-pair" in str(found[0].refusal)


@pytest.mark.thorough  # a whole survey
def test_the_command_plays_each_match_once(tmp_path):
    out = tmp_path / "field"
    arguments = ["field", "--impl", "tokenizers", "--impl", "llguidance", "--vocab", "unigram_nfkc"]
    arguments += ["--budget", "40cases", "--check", "equivalence", "--no-bench", "--out", str(out)]
    first = CliRunner().invoke(app, arguments)
    assert first.exit_code == 0, first.output
    run = out / "tokenizers" / "unigram_nfkc"
    before = (run / "run.jsonl").stat().st_mtime_ns
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert (run / "run.jsonl").stat().st_mtime_ns == before  # it was not played again
    (match,) = matches([participant("tokenizers")], selection.vocabularies(["unigram_nfkc"], 0))
    for folder, cases, there in ((run, 40, True), (run, 41, False), (out / "absent", 40, False)):
        plan = plan_of(match, ["equivalence"], Budget(cases=cases), 0, "smoke")
        assert done(folder, plan) is there


def test_a_budget_that_is_none_is_one_line():
    result = CliRunner().invoke(app, ["field", "--budget", "soon"])
    assert "--budget" in str(result.exception)


def test_what_is_not_run_stands_on_the_page_with_its_reason():
    one = MatchPlayed("lib", "1.0", "", "v<1>", "tiktoken", "lib/v", "byte-level only")
    assert verdict(one, None)["kind"] == "not-run"
    page = document([(one, None)], "2026", "tokgate field", complete=False, speed=False)
    _, (_, html), (_, markdown) = files(page)
    assert "v&lt;1&gt;" in html and "byte-level only" in html and "Interrupted" in html
    assert "| lib" in markdown
