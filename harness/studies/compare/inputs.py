"""The texts on which two vocabularies are compared."""

from __future__ import annotations

from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING

from corpora.generators.catalog import generators
from corpora.generators.material import is_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from corpora.texts.corpus import Corpus
    from corpora.vocabularies.model import Vocabulary

LONGEST = 16 << 10
"""Bytes of a generated text, at most."""

CASES, BYTES = 1024, 64 << 10
"""Texts of a batch, and their bytes, at most; a longer text is a batch by itself."""

TURN, TOKENS = 32, 4096
"""Texts that a generator gives before it is the next one's turn; and tokens, in their turn."""

FEW = 64
"""What is known to make a difference is looked for in the tokens where it is no more than this."""

SHOWING, GIVEN, OWN, GENERATED = "from the proof", "given", "own tokens", "generated"
"""Where a text comes from."""

Text = tuple[str, bytes]
"""A text, and where it comes from."""


def texts(
    a: Vocabulary, b: Vocabulary, corpus: Corpus | None, seed: int, telling: Sequence[bytes]
) -> Iterator[Text]:
    """The user's texts, then the tokens of both in turn with generated texts, without an end.

    Each is UTF-8, as files of most formats say nothing of other bytes. telling: what is known to
    make a difference; tokens that have something of it come first, unless there is much of it.
    """
    if corpus is not None:
        yield from ((GIVEN, one.data) for one in corpus.documents(None))
    both = zip_longest(*map(_own, (a, b)), fillvalue=b"")
    own = dict.fromkeys(chain.from_iterable(both))
    if len(telling) <= FEW:
        yield from ((OWN, one) for one in own if is_text(one) and any(k in one for k in telling))
    streams = [(OWN, iter(own), TOKENS)]
    made = generators().values()
    streams += [(GENERATED, one.cases(v, seed), TURN) for one in made for v in (a, b)]
    while streams:
        for stream in [*streams]:
            origin, cases, turn = stream
            some = [*islice(cases, turn)]
            if not some:
                streams.remove(stream)
            yield from ((origin, one) for one in some if len(one) <= LONGEST and is_text(one))


def _own(vocabulary: Vocabulary) -> Iterator[bytes]:
    """The text of each token."""
    for token in vocabulary.tokens:
        yield (token or b"").replace("\u2581".encode(), b" ")


def batches(stream: Iterator[Text]) -> Iterator[list[Text]]:
    """The texts in batches, each text once as far as a batch remembers."""
    batch: dict[bytes, str] = {}
    size = 0
    for origin, data in stream:
        if batch and (len(batch) >= CASES or size + len(data) > BYTES):
            yield [(where, one) for one, where in batch.items()]
            batch, size = {}, 0
        batch.setdefault(data, origin)
        size += len(data)
    if batch:
        yield [(where, one) for one, where in batch.items()]
