"""Defects of the field: each is as it is said, by its library alone; what is gone is told."""

from importlib import metadata

import pytest
from msgspec import structs

from harness.studies.survey.defects import Defect, Status, confirm, judged, load, shown


def test_defects_are_read_and_each_is_its_own(tmp_path):
    defects = load()
    assert len({(one.library, one.vocabulary, shown(one)) for one in defects}) == len(defects)
    assert all(one.gives != one.right for one in defects)
    path = tmp_path / "defects.toml"
    path.write_text(
        '[[defect]]\nlibrary = "x"\nversion = "1"\ntitle = "t"\nvocabulary = "v"\n'
        'reference = "r"\nask = "encode"\ntext = "é"\ntimes = 50\ngives = [1]\nright = "died"\n'
    )
    (one,) = load(path)
    assert one.input == "é".encode() * 50
    assert shown(one) == "`'\\xe9' * 50`"


def test_what_is_not_so_is_not_confirmed():
    said = Defect(
        "tokenizers", metadata.version("tokenizers"), "none", "toy_wordpiece", "encode",
        gives=[3], right="answers", reference="tokenizers", text="a",
    )  # fmt: skip
    assert confirm(said) is Status.CONFIRMED
    assert confirm(structs.replace(said, gives=[7])) is Status.GONE
    assert confirm(structs.replace(said, right="panic")) is Status.GONE
    assert confirm(structs.replace(said, vocabulary="absent_vocabulary")) is Status.ABSENT


@pytest.mark.parametrize(
    ("gives", "right", "given", "now", "status"),
    [
        ("error", [1], "panic", [1], Status.WORSE),
        ("panic", "answers", "died", [1], Status.WORSE),
        ([7], [1], "died", [1], Status.WORSE),
        ([7], [1], [8], [1], Status.CHANGED),
        ("died", [1], "error", [1], Status.CHANGED),
        ("died", [1], [1], [1], Status.GONE),
        ("died", "answers", [5], [1], Status.GONE),
        ([7], [1], [7], [7], Status.GONE),
        ([7], "error", [7], "error", Status.CONFIRMED),
        ("superlinear", "linear", "linear", "linear", Status.GONE),
    ],
)
def test_only_what_is_answered_rightly_is_gone(gives, right, given, now, status):
    said = Defect("x", "1", "t", "v", "encode", gives=gives, right=right, reference="r")
    assert judged(said, given, now) is status
