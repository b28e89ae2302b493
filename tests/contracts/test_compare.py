"""``tokgate compare``: the verdict, each cause apart, and what is no difference."""

import json
from dataclasses import replace

import pytest

from corpora.vocabularies import sources
from corpora.vocabularies.model import Merges
from tests.doubles.command import here, tokgate

PIECES, BYTES = sources.resolve("unigram_nfkc"), sources.resolve("toy_bytes")


def model(folder, name, **changed):
    """A file of SentencePiece's, with other settings of its normalizer."""
    settings = replace(PIECES.normalizer, **changed)
    path = folder / name
    path.write_bytes(replace(PIECES, native=None, normalizer=settings).as_sentencepiece())
    return str(path)


def merges(folder, name, order):
    """A tokenizer.json whose merges, and the ids of what they make, are in this order."""
    path = folder / name
    columns = (BYTES.merges.left, BYTES.merges.right, BYTES.merges.merged)
    changed = replace(BYTES, native=None, merges=Merges(*(one[order] for one in columns)))
    path.write_bytes(changed.as_tokenizer_json())
    return str(path)


def compared(folder, a, b, *options):
    """The exit status, what is printed, and the JSON of a short comparison."""
    done = tokgate("compare", a, b, "--budget", "1s", *options, folder=folder)
    told = json.loads((folder / "tokgate-compare" / "compare.json").read_text())
    return done.returncode, done.stdout, told


def test_two_causes_are_told_apart_each_with_its_smallest_text(tmp_path):
    whole = model(tmp_path, "a.model")
    other = model(tmp_path, "b.model", add_dummy_prefix=False, charsmap=None)
    status, said, told = compared(tmp_path, whole, other)
    assert (status, told["verdict"], told["complete"]) == (1, "different", True)
    causes = {one["kind"]: one for one in told["causes"]}
    both = {"add_dummy_prefix", "charsmap"}
    assert both <= causes.keys() <= both | {"normalizer"}, "which is both of them together"
    assert all(len(one["text"]) <= 4 for one in causes.values())
    assert "B does not prepend a space" in said
    prefix = causes["add_dummy_prefix"]
    assert prefix["a"]["tokens"] == ["'\u2581'", *prefix["b"]["tokens"]]


def test_one_model_in_two_formats_is_the_same_by_its_files(tmp_path):
    """What is left between the libraries is put down to them, and not to the files."""
    whole = model(tmp_path, "a.model")
    converted = tmp_path / "a.json"
    converted.write_bytes(PIECES.as_tokenizer_json())
    _, _, told = compared(tmp_path, whole, str(converted))
    assert {one["kind"] for one in told["causes"]} <= {"engines"}
    assert told["readers"][0].startswith("sentencepiece")
    assert told["readers"][1].startswith("tokenizers")


@pytest.mark.thorough
def test_a_swapped_merge_is_found_and_named(tmp_path):
    order = [*range(len(BYTES.merges))]
    a = merges(tmp_path, "a.json", order)
    order[1], order[2] = order[2], order[1]  # 'éé' is c3 a9 c3 a9
    b = merges(tmp_path, "b.json", order)
    status, said, told = compared(tmp_path, a, b)
    assert (status, [one["kind"] for one in told["causes"]]) == (1, ["merges"])
    assert "are swapped" in said
    assert len(told["causes"][0]["text"]) == len("'éé'")


def test_ids_in_another_order_are_no_difference_and_said_once(tmp_path):
    document = json.loads(BYTES.as_tokenizer_json())
    (tmp_path / "a.json").write_text(json.dumps(document))
    vocabulary = document["model"]["vocab"]
    last = max(vocabulary.values())
    document["model"]["vocab"] = {text: last - i for text, i in vocabulary.items()}
    (tmp_path / "b.json").write_text(json.dumps(document))
    status, said, told = compared(tmp_path, "a.json", "b.json")
    assert (status, told["verdict"], told["causes"]) == (0, "same", [])
    assert said.count("have another id in B") == 1
    assert "proved equal for every text" in said


def test_what_is_not_proved_is_named_and_fails_nothing(tmp_path):
    document = json.loads(BYTES.as_tokenizer_json())
    (tmp_path / "a.json").write_text(json.dumps(document))
    steps = document["pre_tokenizer"]["pretokenizers"]
    steps[0]["pattern"]["Regex"] += r"|(?<=\x00)\x00"
    (tmp_path / "b.json").write_text(json.dumps(document))
    status, said, told = compared(tmp_path, "a.json", "b.json")
    assert (status, told["verdict"]) == (0, "same"), said
    assert "not proved for every text: pattern (look-behind)" in " ".join(said.split())
    assert "proved equal" not in said


@pytest.mark.thorough
def test_a_step_that_no_model_has_is_compared_and_named(tmp_path):
    document = json.loads(PIECES.as_tokenizer_json())
    (tmp_path / "a.json").write_text(json.dumps(document))
    step = {"type": "Replace", "pattern": {"String": "cat"}, "content": "dog"}
    steps = [*filter(None, [document["normalizer"]]), step]
    document["normalizer"] = {"type": "Sequence", "normalizers": steps}
    document["post_processor"] = None
    document["decoder"] = None
    (tmp_path / "b.json").write_text(json.dumps(document))
    (tmp_path / "cats.txt").write_text("many cats\n")
    status, _, told = compared(tmp_path, "a.json", "b.json", "--input", "cats.txt")
    [cause] = told["causes"]
    assert (status, cause["text"]) == (1, "'cat'")
    assert "the files differ in normalizer; B has steps" in cause["words"]
    assert any("decoder" in line for line in told["not_compared"])


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("compare", "toy_bytes"), 2, "Missing argument 'B'"),
        (("compare", "toy_bytes", "absent.json"), 2, "absent.json"),
        (("compare", "toy_bytes", "toy_bytes", "--budget", "5cases"), 2, "give a time"),
    ],
)
def test_what_cannot_be_compared_is_one_line(arguments, status, said, tmp_path):
    done = here(*arguments, folder=tmp_path)
    assert done.returncode == status
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
