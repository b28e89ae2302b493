"""For tests of your own tokenizer, under pytest::

    from harness.testing import assert_conforms, assert_same_ids

    def test_mine_is_tiktoken():
        assert_same_ids(Mine(), "tiktoken", "tiktoken:o200k_base", inputs=["don't", b"\\xff"])

    def test_mine_on_generated_inputs(tokgate_vocabulary):       # needs the plug-in, see below
        assert_same_ids(Mine(), "bpe.naive", tokgate_vocabulary, cases=2000)

    def test_mine_keeps_the_interface():
        assert_conforms(Mine())

A difference is minimised before it is shown. Everything runs in this process, so that you can use
a debugger; use ``tokgate run`` to find crashes, hangs and leaks.

The line ``pytest_plugins = ["harness.testing"]`` in the top ``conftest.py`` adds the fixture
``tokgate_vocabulary``. Its vocabularies are those of the ini option ``tokgate_vocabularies`` (one
per line) or of ``--tokgate-vocab``, by default small ones. No entry point adds the fixture to every
session, because pytest would then rewrite the assertions of all modules of tokgate, which slows
down every session where tokgate is installed.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from typing import Any, cast

import pytest

from corpora.vocabularies import sources
from corpora.vocabularies.model import Vocabulary, VocabularyError
from corpora.vocabularies.toys import TOYS
from harness.conformance import Breach, breaches_of
from harness.core.comparisons import modes_of
from harness.core.partition import first_difference
from harness.findings.shrink import shrink
from impls import registry
from impls.explanations import literal
from impls.interface import Implementation, Mode, Rejected, Unsupported
from impls.text_plugins import adapted

CASES = 500
"""Generated inputs of a comparison. They take about a second for two implementations in Python."""

FEW = 16
"""Cases of a generator before the next one has its turn, so that few cases come from all."""

ROUND = 300
"""Generated inputs of a conformance test: a few of each generator."""

LONGEST = 2048
"""Maximum bytes of a generated input. Differences on longer ones nearly always show on shorter."""

SHRINKING = 5.0
"""Maximum seconds of minimising. Most inputs take less than one."""

TOKENS_SHOWN = 24
"""Tokens of either side in a message; minimised inputs have fewer."""

Encodes = Callable[[bytes], Sequence[int]]
"""A function from bytes to ids."""


Answer = tuple[int, ...] | Exception
"""The answer of one side to an input: its ids, or the exception that it raised. A difference is
minimised while the types of both answers stay the same."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison."""

    name: str
    encode: Encodes

    def answer(self, data: bytes) -> Answer:
        """Return the answer; an exception other than Rejected and Unsupported is a failure."""
        try:
            return tuple(map(int, self.encode(data)))
        except Exception as error:
            return error


def assert_same_ids(
    mine: Implementation | Encodes | str,
    reference: Implementation | Encodes | str,
    vocabulary: Vocabulary | str,
    inputs: Iterable[bytes | str] | None = None,
    *,
    mode: Mode | None = None,
    cases: int = CASES,
    seed: int = 0,
) -> None:
    """Assert that two implementations give the same ids on every input.

    Parameters
    ----------
    mine, reference
        An implementation, its name as after ``--impl``, or a function from bytes to ids.
    vocabulary
        A vocabulary, or its name as after ``--vocab``.
    inputs
        Texts or bytes; by default ``cases`` generated ones, the same for the same ``seed``.
    mode
        How to encode; by default as the vocabulary does. A function does not get it.

    Raises
    ------
    AssertionError
        The two differ: the message has the smallest input that was found, and both answers. Or
        nothing was compared, because one of them supports no input: it has the first reason.
    ValueError
        One of them does not run the vocabulary in this mode, or there is no input.
    """
    __tracebackhide__ = True
    data = vocabulary_of(vocabulary)
    chosen = mode or modes_of(data)[0]
    ours, theirs = (_side(one, data, chosen) for one in (mine, reference))
    if ours.name == theirs.name:
        ours, theirs = Side("mine", ours.encode), Side("reference", theirs.encode)
    given = generated(data, cases, seed) if inputs is None else map(_bytes, inputs)
    asked = compared = 0
    first_reason = ""
    for case in given:
        asked += 1
        pair = ours.answer(case), theirs.answer(case)
        for side, answer in zip((ours, theirs), pair, strict=True):
            if isinstance(answer, Unsupported):
                why = str(answer) or "no reason given"
                first_reason = first_reason or f"{side.name} does not support it ({why})"
                break
        else:
            compared += 1
        if _differ(*pair):
            raise AssertionError(_message(case, ours, theirs, data))
    if not asked:
        raise ValueError("no input to compare on: give inputs, or more cases")
    if not compared:
        inputs_asked = "the only input" if asked == 1 else f"any of {asked:,} inputs"
        raise AssertionError(
            f"{ours.name} and {theirs.name} were not compared on {inputs_asked} on {data.id}; "
            f"the first reason: {first_reason}"
        )


def assert_conforms(
    mine: Implementation | str, vocabularies: Iterable[Vocabulary | str] | None = None
) -> None:
    """Assert that an implementation keeps the interface; the message lists every breach.

    All checks of a run are made, together with our plain implementation of each vocabulary's
    algorithm.

    mine: an implementation, or its name as after ``--impl``. vocabularies: by default small ones.
    An implementation that gives no answer does not conform: on a vocabulary that you name, in a
    mode that it supports, or for a capability that it claims.
    """
    __tracebackhide__ = True
    found = breaches(mine, vocabularies)
    if found:
        lines = "\n".join(f"- {one}" for one in found)
        raise AssertionError(f"{len(found)} breaches of the interface:\n{lines}")


def breaches(
    mine: Implementation | str, vocabularies: Iterable[Vocabulary | str] | None = None
) -> list[Breach]:
    """Return the breaches that :func:`assert_conforms` lists."""
    chosen = [*map(vocabulary_of, TOYS if vocabularies is None else vocabularies)]
    inputs_of = partial(generated, cases=ROUND)
    return breaches_of(_implementation(mine), chosen, inputs_of, whole=vocabularies is not None)


class TextOf(bytes):
    """The bytes of one of your documents, with its place: a file and a line."""

    place: Callable[[], str]


def texts(*given: str) -> Iterator[TextOf]:
    """Yield your own documents, each once, for ``inputs``: ``texts("corpus.jsonl#field=text")``.

    given: files, folders and file name patterns, as after ``--input``. The message about a
    difference names its file and line. Raises ValueError if a record cannot be read.
    """
    from corpora.texts.corpus import Corpus, Reading  # noqa: PLC0415

    reading = Reading()
    for document in Corpus.of(given).documents(None, reading):
        if reading.faults:
            break
        text = TextOf(document.data)
        text.place = document.place
        yield text
    if reading.faults:
        raise ValueError(reading.faults[0])


def generated(vocabulary: Vocabulary | str, cases: int = CASES, seed: int = 0) -> Iterator[bytes]:
    """Yield generated inputs for this vocabulary, of all generators in turn."""
    from corpora.generators.catalog import generators  # noqa: PLC0415 (their tables take a while)
    from harness.engine.streams import batches  # noqa: PLC0415

    made = batches([*generators().values()], vocabulary_of(vocabulary), seed, LONGEST, most=FEW)
    return islice((data for batch in made for data in batch.inputs), cases)


@cache
def _resolved(source: str) -> Vocabulary:
    return sources.resolve(source)


def vocabulary_of(vocabulary: Vocabulary | str) -> Vocabulary:
    """Return the vocabulary of this name, which is read only once. Raises VocabularyError."""
    return _resolved(vocabulary) if isinstance(vocabulary, str) else vocabulary


def _bytes(data: bytes | str) -> bytes:
    if isinstance(data, TextOf):
        return data
    return data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)


def _implementation(one: Implementation | str) -> Implementation:
    return registry.resolve(one) if isinstance(one, str) else adapted(one)


def _side(one: Implementation | Encodes | str, vocabulary: Vocabulary, mode: Mode) -> Side:
    if not isinstance(one, str) and not hasattr(one, "load"):
        if not callable(one):
            raise ValueError(f"{one!r} is neither an implementation, nor a name, nor a function")
        return Side(getattr(one, "__name__", type(one).__name__).strip("<>"), one)
    implementation = _implementation(cast("Implementation | str", one))
    name = implementation.about.name
    reason = implementation.supports(vocabulary, mode)
    if reason is not None:
        raise ValueError(f"{name} does not run {vocabulary.id}/{mode.label}: {reason}")
    encoder = implementation.load(vocabulary)
    return Side(name, lambda data: encoder.encode(data, mode))


def _differ(one: Answer, other: Answer) -> bool:
    """Whether two answers differ; what either does not do is never compared."""
    if isinstance(one, Unsupported) or isinstance(other, Unsupported):
        return False
    if isinstance(one, Rejected) and isinstance(other, Rejected):
        return False
    return isinstance(one, Exception) or one != other


def _message(case: bytes, ours: Side, theirs: Side, vocabulary: Vocabulary) -> str:
    """The smallest input on which both give answers of the same types as on a case, and differ."""
    wanted = type(ours.answer(case)), type(theirs.answer(case))

    def failing(candidates: Sequence[bytes]) -> list[bool]:
        answers = [(ours.answer(one), theirs.answer(one)) for one in candidates]
        return [_differ(a, b) and (type(a), type(b)) == wanted for a, b in answers]

    small, ended = shrink(case, failing, SHRINKING)
    one, other = answers = ours.answer(small), theirs.answer(small)
    place = None
    if isinstance(one, tuple) and isinstance(other, tuple):
        place = first_difference(one, other)
    size = f"{len(small)} byte" + ("" if len(small) == 1 else "s")
    how = "" if small == case else f", minimised from {len(case)}"
    lines = [
        f"{ours.name} and {theirs.name} differ on {vocabulary.id}:",
        f"  input   {literal(small)}  ({size}{how}{'' if ended else ', not to the end'})",
        f"  hex     {small[:64].hex()}{'..' if len(small) > 64 else ''}",
    ]
    if isinstance(case, TextOf):
        lines.append(f"  from    {case.place()}")
    width = max(len(ours.name), len(theirs.name))
    for side, answer in zip((ours, theirs), answers, strict=True):
        lines.append(f"  {side.name:<{width}}  {_shown(answer, place, vocabulary)}")
    if place is not None:
        lines.append(f"  the first difference is at token {place}")
    return "\n".join(lines)


def _shown(answer: Answer, place: int | None, vocabulary: Vocabulary) -> str:
    if isinstance(answer, Rejected):
        return "rejects it"
    if isinstance(answer, Exception):
        line = str(answer).split("\n", 1)[0]
        return f"raises {type(answer).__name__}: {line}"
    start = max(0, (place or 0) - TOKENS_SHOWN // 2)
    end = start + TOKENS_SHOWN
    shown = [
        f"{'>' if at == place else ''}{token}={_spelt(token, vocabulary)}"
        for at, token in enumerate(answer[start:end], start)
    ]
    before = [f"({start} before)"] if start else []
    after = [f"({len(answer) - end} after)"] if len(answer) > end else []
    return " ".join([*before, *shown, *after]) or "no tokens"


def _spelt(token: int, vocabulary: Vocabulary) -> str:
    try:
        return literal(vocabulary.spelling(token))
    except KeyError:
        return "not in the vocabulary"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the fixture."""
    group = parser.getgroup("tokgate", "vocabularies of the fixture tokgate_vocabulary")
    group.addoption(
        "--tokgate-vocab", action="append", metavar="V", default=None,
        help="A vocabulary, as after tokgate's --vocab. May be repeated.",
    )  # fmt: skip
    parser.addini(
        "tokgate_vocabularies", "Vocabularies of the fixture tokgate_vocabulary.", type="linelist"
    )


def pytest_generate_tests(metafunc: Any) -> None:
    """Run each test that uses the fixture once for each vocabulary."""
    if "tokgate_vocabulary" in metafunc.fixturenames:
        config = metafunc.config
        chosen = config.getoption("--tokgate-vocab") or config.getini("tokgate_vocabularies")
        names = list(dict.fromkeys(chosen or TOYS))
        metafunc.parametrize("tokgate_vocabulary", names, indirect=True)


@pytest.fixture
def tokgate_vocabulary(request: pytest.FixtureRequest) -> Vocabulary:
    """Each of the chosen vocabularies in turn."""
    try:
        return _resolved(request.param)
    except VocabularyError as error:
        pytest.fail(f"tokgate_vocabulary: {error}", pytrace=False)
