"""``tokgate field``: who meets whom, matches that are there already, the page."""

import pytest

from corpora.vocabularies import sources
from harness.engine import selection
from harness.engine.suites import Budget
from harness.studies.survey.plan import done, libraries, matches, plan_of, reference_of
from tests.doubles.command import tokgate
from tests.properties.impls.test_peers import ranked


def test_the_field_is_of_libraries_and_of_all_of_them():
    present, missing = libraries([])
    names = {one.name for one in present}
    assert "tokenizers" in names
    assert names.isdisjoint(missing)
    assert all(one.about.library for one in present)


def test_the_reference_is_the_one_whose_file_is_read():
    def reference(vocabulary, spec):
        return reference_of(vocabulary, selection.participants([spec])[0][0])

    pieces = sources.resolve("unigram_nfkc")
    assert reference(pieces, "tokenizers") == "sentencepiece"
    assert reference(ranked(), "tokenizers") == "tiktoken"
    assert reference(sources.resolve("toy_wordpiece"), "tokenizers") == "tokenizers"
    pytest.importorskip("tokie")
    assert reference(pieces, "tokie") == "tokenizers"  # it is given a tokenizer.json


def test_a_library_is_not_matched_with_itself_and_says_what_it_does_not_run():
    present, _ = selection.participants(["tokenizers", "llguidance"])
    (one,) = matches(present, selection.vocabularies(["toy_wordpiece"], 0))
    assert (one.library.name, one.reference.name) == ("llguidance", "tokenizers")
    assert "byte-pair" in str(one.refusal)


@pytest.mark.thorough  # a whole survey
def test_only_what_was_played_as_planned_is_done(tmp_path):
    arguments = ["field", "--impl", "tokenizers", "--vocab", "unigram_nfkc", "--no-bench"]
    arguments += ["--budget", "40cases", "--check", "equivalence", "--out", str(tmp_path)]
    assert tokgate(*arguments).returncode == 0
    run = tmp_path / "tokenizers" / "unigram_nfkc"
    present, _ = selection.participants(["tokenizers"])
    (match,) = matches(present, selection.vocabularies(["unigram_nfkc"], 0))
    for folder, cases, there in ((run, 40, True), (run, 41, False), (run / "absent", 40, False)):
        plan = plan_of(match, ["equivalence"], Budget(cases=cases), 0, "smoke")
        assert done(folder, plan) is there
