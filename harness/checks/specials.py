"""Special tokens: off, they are ordinary text; on, they change nothing where none stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from corpora.vocabularies.model import Algorithm
from corpora.vocabularies.tokenizer_json_native import made_by_model
from harness.checks.base import (
    Check,
    Judgement,
    Observation,
    Probe,
    Severity,
    Violation,
    encoded_indices,
)
from harness.core.comparisons import Contract
from harness.core.messages import Encode
from harness.core.outcomes import Encoded, Inputs, Results
from harness.core.partition import Part
from impls.interface import Mode

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary


class Specials(Check):
    """With S the special tokens but the unknown one: off, encode(x) has no id of S, for all x. On,
    encode(x) is what it is with them off, for all x in which no text of S stands.

    The second is asked of those who read special tokens, by the contract in which they do. It holds
    of each implementation by itself: what an injected text can make a tokenizer say must not depend
    on whom it is compared with.
    """

    name = "specials"
    summary = "special tokens: none while they are off; while on, nothing changes where none stands"
    severity = Severity.IDS
    said = "treated ordinary text differently with special tokens on"
    every = 2

    def applies(self, contract: Contract) -> bool:
        """To vocabularies that have any."""
        return bool(special_ids(contract.vocabulary))

    def probes(self, seen: Observation) -> list[Probe]:
        """Where they are on: the texts without one, with them off."""
        if seen.contract.mode.special == "none":
            return []
        off = Mode(pretokenize=seen.contract.mode.pretokenize)
        return [
            Probe(name, Encode(Inputs.of([seen.inputs[i] for i in rows]), off))
            for name, rows in self._plain(seen).items()
        ]

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Look at every id, or compare with the answers."""
        judgement = Judgement()
        if seen.contract.mode.special == "none":
            self._none(seen, judgement)
            return judgement
        for (name, rows), answer in zip(self._plain(seen).items(), answers, strict=True):
            for row, index in enumerate(rows):
                on, off = seen.results[name].outcome(index), answer.outcome(row)
                if not isinstance(off, Encoded):
                    continue
                judgement.exercised[name] += 1
                if on != off:
                    parts = (
                        Part((f"{name} (special tokens off)",), off),
                        Part((f"{name} (on)",), on),
                    )
                    data = seen.inputs[index]
                    judgement.violations.append(
                        Violation(self.name, index, data, parts, (name,), "on")
                    )
        return judgement

    def _none(self, seen: Observation, judgement: Judgement) -> None:
        special = never_in_texts(seen.contract.vocabulary)
        for name, results in seen.results.items():
            rows = encoded_indices(results)
            judgement.exercised[name] += len(rows)
            if special.isdisjoint(results.ids.tolist()):
                continue
            for index in rows:
                ids = results.ids_of(index)
                if special.isdisjoint(ids):
                    continue
                data = seen.inputs[index]
                lawful = Encoded(tuple(i for i in ids if i not in special))
                parts = (
                    Part(("without special tokens",), lawful),
                    Part((name,), Encoded(tuple(ids))),
                )
                judgement.violations.append(
                    Violation(self.name, index, data, parts, (name,), "off")
                )

    def _plain(self, seen: Observation) -> dict[str, list[int]]:
        """For each implementation the inputs that it encodes and in which no special token is.

        None where a special token is to be found after normalization: other texts make it then.
        """
        vocabulary = seen.contract.vocabulary
        if vocabulary.normalizes and any(
            token.special and token.normalized for token in vocabulary.added_tokens
        ):
            return {}
        texts = [text.encode() for text in vocabulary.special_tokens]
        found: dict[str, list[int]] = {}
        free = {
            index
            for index, data in enumerate(seen.inputs)
            if not any(text in data for text in texts)
        }
        for name, results in seen.results.items():
            found[name] = [index for index in encoded_indices(results) if index in free]
        return found


def special_ids(vocabulary: Vocabulary) -> frozenset[int]:
    """The ids that only a policy of special tokens yields; not the unknown token's."""
    tokens, unknown = vocabulary.tokens, vocabulary.unk_id
    return frozenset(
        one
        for one in vocabulary.special_tokens.values()
        if one != unknown and (one >= len(tokens) or tokens[one] is None)
    )


def never_in_texts(vocabulary: Vocabulary) -> frozenset[int]:
    """The ids that no text yields while special tokens are off.

    The model of a ``tokenizer.json`` knows no types of tokens, so that a special token that it has
    among its own is found in a text as any other is.
    """
    if vocabulary.format == "tokenizer.json" and vocabulary.native is None:
        unigram = vocabulary.algorithm is Algorithm.UNIGRAM
        return frozenset() if unigram else special_ids(vocabulary)
    own, specials = made_by_model(vocabulary), vocabulary.special_tokens
    return special_ids(vocabulary) - {specials[text] for text in own if text in specials}
