"""States of searches with fields of wrong types: one line with the file, the field and the mend."""

import json
import sqlite3
import zlib
from contextlib import closing

import msgspec
import pytest

from corpora.families.pattern import repeated
from harness.core import stored
from harness.core.outcomes import Status
from harness.core.writing import OutputError
from harness.events import BatchDone, ForcedWitness, Phase
from harness.findings.causes import Causes
from harness.findings.diagnosis import Signature
from harness.ledger.engine import LedgerError
from harness.studies.forced.journal import Journal
from harness.studies.forced.results import Tally, Walked
from harness.studies.fuzz.behaviour import MAP_SIZE, Map
from harness.studies.fuzz.loop import Arm
from harness.studies.fuzz.state import State, StateError, encoded
from harness.studies.fuzz.store import CampaignStore
from harness.studies.worst.state import STATE as SEARCH_STATE
from harness.studies.worst.state import Candidate, Death, Sample, Store
from harness.studies.worst.state import State as SearchState
from tests.harness.command import tokgate

NESTED = "[" * 50_000


def put(tree, path, value):
    """A copy of plain data with one value replaced, or taken out where it is ``...``."""
    made = json.loads(json.dumps(tree))
    place = made
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return made


# worst: search.json

IDENTITY = {"seed": 0}
CANDIDATE = Candidate(repeated(b"ab"), "bred", [Sample(64, 60, 7, 2), Sample(128, 120, 9, 1, 5)])
DEATH = Death(repeated(b"\xff"), 10, 64, Status.CRASHED, "killed \udc80")
KNOWN = SearchState(
    1.0, 3, 40, 1.5, 0.0, {"cost/r0L": CANDIDATE, "growth/r0L": CANDIDATE}, {DEATH.key: DEATH}, 1,
    {"3": (0.5, repeated(b"x"))}, [Arm("drawn")],
)  # fmt: skip
SEARCH = {"search": IDENTITY, "state": msgspec.to_builtins(KNOWN)}


def restored(content, folder):
    path = folder / SEARCH_STATE
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return Store(folder, IDENTITY).restored()


def test_a_state_of_a_search_is_read_back(tmp_path):
    state = restored(json.dumps(SEARCH), tmp_path)
    assert state == KNOWN
    assert state.places["cost/r0L"] is state.places["growth/r0L"], "one candidate in two places"
    Store(tmp_path, IDENTITY).save(state)
    assert json.loads((tmp_path / SEARCH_STATE).read_text()) == json.loads(json.dumps(SEARCH))


PLACE = ("state", "places", "cost/r0L")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (NESTED, "is not JSON"),
        (json.dumps(SEARCH)[:-9], "is not JSON"),
        ("{}", "object missing required field `search`"),
        (put(SEARCH, (*PLACE, "samples", 0, "size"), "x"), "samples[0].size: expected `int`"),
        (put(SEARCH, (*PLACE, "pattern", "pumps"), []), "pattern: a pattern needs a pump"),
        (put(SEARCH, ("state", "deaths", DEATH.key, "status"), 99), "invalid enum value 99"),
        (put(SEARCH, ("state", "lines", "3", 1), 1), "lines[...][1]: expected `object`"),
    ],
)
def test_a_damaged_state_of_a_search_is_said(content, told, tmp_path):
    if isinstance(content, dict):
        content = json.dumps(content)
    with pytest.raises(OutputError) as caught:
        restored(content, tmp_path)
    line = str(caught.value)
    assert line.startswith(f"{tmp_path / SEARCH_STATE}: damaged (")
    assert told in line
    assert line.endswith("); remove it to begin anew")
    assert line.isprintable()
    assert (tmp_path / SEARCH_STATE).is_file()


def test_a_state_of_another_search_is_put_aside(tmp_path):
    assert restored(json.dumps(put(SEARCH, ("search", "seed"), 1)), tmp_path) == SearchState()
    assert (tmp_path / f"{SEARCH_STATE}.old").is_file()


# forced: forced.jsonl; adversary: adversary.jsonl

WITNESS = ForcedWitness("v", "exact", "s", "", "", "", [1], [""], [2], [""], "instance")
RESULT = Walked(1, 1, 2, tallies={"exact": Tally()}, witnesses=[WITNESS])
KINDS = {"schema": (tuple[str], Walked)}


def lines_of(folder):
    """A journal with one line, and what that has."""
    path = folder / "journal.jsonl"
    journal = Journal(path, {"seed": 0}, KINDS)
    journal.add(("schema", "s"), RESULT)
    journal.close()
    return path, json.loads(path.read_text())


def test_a_journal_is_read_back_but_for_what_was_cut_off_and_what_is_of_other_work(
    tmp_path,
):
    path, line = lines_of(tmp_path)
    other = json.dumps({**line, "of": "another", "done": 7})
    path.write_text(f"{json.dumps(line)}\n{other}\n{json.dumps(line)[:30]}")
    assert Journal(path, {"seed": 0}, KINDS).done == {("schema", "s"): RESULT}
    assert Journal(path, {"seed": 1}, KINDS).done == {}
    assert path.read_text() == f"{json.dumps(line)}\n{other}\n"


@pytest.mark.parametrize(
    ("where", "value", "told"),
    [
        ((), NESTED, "is not JSON"),
        (("unit",), [], "unit: expected `array` of length >= 1"),
        (("unit",), ["other"], "unit: there is no kind 'other'"),
        (("unit",), ["schema"], "unit: expected `array` of length 1"),
        (("done", "witnesses", 0, "forced"), "a", "forced: expected `str` matching"),
    ],
)
def test_a_damaged_line_of_a_journal_is_said(where, value, told, tmp_path):
    path, line = lines_of(tmp_path)
    damaged = json.dumps(put(line, where, value)) if where else value
    path.write_text(f"{json.dumps(line)}\n{damaged}\n")
    with pytest.raises(OutputError) as caught:
        Journal(path, {"seed": 0}, KINDS)
    assert f"{path.name}: damaged (line 2: " in str(caught.value)
    assert told in str(caught.value)
    assert str(caught.value).endswith("; remove that line to do its work again")
    assert str(caught.value).isprintable()


# fuzz: a campaign in a database

DONE = BatchDone("toy/raw", "edge", 1, 2, 3, {"survival": {"x": 1}}, {})
ARM = Arm("edge")
STATE = State(
    schedule=[ARM],
    totals={"a": DONE},
    opened=[Phase("x").to_json()],
    covered=[b"a"],
    losses={"x": (1, 2)},
    causes=[(("toy/raw", Signature("a", "b", "c")), Causes({b"a": "n"}))],
)
PARTS = {name: json.loads(encoded(part)) for name, part in STATE.parts().items()}


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("state", "form"), "1", "made by another version"),
        (("state", "cases"), None, "cases: expected `int`, got `null`"),
        (("state", "opened", 0), "{", "opened[0]: a line that is not JSON"),
        (("covered/000000", 0), "Y", "covered[0]: invalid base64"),
        (("causes/000000", 0, 1, "minimal"), {"Y": "n"}, "invalid base64"),
        (("state", "curve"), [[1]], "curve[0]: expected `array` of length 4"),
        (("causes/000000",), {}, "expected `array`"),
    ],
)
def test_a_damaged_state_of_a_campaign_is_said(path, value, told):
    parts = {name: json.dumps(one).encode() for name, one in put(PARTS, path, value).items()}
    with pytest.raises(StateError) as caught:
        State.of(parts)
    assert told in str(caught.value)


def test_what_unpacks_to_much_is_said():
    with pytest.raises(ValueError, match="more than 1,000 bytes"):
        stored.unzipped(zlib.compress(bytes(1001)), 1000)
    assert stored.unzipped(zlib.compress(bytes(1000)), 1000) == bytes(1000)


@pytest.mark.parametrize("content", [bytes(MAP_SIZE - 1), b"\xff" * MAP_SIZE])
def test_a_map_that_is_none_is_said(content):
    with pytest.raises(ValueError, match=r"behaviour|bytes"):
        Map(content)


FUZZ = (
    "fuzz", "--vocab=toy_bytes", "--impl=bpe.naive", "--impl=bpe.heap", "--budget=60cases",
    "--no-coverage", "--no-structured", "--no-canary", "--jobs=1",
)  # fmt: skip


@pytest.mark.thorough  # whole commands
def test_a_command_says_what_is_damaged_in_one_line(tmp_path):
    options = [*FUZZ, f"--ledger={tmp_path / 'c.db'}", f"--out={tmp_path / 'out'}"]
    first = tokgate(*options)
    assert first.returncode == 0, first.stderr
    path = tmp_path / "c.db"
    sound = path.read_bytes()
    changes = [
        (
            "update campaign_parts set value = x'ff' where name = 'state'",
            "the state of toy_bytes#0: state: is not JSON",
        ),
        (
            "update campaign_parts set value = x'00' where name = 'map/000000'",
            "the state of toy_bytes#0: map/000000: is cut off",
        ),
        ("update campaigns set identity = '{'", "a field is not JSON"),
        ("update campaigns set identity = '[]'", "identity: expected `object`, got `array`"),
    ]
    for change, told in changes:
        path.write_bytes(sound)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(change)
            connection.commit()
        done = tokgate(*options)
        assert done.returncode == 2, (change, done.stderr)
        assert told in done.stderr, change
        assert "Traceback" not in done.stderr


def test_a_database_that_is_none_is_said(tmp_path):
    path = tmp_path / "c.db"
    path.write_bytes(b"garbage " * 1000)
    with pytest.raises(LedgerError, match="not a database"):
        CampaignStore(str(path), "x").known()
