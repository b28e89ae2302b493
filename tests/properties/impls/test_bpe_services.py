"""Each service is what the definition, ``bpe.naive``, encodes."""

import contextlib
import random
from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from corpora.vocabularies.model import AddedToken, Merges, Normalizer, RankOrder
from corpora.vocabularies.sources import resolve
from impls.bpe import backtracking, naive
from impls.bpe.count_till_limit import LOCAL, windows_till_limit
from impls.interface import (
    Mode,
    Rejected,
    Unsupported,
)
from tests.properties.impls.bpe_vocabularies import encodings, random_vocabulary, vocabulary

RAW = Mode(pretokenize=False)
TEXT = Mode()
SPECIAL = Mode(special="all")

LETTERS = vocabulary([b"a", b"b", b"c", b"ac", b"bb", b"ab", b"acbb"])
BYTES = [bytes([byte]) for byte in range(256)]


def load(drawn):
    return backtracking.IMPLEMENTATION.load(drawn)


def boundaries(data):
    """Ends of characters, by Python's decoder: bytes that it cannot decode stand alone."""
    text = data.decode("utf-8", "surrogateescape")
    return set(accumulate(len(c.encode("utf-8", "surrogateescape")) for c in text))


def split_by_definition(data, limit, count):
    ends = []
    start = 0
    cuts = sorted(boundaries(data))
    while start < len(data):
        after = [cut for cut in cuts if cut > start]
        fit = [cut for cut in after if count(data[start:cut]) <= limit]
        start = max(fit, default=after[0])
        ends.append(start)
    return ends


def both(drawn):
    """The encoder with the services, and the definition."""
    return load(drawn), naive.IMPLEMENTATION.load(drawn)


def agree(encoders, data, rng):
    """All services on one text, or all those refused that cannot be right."""
    encoder, defined = encoders

    def count(text):
        return len(defined.encode(text, RAW))

    size, total = len(data), count(data)
    assert encoder.count(data, RAW) == total
    for limit in {0, max(0, total - 1), total, total + 1, rng.randrange(total + 1)}:
        expected = total if total <= limit else None
        assert encoder.count_till_limit(data, limit, RAW) == expected
    for limit in (1, 2, rng.randint(1, total + 1)):
        ends = encoder.split(data, limit, RAW)
        if encoder.obstacle is None:
            assert ends == split_by_definition(data, limit, count)
        check_split(data, limit, ends, count)
    cuts = sorted(rng.choices(range(size + 1), k=3))
    ranges = [tuple(sorted(rng.choices(range(size + 1), k=2))) for _ in range(10)]
    ranges += [(0, 0), (size, size), (0, size)]
    chunks = [data[start:end] for start, end in pairwise([0, *cuts, size])]
    if encoder.obstacle is not None:
        with pytest.raises(Unsupported):
            encoder.append(chunks, RAW)
        with pytest.raises(Unsupported):
            encoder.prepend(chunks, RAW)
        with pytest.raises(Unsupported):
            encoder.interval(data, ranges, RAW)
        return
    assert encoder.append(chunks, RAW) == [count(data[:end]) for end in (*cuts, size)]
    assert encoder.prepend(chunks[::-1], RAW) == [count(data[start:]) for start in (*cuts[::-1], 0)]
    assert encoder.interval(data, ranges, RAW) == [count(data[a:b]) for a, b in ranges]
    forward = encoder.appender().extend(data).tolist()
    assert forward == [count(data[:end]) for end in range(1, size + 1)]
    backward = encoder.prepender().extend(data).tolist()
    assert backward == [count(data[start:]) for start in range(size - 1, -1, -1)]


def check_split(data, limit, ends, count):
    assert ends == sorted(set(ends))
    assert ends[-1:] == ([len(data)] if data else [])
    cuts = sorted(boundaries(data))
    assert set(ends) <= set(cuts)
    for start, end in pairwise([0, *ends]):
        single = sum(start < cut <= end for cut in cuts) == 1
        assert start < end
        assert single or count(data[start:end]) <= limit


@given(st.booleans().flatmap(lambda proper: encodings(proper=proper)), st.randoms())
def test_services_are_the_definition(encoding, rng):
    """Or are refused, where a vocabulary is improper."""
    drawn, texts = encoding
    encoders = both(drawn)
    for data in [b"", *texts]:
        agree(encoders, data, rng)


def hostile_texts(tokens, rng, count):
    for _ in range(count):
        alphabet = [
            *rng.sample(tokens, 3),
            b" ",
            b"\n",
            "né日本🙂".encode(),
            b"'l",
            rng.randbytes(2),
        ]
        yield b"".join(rng.choices(alphabet, k=rng.randrange(14)))


@pytest.mark.parametrize("name", ["toy_bytes", "tekken_240911"])
def test_embedded_vocabularies(name):
    drawn = resolve(name)
    encoders = both(drawn)
    rng = random.Random(7)
    for data in hostile_texts([token for token in drawn.tokens if token], rng, 40):
        agree(encoders, data, rng)


def test_pretokenized_text():
    drawn = resolve("tekken_240911")
    encoder, rng = load(drawn), random.Random(9)
    for data in hostile_texts([token for token in drawn.tokens if token], rng, 150):
        text = data.decode(errors="replace").encode()
        total = len(encoder.encode(text, TEXT))

        assert encoder.count(text, TEXT) == total
        for limit in (0, max(0, total - 1), total, total + 1):
            expected = total if total <= limit else None
            assert encoder.count_till_limit(text, limit, TEXT) == expected
        for limit in (1, 3, total + 1):
            ends = encoder.split(text, limit, TEXT)
            check_split(text, limit, ends, lambda part: len(encoder.encode(part, TEXT)))


@pytest.mark.parametrize("specials", [{}, {"<s>": 300, "<special>": 301}], ids=["", "special"])
@pytest.mark.parametrize("pattern", sorted(LOCAL), ids=lambda pattern: pattern[:24])
def test_windows_are_cut_as_the_whole_is(pattern, specials):
    """count_till_limit may cut a text window by window, whatever stands at a window's end."""
    encoder = load(vocabulary([*BYTES, b"ab", b"  "], splits=(pattern,), special_tokens=specials))
    rng = random.Random(10)
    parts = [*"aAbB1 \n\r\t'/é日\u0300\u01c5", "'ll", "'RE", "  ", "\n ", "...", "<s>", "<special>"]
    for _ in range(400):
        data = "".join(rng.choices(rng.sample(parts, 6), k=rng.randrange(90))).encode()
        for mode in (TEXT, SPECIAL):
            total = len(encoder.encode(data, mode))
            for limit in (total, total - 1):
                expected = total if total <= limit else None

                assert (
                    windows_till_limit(encoder, data, limit, mode, encoder._longest, 12) == expected
                )


def test_counting_reads_no_more_than_it_needs(monkeypatch):
    encoder = load(resolve("tekken_240911"))
    read = []
    cut = encoder._cutter.cut
    monkeypatch.setattr(
        encoder._cutter, "cut", lambda data, *rest: (read.append(len(data)), cut(data, *rest))[1]
    )
    text = b"some words, and more\n" * 50_000

    assert encoder.count_till_limit(text, 100, TEXT) is None
    assert encoder.count_till_limit(text[: 100 * encoder._longest], 100, TEXT) is None
    assert sum(read) < 10_000
    assert encoder.count_till_limit(text, 10**6, TEXT) == len(encoder.encode(text, TEXT))

    class Unread(bytes):
        def __getitem__(self, key):
            raise AssertionError

    # What must be longer.
    assert encoder.count_till_limit(Unread(bytes(10**6)), 100, RAW) is None
    assert encoder.count_till_limit(Unread(bytes(10**6)), 100, TEXT) is None


def test_pretokens_are_kept_whole_where_they_fit_and_cut_where_they_do_not():
    encoder = load(vocabulary([*BYTES, b"ab"], splits=(r"\w+|\W+",)))

    assert encoder.split(b"ab--abab", 3, TEXT) == [4, 8]
    assert encoder.split(b"-abababab-", 2, TEXT) == [1, 5, 9, 10]
    # By itself, what comes before the x is three pieces; before it, one.
    encoder = load(vocabulary([*BYTES, b"ab", b"abab"], splits=(r"abab(?=x)|.",)))

    assert encoder.encode(b"ababx", TEXT) == [257, 120]
    assert encoder.split(b"ababx", 1, TEXT) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("service", ["appender", "prepender"])
class TestGrowing:
    def test_an_unknown_byte_changes_nothing_and_no_way_leads_forward(self, service):
        growing = getattr(load(LETTERS), service)()
        growing.extend(b"acbb")
        with pytest.raises(Rejected, match="0x7a"):
            growing.extend(b"azb")
        with pytest.raises(Rejected, match="0x7a"):
            growing.push(ord("z"))

        assert (growing.count, len(growing)) == (1, 4)
        growing.rollback(2)
        for wrong in (3, -1):
            with pytest.raises(ValueError, match="is not of this text"):
                growing.rollback(wrong)

    def test_room_grows(self, service):
        growing = getattr(load(LETTERS), service)()
        for number in range(1, 1000):
            assert growing.push(ord("b")) == (number + 1) // 2


def test_ranges_are_checked():
    intervals = load(LETTERS).intervals(b"abacbb")

    assert intervals.count(2, 6) == 1
    assert intervals.counts([]).tolist() == []
    assert intervals.counts(np.array([[0, 6], [3, 3]])).tolist() == [2, 0]
    for start, end in [(-1, 2), (3, 2), (0, 7)]:
        with pytest.raises(ValueError, match="no range of a text of 6 bytes"):
            intervals.count(start, end)
    assert load(LETTERS).intervals(b"").count(0, 0) == 0


def test_encodings_that_never_meet():
    # From an odd start, no pair of a run falls together with one of the whole text's.
    encoder = load(vocabulary([b"a", b"aa"]))
    data = b"a" * 2001

    assert encoder.interval(data, [(1, 2001), (2, 2001), (1, 2000)], RAW) == [1000, 1000, 1000]


def test_limits_are_checked():
    encoder = load(LETTERS)

    for limit in (0, -1):
        with pytest.raises(ValueError, match="must be positive"):
            encoder.split(b"ab", limit, RAW)
    with pytest.raises(ValueError, match="must not be negative"):
        encoder.count_till_limit(b"ab", -1, RAW)
    with pytest.raises(Unsupported, match="without pre-tokenization"):
        encoder.append([b"a"], TEXT)
    assert encoder.append([], RAW) == encoder.prepend([], RAW) == []
    for refused in (lambda: encoder.split(b"abz", 1, RAW), lambda: encoder.intervals(b"abz")):
        with pytest.raises(Rejected, match="0x7a"):
            refused()


@pytest.mark.parametrize(
    "drawn",
    [
        vocabulary(BYTES, normalizer=Normalizer(form="NFC")),
        vocabulary(BYTES, added_tokens=(AddedToken("ab", 300),)),
        vocabulary(
            [b"a", b"b", b"ab", b"ba"],
            Merges.of([(0, 1, 2)]),
            ignore_merges=True,
            rank_order=RankOrder.MERGES,
        ),
    ],
)
def test_what_acts_on_whole_texts_is_refused(drawn):
    encoder = load(drawn)

    for refused in (encoder.appender, encoder.prepender, lambda: encoder.intervals(b"ab")):
        with pytest.raises(Unsupported):
            refused()
    total = len(encoder.encode(b"aba", RAW))
    assert encoder.count(b"aba", RAW) == encoder.count_till_limit(b"aba", total, RAW) == total
    assert encoder.count_till_limit(b"aba", total - 1, RAW) is None


class Rollback(RuleBasedStateMachine):
    """Growing at either end, going back, and growing another way."""

    snapshots = Bundle("snapshots")

    @initialize(seed=st.integers(0, 2**16), forward=st.booleans())
    def start(self, seed, forward):
        self.forward = forward
        self.text = b""
        rng = random.Random(seed)
        while not hasattr(self, "growing"):
            self.letters, drawn = random_vocabulary(rng)
            self.encoder = load(drawn)
            # Some vocabularies are lawfully refused: their last token does not tell the rest.
            with contextlib.suppress(Unsupported):
                self.growing = self.encoder.appender() if forward else self.encoder.prepender()

    def grown(self, data):
        self.text = self.text + data if self.forward else data + self.text

    @rule(numbers=st.lists(st.integers(0, 4), max_size=12))
    def extend(self, numbers):
        data = bytes(self.letters[number % len(self.letters)] for number in numbers)
        counts = self.growing.extend(data)
        self.grown(data)
        assert len(counts) == len(data)

    @rule(number=st.integers(0, 4))
    def push(self, number):
        byte = self.letters[number % len(self.letters)]
        count = self.growing.push(byte)
        self.grown(bytes([byte]))
        assert count == self.growing.count

    @rule(target=snapshots)
    def snapshot(self):
        return self.growing.snapshot(), self.text

    @rule(taken=snapshots)
    def rollback(self, taken):
        snapshot, text = taken
        back = self.text[: len(text)] if self.forward else self.text[len(self.text) - len(text) :]
        if len(text) <= len(self.text) and back == text:  # not void
            self.growing.rollback(snapshot)
            self.text = text

    @invariant()
    def counted(self):
        if hasattr(self, "growing"):
            assert len(self.growing) == len(self.text)
            assert self.growing.count == len(self.encoder.encode(self.text, RAW))


TestRollback = Rollback.TestCase
TestRollback.settings = settings(max_examples=25, stateful_step_count=25)
