"""A search for grammars on which a healing policy forces tokens that the tokenizer would not.

Four ways of erring are tried, each with a grammar of two sentences: the definition decides.

- long tokens: one sentence completes a token whose beginning encodes to many tokens, more than a
  window looks back over;
- cut characters: the same, where the forced bytes end inside a character;
- chains: one more letter flips merges far back; texts are bred for the number of tokens that the
  next byte takes away, out of trails of pairs each of which merges
  before the one to its left;
- look-ahead: the pre-tokenizer cuts otherwise, though no token goes on beyond the end.

Each way is a sequence of rounds; a round is decided by the seed, the way and its number alone.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from corpora.generators.material import is_text
from corpora.grammars.base import alike
from harness.findings.shrink import shrink
from harness.studies.forced.counterexamples import Counterexample, Opponent, judged
from impls.forced.boundaries import STAND_INS
from impls.forced.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.studies.forced.jobs import Task
    from harness.studies.forced.policies import Policies

LONG_TOKEN, CUT, CHAIN, LOOK_AHEAD = "long token", "cut character", "chain", "look-ahead"

OTHERWISE = (b"!", b"0", b"\n", b"z", b" ", b"q", b"a", b"b")
"""The second sentence of a pair goes on with one of these."""

LETTERS = b"etaoinshrdlucmfwypvbgkjqxz"
SIGNS = b"-=_.*#~+/"

ROUND = 400
"""Grammars of a round, about: a second or a few, so that little is lost when it ends early."""
HERD = 24
"""Texts that are bred from."""
LENGTH = 120
"""Bytes of a text that is bred."""
CUTS = 40_000
"""Beginnings of tokens that are kept, those of most tokens: no round comes to the rest."""
CUT_BYTES = 4
"""A shorter token has no beginning that encodes to more than a window."""
SHRINKING = 30.0
"""Seconds for the best grammar of a round; it takes far less, unless a policy is slow."""

ENDS = (
    "a", "of", "x ", "end", "1", ".", " ", "  ", "   ", "\t", "\n", " \n", "'", "don'", "AB", "é",
)  # fmt: skip
"""A forced text ends with one of these where what follows decides the pre-tokens."""

Tried = tuple[bytes, bytes, tuple[bytes, ...]]
"""Context, forced bytes, sentences."""


@dataclass(frozen=True, slots=True)
class Caught:
    """What a round came to: how many grammars were tried, and the best counterexample.

    broke: how the round ended early, if it did. One that had nothing to try says that there is no
    more of its kind.
    """

    tried: int = 0
    counterexample: Counterexample | None = None
    broke: str = ""


@dataclass(frozen=True, slots=True)
class Round:
    """A job for a worker: one round against one policy."""

    policy: str
    kind: str
    number: int
    answer: ClassVar[Any] = Caught

    def run(self, policies: Policies, task: Task, beat: Callable[[], None]) -> Caught:
        """See :class:`harness.studies.forced.jobs.Job`."""
        opponent = Opponent(policies, self.policy)
        return play(opponent, self.kind, self.number, task.seed, beat)


def play(
    opponent: Opponent,
    kind: str,
    number: int,
    seed: int = 0,
    beat: Callable[[], None] = lambda: None,
) -> Caught:
    """Play a round; its best grammar is made as short as it goes without loss of depth."""
    vocabulary = opponent.tokenizer.vocabulary
    rng = random.Random(f"{seed}/{kind}/{number}")
    best: Counterexample | None = None
    tried = 0
    for context, forced, sentences in WAYS[kind](opponent, rng, number):
        beat()
        if not all(map(vocabulary.can_encode, (context, forced, *sentences))):
            continue
        tried += 1
        counterexample = judged(opponent, kind, context, forced, sentences)
        if counterexample and (best is None or counterexample.worth > best.worth):
            best = counterexample
    short = best and shortened(opponent, best, beat)
    return Caught(tried, short)


def shortened(
    opponent: Opponent, counterexample: Counterexample, beat: Callable[[], None]
) -> Counterexample:
    """The shortest forced text and sentences found on which the policy errs as deep."""
    known = opponent.tokenizer.vocabulary.can_encode
    best = counterexample

    def errs(context: bytes, forced: bytes, sentences: Sequence[bytes]) -> bool:
        """Whether the policy errs as deep; then this is the best."""
        nonlocal best
        beat()
        # A sentence may be nothing but the rest of a character; the whole is to be text.
        texts = all(is_text(context + forced + rest) for rest in sentences)
        if not texts or not all(map(known, (context, forced, *sentences))):
            return False
        found = judged(opponent, counterexample.kind, context, forced, sentences)
        if found is None or found.depth < best.depth:
            return False
        best = found
        return True

    def deep(candidates: Sequence[bytes]) -> list[bool]:
        """Whether the policy errs, up to the first with which it does: that one is taken."""
        tried = enumerate(candidates)
        first = next((at for at, one in tried if errs(best.context, one, best.sentences)), -1)
        return [at == first for at in range(len(candidates))]

    if best.context:
        errs(b"", best.context + best.forced, best.sentences)
    for place, rest in enumerate(best.sentences):
        for size in range(1, len(rest)):
            others = best.sentences[:place], best.sentences[place + 1 :]
            if errs(best.context, best.forced, (*others[0], rest[:size], *others[1])):
                break
    before = best.worth
    shrink(best.forced, deep, SHRINKING)
    return best if best.worth >= before else counterexample


def long_tokens(opponent: Opponent, rng: random.Random, number: int) -> Iterator[Tried]:
    """Beginnings of tokens, those of most tokens first; each round takes the next ones."""
    for cut, rest in _turn(cuts(opponent, whole=True), number):
        for other in rng.sample(OTHERWISE, 2):
            yield b"", cut, (rest, other)
            yield b'{"', cut, (rest, other)


def cut_characters(opponent: Opponent, rng: random.Random, number: int) -> Iterator[Tried]:
    """The same, cut inside a character; the other sentence ends it as another one."""
    for cut, rest in _turn(cuts(opponent, whole=False), number):
        size = next(n for n in range(1, len(rest) + 1) if is_text(cut + rest[:n]))
        others = [bytes((byte,)) for byte in range(0x80, 0xC0) if byte != rest[0]]
        rng.shuffle(others)
        ends = (other + rest[1:size] for other in others)
        end = next((end for end in ends if is_text(cut + end)), None)
        if end is not None:
            yield b"", cut, (rest, end)
            yield b'{"', cut, (rest, end + b'"')


def _turn(found: Sequence[tuple[bytes, bytes]], number: int) -> Sequence[tuple[bytes, bytes]]:
    size = ROUND // 4
    return found[number * size : (number + 1) * size]


@lru_cache(maxsize=4)
def cuts(opponent: Opponent, *, whole: bool) -> list[tuple[bytes, bytes]]:
    """Beginnings of tokens and their rests, those of most tokens first. whole: of characters."""
    pairs = [
        (token[:size], token[size:])
        for token in opponent.tokenizer.vocabulary.ids
        if len(token) > (CUT_BYTES if whole else 1) and is_text(token)
        for size in range(1, len(token))
        if is_text(token[:size]) == whole
    ]
    counts = map(len, opponent.tokenizer.encode_many([cut for cut, _ in pairs]))
    ordered = sorted(zip(counts, pairs, strict=True), key=lambda one: (-one[0], len(one[1][0])))
    return [pair for _, pair in ordered[:CUTS]]


def chains(opponent: Opponent, rng: random.Random, number: int) -> Iterator[Tried]:
    """Texts of one pre-token, bred so that the next byte takes many tokens away."""
    tokenizer, vocabulary = opponent.tokenizer, opponent.tokenizer.vocabulary
    if not isinstance(tokenizer, Tokenizer):
        return
    spellings = [t for t in vocabulary.ids if 1 < len(t) < 12]
    known = vocabulary.can_encode
    letters, signs = (bytes(b for b in kind if known(bytes((b,)))) for kind in (LETTERS, SIGNS))
    kinds = letters if letters and (not signs or rng.random() < 0.7) else signs
    if not kinds:
        return
    alphabet = bytes(rng.sample(kinds, rng.randint(1, min(4, len(kinds)))))
    words = [t for t in rng.sample(spellings, min(4000, len(spellings))) if set(t) <= {*kinds}]
    seeds = trails(vocabulary, frozenset(kinds), rng)
    herd: list[tuple[int, int, bytes]] = []
    for turn in range(ROUND):
        text = seeds[turn] if turn < len(seeds) else bred(rng, alphabet, words, herd)
        place, lost = steepest(tokenizer, text)
        if lost > 1:
            herd = sorted({*herd, (lost, -place, text[: place + 1])}, reverse=True)[:HERD]
            yield b"", text[:place], (text[place : place + 1], rng.choice(OTHERWISE))


def trails(vocabulary: Vocabulary, kinds: frozenset[int], rng: random.Random) -> list[bytes]:
    """Texts in which each pair of tokens merges before the pair to its left: the longest found.

    One more token at their end takes the last away, this frees the one before, and so on. For each
    last token the longest trail is grown pair by pair, from the merges of least priority on; a
    random part of the tokens takes part, as trails through all of them merge otherwise.
    """
    merges, tokens = vocabulary.merges, vocabulary.tokens
    share = rng.choice((0.1, 0.3, 0.6, 1.0))
    longest = rng.choice((1, 2, 3, 6))
    taking = [
        token is not None
        and len(token) <= longest
        and kinds.issuperset(token)
        and rng.random() < share
        for token in tokens
    ]
    # By its last token: pairs of the trail, its text.
    trail: dict[int, tuple[int, bytes]] = {}
    pairs = zip(merges.left.tolist()[::-1], merges.right.tolist()[::-1], strict=True)
    for left, right in pairs:
        if not (taking[left] and taking[right]):
            continue
        count, text = trail.get(left, (0, tokens[left] or b""))
        if count + 1 > trail.get(right, (0, b""))[0] and len(text) < LENGTH:
            trail[right] = (count + 1, text + (tokens[right] or b""))
    ordered = sorted(trail.values(), key=lambda one: (-one[0], len(one[1]), one[1]))
    return [text for _, text in ordered[:HERD]]


def bred(
    rng: random.Random, alphabet: bytes, words: list[bytes], herd: list[tuple[int, int, bytes]]
) -> bytes:
    """A new text: fresh, or a member of the herd with something changed."""
    if not herd or rng.random() < 0.3:
        if words and rng.random() < 0.5:
            return b"".join(rng.choices(words, k=rng.randint(2, 12)))[:LENGTH]
        unit = bytes(rng.choices(alphabet, k=rng.randint(1, 6)))
        return (unit * LENGTH)[: rng.randint(4, LENGTH)]
    text = rng.choice(herd)[2]
    place, size = rng.randrange(len(text)), rng.randint(1, 6)
    change = rng.randrange(4)
    if change == 0:
        return (text[:place] + text[place : place + size] * 2 + text[place + size :])[-LENGTH:]
    if change == 1:
        return text[:place] + text[place + size :] + bytes((rng.choice(alphabet),))
    if change == 2:
        return (rng.choice(herd)[2][: rng.randint(1, LENGTH)] + text)[-LENGTH:]
    added = rng.choice(words) if words else bytes(rng.choices(alphabet, k=size))
    return (text[:place] + added + text[place:])[-LENGTH:]


def steepest(tokenizer: Tokenizer, text: bytes) -> tuple[int, int]:
    """After how many bytes of ``text`` the next one takes most tokens away, and how many."""
    encoded = tokenizer.encode_pieces([text[:size] for size in range(len(text) + 1)])
    lost = [len(one) - alike(one, other) for one, other in pairwise(encoded)]
    place = max(range(len(lost)), key=lost.__getitem__)
    return place, lost[place]


def look_ahead(opponent: Opponent, rng: random.Random, number: int) -> Iterator[Tried]:
    """Ends of texts before continuations of all classes."""
    for _ in range(ROUND):
        forced = "".join(rng.choices(ENDS, k=rng.randint(1, 3))).encode()
        one, other = rng.sample(STAND_INS, 2)
        yield b"", forced, (one.encode(), other.encode())


WAYS: dict[str, Callable[[Opponent, random.Random, int], Iterator[Tried]]] = {
    LONG_TOKEN: long_tokens,
    CUT: cut_characters,
    CHAIN: chains,
    LOOK_AHEAD: look_ahead,
}
"""The ways of making sentences, by kind; the rounds of all kinds take turns."""
