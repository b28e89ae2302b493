"""What is known covers what it explains, and nothing else that the same implementation does."""

import base64
import itertools
from dataclasses import replace

import pytest

from corpora.generators.base import Case
from harness.core.exit_statuses import FAILS
from harness.events import Unsettled
from harness.findings import patience
from harness.findings.causes import ALIKE_LATE, QUIET, QUIET_LATE, Causes
from harness.findings.entries import PER_BUCKET
from harness.verdict.coverage import Coverage
from harness.verdict.gate import judge
from tests.doubles.scenes import Scene, expecting, right

MARK = "\ufeff".encode()


@pytest.fixture(params=["in time", "late"], autouse=True)
def share(request, monkeypatch):
    """Looking has all the time that it wants, or has had its share of it."""
    late = property(lambda self: request.param == "late")
    monkeypatch.setattr(patience.Patience, "late", late)


PAIRS = {b"th": 300, b"in": 301}
ONE, OTHER = PAIRS


def splitting(*split):
    """An encoder with an id for each of two pairs of letters, which it spells where it is split."""

    def encode(data):
        ids = []
        place = 0
        while place < len(data):
            pair = data[place : place + 2]
            whole = pair in PAIRS and pair not in split
            ids.append(PAIRS[pair] if whole else data[place])
            place += 2 if whole else 1
        return ids

    return encode


def wrong_on(*needles):
    """An encoder that gives another id for each of these."""

    def encode(data):
        for number, needle in enumerate(needles):
            data = data.replace(needle, bytes([number]) * len(needle))
        return list(data)

    return encode


def known(kind, *examples, broad=False):
    return expecting(f"equivalence/bpe/raw/*/{kind}/bad", examples=examples, broad=broad)


def unexpected(scene):
    return {
        base64.b64decode(one.input_b64) for one in scene.tracker.findings if one.expected is None
    }


def passes(scene):
    return judge([], [], Coverage.of(scene.tracker.findings)).exit_status != FAILS


TEXTS = [b"What's %d" % i for i in range(5)] + [b"%d it's" % i for i in range(5)]


def test_the_same_tokens_beside_other_text_are_the_same_difference():
    def bad(data):
        return list(data.replace(b"T!", b"T\0").replace(b"t!", b"t\0").replace(b"t?", b"t\0"))

    scene = Scene([known("*", b"t!")], ref=right, bad=bad)
    scene.check("equivalence", b"At!", b"AT!")
    assert {data for _, data in scene.found} == {b"t!", b"T!"} and passes(scene)
    scene.check("equivalence", b"At?")
    assert unexpected(scene) == {b"t?"}


@pytest.mark.parametrize(
    ("entry", "covered"),
    [
        (known("Cf", MARK), True),
        (known("*", MARK), False),
        (known("*", MARK, broad=True), True),
        (known("*"), True),
    ],
)
def test_only_an_entry_that_says_so_covers_a_whole_kind(entry, covered):
    other = "\u200b".encode()
    scene = Scene([entry], ref=right, bad=wrong_on(MARK, other))
    scene.check("equivalence", MARK, b"a" + other)
    assert passes(scene) is covered


@pytest.mark.parametrize("kind", ["L", "*", "L+P"])
def test_a_kind_that_is_in_any_text_covers_its_examples_alone(kind):
    scene = Scene([known(kind, b"q")], ref=right, bad=wrong_on(b"q", b"xyz"))
    scene.check("equivalence", b"q", b"0xyz0")
    assert b"xyz" in unexpected(scene)


def unsettled(scene, entries=(), *, late=True):
    """What is told of these, where there is no time for any question from now on."""
    if late:
        scene.late()
    for one in entries:
        scene.tracker.leave(one)
    scene.tracker.settle(scene.pool)
    return scene.told(Unsettled)


def test_where_time_is_over_nothing_is_counted_as_known_unasked():
    scene = Scene(ref=right, bad=wrong_on(b"!", b"'s"))
    scene.check("equivalence", b"a!")
    [entry] = scene.entries("equivalence", b"!! What's")
    scene.late()
    assert scene.enter(entry) == ""
    [event] = unsettled(scene)
    assert (event.check, event.implementations, event.count) == ("equivalence", ["bad"], 1)


def test_what_waits_when_time_is_over_is_counted_where_it_is_known():
    """By an entry that covers it whatever its input is like, or by what causes like it."""
    scene = Scene([known("*", b"'s", broad=True)], ref=right, bad=wrong_on(b"'s"))
    first, *waiting = scene.entries("equivalence", *TEXTS)
    scene.enter(first)
    assert unsettled(scene, waiting) == []
    assert sum(scene.counts().values()) == len(TEXTS)
    scene = Scene([known("*", b"'s")], ref=right, bad=wrong_on(b"'s"))
    scene.check("equivalence", *[b"What's %d" % number for number in range(9)])
    assert unsettled(scene, waiting) == []


def test_what_waits_when_time_is_over_and_is_not_known_is_told():
    scene = Scene([known("*", MARK)], ref=right, bad=wrong_on(MARK, b"'s"))
    scene.check("equivalence", *[b"%d" % number + MARK for number in range(9)])
    [told] = unsettled(scene, scene.entries("equivalence", *TEXTS))
    assert (told.implementations, told.count) == (["bad"], len(TEXTS))


def test_what_could_not_be_settled_at_first_is_not_told_once_it_is_known():
    scene = Scene(ref=right, bad=wrong_on(b"'s"))
    waiting = scene.entries("equivalence", b"What's")
    scene.check("equivalence", b"a's", *[b"What's %d" % number for number in range(9)])
    assert unsettled(scene, waiting, late=False) == []


def test_what_is_wrong_everywhere_is_looked_into_until_little_is_new():
    asked = 0

    def bad(data):
        nonlocal asked
        asked += 1
        return [9] * (len(data) + 1)

    scene = Scene(ref=right, bad=bad)
    inputs = [b"%d" % (i * 7919) for i in range(4000)]
    scene.check("equivalence", *inputs)
    assert asked < len(inputs) + 40 * QUIET
    assert sum(scene.counts().values()) == len(inputs)
    assert 1 <= len(scene.found) <= 4 * PER_BUCKET
    assert QUIET > QUIET_LATE


def test_other_tokens_and_generators_are_looked_into_until_little_is_new():
    scene = Scene(ref=right, bad=wrong_on(b"!", b"?"))
    one, other = scene.entries("equivalence", b"!", b"?")
    causes = Causes()
    assert causes.worth(other, late=True)
    for _ in range(ALIKE_LATE):
        causes.note(one, "bucket", new=True)
    assert causes.worth(one, late=False)
    assert not causes.worth(one, late=True)
    assert causes.worth(replace(one, case=Case(b"!", "another", 0, 0)), late=True)
    causes.quiet = QUIET_LATE
    assert causes.worth(other, late=False)
    assert not causes.worth(other, late=True)
    causes.quiet = QUIET
    assert not causes.worth(other, late=False)
    assert causes.like(other) == "bucket"


def test_an_expected_determinism_does_not_cover_what_is_wrong_every_time():
    """It answers a question mark in two ways; an exclamation mark depends on how a text begins."""
    turn = itertools.cycle([[1], []])

    def bad(data):
        if b"!" in data and not data.startswith(b"y"):
            return [0] * len(data)
        return [*data, *next(turn)] if b"?" in data else list(data)

    entry = expecting("determinism/*/bad")
    scene = Scene([entry], ref=right, bad=bad)
    scene.check("equivalence", b"what?")
    assert passes(scene)
    assert [bucket for bucket, _ in scene.found] == ["determinism/bpe/raw/order/any/bad"]
    scene.check("validity", *[b"y%d!" % i for i in range(40)])
    assert {one.check for one in scene.tracker.findings if one.expected is None} == {"validity"}


def test_an_entry_that_names_what_is_ill_formed_covers_it_all():
    def bad(data):
        return list(data.decode(errors="replace").encode())

    many = [b"\xff\xfe", *[b"%d\xff" % i + b"\xc3\xc3" for i in range(40)]]
    scene = Scene([known("bytes", b"\xff\xfe")], ref=right, bad=bad)
    scene.check("equivalence", *many)
    assert scene.found and passes(scene)
    scene = Scene(ref=right, bad=bad)
    scene.check("equivalence", *many)
    assert len(scene.found) == 1


def spelling(*split):
    """An encoder that takes the longest run of blanks that is a token, and spells some of them."""
    vocabulary = Scene(ref=right).contract.vocabulary
    runs = {}
    for length in (4, 2):
        runs[b" " * length] = next(
            i for i in range(len(vocabulary.tokens)) if vocabulary.spelling(i) == b" " * length
        )

    def encode(data):
        ids = []
        place = 0
        while place < len(data):
            run = next((run for run in runs if data.startswith(run, place)), None)
            whole = run is not None and run not in split
            ids += [runs[run]] if whole and run else list(run or data[place : place + 1])
            place += len(run or b"x")
        return ids

    return encode


TWO, FOUR = b"  ", b"    "


def test_what_ends_in_no_tokens_is_known_of_its_repeats_too():
    def bad(data):
        if b"!" in data:
            raise ValueError
        return list(data)

    entry = expecting("*/bad", examples=(b"!",))
    scene = Scene([entry], ref=right, bad=bad)
    for check in ("survival", "equivalence"):
        scene.check(check, b"!", b"!!", b"!!!!")
    assert scene.found and passes(scene)


UNASSIGNED = "\u0378".encode()
CJK, KANA = "中".encode(), "あ".encode()
MANY = [b"%d" % number + MARK + b"text" for number in range(1000)]


def other_tokens(data):
    """Both pairs are spelled where the text has no unassigned character."""
    return [0] if UNASSIGNED in data else splitting(ONE, OTHER)(data)


def ill_formed_and_letters(data):
    return wrong_on(*([b"\xff\xfe", b"th"] if b"\xff" in data else [b"\xff\xfe"]))(data)


def unknown_at_question_marks(data):
    return [*data, 99_999] if b"?" in data else wrong_on(b"!")(data)


EVERYWHERE = [b" " * length for length in range(1, 17)] + [b" a" + FOUR]

COVERED = {
    "what its example explains alone": (
        (MARK,), right, wrong_on(MARK, b"'s"), [MARK, *TEXTS], {b"'s"}
    ),
    "what its example explains": ((MARK,), right, wrong_on(MARK), MANY[:50], set()),
    "what shows only beside another character": (
        (MARK,), right, wrong_on(b" " + MARK), [b"some " + MARK + b"text"], set()
    ),
    "the same tokens without any input": (
        (b"",), right, lambda data: [*data, 7], [b"", b"some text", b"more"], set()
    ),
    "no others than without any input": (
        (b"",), right, lambda data: wrong_on(b"e")(data) or [7], [b"", b"some text", b"more"],
        {b"e"},
    ),
    "nothing, without an entry": (
        (), right, wrong_on(MARK, b"'s"), [*MANY, b"What's up?", *MANY], {MARK, b"'s"}
    ),
    "no swapped merges": (
        (UNASSIGNED,), splitting(), other_tokens, [UNASSIGNED, b"0th1", b"0in1"], {ONE, OTHER}
    ),
    "not the rest of a text with what is known": (
        (MARK,), right, wrong_on(MARK, b"'s"), [MARK, b"one " + MARK + b" What's"], {b"'s"}
    ),
    "not the rest of the first text with it": (
        (MARK,), right, wrong_on(MARK, b"'s"), [b"It's all right, " + MARK], {b"'s"}
    ),
    "what an example of a user's own comes to": (
        (b"Hello, What's up?",), right, wrong_on(b"'s"), TEXTS, set()
    ),
    "no other token that is not ASCII": (
        (CJK,), right, wrong_on(CJK, KANA),
        [b"%d" % i + one for one in (CJK, KANA) for i in range(80)], {KANA},
    ),
    "not four blanks, but two": (
        (TWO,), spelling(), spelling(TWO, FOUR), [TWO, FOUR], {FOUR}
    ),
    "not four blanks after eight": (
        (TWO,), spelling(), spelling(TWO, FOUR), [TWO, FOUR * 2, FOUR], {FOUR}
    ),
    "two blanks wherever they are": (
        (TWO,), spelling(), spelling(TWO),
        [TWO, FOUR + TWO, b"a  b", b"   ", FOUR + b"   a  ", FOUR * 3 + TWO], set(),
    ),
    "a text that is cut off everywhere": (
        (b" ",), spelling(), lambda data: spelling()(data.strip()), EVERYWHERE, set()
    ),
    "a text that is changed everywhere": ((b" ",), spelling(), wrong_on(b" "), EVERYWHERE, set()),
    "nothing, of two pairs that can be mended one without the other": (
        (), splitting(), splitting(ONE, OTHER), [b"0" + ONE, b"0" + OTHER, b"1" + ONE], {ONE, OTHER}
    ),
    "nothing, where the rest is of another signature": (
        (), right, unknown_at_question_marks, [b"a!", b"b!?"], {b"!", b"?"}
    ),
    "nothing, of two blanks and four": (
        (), spelling(), spelling(TWO, FOUR), [TWO, FOUR, FOUR * 2, b"   "], {TWO, FOUR}
    ),
    "two blanks and four": (
        (TWO, FOUR), spelling(), spelling(TWO, FOUR), EVERYWHERE[:-1], set()
    ),
    "not all that is ill-formed": (
        (b"\xff\xfe",), right, ill_formed_and_letters,
        [b"\xff\xfe", *[b"a\xffb%dth" % i for i in range(20)]], {b"\xffth"},
    ),
}  # fmt: skip
"""By what an entry with these examples covers: the examples, the reference, who is wrong, the
inputs, and the inputs of the findings that are not expected."""


@pytest.mark.parametrize("covers", COVERED)
def test_an_entry_of_all_kinds_covers(covers):
    examples, reference, bad, inputs, left = COVERED[covers]
    scene = Scene([known("*", *examples)] if examples else [], ref=reference, bad=bad)
    scene.check("equivalence", *inputs)
    assert scene.found
    assert unexpected(scene) == left
    assert passes(scene) is not bool(left)
