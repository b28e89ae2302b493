"""Reading corpora of schemas: folders and archives alike, in order, every fault in one line."""

import io
import json
import tarfile

import pytest
import zstandard

from corpora.grammars.corpus import CorpusError, SchemaCase, compact_json, read_cases

CASES = [
    SchemaCase("b/two", {"type": "string"}, (b'"x"', '"é😀"'.encode())),
    SchemaCase("one", True, (b'{"z":1,"a":[1.5,null]}',)),
    SchemaCase("zero", {}, ()),
]


def write_folder(folder):
    """The cases above as files, with what must be passed over."""
    tests = {
        "b/two": [
            {"valid": True, "data": "x"},
            {"valid": False, "data": 1},
            {"valid": True, "data": "é😀"},
        ],
        "one": [{"valid": True, "data": {"z": 1, "a": [1.5, None]}}],
        "zero": [],
    }
    (folder / "b").mkdir(parents=True)
    for case in CASES:
        document = {"schema": case.schema, "tests": tests[case.name], "meta": 0}
        (folder / f"{case.name}.json").write_text(json.dumps(document, indent=1))
    (folder / "README.md").write_text("no case")
    (folder / "._one.json").write_bytes(b"\x00")
    return folder


def write_archive(path, mode):
    folder = write_folder(path.parent / "made")
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz" if mode == "gz" else "w") as tar:
        # Not in order, and below a folder that all files share.
        for name in ["zero.json", "README.md", "one.json", "._one.json", "b/two.json"]:
            tar.add(folder / name, f"top/data/{name}")
    content = raw.getvalue()
    path.write_bytes(zstandard.ZstdCompressor().compress(content) if mode == "zst" else content)
    return path


@pytest.mark.parametrize("mode", ["folder", "tar", "gz", "zst"])
def test_folders_and_archives_give_the_same_cases(tmp_path, mode):
    # The content says what it is, not the name.
    path = write_folder(tmp_path / "f") if mode == "folder" else write_archive(tmp_path / "x", mode)
    assert list(read_cases(path)) == CASES


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
    write_folder(tmp_path / "f")
    (tmp_path / "f" / "c.json").write_bytes(content)
    cases = read_cases(tmp_path / "f")
    assert next(cases) == CASES[0]
    with pytest.raises(CorpusError) as caught:
        next(cases)
    assert "c.json: " in str(caught.value) and fault in str(caught.value)
    assert "\n" not in str(caught.value)


def faulty(tmp_path, kind):
    path = tmp_path / "corpus"
    if kind == "missing":
        return path
    if kind == "empty":
        path.mkdir()
        return path
    if kind == "text":
        path.write_text("no archive" * 100)
        return path
    content = write_archive(path, kind.removesuffix(" cut")).read_bytes()
    path.write_bytes(content[: len(content) // 3])
    return path


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("missing", "no such file or folder"),
        ("empty", "holds no .json file"),
        ("text", "is no whole tar archive"),
        ("gz cut", "is no whole tar archive"),
        ("zst cut", "is no whole tar archive"),
        ("tar cut", "is no whole tar archive"),
    ],
)
def test_what_is_no_corpus_is_one_line(tmp_path, kind, fault):
    with pytest.raises(CorpusError) as caught:
        list(read_cases(faulty(tmp_path, kind)))
    assert fault in str(caught.value) and str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)
