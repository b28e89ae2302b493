"""Reading corpora of schemas: folders and archives alike, in order, every fault in one line."""

import io
import json
import tarfile

import pytest
from backports import zstd

from corpora.grammars.corpus import CorpusError, SchemaCase, compact_json, read_cases
from tests.properties.corpora.files import written

CASES = [
    SchemaCase("b/two", {"type": "string"}, (b'"x"', '"é😀"'.encode())),
    SchemaCase("one", True, (b'{"z":1,"a":[1.5,null]}',)),
    SchemaCase("zero", {}, ()),
]


def write_folder(folder):
    """The cases above as files, with what must be passed over."""
    (folder / "b").mkdir(parents=True)
    for case in CASES:
        tests = [{"valid": True, "data": json.loads(one)} for one in case.instances]
        tests.insert(1, {"valid": False, "data": 1})
        written(folder / f"{case.name}.json", {"schema": case.schema, "tests": tests, "meta": 0})
    written(folder / "README.md", "no case")
    written(folder / "._one.json", b"\x00")
    return folder


def corpus(path, kind):
    """A corpus of this kind; its content says what it is, and not its name."""
    if kind == "folder":
        return write_folder(path)
    folder = write_folder(path.parent / "made")
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz" if kind == "gz" else "w") as tar:
        # Not in order, and below a folder that all files share.
        for name in ["zero.json", "README.md", "one.json", "._one.json", "b/two.json"]:
            tar.add(folder / name, f"top/data/{name}")
    content = raw.getvalue()
    return written(path, zstd.compress(content) if kind == "zst" else content)


@pytest.mark.parametrize("kind", ["folder", "tar", "gz", "zst"])
def test_folders_and_archives_give_the_same_cases(tmp_path, kind):
    path = corpus(tmp_path / "x", kind)
    assert list(read_cases(path)) == CASES
    if kind != "folder":
        content = path.read_bytes()
        with pytest.raises(CorpusError, match="is no whole tar archive") as caught:
            list(read_cases(written(path, content[: len(content) // 3])))
        assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_compact_json_is_always_utf8():
    value = {"b": "\ud83d", "a": ["é\n\u2028", 1e400, True]}
    text = compact_json(value)
    assert b" " not in text and json.loads(text.decode()) == value
    assert text.startswith(b'{"b":"\\ud83d","a":["\xc3\xa9\\n')


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"{", "is not JSON"),
        (b"\xff", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]", "not an object"),
        (b'{"tests": []}', "`schema` is missing"),
        (b'{"schema": 3}', "`schema` is missing, or neither"),
        (b'{"schema": {}, "tests": {}}', "`tests` is not a list"),
        (b'{"schema": {}, "tests": [{"data": 1}]}', "`tests` is not a list"),
    ],
)
def test_a_file_that_is_no_case_is_named(tmp_path, content, fault):
    written(write_folder(tmp_path / "f") / "c.json", content)
    cases = read_cases(tmp_path / "f")
    assert next(cases) == CASES[0]
    with pytest.raises(CorpusError) as caught:
        next(cases)
    assert "c.json: " in str(caught.value) and fault in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_corpus_is_one_line(tmp_path):
    (tmp_path / "empty").mkdir()
    written(tmp_path / "text", "no archive" * 100)
    for name, fault in (
        ("missing", "no such file or folder"),
        ("empty", "holds no .json file"),
        ("text", "is no whole tar archive"),
    ):
        with pytest.raises(CorpusError, match=f"{name}: {fault}"):
            list(read_cases(tmp_path / name))
