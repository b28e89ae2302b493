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
from impls.conformance_laws import LAWS, METHODS, RAW_ONLY, TEXT_ONLY, Known, Requests
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
    from collections.abc import Iterable

    from corpora.vocabularies.model import Vocabulary

MODES = tuple(
    Mode(pretokenize, special) for pretokenize in (False, True) for special in ("none", "all")
)

DEFINITIONS = ("bpe.naive", "unigram.sentencepiece", "wordpiece.bert")
"""Exact implementations must give the ids of these."""

DOCUMENTED = {"toy_acbb": {b"abacbb": [b"ab", b"acbb"], b"abacb": [b"ab", b"ac", b"b"]}}
"""The worked examples of byte-pair encoding, as tokens."""

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
    return [*examination.problems, *examination.more]


Answer = tuple[int, ...] | Rejected | Unsupported


class Examination:
    """One implementation under examination, and the breaches found so far."""

    def __init__(self, implementation: Implementation) -> None:
        self.problems: list[Problem] = []
        self.max_input: int | None = None
        self._implementation = implementation
        self._seen: Counter[tuple[str, str]] = Counter()
        self._law = Law.EXACT
        self._capabilities: frozenset[Capability] = frozenset()
        self._declined: dict[str, str] = {}
        self.requests = Requests()

    def breach(self, rule: str, where: str, message: str) -> None:
        """Note a breach, unless enough of its like are noted."""
        self._seen[rule, where] += 1
        if self._seen[rule, where] <= SHOWN:
            self.problems.append(Problem(rule, where, message))

    @property
    def more(self) -> list[Problem]:
        """How many breaches there are besides those described."""
        return [
            Problem(rule, where, f"and {count - SHOWN} more")
            for (rule, where), count in self._seen.items()
            if count > SHOWN
        ]

    def introduces_itself(self) -> bool:
        """Whether ``about`` is in order enough to go on."""
        try:
            about = self._implementation.about
        except BaseException as error:
            _unless_asked_to_stop(error)
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
        for line in self.requests.unanswered():
            self.breach("claims", "", line)

    def examine(self, vocabulary: Vocabulary, inputs: Sequence[bytes]) -> None:
        """All that can be said on one vocabulary."""
        modes = [mode for mode in MODES if self._supports(vocabulary, mode)]
        if not modes:
            return
        self._declined.pop(vocabulary.id, None)
        encoder = self._load(vocabulary)
        if encoder is None:
            return
        self._keeps_its_claims(encoder, vocabulary)
        # A program says only when it is asked which modes it does.
        program = isinstance(self._implementation, ExternalImplementation)
        silent = {}
        for mode in modes:
            hearing = Hearing(self, encoder, vocabulary, mode, self._law, self._capabilities)
            silent[mode] = hearing.hold(inputs)
            if silent[mode] and not program:
                hearing.breach("answers", f"nothing was compared: {silent[mode]}")
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
            _unless_asked_to_stop(error)
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
            _unless_asked_to_stop(error)
            self.breach("load", vocabulary.id, f"raises {_named(error)}, though supports() is None")
            return None
        if not isinstance(encoder, Encoder):
            kind = type(encoder).__name__
            self.breach("load", vocabulary.id, f"gives a {kind} without an encode method")
            return None
        return encoder

    def _keeps_its_claims(self, encoder: Encoder, vocabulary: Vocabulary) -> None:
        for capability in sorted(self._capabilities & set(LAWS)):
            if not isinstance(encoder, LAWS[capability][0]):
                missing = ", ".join(METHODS[capability])
                message = f"claims {str(capability)!r} but the encoder has no method {missing}"
                self.breach("claims", vocabulary.id, message)


class Hearing:
    """One encoder in one mode."""

    def __init__(
        self,
        examination: Examination,
        encoder: Encoder,
        vocabulary: Vocabulary,
        mode: Mode,
        law: Law,
        capabilities: frozenset[Capability],
    ) -> None:
        self._encoder = encoder
        self._vocabulary = vocabulary
        self._mode = mode
        self._law = law
        self._capabilities = capabilities
        self._where = f"{vocabulary.id}/{mode.label}"
        self._examination = examination

    def breach(self, rule: str, message: str) -> None:
        """Note a breach under this vocabulary and mode."""
        self._examination.breach(rule, self._where, message)

    def hold(self, inputs: Sequence[bytes]) -> str:
        """Ask everything; why nothing was compared, where no input but the empty one is done."""
        answers = {data: answer for data in inputs if (answer := self._ask(data)) is not None}
        ids = {data: answer for data, answer in answers.items() if isinstance(answer, tuple)}
        self._documented()
        self._right(answers)
        self._same_again(answers)
        self._keeps_nothing(ids)
        self._batches(inputs, answers)
        self._other_ways(ids)
        if Capability.THREADS in self._capabilities:
            self._in_threads(answers)
        for capability in sorted(self._capabilities & set(LAWS)):
            if self._mode.pretokenize and capability in RAW_ONLY:
                continue
            self._lawful(capability, ids)
        said = next((_named(one) for one in answers.values() if isinstance(one, Unsupported)), "")
        silent = f"encode answers none of {len(inputs)} inputs; the first answer was {said}"
        return silent if said and not any(ids) else ""

    def _ask(self, data: bytes) -> Answer | None:
        """The answer, None if it is none (a breach)."""
        try:
            given = self._encoder.encode(data, self._mode)
            ids = tuple(given)
        except (Rejected, Unsupported) as answer:
            return answer
        except BaseException as error:
            _unless_asked_to_stop(error)
            self.breach(
                "exceptions",
                f"encode({_shown(data)}) raises {_named(error)}; raise Rejected for an input that "
                "is invalid, Unsupported for one that you do not do",
            )
            return None
        for token_id in ids:
            if isinstance(token_id, bool) or not isinstance(token_id, int | np.integer):
                kind = type(token_id).__name__
                self.breach("ids", f"encode({_shown(data)}) gives {token_id!r}, a {kind}")
                return None
        numbers = tuple(int(token_id) for token_id in ids)
        for token_id in numbers:
            try:
                self._vocabulary.spelling(token_id)
            except KeyError:
                message = f"encode({_shown(data)}) gives {token_id}, which the vocabulary lacks"
                self.breach("ids", message)
                return None
        return numbers

    def _documented(self) -> None:
        if self._law is not Law.EXACT or self._mode.pretokenize:
            return
        for data, tokens in DOCUMENTED.get(self._vocabulary.id, {}).items():
            answer = self._ask(data)
            wanted = tuple(self._vocabulary.ids[token] for token in tokens)
            if isinstance(answer, tuple) and answer != wanted:
                self.breach(
                    "examples", f"{data!r} is {tokens}, encode gives {self._spelled(answer)}"
                )

    def _right(self, answers: dict[bytes, Answer]) -> None:
        """Agree with the definition, or at least spell the text, and refuse nothing lawful."""
        definition = self._definition() if self._law is Law.EXACT else None
        for data, answer in answers.items():
            if isinstance(answer, Rejected):
                if is_text(data):
                    self.breach("rejections", f"rejects {_shown(data)}, which can be encoded")
                continue
            if isinstance(answer, Unsupported):
                continue
            if definition is not None:
                with contextlib.suppress(Rejected, Unsupported):
                    wanted = tuple(definition.encode(data, self._mode))
                    if answer != wanted:
                        self.breach(
                            "definition",
                            f"{_shown(data)} is {self._spelled(wanted)}, "
                            f"encode gives {self._spelled(answer)}{self._hint(wanted, answer)}",
                        )
            elif not self._vocabulary.normalizes and not self._vocabulary.pieces:
                spelled = self._vocabulary.spell(list(answer))
                if spelled != data:
                    message = f"encode({_shown(data)}) spells {_shown(spelled)}"
                    self.breach("spelling", message)

    def _hint(self, wanted: tuple[int, ...], answer: tuple[int, ...]) -> str:
        """What is probably missing: whole pieces, in a vocabulary that has them before merges."""
        if not self._vocabulary.ignore_merges or len(wanted) >= len(answer):
            return ""
        return (
            ". Here vocabulary.ignore_merges is set: a piece that is a token as a whole is that "
            "token, whatever the merges give. Look it up first, or let supports() give a reason "
            "where vocabulary.ignore_merges is set"
        )

    def _definition(self) -> Encoder | None:
        for name in DEFINITIONS:
            definition = registry.resolve(name)
            if definition.supports(self._vocabulary, self._mode) is None:
                return definition.load(self._vocabulary)
        return None

    def _same_again(self, answers: dict[bytes, Answer]) -> None:
        for data, answer in reversed(answers.items()):
            again = self._ask(data)
            if again is not None and not _alike(answer, again):
                self.breach(
                    "determinism",
                    f"encode({_shown(data)}) gives {self._described(answer)} first and "
                    f"{self._described(again)} later",
                )

    def _keeps_nothing(self, ids: dict[bytes, tuple[int, ...]]) -> None:
        """What a caller does to a list that was returned must not show in the next."""
        for data, answer in list(ids.items())[:20]:
            given = self._encoder.encode(data, self._mode)
            if isinstance(given, list):
                given.append(-1)
                if tuple(self._encoder.encode(data, self._mode)) != answer:
                    self.breach("sharing", f"a change to the list of encode({_shown(data)}) stays")

    def _batches(self, inputs: Sequence[bytes], answers: dict[bytes, Answer]) -> None:
        if not isinstance(self._encoder, EncodesBatches):
            return
        some = [data for data in inputs if isinstance(answers.get(data), tuple)]
        if not some:
            return
        joined = b"".join(some)
        ends = np.cumsum([len(data) for data in some], dtype=np.int64)
        try:
            ids, id_ends = self._encoder.encode_batch(joined, ends, self._mode)
        except BaseException as error:
            _unless_asked_to_stop(error)
            message = f"encode_batch raises {_named(error)} on inputs that encode one by one"
            self.breach("batches", message)
            return
        if ids.dtype != np.int32 or id_ends.dtype != np.int64 or len(id_ends) != len(some):
            message = f"encode_batch gives {ids.dtype} ids and {len(id_ends)} {id_ends.dtype} ends"
            self.breach("batches", f"{message} for {len(some)} inputs; int32 and int64 are wanted")
            return
        starts = [0, *id_ends.tolist()]
        for data, start, end in zip(some, starts, id_ends.tolist(), strict=False):
            if tuple(ids[start:end].tolist()) != answers[data]:
                message = f"encode_batch gives {ids[start:end].tolist()} for {_shown(data)}"
                self.breach("batches", f"{message}, encode {self._described(answers[data])}")

    def _other_ways(self, ids: dict[bytes, tuple[int, ...]]) -> None:
        """What the encoder has besides, without a claim: ``encode_many``, ``reloaded``."""
        inputs = list(ids)
        ways: dict[str, Callable[[], Sequence[Sequence[int]]]] = {}
        if isinstance(encoder := self._encoder, EncodesMany):
            ways["encode_many"] = lambda: encoder.encode_many(inputs, self._mode)
        if isinstance(saved := self._encoder, Reloads):
            ways["reloaded"] = lambda: [
                again.encode(data, self._mode) for again in [saved.reloaded()] for data in inputs
            ]
        for rule, ask in ways.items():
            try:
                given = list(ask())
            except Unsupported:
                continue
            except BaseException as error:
                _unless_asked_to_stop(error)
                self.breach(rule, f"raises {_named(error)} on inputs that encode one by one")
                continue
            if len(given) != len(inputs):
                self.breach(rule, f"gives {len(given)} answers for {len(inputs)} inputs")
                continue
            for data, found in zip(inputs, given, strict=True):
                if tuple(found) != ids[data]:
                    message = f"{_shown(data)} comes out as {self._described(tuple(found))}"
                    self.breach(rule, f"{message}, encode {self._described(ids[data])}")

    def _in_threads(self, answers: dict[bytes, Answer]) -> None:
        with ThreadPoolExecutor(4) as pool:
            again = list(pool.map(self._ask, answers))
        for (data, answer), other in zip(answers.items(), again, strict=True):
            if other is not None and not _alike(answer, other):
                message = f"encode({_shown(data)}) gives {self._described(other)} in threads"
                self.breach("threads", f"{message}, {self._described(answer)} alone")

    def _lawful(self, capability: Capability, ids: dict[bytes, tuple[int, ...]]) -> None:
        protocol, law = LAWS[capability]
        if not isinstance(self._encoder, protocol):
            return  # reported on loading

        def size(data: bytes) -> int:
            return len(self._encoder.encode(data, self._mode))

        for data, answer in ids.items():
            if capability in TEXT_ONLY and not is_text(data):
                continue
            known = Known(self._vocabulary, self._mode, data, answer, size)
            try:
                fault = law(self._encoder, known)
            except (Rejected, Unsupported) as error:
                self._examination.requests.count(capability, _named(error))
                continue
            except BaseException as error:
                _unless_asked_to_stop(error)
                fault = f"raises {_named(error)}"
            self._examination.requests.count(capability)
            if fault is not None:
                self.breach(str(capability), f"of {_shown(data)}: {fault}")

    def _spelled(self, ids: tuple[int, ...]) -> str:
        tokens = [self._vocabulary.spelling(token_id) for token_id in ids]
        return _cut(f"{list(ids)} ({b' | '.join(tokens)!r})")

    def _described(self, answer: Answer) -> str:
        if isinstance(answer, tuple):
            return _cut(str(list(answer)))
        return f"{type(answer).__name__}({answer})"


def _alike(one: Answer, other: Answer) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return one == other
    return type(one) is type(other)


def _named(error: BaseException) -> str:
    return _cut(f"{type(error).__name__}: {error}".split("\n", 1)[0])


def _shown(data: bytes) -> str:
    return _cut(repr(data))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 2]}.."


def _unless_asked_to_stop(error: BaseException) -> None:
    """A panic of a Rust library is a BaseException, too; Ctrl-C and exit are not its."""
    if isinstance(error, KeyboardInterrupt | SystemExit):
        raise error
