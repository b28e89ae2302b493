"""A conformance test for authors of implementations, to be called from their own tests::

    from impls.conformance import run_conformance_test

    def test_conformance():
        run_conformance_test(Mine())          # or "cmd:./my-tokenizer --serve"

It runs in this process, on the toy vocabularies (and any that are given), in a few seconds: what
it cannot see (crashes, hangs, rare inputs) is what ``tokgate run`` is for.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.toys import TOYS
from impls import registry
from impls.conformance_inputs import inputs_for, is_text
from impls.conformance_laws import LAWS, METHODS, RAW_ONLY, TEXT_ONLY, Known
from impls.external import ExternalImplementation
from impls.interface import (
    About,
    Capability,
    Encoder,
    EncodesBatches,
    EncodesMany,
    Implementation,
    Law,
    Mode,
    Rejected,
    Reloads,
    Unsupported,
)
from impls.text_plugins import adapted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from corpora.vocabularies.model import Vocabulary

MODES = tuple(
    Mode(pretokenize, special) for pretokenize in (False, True) for special in ("none", "all")
)

DEFINITIONS = ("bpe.naive", "unigram.sentencepiece", "wordpiece.bert")
"""Exact implementations must give the ids of these."""

SHOWN = 3
"""Breaches of one rule on one vocabulary that are described; more are counted."""

LONGEST_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Problem:
    """A breach: of which rule, where (vocabulary and mode, or nothing), and what happened."""

    rule: str
    where: str
    message: str

    def __str__(self) -> str:
        place = f" on {self.where}" if self.where else ""
        return f"{self.rule}{place}: {self.message}"


def run_conformance_test(
    implementation: Implementation | str, vocabularies: Iterable[Vocabulary] | None = None
) -> None:
    """Raise an AssertionError that lists every breach in words; return None if there is none.

    implementation: one, or its name as after ``--impl``. vocabularies: by default the toys, of
    which it must run one at least; it must run each of those that are given.
    """
    problems = conformance_problems(implementation, vocabularies)
    if problems:
        lines = "\n".join(f"- {problem}" for problem in problems)
        raise AssertionError(f"{len(problems)} breaches of the interface:\n{lines}")


def conformance_problems(
    implementation: Implementation | str,
    vocabularies: Iterable[Vocabulary] | None = None,
    *,
    seed: int = 0,
) -> list[Problem]:
    """Every breach, in the order of the examination; see :func:`run_conformance_test`."""
    if isinstance(implementation, str):
        implementation = registry.resolve(implementation)
    chosen = [make() for _, make in TOYS.values()] if vocabularies is None else list(vocabularies)
    examination = Examination(adapted(implementation))
    if examination.introduces_itself():
        for vocabulary in chosen:
            examination.examine(vocabulary, inputs_for(vocabulary, seed, examination.max_input))
        examination.answers_something(whole=vocabularies is not None, of=len(chosen))
    return examination.problems


Answer = tuple[int, ...] | Rejected | Unsupported
Breach = tuple[str, str]
"""The rule that is broken, and what happened."""


class Examination:
    """One implementation under examination, and the breaches found so far."""

    def __init__(self, implementation: Implementation) -> None:
        self._implementation = implementation
        self._found: dict[tuple[str, str], list[str]] = {}
        self._law = Law.EXACT
        self.max_input: int | None = None
        self._capabilities: frozenset[Capability] = frozenset()
        self._declined: dict[str, str] = {}
        self._asked: Counter[Capability] = Counter()
        self._unanswered: dict[Capability, list[str]] = {}

    def breach(self, rule: str, where: str, message: str) -> None:
        """Note a breach."""
        self._found.setdefault((rule, where), []).append(message)

    @property
    def problems(self) -> list[Problem]:
        """The breaches, of each kind the first ones, and then how many more there are."""
        kinds = self._found.items()
        shown = [Problem(*kind, one) for kind, found in kinds for one in found[:SHOWN]]
        more = [(kind, len(found) - SHOWN) for kind, found in kinds if len(found) > SHOWN]
        return [*shown, *(Problem(*kind, f"and {count} more") for kind, count in more)]

    def introduces_itself(self) -> bool:
        """Whether ``about`` is in order enough to go on."""
        try:
            about = self._implementation.about
        except BaseException as error:
            self.breach("about", "", f"raises {_named(error)}")
            return False
        if not isinstance(about, About):
            self.breach("about", "", f"is a {type(about).__name__}, not an About")
            return False
        for field in ("name", "version"):
            value = getattr(about, field)
            if not isinstance(value, str) or not value:
                self.breach("about", "", f"{field} is {value!r}, not a text")
        odd = [one for one in about.capabilities if not isinstance(one, Capability)]
        if odd:
            self.breach("about", "", f"capabilities has {odd[0]!r}, which is no Capability")
        if about.max_input is not None and about.max_input < 1:
            self.breach("about", "", f"max_input is {about.max_input}; None means any length")
        self.max_input, self._capabilities = about.max_input, about.capabilities
        # A variant is held to its engine, and not to the definition.
        self._law = Law.SPELLING if about.engine else about.law
        return True

    def answers_something(self, whole: bool, of: int) -> None:
        """A vocabulary or a capability of which nothing was examined is a breach.

        whole: every vocabulary must be examined, and not just any of them. of: how many there are.
        """
        if whole or len(self._declined) == of:
            mend = "; if it need not run this vocabulary, leave it out" if whole else ""
            for vocabulary, reason in self._declined.items():
                self.breach("answers", vocabulary, f"nothing was compared: {reason}{mend}")
        for capability, said in self._unanswered.items():
            if len(said) == self._asked[capability]:
                line = f"claims {str(capability)!r} but answered none of {len(said):,} requests for"
                self.breach("claims", "", f"{line} it; the first answer was {said[0]}")

    def examine(self, vocabulary: Vocabulary, inputs: Sequence[bytes]) -> None:
        """All that can be said on one vocabulary."""
        modes = [mode for mode in MODES if self._supports(vocabulary, mode)]
        if not modes:
            return
        self._declined.pop(vocabulary.id, None)
        encoder = self._load(vocabulary)
        if encoder is None:
            return
        claimed = sorted(self._capabilities & set(LAWS))
        for capability in claimed:
            if not isinstance(encoder, LAWS[capability][0]):
                missing = ", ".join(METHODS[capability])
                message = f"claims {str(capability)!r} but the encoder has no method {missing}"
                self.breach("claims", vocabulary.id, message)
        # A program says only when it is asked which modes it does.
        program = isinstance(self._implementation, ExternalImplementation)
        silent = {}
        for mode in modes:
            asking = Asking(encoder, vocabulary, mode, self._law)
            where = f"{vocabulary.id}/{mode.label}"
            for rule, message in asking.breaches(inputs, Capability.THREADS in self._capabilities):
                self.breach(rule, where, message)
            for capability in claimed:
                if not (mode.pretokenize and capability in RAW_ONLY):
                    self._lawful(asking, capability, where)
            silent[mode] = asking.silent
            if silent[mode] and not program:
                self.breach("answers", where, f"nothing was compared: {silent[mode]}")
        if program and all(silent.values()):
            self._declined[vocabulary.id] = silent[modes[0]]
        close = getattr(encoder, "close", None)
        if callable(close):  # a program of its own
            close()

    def _supports(self, vocabulary: Vocabulary, mode: Mode) -> bool:
        if mode.special == "all" and not vocabulary.special_tokens:
            return False  # the same as "none"
        where = f"{vocabulary.id}/{mode.label}"
        try:
            answer = self._implementation.supports(vocabulary, mode)
        except BaseException as error:
            self.breach("supports", where, f"raises {_named(error)}")
            return False
        if answer is not None and (not isinstance(answer, str) or not answer):
            self.breach("supports", where, f"gives {answer!r}, neither None nor a line saying why")
            return False
        if answer is not None:
            self._declined.setdefault(vocabulary.id, f"supports() says: {answer}")
        return answer is None

    def _load(self, vocabulary: Vocabulary) -> Encoder | None:
        try:
            encoder = self._implementation.load(vocabulary)
        except Unsupported as error:  # a program is asked only now
            self._declined[vocabulary.id] = f"load() raises {_named(error)}"
            return None
        except BaseException as error:
            self.breach("load", vocabulary.id, f"raises {_named(error)}, though supports() is None")
            return None
        if not isinstance(encoder, Encoder):
            kind = type(encoder).__name__
            self.breach("load", vocabulary.id, f"gives a {kind} without an encode method")
            return None
        return encoder

    def _lawful(self, asking: Asking, capability: Capability, where: str) -> None:
        protocol, law = LAWS[capability]
        if not isinstance(asking.encoder, protocol):
            return  # reported on loading

        def size(data: bytes) -> int:
            return len(asking.encoder.encode(data, asking.mode))

        for data, ids in asking.ids.items():
            if capability in TEXT_ONLY and not is_text(data):
                continue
            self._asked[capability] += 1
            known = Known(asking.vocabulary, asking.mode, data, ids, size)
            try:
                fault = law(asking.encoder, known)
            except (Rejected, Unsupported) as error:
                self._unanswered.setdefault(capability, []).append(_named(error))
                continue
            except BaseException as error:
                fault = f"raises {_named(error)}"
            if fault is not None:
                self.breach(str(capability), where, f"of {_shown(data)}: {fault}")


class Asking:
    """One encoder in one mode, and what it has answered."""

    def __init__(self, encoder: Encoder, vocabulary: Vocabulary, mode: Mode, law: Law) -> None:
        self.encoder, self.vocabulary, self.mode = encoder, vocabulary, mode
        self._law = law
        self.ids: dict[bytes, tuple[int, ...]] = {}
        self.silent = ""
        """Why nothing was compared, where no input but the empty one is done."""

    def breaches(self, inputs: Sequence[bytes], threads: bool) -> Iterator[Breach]:
        """Ask everything. threads: in several at once, too."""
        answers: dict[bytes, Answer] = {}
        for data in inputs:
            answer = self._ask(data)
            if isinstance(answer, Fault):
                yield answer.args
            else:
                answers[data] = answer
        self.ids = {data: answer for data, answer in answers.items() if isinstance(answer, tuple)}
        said = next((_named(one) for one in answers.values() if isinstance(one, Unsupported)), "")
        if said and not any(self.ids):
            line = f"encode answers none of {len(inputs)} inputs; the first answer was {said}"
            self.silent = line
        yield from self._right(answers)
        yield from self._same_again(answers)
        yield from self._other_ways()
        if threads:
            with ThreadPoolExecutor(4) as pool:
                again = list(pool.map(self._ask, answers))
            for (data, answer), other in zip(answers.items(), again, strict=True):
                if not _alike(answer, other):
                    message = f"encode({_shown(data)}) gives {_described(other)} in threads"
                    yield "threads", f"{message}, {_described(answer)} alone"

    def _ask(self, data: bytes) -> Answer | Fault:
        """The answer, or the breach if it is none."""
        try:
            ids = tuple(self.encoder.encode(data, self.mode))
        except (Rejected, Unsupported) as answer:
            return answer
        except BaseException as error:
            return Fault(
                "exceptions",
                f"encode({_shown(data)}) raises {_named(error)}; raise Rejected for an input that "
                "is invalid, Unsupported for one that you do not do",
            )
        for token_id in ids:
            if isinstance(token_id, bool) or not isinstance(token_id, int | np.integer):
                kind = type(token_id).__name__
                return Fault("ids", f"encode({_shown(data)}) gives {token_id!r}, a {kind}")
            try:
                self.vocabulary.spelling(int(token_id))
            except KeyError:
                lacks = f"encode({_shown(data)}) gives {token_id}, which the vocabulary lacks"
                return Fault("ids", lacks)
        return tuple(map(int, ids))

    def _right(self, answers: dict[bytes, Answer]) -> Iterator[Breach]:
        """Agree with the definition, or at least spell the text, and refuse nothing lawful."""
        definition = self._definition() if self._law is Law.EXACT else None
        for data, answer in answers.items():
            if isinstance(answer, Rejected) and is_text(data):
                yield "rejections", f"rejects {_shown(data)}, which can be encoded"
            if not isinstance(answer, tuple):
                continue
            if definition is not None:
                with contextlib.suppress(Rejected, Unsupported):
                    wanted = tuple(definition.encode(data, self.mode))
                    if answer != wanted:
                        line = f"{_shown(data)} is {self._spelled(wanted)}, encode gives "
                        hint = self._hint(wanted, answer)
                        yield "definition", f"{line}{self._spelled(answer)}{hint}"
            elif not self.vocabulary.normalizes and not self.vocabulary.pieces:
                spelled = self.vocabulary.spell(list(answer))
                if spelled != data:
                    yield "spelling", f"encode({_shown(data)}) spells {_shown(spelled)}"

    def _hint(self, wanted: tuple[int, ...], answer: tuple[int, ...]) -> str:
        """What is probably missing: whole pieces, in a vocabulary that has them before merges."""
        if not self.vocabulary.ignore_merges or len(wanted) >= len(answer):
            return ""
        return (
            ". Here vocabulary.ignore_merges is set: a piece that is a token as a whole is that "
            "token, whatever the merges give. Look it up first, or let supports() give a reason "
            "where vocabulary.ignore_merges is set"
        )

    def _definition(self) -> Encoder | None:
        for name in DEFINITIONS:
            definition = registry.resolve(name)
            if definition.supports(self.vocabulary, self.mode) is None:
                return definition.load(self.vocabulary)
        return None

    def _same_again(self, answers: dict[bytes, Answer]) -> Iterator[Breach]:
        """The same later, whatever a caller has done to a list that was returned."""
        for data, answer in reversed(answers.items()):
            again = self._ask(data)
            if not _alike(answer, again):
                first = f"encode({_shown(data)}) gives {_described(answer)} first"
                yield "determinism", f"{first} and {_described(again)} later"
        for data, ids in list(self.ids.items())[:20]:
            given = self.encoder.encode(data, self.mode)
            if isinstance(given, list):
                given.append(-1)
                if tuple(self.encoder.encode(data, self.mode)) != ids:
                    yield "sharing", f"a change to the list of encode({_shown(data)}) stays"

    def _other_ways(self) -> Iterator[Breach]:
        """What the encoder has besides, without a claim: each gives what ``encode`` does."""
        inputs, encoder = list(self.ids), self.encoder
        ways: dict[str, Callable[[], Sequence[Sequence[int]]]] = {}
        if isinstance(encoder, EncodesBatches) and inputs:
            ways["batches"] = lambda: _batch(encoder, inputs, self.mode)
        if isinstance(many := encoder, EncodesMany):
            ways["encode_many"] = lambda: many.encode_many(inputs, self.mode)
        if isinstance(saved := encoder, Reloads):
            ways["reloaded"] = lambda: [
                again.encode(data, self.mode) for again in [saved.reloaded()] for data in inputs
            ]
        for rule, ask in ways.items():
            try:
                given = list(ask())
            except Unsupported:
                continue
            except BaseException as error:
                yield rule, f"raises {_named(error)} on inputs that encode one by one"
                continue
            if len(given) != len(inputs):
                yield rule, f"gives {len(given)} answers for {len(inputs)} inputs"
                continue
            for data, found in zip(inputs, given, strict=True):
                if tuple(found) != self.ids[data]:
                    message = f"{_shown(data)} comes out as {_described(tuple(found))}"
                    yield rule, f"{message}, encode {_described(self.ids[data])}"

    def _spelled(self, ids: tuple[int, ...]) -> str:
        tokens = [self.vocabulary.spelling(token_id) for token_id in ids]
        return _cut(f"{list(ids)} ({b' | '.join(tokens)!r})")


class Fault(Exception):
    """A breach in place of an answer: its rule, and what happened."""

    args: Breach


def _batch(encoder: EncodesBatches, inputs: Sequence[bytes], mode: Mode) -> list[list[int]]:
    """The ids of each input, by a batch. Raises TypeError for arrays of other types."""
    ends = np.cumsum([len(data) for data in inputs], dtype=np.int64)
    ids, id_ends = encoder.encode_batch(b"".join(inputs), ends, mode)
    if ids.dtype != np.int32 or id_ends.dtype != np.int64 or len(id_ends) != len(inputs):
        given = f"encode_batch gives {ids.dtype} ids and {len(id_ends)} {id_ends.dtype} ends"
        raise TypeError(f"{given} for {len(inputs)} inputs; int32 and int64 are wanted")
    return [part.tolist() for part in np.split(ids, id_ends[:-1])]


def _described(answer: Answer | Fault) -> str:
    if isinstance(answer, tuple):
        return _cut(str(list(answer)))
    return f"{type(answer).__name__}({answer})"


def _alike(one: Answer, other: Answer | Fault) -> bool:
    return one == other if isinstance(one, tuple) else type(one) is type(other)


def _named(error: BaseException) -> str:
    """An exception in a line. A panic of a Rust library is one, too; Ctrl-C and exit are not."""
    if isinstance(error, KeyboardInterrupt | SystemExit):
        raise error
    return _cut(f"{type(error).__name__}: {error}".split("\n", 1)[0])


def _shown(data: bytes) -> str:
    return _cut(repr(data))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 2]}.."
