"""The walk: a schema's instances, at the boundaries of their own tokens, policy by policy."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

from harness.studies.forced.judge import Point
from harness.studies.forced.policies import EXACT
from harness.studies.forced.results import WITNESSES, Tally, Walked
from impls.constrained import NotAdmitted, OutsideMask
from impls.forced.interface import Context, Healed
from impls.forced.states import remembered
from impls.interface import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from impls.forced.interface import GrammarState, Policy
    from impls.forced.tokenizer import AnyTokenizer

ALIKE = (("healed:tokens=4", "llguidance"),)
"""Policies that do the same by their makers' word: where they differ is counted."""

SAMPLED_EVERY = 16
"""One answer of exact in so many is checked: by all sentences where they are few, else by one."""


BEATEN_EVERY = 16
"""Life shows at one token in so many: a long text may take longer than a hang."""


class Walk:
    """The walk of one schema. grammar: its start; policies: by name.

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
        beat: Callable[[], None] = lambda: None,
    ) -> None:
        self._tokenizer, self._grammar, self._policies = tokenizer, grammar, policies
        self._name, self._every, self._beat = name, sampled_every, beat
        self._rng = random.Random(f"{seed}/{name}")
        self.result = Walked(tallies={policy: Tally() for policy in policies})

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
        # Exact first: its proofs judge the others.
        names = sorted(self._policies, key=lambda name: name != EXACT)
        answers = {name: self._walk(name, canonical, points, text) for name in names}
        for one, other in ALIKE:
            mine, theirs = answers.get(one, {}), answers.get(other, {})
            differing = sum(mine[at] != theirs[at] for at in mine.keys() & theirs.keys())
            if differing:
                pair, known = f"{one}, {other}", self.result.differing
                known[pair] = known.get(pair, 0) + differing

    def finished(self) -> Walked:
        """The result, with each policy's schema counted if it failed there."""
        self.result.schemas = int(self.result.instances > 0)
        for tally in self.result.tallies.values():
            tally.non_canonical_schemas = int(tally.non_canonical > 0)
        return self.result

    def _points(self, text: bytes, steps: Sequence[tuple[int, bytes]]) -> dict[int, Point] | None:
        """By token: the boundaries at which something is forced; None if the text is refused."""
        points: dict[int, Point] = {}
        state, place = self._grammar, 0
        ids: tuple[int, ...] = ()
        for index, (token_id, step) in enumerate(steps):
            if forced := state.forced():
                if not text.startswith(forced, place):
                    return None
                after = remembered(state.after(forced))
                points[index] = Point(self._tokenizer, Context(text[:place], ids), forced, after)
            if not state.viable(step):
                return None
            state = state.after(step)
            place += len(step)
            ids = (*ids, token_id)
        return points if state.complete else None

    def _walk(
        self, name: str, canonical: tuple[int, ...], points: Mapping[int, Point], text: bytes
    ) -> dict[int, tuple[int, ...]]:
        """Ask one policy along a text; what it forced, by token."""
        tally = self.result.tallies[name]
        before, behind = tally.non_canonical, 0
        answers: dict[int, tuple[int, ...]] = {}
        for at, point in points.items():
            if at < behind:
                continue
            if at % BEATEN_EVERY == 0:
                self._beat()
            ids = answers[at] = self._healed(name, point)
            if name == EXACT and self._rng.randrange(self._every) == 0:
                self._check(point, ids)
            if ids:
                tally.sequences += 1
                tally.forced_tokens += len(ids)
                tally.seam += point.seam
                right = canonical[at : at + len(ids)] == ids
                tally.non_canonical += not right
                self._judge(name, point, ids, text, right)
                behind = at + len(ids) if right else 0
        tally.non_canonical_instances += tally.non_canonical > before
        return answers

    def _healed(self, name: str, point: Point) -> tuple[int, ...]:
        """What a policy forces at a point."""
        tally, started = self.result.tallies[name], time.perf_counter()
        healed = Healed((), point.forced)
        try:
            healed = self._policies[name].heal(point.context, point.forced, point.after)
        except NotAdmitted:
            tally.not_admitted += 1
        except OutsideMask:
            tally.outside_mask += 1
        except (ValueError, Unsupported):
            tally.gave_up += 1
        tally.seconds += time.perf_counter() - started
        if name == EXACT:
            point.exact = healed
        return healed.ids

    def _judge(
        self, name: str, point: Point, ids: tuple[int, ...], text: bytes, right: bool
    ) -> None:
        """Count whether forced tokens are safely canonical, and keep a witness where not."""
        tally = self.result.tallies[name]
        if not right:
            tally.unsafe += 1
            self._keep(name, point, ids, text[len(point.context.text + point.forced) :], "instance")
        exact = point.exact
        if name == EXACT or exact is None:  # exact has forced tokens over this boundary
            return
        tally.longer += len(ids) > len(exact.ids)
        tally.shorter += len(ids) < len(exact.ids)
        if right and exact.ids[: len(ids)] != ids:
            # More than is proved: some sentence may speak against it.
            if point.sentences is not None:
                way = point.refuted(ids, point.sentences)
            else:
                way = point.contradiction(ids, exact.proof)
                tally.undecided += way is None
            if way is not None:
                tally.unsafe += 1
                self._keep(name, point, ids, way, "sentence")

    def _keep(self, name: str, point: Point, ids: tuple[int, ...], way: bytes, of: str) -> None:
        """Keep the witness, if there are not enough."""
        witnesses = self.result.witnesses
        if sum(one.policy == name for one in witnesses) < WITNESSES:
            witnesses.append(point.witness(name, self._name, ids, way, of))

    def _check(self, point: Point, ids: tuple[int, ...]) -> None:
        """Hold exact to the definition: all sentences where they are few, else one at random."""
        ways, result = point.sentences, self.result
        if ways is None:
            way = point.sampled(self._rng)
            if way is None:
                return
            result.sampled += 1
            ways = [way]
        else:
            best = point.oracle(ways)
            result.listed += 1
            result.listed_tokens += len(best)
            result.listed_short += max(0, len(best) - len(ids))
        # Where nothing is forced nothing is claimed, not even that the context stays as it is.
        wrong = point.refuted(ids, ways) if ids else None
        if wrong is not None:
            result.misjudged += 1
            result.tallies[EXACT].unsafe += 1
            self._keep(EXACT, point, ids, wrong, "sentence")
