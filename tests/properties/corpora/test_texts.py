"""The user's texts: formats, places, what is wrong with files, order, sampling, duplicates."""

import gzip
import io
import json
import sys
import types
from itertools import pairwise

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from corpora.generators.material import is_text
from corpora.texts.corpus import PART_BYTES, Corpus, Reading, Seen
from corpora.texts.documents import MAX_DOCUMENT_BYTES, TextsError, pieces
from tests.properties.corpora import files


def told(*given, seed=None, stdin=b""):
    """Documents with their places."""
    corpus = Corpus.of(given, io.BytesIO(stdin))
    return [(one.data, one.place()) for one in corpus.documents(seed)]


def written(path, data):
    return str(files.written(path, data))


def test_lines_paragraphs_and_whole_files(tmp_path):
    name = written(tmp_path / "a.txt", "one\r\ntwo\n\nthree\nfour\n")

    assert told(name) == [
        (b"one", f"{name}:1"), (b"two", f"{name}:2"), (b"three", f"{name}:4"),
        (b"four", f"{name}:5"),
    ]  # fmt: skip
    assert told(f"{name}#by=paragraph") == [
        (b"one\r\ntwo", f"{name}:1"), (b"three\nfour", f"{name}:4"),
    ]  # fmt: skip
    assert told(f"{name}#by=file") == [(b"one\r\ntwo\n\nthree\nfour\n", name)]


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress], ids=["gzip", "zstd"])
def test_packed_files_are_told_by_their_bytes(tmp_path, pack):
    jsonl = b'{"id": 1, "text": "a\\u00e9"}\n\n{"id": 2, "text": "b"}\n'
    name = written(tmp_path / "a.jsonl.gz", pack(jsonl))

    assert told(name) == [("aé".encode(), f"{name}:1"), (b"b", f"{name}:3")]


def test_fields_by_name_in_objects_and_lists(tmp_path):
    chat = {"messages": [{"content": "hi"}, {"content": "there"}], "a.b": "dotted", "n": None}
    name = written(tmp_path / "a.jsonl", json.dumps(chat))

    assert [data for data, _ in told(f"{name}#field=messages.*.content")] == [b"hi", b"there"]
    assert [data for data, _ in told(f"{name}#field=messages.1.content")] == [b"there"]
    assert [data for data, _ in told(f"{name}#field=a.b")] == [b"dotted"]
    with pytest.raises(TextsError, match=r"field=n: has no text in it; name a file with texts"):
        told(f"{name}#field=n")


def test_json_strings_and_lone_surrogates(tmp_path):
    name = written(tmp_path / "a.json", '["plain", "\\ud800x"]')

    assert told(name) == [
        (b"plain", f"{name}: record 1"), (b"\xed\xa0\x80x", f"{name}: record 2"),
    ]  # fmt: skip


def test_csv_rows_have_the_line_that_they_begin_on(tmp_path):
    name = written(tmp_path / "a.csv", b'id,text\n1,"two\nlines"\n2,\xff\n')

    assert told(name) == [(b"two\nlines", f"{name}:2"), (b"\xff", f"{name}:4")]
    short = written(tmp_path / "b.csv", "id,text\n1,one\n2\n3,three\n")
    reading = Reading()
    assert [one.data for one in Corpus.of([short]).documents(None, reading)] == [b"one", b"three"]
    assert reading.faults == [
        f"{short}:3: has 1 values, and column 'text' is number 2; mend the row"
    ]
    semicolons = written(tmp_path / "c.csv", "id;text\n1;hello, you\n")
    assert told(f"{semicolons}#field=id;text") == [(b"1;hello", f"{semicolons}:2")]
    tabs = written(tmp_path / "a.tsv", "id\tbody\n1\tx, y\n")
    assert told(tabs) == [(b"x, y", f"{tabs}:2")]


def test_parquet_and_arrow(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import ipc, parquet

    table = pyarrow.table({"id": list(range(1500)), "text": [f"row {i}" for i in range(1500)]})
    where = str(tmp_path / "a.parquet")
    parquet.write_table(table, where, row_group_size=700)
    for kind in ("new_file", "new_stream"):
        with getattr(ipc, kind)(str(tmp_path / f"{kind}.arrow"), table.schema) as sink:
            sink.write_table(table, max_chunksize=600)

    for name in (where, str(tmp_path / "new_file.arrow"), str(tmp_path / "new_stream.arrow")):
        found = told(name)
        assert len(found) == 1500
        assert found[1234] == (b"row 1234", f"{name}: row 1235")
    with pytest.raises(TextsError, match=r"has no field 'txt', but id, text; name one"):
        Corpus.of([f"{where}#field=txt"])
    damaged = written(tmp_path / "b.parquet", b"no parquet at all")
    with pytest.raises(TextsError, match=r"b\.parquet: cannot be read as Parquet"):
        Corpus.of([damaged])


@pytest.mark.parametrize(
    ("missing", "given"), [("pyarrow", "a.parquet"), ("datasets", "hf:org/name")]
)
def test_an_extra_that_is_missing_is_named(tmp_path, monkeypatch, missing, given):
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "a.parquet", b"PAR1")
    with pytest.raises(TextsError, match=rf"{missing}, which is not installed; pip install"):
        Corpus.of([given])


def test_data_sets_of_the_hub(monkeypatch):
    asked = []

    def load_dataset(*arguments, **options):
        asked.append((arguments, options))
        return iter([{"text": "a"}, {"text": "b"}])

    fake = types.ModuleType("datasets")
    fake.load_dataset = load_dataset
    monkeypatch.setitem(sys.modules, "datasets", fake)

    assert told("hf:org/name#split=test,config=en") == [
        (b"a", "hf:org/name: row 1"), (b"b", "hf:org/name: row 2"),
    ]  # fmt: skip
    wanted = {"split": "test", "revision": None, "streaming": True}
    assert asked[0] == (("org/name", "en"), wanted)


def test_folders_patterns_and_standard_input(tmp_path):
    (tmp_path / "deep").mkdir()
    written(tmp_path / "deep" / "b.txt", "b")
    written(tmp_path / "a.txt", "a")
    written(tmp_path / ".hidden", "h")

    assert [data for data, _ in told(str(tmp_path))] == [b"a", b"b"]
    assert [data for data, _ in told(str(tmp_path / "**" / "b.*"))] == [b"b"]
    assert told("-", stdin=b"x\ny") == [(b"x", "-:1"), (b"y", "-:2")]
    assert told("-#as=jsonl,field=t", stdin=b'{"t": "z"}') == [(b"z", "-:1")]


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("a.jsonl", b'{"text": ', "", r"a\.jsonl:1: is not JSON \(.*\); mend the line"),
        ("a.jsonl", b'\n{"x": 1}', "", r"a\.jsonl:2: has no field .* but x; name one after"),
        ("a.jsonl", b'{"x": 1}', "#field=x", r"a\.jsonl:1: has 1 in its field 'x', which is no"),
        ("a.jsonl", b'{"text": "\xff"}', "", r"a\.jsonl:1: is not UTF-8 at byte 11"),
        ("a.jsonl", b"7", "", r"a\.jsonl:1: is no object \(7\) and no text"),
        (
            "a.csv",
            b"x,y\n1,2\n",
            "",
            r"a\.csv:1: has no field of a usual name .*, but x, y",
        ),
        ("a.txt", b"a", "#field=text", r"read as plain text, which has no fields"),
        ("a.txt", b"a", "#by=page", r"no such way to cut texts; write #by=line"),
        ("a.txt", b"a", "#as=pdf", r"no such format 'pdf'; there are text, jsonl"),
        ("a.txt", b"a", "#colour=red", r"no such option 'colour' after #; there are as, by, field"),
        ("a.txt.gz", gzip.compress(b"a" * 99, mtime=0)[:20], "", r"is damaged, or cut short"),
        ("a.txt.zst", zstd.compress(b"a" * 99)[:-4], "", r"is damaged, or cut short"),
        ("a.csv", b"id;text\n1;hello, you\n", "", "parted by semicolons"),
        ("a.txt", "a".encode("utf-16"), "", "is UTF-16, .*iconv -f"),
        ("a.csv", b"\xfe\xff\0a", "", "is UTF-16, .*iconv -f"),
        ("a.jsonl", "a".encode("utf-32"), "", "is UTF-32, .*iconv -f"),
        ("a.txt.gz", gzip.compress("a".encode("utf-16"), mtime=0), "", "is UTF-16, .*iconv -f"),
    ],
)
def test_what_is_wrong_is_one_line_with_the_mend(tmp_path, name, content, options, message):
    given = written(tmp_path / name, content) + options
    with pytest.raises(TextsError, match=message) as raised:
        Corpus.of([given])
    assert "\n" not in str(raised.value)


def test_files_that_are_not_there(tmp_path):
    for name, fault in (
        (tmp_path / "none.txt", r"none\.txt: no such file; check the path"),
        (tmp_path, "holds no file"),
        ("/dev/null", "is no file, but a device"),
    ):
        with pytest.raises(TextsError, match=fault):
            Corpus.of([str(name)])


def test_later_faults_are_counted_and_the_rest_is_read(tmp_path):
    name = written(tmp_path / "a.jsonl", '"a"\nnone\n"b"\n{}\n')
    other = written(tmp_path / "b.txt", b"c\xff\nd\nd\n")
    reading = Reading()
    corpus = Corpus.of([name, other])

    assert [one.data for one in corpus.documents(None, reading)] == [b"a", b"b", b"c\xff", b"d"]
    assert (reading.unreadable, reading.duplicates, reading.not_utf8) == (2, 1, 1)
    assert reading.faults[0].startswith(f"{name}:2: is not JSON")
    assert reading.whole
    assert reading.read == corpus.size


@pytest.mark.thorough  # a file of many megabytes
def test_a_sample_has_every_line_once_at_its_place(tmp_path):
    lines = [f"line {i} {'x' * (i % 700)}" for i in range(9000)]
    name = written(tmp_path / "a.txt", "\n".join(lines))
    ordered = [(line.encode(), f"{name}:{i}") for i, line in enumerate(lines, 1)]
    assert told(name) == ordered
    # Each place is counted from the beginning of the file.
    samples = [list(Corpus.of([name]).documents(seed)) for seed in (1, 1, 2)]
    once, again, other = ([one.data for one in sample] for sample in samples)
    assert once == again != other
    assert once != [data for data, _ in ordered]
    assert sorted(once) == sorted(other) == sorted(data for data, _ in ordered)
    places = dict(ordered)
    assert all(one.place() == places[one.data] for one in samples[0][::50])


def test_a_line_that_ends_where_a_part_does_is_read_once(tmp_path):
    first = b"a" * (PART_BYTES - 1) + b"\n"
    name = written(tmp_path / "a.txt", first + b"b\n" + b"c" * PART_BYTES + b"\nd\n")

    assert sorted(len(data) for data, _ in told(name, seed=0)) == sorted(
        [PART_BYTES - 1, 1, PART_BYTES, 1]
    )
    assert (b"d", f"{name}:4") in told(name, seed=0)


@given(st.lists(st.sampled_from([b"a", b"\n", "é".encode(), "日".encode(), b"\x80", b"\xf0"])))
def test_long_documents_are_cut_at_lines_or_characters(parts):
    data = b"".join(parts)
    for most in (4, 6, 100):
        cut = pieces(data, most)
        assert b"".join(cut) == data
        assert all(len(piece) <= most for piece in cut)
        for before, after in pairwise(cut):
            assert before.endswith(b"\n") or b"\n" not in before
            if is_text(data):
                assert is_text(before) and is_text(after)


def test_a_long_document_has_its_place_in_each_piece(tmp_path):
    name = written(tmp_path / "a.txt", b"y" * (MAX_DOCUMENT_BYTES + 5))
    reading = Reading()
    found = list(Corpus.of([name]).documents(None, reading))

    assert [one.place() for one in found] == [f"{name}:1", f"{name}:1 (from byte 1,048,576 on)"]
    assert (reading.cut, reading.documents) == (1, 1)


def test_what_was_seen_is_remembered_in_a_table_that_does_not_grow():
    seen = Seen(slots=8)
    assert not seen.add(b"a")
    assert seen.add(b"a")
    fresh = [not seen.add(b"%d" % i) for i in range(1000)]
    assert all(fresh)  # a new one is never taken for one that was seen
    assert not seen.add(b"a")  # forgotten: others have its slot
