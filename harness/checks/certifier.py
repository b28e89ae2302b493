"""The verdict on rows: right, wrong with the first wrong token, or undecided with the reason.

Byte-level BPE is decided by :mod:`impls.bpe.certificate`, without encoding. What the theorem
does not cover is encoded by the plain implementation that defines it. A wrong row is never reported
on the word of the certificate alone: the definition, with pre-tokens by the `regex` package,
encodes it again, which also gives the right ids.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from harness.core.comparisons import algorithm_of
from harness.core.partition import first_difference
from harness.core.standing import definitions_of
from impls import registry
from impls.bpe import certificate, heap
from impls.bpe.certificate import BYTE, CODE
from impls.bpe.encoder import BpeEncoder
from impls.explanations import literal
from impls.interface import Rejected, Unsupported
from impls.pretokenize.pieces import Cutter, PlainCutter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.core.rows import Rows
    from impls.interface import Encoder, Mode
    from impls.kernels.layout import Longs

SAID = (
    ("ids", OTHERWISE := "{name} should be {right}"),
    ("unknown-id", "{name} is no token of ordinary text"),
    ("spelling", "{name} does not spell the text at byte {byte}"),
    ("pre-tokens", "{name} crosses a boundary of the pattern at byte {byte}"),
    ("never-built", "{name} is never produced: no merges build it"),
    ("merges", "{before} and {name} would have merged"),
    ("whole", "{name} begins a pre-token that is a token by itself"),
    ("special", "{name} stands where the text has a special token"),
    ("end", OTHERWISE),
    ("ids", OTHERWISE),
)
"""What is wrong with a row, by the code of its certificate: in a word, and in a sentence."""

BY_PAIRS = "spelling, pre-tokens and valid pairs, without encoding"
"""How rows of byte-level BPE are decided, in words."""

Status = Literal["right", "wrong", "undecided"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of a row.

    token: the index of the first wrong id. reason: a sentence, such as "5 ('a') does not spell the
    text at byte 100"; stage: the same in a word. right: all ids of the encoding, None where it is
    not known or there is none; same: how many of the given ids are its first ones.
    """

    status: Status
    token: int = 0
    reason: str = ""
    stage: str = ""
    right: tuple[int, ...] | None = None
    same: int = 0


def defined(vocabulary: Vocabulary, mode: Mode) -> tuple[str, Encoder] | str:
    """The plain implementation that defines a vocabulary's encodings, by name; or why none does."""
    reasons = []
    for name in reversed(definitions_of(vocabulary, algorithm_of(vocabulary))):
        one = registry.resolve(name)
        if (reason := one.supports(vocabulary, mode)) is None:
            return name, one.load(vocabulary)
        reasons.append(f"{name}: {reason}")
    return "; ".join(reasons) or "no plain implementation defines its encodings"


class Certifier:
    """Decides rows of one vocabulary in one mode.

    skipped: ids that were added before and after the encodings, such as an end-of-text token.
    answers: whether the ids are what an encoder answered, so that they are wrong where others may
    have been truncated, or have special tokens in them. how: what decides, in words; ``obstacle``:
    why nothing can be decided, or None.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        mode: Mode,
        skipped: Sequence[int] = (),
        *,
        answers: bool = False,
    ) -> None:
        self._vocabulary, self._mode, self._skipped = vocabulary, mode, skipped
        self._answers = answers
        self._tables: certificate.Tables | None = None
        self._plain: Encoder | None = None
        self.how, self.obstacle = BY_PAIRS, None
        if not vocabulary.unexpressed and not heap.IMPLEMENTATION.supports(vocabulary, mode):
            self._tables, self._cutter = certificate.tables_of(vocabulary), Cutter(vocabulary)
            cutter = PlainCutter(vocabulary)
            self._plain = BpeEncoder(vocabulary, heap.encoder_of(vocabulary), cutter)
            return
        found = defined(vocabulary, mode)
        if isinstance(found, str):
            self.obstacle = f"{vocabulary.id} cannot be certified ({found})"
        else:
            self.how, self._plain = f"encoding with {found[0]}", found[1]

    @property
    def pairs(self) -> bool:
        """Whether pairs of ids decide."""
        return self._tables is not None

    def judge(self, rows: Rows) -> list[Verdict]:
        """The verdicts on rows, in their order."""
        return [
            Verdict("right") if one[CODE] == certificate.RIGHT else self.explain(rows.row(at), one)
            for at, one in enumerate(self.found(rows))
        ]

    def found(self, rows: Rows) -> Longs:
        """The rows of :func:`impls.bpe.certificate.certify`; LEFT_OPEN without a certificate."""
        found = np.zeros((len(rows), 3), dtype=np.int64)
        found[:, CODE] = certificate.LEFT_OPEN
        if self._tables is not None:
            try:
                pieces = self._cutter.cut(rows.data, rows.ends, self._mode)
            except Unsupported:  # some row is not UTF-8, or no text for this version of Unicode
                if len(rows) > 1:
                    return np.concatenate([self.found(rows.row(i)) for i in range(len(rows))])
                return found
            data = np.frombuffer(pieces.data, dtype=np.uint8)
            bounds = rows.bounds(self._skipped)
            parted = data, pieces.ends, pieces.given, pieces.counts
            certificate.certify(self._tables, *parted, rows.ids, bounds, found)
            ends = np.concatenate(([0], pieces.ends))
            found[1:, BYTE] -= ends[pieces.counts[:-1]]
        return found

    def explain(self, row: Rows, found: Longs) -> Verdict:
        """The verdict on one row that the certificate did not find right, but ``found`` so."""
        code, token, byte = found.tolist()
        first, last = row.bounds(self._skipped)[0].tolist()
        ids = row.ids[first:last].tolist()
        try:
            right = None if self._plain is None else [*self._plain.encode(row.data, self._mode)]
        except Unsupported as error:
            return Verdict("undecided", reason=str(error))
        except Rejected as error:
            return Verdict("wrong", 0, f"the text has no encoding: {error}", "rejection")
        if right is None:
            return Verdict("undecided", reason=self.obstacle or "")
        if right == ids:
            if code == certificate.LEFT_OPEN:
                return Verdict("right")
            return Verdict("undecided", token, "tokgate contradicts itself here: please report it")
        if not self._answers:
            special = next((i for i, one in enumerate(ids) if self._is_added(one, right)), None)
            if special is not None:
                return Verdict("undecided", first + special, self._about_special(ids[special]))
            if right[: len(ids)] == ids:
                spelled = f"at {len(ids)} of {len(right)} tokens"
                return Verdict("undecided", last, f"the ids stop {spelled}: they may be truncated")
        differs = first_difference(ids, right) or 0
        if code in (certificate.LEFT_OPEN, certificate.ENDS):
            token = differs
        stage, words = SAID[code]
        reason = words.format(
            name=self._named(ids, token),
            before=self._named(ids, max(0, token - 1)),
            right=self._named(right, token),
            byte=byte,
        )
        return Verdict("wrong", first + token, reason, stage, (*right,), differs)

    def _is_added(self, token_id: int, right: Sequence[int]) -> bool:
        """Whether an id is a special token that the text, in this mode, has not."""
        tokens, special = self._vocabulary.tokens, self._vocabulary.special_spellings
        ordinary = 0 <= token_id < len(tokens) and tokens[token_id] is not None
        return not ordinary and token_id in special and token_id not in right

    def _about_special(self, token_id: int) -> str:
        text = literal(self._vocabulary.special_spellings[token_id])
        return (
            f"{token_id} is the special token {text}: give --skip-id {token_id} if it was added "
            "around the text, or --special all if it was found in the text"
        )

    def _named(self, ids: Sequence[int], index: int) -> str:
        """A token of a row with what it spells."""
        if index >= len(ids):
            return "the end"
        try:
            return f"{ids[index]} ({literal(self._vocabulary.spelling(ids[index]))})"
        except KeyError:
            return str(ids[index])
