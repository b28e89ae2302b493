"""States and records with fields of wrong types: one line with the file, the field and the mend."""

import json
import sqlite3
import zlib
from contextlib import closing
from dataclasses import asdict

import pytest

from corpora.families.pattern import repeated
from harness.core import stored
from harness.core.outcomes import Status
from harness.core.output import OutputError
from harness.events import BatchDone, ForcedWitness, Measured, Phase, read_events
from harness.findings.causes import Causes
from harness.findings.diagnosis import Signature
from harness.ledger.engine import LedgerError
from harness.studies.campaigns.loop import Arm, Schedule
from harness.studies.campaigns.state import StateError, encoded
from harness.studies.campaigns.store import CampaignStore
from harness.studies.forced.journal import Journal
from harness.studies.forced.results import Tally, Walked
from harness.studies.fuzz.behaviour import MAP_SIZE, Map
from harness.studies.fuzz.state import State
from harness.studies.worst.state import Candidate, Death, Sample
from harness.studies.worst.state import State as SearchState
from tests.doubles.command import tokgate
from tests.properties.reports import records

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


# worst: a search in a database

CANDIDATE = Candidate(repeated(b"ab"), "bred", [Sample(64, 60, 7, 2), Sample(128, 120, 9, 1, 5)])
DEATH = Death(repeated(b"\xff"), 10, 64, Status.CRASHED, "killed \udc80")
KNOWN = SearchState(
    3, Schedule(1, [Arm("drawn")]), control=1.5, died=1, deaths={DEATH.key: DEATH},
    places={"cost/r0L": CANDIDATE, "growth/r0L": CANDIDATE}, lines={"3": (0.5, repeated(b"x"))},
)  # fmt: skip
SEARCH = {name: json.loads(encoded(part)) for name, part in KNOWN.parts().items()}


def test_a_state_of_a_search_is_read_back():
    state = SearchState.of({name: json.dumps(part).encode() for name, part in SEARCH.items()})
    assert state == KNOWN
    assert state.places["cost/r0L"] is state.places["growth/r0L"], "one candidate in two places"


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
    schedule=Schedule(1, [ARM]),
    totals={"a": DONE},
    opened=[Phase("x").to_json()],
    covered=[b"a"],
    losses={"x": (1, 2)},
    causes=[(("toy/raw", Signature("a", "b", "c")), Causes({b"a": "n"}))],
)
PARTS = {name: json.loads(encoded(part)) for name, part in STATE.parts().items()}


@pytest.mark.parametrize(
    ("state", "path", "value", "told"),
    [
        (SearchState, ("state",), NESTED, "expected `object`"),
        (
            SearchState, ("places/000000", 0, 1, "samples", 0, "size"), "x",
            "samples[0].size: expected `int`",
        ),
        (
            SearchState, ("places/000000", 0, 1, "pattern", "pumps"), [],
            "pattern: a pattern needs a pump",
        ),
        (SearchState, ("lines/000000", 0, 1, 1), 1, "lines[...][1]: expected `object`"),
        (State, ("state", "form"), "1", "made by another version"),
        (State, ("state", "cases"), None, "cases: expected `int`, got `null`"),
        (State, ("state", "opened", 0), "{", "opened[0]: a line that is not JSON"),
        (State, ("covered/000000", 0), "Y", "covered[0]: invalid base64"),
        (State, ("state", "curve"), [[1]], "curve[0]: expected `array` of length 4"),
    ],
)  # fmt: skip
def test_a_damaged_state_is_said(state, path, value, told):
    tree = put(SEARCH if state is SearchState else PARTS, path, value)
    with pytest.raises(StateError) as caught:
        state.of({name: json.dumps(part).encode() for name, part in tree.items()})
    assert told in str(caught.value)
    assert str(caught.value).isprintable()


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


# Records.


def changed(event, **fields):
    """The line of an event with some of its fields replaced."""
    return json.dumps({**json.loads(event.to_json()), **fields})


def fault(line, tmp_path):
    """What reading a record says whose second line this is."""
    path = tmp_path / "run.jsonl"
    path.write_text(f"{Phase('one').to_json()}\n{line}\n")
    with pytest.raises(ValueError, match="line 2: ") as caught:
        list(read_events(path))
    assert str(caught.value).isprintable()
    return str(caught.value)


FOUND = records.found("f-1", b"ab")
GROUP = asdict(FOUND.partition[0])


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("[]", "a line that is no event"),
        ("{", "a line that is not JSON"),
        ("[" * 10_000, "a line that is not JSON"),
        ('{"event": "Phase"}', "an event Phase: object missing required field `text`"),
        ('{"event": "Phase", "text": 1}', "an event Phase: text: expected `str`, got `int`"),
        (changed(records.started(), versions=[]), "versions: expected `object`, got `array`"),
        (changed(FOUND, input_b64="a"), "input_b64: expected `str` matching regex"),
        (changed(FOUND, partition=[{}]), "partition[0]: object missing required field"),
        (changed(FOUND, partition=[{**GROUP, "surfaces": ["a"]}]), "[0].surfaces[0]: expected"),
        (
            changed(records.measured()[0], points=[[1.0]]),
            "points[0]: expected `array` of len",
        ),
    ],
)
def test_a_field_of_a_wrong_type_is_named(line, told, tmp_path):
    assert told in fault(line, tmp_path)


def test_whole_numbers_are_numbers_and_what_other_versions_have_is_passed_over(tmp_path):
    path = tmp_path / "run.jsonl"
    line = changed(records.measured()[0], exponent=1, points=[[1, 2]], of="a later version")
    path.write_text(f'{line}\n{{"event": "Unheard"}}\n')
    (read,) = read_events(path)
    assert isinstance(read, Measured)
    assert (read.exponent, read.points) == (1, [[1, 2]])


def test_a_line_without_end(tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    path.write_text(Phase("x" * 1000).to_json() + "\n")
    monkeypatch.setattr(stored, "MAX_LINE", 100)
    with pytest.raises(ValueError, match="line 1: has more than 100 bytes"):
        list(read_events(path))
