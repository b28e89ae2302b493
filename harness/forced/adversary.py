"""A search for grammars on which a healing policy forces tokens that the tokenizer would not.

Three ways of erring are tried, each with a grammar of two sentences: the definition decides.

- long tokens: one sentence completes a token whose beginning encodes to many tokens, more than a
  window looks back over;
- chains: one more letter flips merges far back; texts are bred for the number of tokens that the
  next byte takes away, read off the tree of beginnings;
- look-ahead: the pre-tokenizer cuts otherwise, though no token goes on beyond the end.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from corpora.generators.material import is_text
from corpora.grammars.finite import FiniteLanguage
from impls.forced.boundaries import STAND_INS
from impls.forced.interface import Context
from impls.forced.prefix_tree import PrefixTrees

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from impls.forced.interface import Policy
    from impls.forced.tokenizer import Tokenizer

LONG_TOKEN, CHAIN, LOOK_AHEAD = "long token", "chain", "look-ahead"

OTHERWISE = (b"!", b"0", b"\n", b"z", b" ", b"q", b"a", b"b")
"""How the second sentence goes on."""

LETTERS = b"etaoinshrdlucmfwypvbgkjqxz"
SIGNS = b"-=_.*#~+/"

HERD = 24
"""Texts that are bred from."""
LENGTH = 72
"""Bytes of a text that is bred."""

ENDS = (
    "a",
    "of",
    "x ",
    "end",
    "1",
    ".",
    " ",
    "  ",
    "   ",
    "\t",
    "\n",
    " \n",
    "'",
    "don'",
    "AB",
    "é",
)
"""What a forced text ends with, where pre-tokens are decided by what follows."""


@dataclass(frozen=True, slots=True)
class Trophy:
    """Forced tokens that are wrong for one of two sentences.

    depth: how many of the forced tokens are not those of the canonical encoding.
    """

    kind: str
    policy: str
    context: bytes
    forced: bytes
    sentences: tuple[bytes, ...]
    ids: tuple[int, ...]
    canonical: tuple[int, ...]
    depth: int

    @property
    def worth(self) -> tuple[int, int]:
        """The deepest first, of these the shortest."""
        return (self.depth, -len(self.context + self.forced))


def judged(
    tokenizer: Tokenizer,
    policy: Policy,
    kind: str,
    context: bytes,
    forced: bytes,
    sentences: Sequence[bytes],
) -> Trophy | None:
    """The trophy of a policy on a grammar of few sentences; None where it does not err.

    A sentence that changes the context's own tokens is a seam, and no fault of the policy.
    """
    before = tokenizer.encode(context)
    ids = policy.heal(Context(context, before), forced, FiniteLanguage(sentences)).ids
    worst = None
    for canonical in tokenizer.encode_many([context + forced + rest for rest in sentences]):
        if canonical[: len(before)] != before:
            return None
        own = canonical[len(before) : len(before) + len(ids)]
        same = next((i for i, (a, b) in enumerate(zip(own, ids, strict=False)) if a != b), len(own))
        depth = len(ids) - same
        if depth and (worst is None or depth > worst.depth):
            ways = tuple(sentences)
            worst = Trophy(kind, policy.name, context, forced, ways, ids, canonical, depth)
    return worst


def search(
    tokenizer: Tokenizer, policy: Policy, *, seed: int = 0, seconds: float = 20.0
) -> list[Trophy]:
    """The deepest trophy of each kind that a policy gives up, deepest first."""
    best: dict[str, Trophy] = {}
    ways = (long_tokens, chains, look_ahead)
    for way in ways:
        rng = random.Random(f"{seed}/{way.__name__}")
        until = time.monotonic() + seconds / len(ways)
        for tried in way(tokenizer, rng):
            if time.monotonic() > until:
                break
            if tried is None:
                continue
            kind, context, forced, sentences = tried
            if not all(map(tokenizer.vocabulary.can_encode, (context, forced, *sentences))):
                continue
            trophy = judged(tokenizer, policy, kind, context, forced, sentences)
            if trophy and (kind not in best or trophy.worth > best[kind].worth):
                best[kind] = trophy
    return sorted(best.values(), key=lambda trophy: trophy.worth, reverse=True)


Tried = tuple[str, bytes, bytes, tuple[bytes, ...]] | None
"""Kind, context, forced bytes, sentences; None for a step that came to nothing."""


def long_tokens(tokenizer: Tokenizer, rng: random.Random) -> Iterator[Tried]:
    """Beginnings of tokens, those of most tokens first."""
    found: list[tuple[int, bytes, bytes]] = []
    tokens = sorted((t for t in tokenizer.vocabulary.ids if len(t) > 4), key=len, reverse=True)
    for token in tokens:
        cuts = [token[:size] for size in range(2, len(token)) if is_text(token[:size])]
        if is_text(token):
            for cut, ids in zip(cuts, tokenizer.encode_many(cuts), strict=True):
                found.append((len(ids), cut, token[len(cut) :]))
    found.sort(key=lambda entry: (-entry[0], len(entry[1])))
    for _, cut, rest in found:
        for other in rng.sample(OTHERWISE, 2):
            yield LONG_TOKEN, b"", cut, (rest, other)
            yield LONG_TOKEN, b'{"', cut, (rest, other)


def chains(tokenizer: Tokenizer, rng: random.Random) -> Iterator[Tried]:
    """Texts of one pre-token, bred so that the next byte takes many tokens away."""
    trees = PrefixTrees(tokenizer.vocabulary)
    spellings = [t for t in tokenizer.vocabulary.ids if 1 < len(t) < 12]
    known = tokenizer.vocabulary.can_encode
    letters, signs = (bytes(b for b in kind if known(bytes((b,)))) for kind in (LETTERS, SIGNS))
    while letters or signs:
        kinds = letters if letters and (not signs or rng.random() < 0.7) else signs
        alphabet = bytes(rng.sample(kinds, rng.randint(1, min(4, len(kinds)))))
        words = [t for t in rng.sample(spellings, min(4000, len(spellings))) if set(t) <= {*kinds}]
        herd: list[tuple[int, int, bytes]] = []
        for _ in range(400):
            text = _bred(rng, alphabet, words, [entry[2] for entry in herd])
            place, lost = steepest(trees, text)
            if lost > 1:
                herd = sorted({*herd, (lost, -place, text[: place + 1])}, reverse=True)[:HERD]
                forced, step = text[:place], text[place : place + 1]
                yield CHAIN, b"", forced, (step, rng.choice(OTHERWISE))
            else:
                yield None


def _bred(rng: random.Random, alphabet: bytes, words: list[bytes], herd: list[bytes]) -> bytes:
    """A new text: fresh, or a member of the herd with something changed."""
    if not herd or rng.random() < 0.3:
        if words and rng.random() < 0.5:
            return b"".join(rng.choices(words, k=rng.randint(2, 12)))[:LENGTH]
        unit = bytes(rng.choices(alphabet, k=rng.randint(1, 6)))
        return (unit * LENGTH)[: rng.randint(4, LENGTH)]
    text = rng.choice(herd)
    place, size = rng.randrange(len(text)), rng.randint(1, 6)
    change = rng.randrange(4)
    if change == 0:
        return (text[:place] + text[place : place + size] * 2 + text[place + size :])[-LENGTH:]
    if change == 1:
        return text[:place] + text[place + size :] + bytes((rng.choice(alphabet),))
    if change == 2:
        return (rng.choice(herd)[: rng.randint(1, LENGTH)] + text)[-LENGTH:]
    added = rng.choice(words) if words else bytes(rng.choices(alphabet, k=size))
    return (text[:place] + added + text[place:])[-LENGTH:]


def steepest(trees: PrefixTrees, text: bytes) -> tuple[int, int]:
    """After how many bytes of ``text`` the next one takes most tokens away, and how many."""
    tree = trees.tree(text)
    if tree is None:
        return 0, 0
    counts = [0] * (tree.size + 1)
    best = (0, 0)
    for size in range(1, tree.size + 1):
        counts[size] = counts[tree.parent(size)] + 1
        lost = counts[size - 1] - counts[tree.common(size - 1, size)]
        if lost > best[1]:
            best = (size - 1, lost)
    return best


def look_ahead(tokenizer: Tokenizer, rng: random.Random) -> Iterator[Tried]:
    """Ends of texts before continuations of all classes."""
    while True:
        forced = "".join(rng.choices(ENDS, k=rng.randint(1, 3))).encode()
        one, other = rng.sample(STAND_INS, 2)
        yield LOOK_AHEAD, b"", forced, (one.encode(), other.encode())
