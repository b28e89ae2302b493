"""The walk: a schema's instances, at the boundaries of their own tokens, policy by policy."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from harness.studies.forced.judge import contradiction, oracle, refuted, sampled, witness
from harness.studies.forced.policies import EXACT
from harness.studies.forced.results import WITNESSES, SchemaResult, Tally
from impls.constrained import NotAdmitted, OutsideMask
from impls.forced.context import Context
from impls.forced.interface import Healed
from impls.forced.states import remembered
from impls.interface import Unsupported

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from impls.forced.context import GrammarState
    from impls.forced.interface import Policy
    from impls.forced.tokenizer import AnyTokenizer

ALIKE = (("healed:tokens=4", "llguidance"),)
"""Policies that do the same by their makers' word: where they differ is counted."""

SAMPLED_EVERY = 16
"""One answer of exact in so many is checked: by all sentences where they are few, else by one."""

LISTED = 64
"""So many sentences are few enough to be listed in milliseconds and encoded by one call."""


@dataclass
class Point:
    """A boundary at which bytes are forced.

    after: the grammar after them. exact: what the policy of that name forces, once it was asked.
    gave_up: whether it had no answer.
    """

    context: Context
    forced: bytes
    after: GrammarState
    seam: bool | None = None
    exact: Healed | None = None
    gave_up: bool = False

    @cached_property
    def sentences(self) -> Sequence[bytes] | None:
        """All that may follow the forced bytes, if these are few."""
        return self.after.sentences(LISTED)


class Walk:
    """The walk of one schema. states: one grammar, from its start; policies: by name.

    name: of the schema; with ``seed`` it decides what is sampled. sampled_every: one answer of
    exact in so many is checked.
    """

    def __init__(
        self,
        tokenizer: AnyTokenizer,
        grammar: GrammarState,
        policies: Mapping[str, Policy],
        name: str,
        seed: int = 0,
        sampled_every: int = SAMPLED_EVERY,
    ) -> None:
        self._every = sampled_every
        self._tokenizer = tokenizer
        self._grammar = grammar
        self._policies = policies
        self._rng = random.Random(f"{seed}/{name}")
        self._answers: dict[tuple[str, int], tuple[int, ...]] = {}
        self._last_points: dict[int, Point] = {}
        self.result = SchemaResult(name, tallies={policy: Tally() for policy in policies})

    def instance(self, text: bytes) -> None:
        """Walk one text."""
        steps = self._tokenizer.steps(text)
        canonical = tuple(token_id for token_id, _ in steps)
        points = self._points(text, steps)
        if points is None:
            self.result.refused_instances += 1
            return
        self.result.instances += 1
        self.result.tokens += len(canonical)
        self._answers.clear()
        # Exact first: its proofs judge the others.
        for name in sorted(self._policies, key=lambda name: name != EXACT):
            self._walk(name, canonical, points, text)
        for one, other in ALIKE:
            asked = [at for policy, at in self._answers if policy == one]
            differing = sum(
                self._answers[one, at] != self._answers[other, at]
                for at in asked
                if (other, at) in self._answers
            )
            if differing:
                pair = f"{one}, {other}"
                self.result.differing[pair] = self.result.differing.get(pair, 0) + differing

    def finished(self) -> SchemaResult:
        """The result, with each policy's schema counted if it failed there."""
        for tally in self.result.tallies.values():
            tally.schemas = int(tally.non_canonical > 0)
        return self.result

    def _points(self, text: bytes, steps: Sequence[tuple[int, bytes]]) -> dict[int, Point] | None:
        """By token: the boundaries at which something is forced; None if the text is refused."""
        points: dict[int, Point] = {}
        # Texts of one schema begin alike, and what was found out where they do holds for each. Only
        # those of the last one are kept, as all together could take any amount of memory.
        last, self._last_points = self._last_points, points
        state, place = self._grammar, 0
        ids: tuple[int, ...] = ()
        for index, (token_id, step) in enumerate(steps):
            forced = state.forced()
            if forced:
                if not text.startswith(forced, place):
                    return None
                context, known = Context(text[:place], ids), last.get(index)
                if known is None or (known.context, known.forced) != (context, forced):
                    known = Point(context, forced, remembered(state.after(forced)))
                points[index] = known
            if not state.viable(step):
                return None
            state = state.after(step)
            place += len(step)
            ids = (*ids, token_id)
        return points if state.complete else None

    def _walk(
        self, name: str, canonical: Sequence[int], points: Mapping[int, Point], text: bytes
    ) -> None:
        tally = self.result.tallies[name]
        before = tally.non_canonical
        at = 0
        while at < len(canonical):
            point = points.get(at)
            if point is None:
                at += 1
                continue
            started = time.perf_counter()
            try:
                healed = self._healed(name, point)
            except NotAdmitted:
                tally.not_admitted += 1
                healed = Healed((), point.forced)
            except OutsideMask:
                tally.outside_mask += 1
                healed = Healed((), point.forced)
            except (ValueError, Unsupported):
                tally.gave_up += 1
                healed = Healed((), point.forced)
                point.gave_up = point.gave_up or name == EXACT
            tally.seconds += time.perf_counter() - started
            tally.calls += 1
            ids = healed.ids
            self._answers[name, at] = ids
            if name == EXACT:
                point.exact = healed
                if self._rng.randrange(self._every) == 0:
                    self._check(point, ids)
            if not ids:
                at += 1
                continue
            tally.sequences += 1
            tally.forced_tokens += len(ids)
            tally.seam += self._is_seam(point)
            right = tuple(canonical[at : at + len(ids)]) == ids
            tally.non_canonical += not right
            self._judge(name, point, ids, text, right)
            at += len(ids) if right else 1
        tally.instances += tally.non_canonical > before

    def _healed(self, name: str, point: Point) -> Healed:
        """What a policy forces at a point. Exact, a function of the point, is asked once."""
        if name == EXACT and point.exact is not None and not point.gave_up:
            return point.exact
        return self._policies[name].heal(point.context, point.forced, point.after)

    def _judge(
        self, name: str, point: Point, ids: tuple[int, ...], text: bytes, right: bool
    ) -> None:
        """Safely canonical or not, and the witness."""
        tally, exact = self.result.tallies[name], point.exact
        way: bytes | None = None
        of = "instance"
        if not right:
            way = text[len(point.context.text) + len(point.forced) :]
            tally.unsafe += 1
        if exact is not None and name != EXACT:
            shared = min(len(ids), len(exact.ids))
            tally.longer += len(ids) > len(exact.ids)
            tally.shorter += len(ids) < len(exact.ids)
            if right and (len(ids) > shared or ids[:shared] != exact.ids[:shared]):
                # More than is proved: some sentence may speak against it.
                way, of = self._against(point, ids, exact), "sentence"
                tally.unsafe += way is not None
                tally.undecided += way is None and point.sentences is None
        if way is not None:
            self._keep(name, point, ids, way, of)

    def _keep(self, name: str, point: Point, ids: tuple[int, ...], way: bytes, of: str) -> None:
        """Keep the witness, if there are not enough."""
        if sum(one.policy == name for one in self.result.witnesses) < WITNESSES:
            schema, context = self.result.name, point.context
            self.result.witnesses.append(
                witness(self._tokenizer, name, schema, context, point.forced, ids, way, of)
            )

    def _against(self, point: Point, ids: tuple[int, ...], exact: Healed) -> bytes | None:
        """A sentence that contradicts tokens which are not proved, if one is found."""
        if point.sentences is not None:
            return refuted(self._tokenizer, point.context, point.forced, ids, point.sentences)
        return contradiction(
            self._tokenizer, point.context, point.forced, ids, exact.proof, point.after
        )

    def _check(self, point: Point, ids: tuple[int, ...]) -> None:
        """Hold exact to the definition: all sentences where they are few, else one at random."""
        ways = point.sentences
        if ways is None:
            way = sampled(point.after, self._rng)
            if way is None:
                return
            self.result.sampled += 1
            ways = [way]
        else:
            best = oracle(self._tokenizer, point.context, point.forced, ways)
            self.result.listed += 1
            self.result.listed_tokens += len(best)
            self.result.listed_short += max(0, len(best) - len(ids))
        # Where nothing is forced nothing is claimed, not even that the context stays as it is.
        wrong = refuted(self._tokenizer, point.context, point.forced, ids, ways) if ids else None
        if wrong is not None:
            self.result.misjudged += 1
            self.result.tallies[EXACT].unsafe += 1
            self._keep(EXACT, point, ids, wrong, "sentence")

    def _is_seam(self, point: Point) -> bool:
        if point.seam is None:
            point.seam = not self._tokenizer.stands_alone(point.context)
        return point.seam
