"""The conformance test passes for right implementations and says what is wrong with others."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from corpora.vocabularies import sources
from corpora.vocabularies.toys import TOYS
from harness.core.comparisons import modes_of
from harness.testing import assert_conforms, breaches
from impls import registry, roster
from impls.interface import About, Capability, Mode, Rejected, Unsupported
from tests.breadth import thorough, thorough_from
from tests.doubles.installed import installed

MUTANTS = Path(__file__).parents[2] / "mutants"
PROGRAM = Path(__file__).parents[3] / "harness" / "studies" / "selftest" / "program.py"

EXAMPLE = Path(registry.__file__).with_name("examples") / "stdio_encoder.py"


def toys(*names):
    return [sources.resolve(name) for name in names]


EXPECTED = {
    # Its special tokens are found in any text, and it has a word of its own for what is unknown.
    # Its streams give a prompt's text again, and hold back what is never a character.
    "tokenizers": {
        *((r, "toy_unigram") for r in ("equivalence", "round-trip", "specials")),
        *(("stream-decoder", toy) for toy in ("toy_bytes", "toy_characters")),
    },
    "unigram.huggingface": {("specials", "toy_unigram")},
    # A token of the byte 0xff alone marks the end of its text.
    "llguidance": {("single-ids", "toy_bytes")},
    # Decoding cleans white space up; bytes that are no text are encoded as they are.
    "llama.cpp": {
        ("round-trip", "toy_bytes"),
        ("round-trip", "toy_unigram"),
        ("equivalence", "toy_characters"),
    },
}
"""Differences that are known and true; the expectations that tokgate brings have them, too."""


@pytest.mark.parametrize(
    "name", thorough_from(1, roster.joining(roster.Joins.RUNS, roster.Joins.FAST))
)
def test_what_tokgate_brings_conforms(name):
    implementation = installed(name)
    # llama.cpp's WordPiece is a variant of its own, which wordpiece.llama-cpp is held to.
    kept = [toy for toy in TOYS if (name, toy) != ("llama.cpp", "toy_wordpiece")]
    run = [
        toy
        for toy in toys(*kept)
        if any(not implementation.supports(toy, mode) for mode in modes_of(toy))
    ]
    if not run:
        pytest.skip(f"{name} runs no toy")
    found = {(one.rule, one.where.partition("/")[0]) for one in breaches(name, run)}
    assert found == EXPECTED.get(name, set())


@pytest.mark.parametrize(
    "program",
    [str(EXAMPLE), thorough(f"{PROGRAM} --kind correct")],
    ids=["example", "mini"],
)
def test_programs_conform(program):
    assert_conforms(f"cmd:{sys.executable} {program}")


class Base:
    """Gives an id a byte of ``toy_bytes``: right where no token is longer."""

    capabilities: frozenset[Capability] = frozenset()

    @property
    def about(self):
        return About(name="mine", version="1", capabilities=self.capabilities)

    def supports(self, vocabulary, mode):
        return None if mode == Mode(pretokenize=False) else "raw only"

    def load(self, vocabulary):
        right = registry.resolve("bpe.naive").load(vocabulary)
        outer = self

        class Encoder:
            def encode(self, data, mode):
                if len(data) > 4096:
                    raise Unsupported("too long")
                return outer.encode(data, list(right.encode(data, mode)))

        return Encoder()

    def encode(self, data, right):
        return right


class NoAbout(Base):
    about = None


class SaysTrue(Base):
    def supports(self, vocabulary, mode):
        return True


class LoadsNothing(Base):
    def load(self, vocabulary):
        return None


class Raises(Base):
    def encode(self, data, right):
        data.decode()
        return right


class RejectsText(Base):
    def encode(self, data, right):
        if len(data) > 2:
            raise Rejected("too much")
        return right


class Shares(Base):
    def __init__(self):
        self.shared = {}

    def encode(self, data, right):
        return self.shared.setdefault(data, right)


class Unknown(Base):
    def encode(self, data, right):
        return [token_id + 1000 for token_id in right]


class Batches(Base):
    """Its batches lose the last id."""

    def load(self, vocabulary):
        right = registry.resolve("bpe.heap").load(vocabulary)

        class Encoder:
            encode = right.encode

            def encode_batch(self, data, ends, mode):
                ids, id_ends = right.encode_batch(data, ends, mode)
                id_ends[-1] -= 1
                return ids[:-1], id_ends

        return Encoder()


def mutant(kind):
    return f"{MUTANTS}/in_process.py:{kind}"


def program(kind):
    return f"cmd:{sys.executable} {PROGRAM} --kind {kind}"


WRONG = [
    (mutant("AlwaysWrong"), "equivalence", "in mini-always-wrong"),
    (mutant("OneToken"), "equivalence", "b'ac': token 0: 3 ('ac') in bpe.naive, 2 ('c') in mini-"),
    (mutant("Ties"), "equivalence", "in bpe.naive"),
    (program("floats"), "survival", "a float"),
    (program("claims"), "round-trip", "claims 'decode' but does not do it"),
    (NoAbout(), "about", "is a NoneType, not an About"),
    (SaysTrue(), "supports", "True, not None or a line"),
    (LoadsNothing(), "load", "a NoneType without an encode method"),
    (Raises(), "survival", "errored (UnicodeDecodeError"),
    (RejectsText(), "equivalence", "mine: rejected (too much)"),
    (Shares(), "sharing", "a change to the list"),
    (Unknown(), "equivalence", "(not in the vocabulary) in mine"),
    (Batches(), "batch", "in mine (by itself)"),
    (mutant("Above500"), "equivalence", "in bpe.naive"),
    (mutant("Leak"), "determinism", "(again)"),
    (mutant("Flaky"), "determinism", "(again)"),
    (mutant("Floats"), "survival", "a float"),
    (mutant("Claims"), "round-trip", "has no method decode"),
    (mutant("Hog"), "survival", "MemoryError"),
    (program("garbage"), "survival", "a line that is not JSON"),
    (program("exit"), "survival", "exited with status 3"),
    (program("leak"), "determinism", "(again)"),
]


@pytest.mark.parametrize(("implementation", "rule", "words"), thorough_from(14, WRONG))
def test_each_breach_is_said_in_words(implementation, rule, words):
    several = ("toy_acbb", "toy_ties", "toy_bytes")
    made_here = isinstance(implementation, Base) or implementation.startswith("cmd:")
    with pytest.raises(AssertionError, match="breaches of the interface") as raised:
        assert_conforms(implementation, toys(*several[2 * made_here :]))
    lines = str(raised.value).splitlines()
    assert any(line.startswith(f"- {rule}") and words in line for line in lines), lines


def test_the_base_of_those_is_right():
    assert breaches(Base(), toys("toy_bytes")) == []


@pytest.mark.parametrize(
    "name", ["count", "count_till_limit", "split", "append", "prepend", "interval"]
)
def test_a_claimed_service_must_be_there(name):
    class Claims(Base):
        capabilities = frozenset({Capability(name)})

    problems = breaches(Claims(), toys("toy_acbb"))
    (check,) = {problem.rule for problem in problems}
    assert check in {"count-till-limit", "split", "incremental", "interval"}
    assert f"claims the capability {name!r} but has no method {name}" in str(problems[0])


def test_a_service_that_miscounts_is_reported():
    class Miscounts(Base):
        capabilities = frozenset({Capability.COUNT, Capability.APPEND, Capability.SPLIT})

        def load(self, vocabulary):
            encoder = super().load(vocabulary)
            encoder_type = type(encoder)
            encoder_type.count = lambda self, data, mode: len(data)
            encoder_type.append = lambda self, chunks, mode: [len(chunk) for chunk in chunks]
            encoder_type.split = lambda self, data, limit, mode: list(range(1, len(data) + 1))
            return encoder

    problems = breaches(Miscounts(), toys("toy_bytes"))
    assert {problem.rule for problem in problems} == {"count-till-limit", "incremental", "split"}


class Halved:
    """What was saved and loaded again: it has lost half of its ids."""

    def encode(self, data, mode):
        return [*data[: len(data) // 2]]


def test_other_ways_to_the_ids_are_held_to_encode():
    class Others(Base):
        def load(self, vocabulary):
            encoder = super().load(vocabulary)
            encoder_type = type(encoder)  # one of its own each time
            encoder_type.encode_many = lambda self, inputs, mode: [
                self.encode(data, mode)[:2] for data in inputs
            ]
            encoder_type.reloaded = lambda self: Halved()
            return encoder

    problems = breaches(Others(), toys("toy_bytes"))
    assert {problem.rule for problem in problems} == {"batch", "reload"}


class MergesAlone:
    """An encoder that is right wherever merges decide alone; ``declines``: it says so."""

    def __init__(self, declines):
        self.declines = declines
        self.about = About(name="merges-alone", version="1.0")

    def supports(self, vocabulary, mode):
        if vocabulary.ignore_merges and self.declines:
            return "vocabularies without ignore_merges only"
        return registry.resolve("bpe.naive").supports(vocabulary, mode)

    def load(self, vocabulary):
        return registry.resolve("bpe.naive").load(replace(vocabulary, ignore_merges=False))


def test_a_right_encoder_that_declines_ignore_merges_conforms():
    assert_conforms(MergesAlone(declines=True))


def test_who_does_not_look_at_ignore_merges_is_told_of_it():
    found = breaches(MergesAlone(declines=False), toys("toy_improper", "toy_bytes"))
    assert {one.where.partition("/")[0] for one in found} == {"toy_improper"}
    described = [one.message for one in found if not one.message.startswith("and ")]
    assert all("let supports() return a reason" in message for message in described), found
