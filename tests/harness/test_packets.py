"""What helpers answer is data of a type, or the clear end of that helper: nothing in it is run."""

from __future__ import annotations

import logging
import os
import pickle
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from corpora.grammars.corpus import SchemaCase
from corpora.vocabularies import sources
from harness.events import ForcedWitness
from harness.studies.forced.adversary import Caught, Round
from harness.studies.forced.counterexamples import Counterexample
from harness.studies.forced.jobs import Minimised, MinimiseWitness, Task, WalkSchema
from harness.studies.forced.pool import results
from harness.studies.forced.results import SchemaResult, Tally
from harness.studies.fuzz.helper import Helper
from harness.workers import packets
from harness.workers.packets import PREFIX, Inbox, Message, Outbox, answer_of, packed
from harness.workers.wire import Garbled
from tests.breadth import thorough
from tests.harness.bomb import Bomb, fire

WITNESS = ForcedWitness("v", "p", "s", "", "", "", [1], [""], [2], [""], "instance")


@dataclass(frozen=True)
class Bombed:
    """A job in which a library writes a pickle to the descriptor that leads to the harness."""

    path: str
    framed: int
    answer: ClassVar[Any] = str

    def fits(self, answer: str) -> bool:
        return True

    def run(self, policies: object, task: object, beat: Callable[[], None]) -> str:
        fire(self.path, self.framed)
        return "answered"

    def broken(self, how: str) -> str:
        return f"broken: {how}"


def test_the_bomb_is_one(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Bomb(str(tmp_path / "ran"))))
    assert (tmp_path / "ran").is_dir()


@pytest.mark.parametrize("framed", [0, thorough(1)])
def test_a_pickle_of_a_job_is_refused(framed: int, tmp_path: Path) -> None:
    task = Task(sources.resolve("toy_bytes"), ["none"], "flexible", seconds=60.0)
    jobs = [Bombed(str(tmp_path / "ran"), framed)]
    (said,) = results(task, jobs, 1)
    assert said.startswith("broken: broke the protocol: ")
    assert said.isprintable()
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("framed", [0, 1])
def test_a_pickle_of_a_helper_is_refused(
    framed: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    helper = Helper("tests.harness.bomb")
    with caplog.at_level(logging.WARNING):
        try:
            said = helper.ask((str(tmp_path / "ran"), framed), 120.0, lambda: False)
        finally:
            helper.close()
    assert said is None
    assert "tests.harness.bomb: " in caplog.text
    assert not (tmp_path / "ran").exists()


def heard(data: bytes) -> Message | None:
    """What is made of bytes that end there."""
    inlet, outlet = os.pipe()
    try:
        os.set_blocking(outlet, False)
        os.write(outlet, data)
        return Inbox(inlet).next()
    finally:
        os.close(inlet)
        os.close(outlet)


def framed(content: bytes) -> bytes:
    return PREFIX.pack(packets.MAGIC, len(content), zlib.crc32(content)) + content


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"garbage on the descriptor", "something else wrote"),
        (PREFIX.pack(packets.MAGIC, packets.LIMIT + 1, 0), "claims"),
        (PREFIX.pack(packets.MAGIC, 0, 0), "claims"),
        (PREFIX.pack(packets.MAGIC, 2, 0) + b"{}", "checksum"),
        (framed(b"\xff"), "no JSON"),
        (framed(b"[" * 50_000), "no JSON"),
        (framed(b"[]"), "expected `object`"),
        (framed(b"{}"), "missing required field `seq`"),
        (framed(b'{"seq": "1", "kind": "done"}'), "seq: expected `int`"),
        (framed(b'{"seq": 1, "kind": "bomb"}'), "kind: "),
        (framed(b'{"seq": 1, "kind": "done", "more": 1}'), "more"),
    ],
)
def test_what_is_no_message_is_said(data: bytes, told: str) -> None:
    with pytest.raises(Garbled) as caught:
        heard(data)
    assert told in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_part_of_a_message_is_waited_for() -> None:
    whole = packed(Message(1, "done", "x" * 1000))
    for size in (0, 1, PREFIX.size, PREFIX.size + 1, len(whole) - 1):
        assert heard(whole[:size]) is None
    assert heard(whole) == Message(1, "done", "x" * 1000)


def test_messages_come_one_by_one_and_then_the_end() -> None:
    inlet, outlet = os.pipe()
    sent = [Message(number, "alive") for number in range(3)]
    os.write(outlet, b"".join(map(packed, sent)))
    os.close(outlet)
    inbox = Inbox(inlet)
    assert [inbox.next() for _ in sent] == sent
    with pytest.raises(EOFError):
        inbox.next()
    os.close(inlet)


def test_who_does_not_read_holds_nobody_up() -> None:
    inlet, outlet = os.pipe()
    outbox = Outbox(outlet)
    outbox.put(b"x" * (1 << 20))
    assert outbox.full
    os.close(inlet)
    outbox.flush()
    assert not outbox.full
    os.close(outlet)


SCHEMA = SchemaCase("a", {}, ())
RESULT = SchemaResult("a", 1, 2, tallies={"exact": Tally(calls=3)}, witnesses=[WITNESS])
COUNTEREXAMPLE = Counterexample("v", "exact", "chain", b"", b"\xff", (b"a", b"\x80"), 2)


@pytest.mark.parametrize(
    ("job", "answer"),
    [
        (WalkSchema(SCHEMA), RESULT),
        (WalkSchema(SchemaCase("\udc80", {}, ())), SchemaResult("\udc80", failed="\ud800")),
        (MinimiseWitness(WITNESS, SCHEMA, 1.0), Minimised(WITNESS, WITNESS)),
        (MinimiseWitness(WITNESS, SCHEMA, 1.0), Minimised(WITNESS, None)),
        (Round("exact", "chain", 7), Caught("exact", "chain", 7, 400, COUNTEREXAMPLE)),
    ],
)
def test_each_answer_comes_back_as_it_was(job: Any, answer: object) -> None:
    message = heard(packed(Message(5, "done", answer)))
    assert message is not None
    again = answer_of(message, 5, job.answer)
    assert again == answer
    assert job.fits(again)
    with pytest.raises(Garbled, match="answered request 6 with an answer to 5"):
        answer_of(message, 6, job.answer)
    with pytest.raises(Garbled, match="of another kind"):
        answer_of(message, 5, list[int])


@pytest.mark.parametrize(
    ("job", "answer"),
    [
        (WalkSchema(SCHEMA), SchemaResult("b")),
        (Round("exact", "chain", 7), Caught("exact", "chain", 8)),
        (Round("exact", "cut", 7), Caught("exact", "cut", 7, 1, COUNTEREXAMPLE)),
    ],
)
def test_an_answer_to_another_job_does_not_fit(job: Any, answer: object) -> None:
    assert not job.fits(answer)
