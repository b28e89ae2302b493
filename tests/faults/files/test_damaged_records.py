"""Records with fields of wrong types: one line with the number of the line and the field."""

import json
from dataclasses import asdict

import pytest

from harness.core import stored
from harness.events import Measured, Phase, read_events
from tests.properties.reports import records


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
