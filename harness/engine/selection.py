"""What a run is made of, from the names that a user gave."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from corpora.errors import UserError
from corpora.vocabularies import drawn, embedded, sources
from harness.core.participants import Participant
from harness.core.quiet import aside
from impls import registry, roster
from impls.errors import ImplementationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import About, Implementation


SCALED = ("tekken_240911", "unigram_nfkc")
"""Embedded vocabularies whose growth is measured where none is named: one of each algorithm, with
a pre-tokenizer and with a normalizer. A step more would take the time of those."""

SMALL = "toy_bytes"
"""What stands in for these where they are not installed."""

WALKED = ("tekken_240911",)
"""Embedded vocabularies on which forced tokens are walked where none is named: the other one of
byte-level BPE has the same pre-tokenizer, and would take its seconds again."""


LAST = frozenset({"mistral_v2", "mistral_v3", "mistral_v7"})
"""Embedded vocabularies that come last where none is named: large ones that differ little from
``mistral_v1``, so that a run that is short of time has seen one of each kind before."""


class SelectionError(UserError):
    """A name that a user gave is none: one line that names it and the mend."""


def vocabularies(names: Sequence[str], seed: int = 0) -> dict[str, Callable[[], Vocabulary]]:
    """Loaders of the named vocabularies; of the embedded ones, each once, where none is named.

    Those that are not installed are left out.

    ``random:COUNT`` is so many random ones, which ``seed`` decides. Named ones are loaded here,
    so that a mistake shows before anything starts. Raises VocabularyError.
    """
    if not names:
        left_out = embedded.left_out() | embedded.ALIKE
        names = [name for name in embedded.embedded() if name not in left_out]
        names.sort(key=lambda name: name in LAST)
        return {name: partial(sources.resolve, name) for name in names}
    loaded: dict[str, Vocabulary] = {}
    for name in dict.fromkeys(expanded(names, seed)):
        vocabulary = sources.resolve(name)
        # Files of one name in several folders stay apart.
        namesakes = sum(one.id.partition("~")[0] == vocabulary.id for one in loaded.values())
        loaded[name] = (
            replace(vocabulary, id=f"{vocabulary.id}~{namesakes + 1}") if namesakes else vocabulary
        )
    return {name: partial(_same, vocabulary) for name, vocabulary in loaded.items()}


def expanded(names: Iterable[str], seed: int) -> Iterator[str]:
    """The names, with those of so many random vocabularies in place of ``random:COUNT``."""
    for name in names:
        count = name.removeprefix(embedded.RANDOM)
        if name.startswith(embedded.RANDOM) and count.isdecimal():
            yield from drawn.sources(int(count), seed)
        else:
            yield name


def _lasting(names: Iterable[str]) -> tuple[str, ...]:
    """Those that are worth the time of a measurement: random vocabularies are one of many."""
    return tuple(dict.fromkeys(name for name in names if not name.startswith(embedded.RANDOM)))


def _there(names: Iterable[str]) -> tuple[str, ...]:
    left_out = embedded.left_out()
    return tuple(SMALL if name in left_out else name for name in names)


def scaled(names: Sequence[str], chosen_checks: Sequence[str]) -> tuple[str, ...]:
    """The sources whose growth is measured: those named, else ``SCALED``; none if not chosen."""
    if "scaling" not in chosen_checks:
        return ()
    return _lasting(names) if names else _there(SCALED)


def walked(names: Sequence[str], chosen_checks: Sequence[str]) -> tuple[str, ...]:
    """The sources on which forced tokens are walked: those named, else ``WALKED``."""
    if "canonicality" not in chosen_checks:
        return ()
    return _lasting(names) if names else _there(WALKED)


def readers(vocabularies: Iterable[Vocabulary]) -> list[str]:
    """Names of installed libraries that read such of these as the plain model cannot express.

    Of no part in a run that does not name them, but for such files there is hardly anybody else.
    """
    formats = {one.format for one in vocabularies if one.unexpressed}
    if not formats:
        return []
    found = []
    for name in roster.field():
        with contextlib.suppress(ImplementationError):  # most are not installed
            reader = _met(name)[0]
            astray = getattr(reader, "astray", False)
            if not astray and formats & getattr(reader, "native_formats", frozenset()):
                found.append(name)
    return found


def _same(vocabulary: Vocabulary) -> Vocabulary:
    return vocabulary


def participants(
    specs: Sequence[str], besides: Sequence[str] = ()
) -> tuple[list[Participant], dict[str, str]]:
    """The implementations named, or all registered ones; with those not installed, and why.

    besides: others that join the registered ones.

    Raises ImplementationError for a named one that cannot be had; among all registered ones
    it is only left out.
    """
    chosen = list(dict.fromkeys(specs or [*registry.registered(), *besides]))
    found: dict[str, Participant] = {}
    missing: dict[str, str] = {}
    for spec in chosen:
        try:
            implementation, about = _met(spec)
        except ImplementationError as error:
            if specs:
                raise
            missing[spec] = str(error)
            continue
        name = about.name
        if name in found:  # two programs of one name: tell them apart by how they were given
            name = spec
        found[name] = Participant(name, spec, about, implementation)
    if not specs:
        # A variant that has nobody to be compared with would only take time.
        for name, one in list(found.items()):
            if one.about.engine and one.about.engine not in found:
                del found[name]
    return list(found.values()), missing


def _met(spec: str) -> tuple[Implementation, About]:
    """An implementation, and what it says of itself; what it prints is put aside.

    Raises ImplementationError, which tells the last line that it printed.
    """
    # What makes an environment for a release says so, as it takes a while; a program's standard
    # error is kept by whoever starts it.
    apart = spec.startswith(("pip:", "cmd:", "npm:"))
    printing = contextlib.nullcontext() if apart else aside()
    with printing as printed:
        try:
            implementation = registry.resolve(spec)
            return implementation, implementation.about
        except ImplementationError as error:
            failure = error
    line = printed.last_line if printed is not None else ""
    if not line:
        raise failure
    message = f"{failure}; its last output: {line}"
    raise ImplementationError(message, unknown=failure.unknown) from failure


def chosen(kind: str, names: Sequence[str], known: Iterable[str]) -> list[str]:
    """The names given, or all; raises SelectionError for one that is unknown."""
    everything = list(known)
    for name in names:
        if name not in everything:
            raise SelectionError(
                f"{kind} {name!r}: no such {kind}; use one of {', '.join(everything)}"
            )
    return list(names) or everything


def references(names: Sequence[str], present: Sequence[Participant]) -> frozenset[str]:
    """Return the names of the implementations that the user declared references.

    None where the user named none: then each vocabulary's format decides
    (:func:`harness.core.standing.references_of`). Raises SelectionError for one that takes no part.
    """
    known = {participant.name for participant in present} | {c.spec for c in present}
    for name in names:
        if name not in known:
            raise SelectionError(f"reference {name!r}: is not part of this run; add --impl {name}")
    return frozenset(c.name for c in present if c.name in names or c.spec in names)
