"""Checks of services and of other ways to ask: planted mistakes are named, and nobody else is."""

import random
import sys
from dataclasses import replace

import pytest

from corpora.vocabularies.sources import resolve
from harness.checks import CHECKS
from harness.checks.questions import examine
from harness.checks.services import DEFINITION
from harness.findings.description import difference
from harness.findings.diagnosis import kind_of, signature
from harness.studies.selftest.catalog import mistakes
from harness.studies.selftest.plain.ways import Skipping
from harness.workers import Limits
from tests.breadth import thorough
from tests.doubles import serving_program
from tests.doubles.local import RAW, SPECIAL, TEXT, Local, found, texts
from tests.doubles.plugged import live

MODES = {"raw": RAW, "text": TEXT, "special": SPECIAL}
SERVICES = {"incremental", "interval", "count-till-limit", "split"}


@pytest.mark.parametrize(
    "mistake",
    [one for one in mistakes().values() if one.family in {"services", "ways"}],
    ids=lambda one: one.name,
)
def test_each_mistake_is_caught_and_named(mistake):
    local = Local(resolve(mistake.vocabulary), [mistake.spec], MODES[mistake.mode])
    shown = found(local, [*texts(), *mistake.inputs])
    if mistake.family == "services":
        assert shown == {mistake.check: set(mistake.stages)}
    assert mistake.stages[0] in shown[mistake.check]


class SkipsAtTheEnds(Skipping):
    """Leaves special tokens out before and after a text alone."""

    def decode_without_specials(self, ids):
        special = {*self.specials.values()}
        inside = [place for place, one in enumerate(ids) if one not in special]
        return self.decode(ids[inside[0] : inside[-1] + 1])


def test_special_tokens_are_skipped_between_characters_too():
    vocabulary = replace(resolve("toy_bytes"), special_tokens={"<s>": 1000})
    local = Local(vocabulary, [f"{__name__}:SkipsAtTheEnds"])
    assert found(local, texts(), ["skip-specials"]) == {"skip-specials": {"decode"}}


PLAIN = "harness.studies.selftest.plain.bpe:PlainServices"
ENGINES = ["tiktoken", "tokenizers", "bpe.heap"]


@pytest.mark.parametrize(
    ("vocabulary", "specs", "mode"),
    [
        ("toy_bytes", ENGINES, TEXT),
        ("toy_bytes", ENGINES, RAW),
        thorough(("tekken_240911", ENGINES, SPECIAL)),
        thorough(("mistral_v3", ["sentencepiece", "spm.sentencepiece"], TEXT)),
        ("unigram_nfkc", ["sentencepiece", "unigram.sentencepiece"], TEXT),
        ("toy_wordpiece", ["tokenizers", "wordpiece.bert"], TEXT),
        *[
            pytest.param(name, [spec, DEFINITION], mode, marks=marks)
            for name, marks in (("toy_bytes", ()), ("tekken_240911", pytest.mark.thorough))
            for spec in (PLAIN, "bpe.backtracking")
            for mode in (RAW, TEXT)
        ],
    ],
)
def test_nothing_is_found_where_nothing_is_wrong(vocabulary, specs, mode):
    local = Local(resolve(vocabulary), specs, mode)
    known = {"stream-decoder"} if "tokenizers" in specs else set()  # its release 0.23.3
    assert found(local, texts()).keys() <= known
    # A service is asked about bytes that are no text, too.
    rng = random.Random(4)
    hostile = [rng.randbytes(rng.randrange(40)) for _ in range(50)] + [b"\x80" * 30, b"\xf0\x9f"]
    asked = {name for name in SERVICES if CHECKS[name].applies(local.contract)}
    if "bpe.backtracking" in specs:  # as the mode allows
        assert asked == ({"count-till-limit", "split"} if mode == TEXT else SERVICES)
    assert bool(asked) == (DEFINITION in specs)
    for name in asked:
        judgement = local.examine(CHECKS[name], hostile if mode == RAW else texts())
        assert judgement.exercised[local.contract.names[0]] >= 52
        assert judgement.violations == []


READERS = ["sentencepiece", "tokenizers", "mistral-common"]
INPUTS = [b"", b"a", b" ", b"text number 1 ", "日本 é".encode(), b"a , b .", b"the then"]
INPUTS += [b"text number %d, of which the end is told" % number for number in range(20)]


@pytest.mark.parametrize(
    ("checks", "vocabulary", "specs", "times"),
    [
        ("clean-up", "toy_bytes", ["tiktoken"], {}),
        ("batch", "toy_bytes", ENGINES, dict.fromkeys(ENGINES, 1)),
        ("reload surrogates", "toy_bytes", ENGINES, {"tiktoken": 1, "tokenizers": 1}),
        ("unstable", "toy_bytes", ["tiktoken", "bpe.naive"], {"tiktoken": 1}),
        ("truncation padding", "toy_bytes", ["tokenizers", "bpe.heap"], {"tokenizers": 1}),
        # tokenizers refuses an overlap of 4 in a window of 5 where two tokens may be added.
        ("truncation", "toy_file_words", ["tokenizers"], {"tokenizers": 1}),
        ("truncation", "toy_file_subwords", ["tokenizers"], {"tokenizers": 1}),
        # Pairs are known to one of the three.
        ("template", "mistral_v1", READERS, {**dict.fromkeys(READERS, 1), "tokenizers": 2}),
        *[
            ("template", name, [*readers], dict.fromkeys(readers, 2))
            for name in ("toy_file_words", "toy_file_subwords")
            for readers in [("tokenizers", "pipeline.huggingface")]
        ],
        ("surrogates", "mistral_v1", READERS, dict.fromkeys(READERS, 1)),
    ],
)
def test_libraries_are_asked_by_their_own_ways(checks, vocabulary, specs, times):
    local = Local(resolve(vocabulary), specs, TEXT)
    for name in checks.split():
        judgement = local.examine(CHECKS[name], INPUTS)
        assert judgement.exercised == {who: n * len(INPUTS) for who, n in times.items()}
        assert not judgement.violations


def test_bytes_that_begin_no_character_stay_with_the_one_before():
    """The selftest found the right encoder wrong on one more of them than a character has."""
    local = Local(resolve("toy_bytes"), [PLAIN, DEFINITION])
    stray = [b"\xe1\x9a\x80\x80\x82" + bytes([byte]) for byte in range(64)]
    assert local.examine(CHECKS["split"], stray).violations == []


def test_a_wrong_encode_shows_against_the_definition_and_is_told_in_words():
    """A service that agrees with its own wrong encoding is still held against bpe.naive."""
    local = Local(resolve("toy_bytes"), [PLAIN, DEFINITION])
    right = local.servers["plain.services"]._encoder
    encode = right.encode
    right.encode = lambda data, mode: [*encode(data, mode), 0]
    right.size = lambda data, mode: len(right.encode(data, mode))
    violation, *_ = local.examine(CHECKS["incremental"], [b"zq"]).violations
    assert difference(violation, local.contract.vocabulary)[1] == (
        f"{DEFINITION} (encode): answered (1 token in bytes 0 to 1); "
        "plain.services (append): answered (2 tokens in bytes 0 to 1)"
    )
    assert kind_of(violation, signature(violation, local.contract).stage, local.contract) == "count"


@pytest.mark.parametrize(("options", "expected"), [("", set()), (" --late", {"append"})])
def test_programs_are_checked_over_the_stdio_protocol(options, expected):
    spec = f"cmd:{sys.executable} {serving_program.__file__}{options}"
    stages = set()
    with live([spec], limits=Limits(seconds=20.0)) as (pool, contracts):
        [contract] = [one for one in contracts if one.mode == RAW]
        for check in SERVICES:
            judgement = examine(pool, contract, CHECKS[check], texts()[:20])
            assert min(judgement.exercised.values()) >= 20
            stages |= {violation.stage for violation in judgement.violations}
    assert stages == expected
