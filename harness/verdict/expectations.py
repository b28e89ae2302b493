"""The expectations file: divergences that are known, with a reason and a version range.

An unexpected finding fails the gate. An expected one that was exercised and did not show fails
it, too, as stale: someone mended it, and the file should say so. Each entry carries ``examples``,
inputs that show the divergence; they are run wherever the entry applies, so that whether it was
exercised never depends on luck::

    [[expected]]
    bucket = "equivalence/unigram/text/normalization/*/tokenizers"   # a shell pattern
    vocabulary = "unigram_nfkc"                                      # likewise; default "*"
    examples = ["e\\u0301"]                 # or {hex = "65cc81"} where they are not text
    broad = true                            # covers more than the examples explain; default false
    implementations = {tokenizers = ">=0.20", sentencepiece = "*"}   # PEP 440 ranges
    reason = "normalizes by grapheme, SentencePiece by longest prefix"
    link = "https://..."
    expires = 2027-06-30

An entry covers what its examples explain: a finding whose minimal input is one of them, or what
one of them comes to when it is minimised. An entry whose bucket names a kind of input that stands
out (``Cn``, ``Mn``, ``bytes``) covers inputs of this kind, too. A ``*`` alone covers nothing more:
the next difference of the same implementation is a new finding. ``broad = true`` covers whatever
the bucket matches, and so does an entry that has no examples.

Bounds on growth stand in the same file (:mod:`harness.verdict.bounds`).
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from corpora.errors import UserError
from corpora.vocabularies.embedded import embedded
from corpora.vocabularies.reading import fault_of, shown, toml_document
from harness.core.comparisons import Contract
from harness.events import kind_in, stands_out

SHIPPED = Path(__file__).with_name("expectations.toml")
"""The divergences of today's reference libraries that the default run shows."""

TODO = "TODO"
"""A reason that begins so was never filled in."""

UNMINIMISED = "any"
"""The kind in the bucket of a finding that has no minimal input."""

TABLES = ("expected", "scaling")
"""Tables of the file; :mod:`harness.verdict.bounds` reads the second."""

NOT_WRITTEN = ("shipped", "asked")
"""Fields of an entry that no file has."""

T = TypeVar("T")


class ExpectationsError(UserError):
    """The file is at fault: one line with the file, the entry, the field, and the mend."""


class Example(bytes):
    """An input of an entry: a text of the file, or ``{hex = "..."}``."""


@dataclass(frozen=True)
class Expectation:
    """One known divergence; see the module's example for the fields.

    broad: it covers all that its bucket matches, and not only what its examples explain.
    asked: its examples are run, so that it can be stale.
    shipped: it comes with tokgate. Its examples were seen on the embedded vocabularies, and what
    they show on a user's file, whatever its name, is no news of the entry.
    """

    bucket: str
    implementations: dict[str, SpecifierSet]
    reason: str
    vocabulary: str = "*"
    examples: tuple[Example, ...] = ()
    broad: bool = False
    link: str | None = None
    expires: datetime.date | None = None
    shipped: bool = False
    asked: bool = True

    def covers(self, bucket: str, vocabulary: str) -> bool:
        """Whether a finding of this bucket on this vocabulary is expected."""
        return fnmatchcase(bucket, self.bucket) and fnmatchcase(vocabulary, self.vocabulary)

    @property
    def whole(self) -> bool:
        """Whether it covers whatever its bucket matches."""
        return self.broad or not self.examples

    @property
    def one_vocabulary(self) -> bool:
        """Whether it is about a single vocabulary, on which each of its examples has to show."""
        return not any(sign in self.vocabulary for sign in "*?[")

    def explains(self, bucket: str, data: bytes, *, inputless: bool) -> bool:
        """Whether it covers a finding of a bucket that it matches, with this minimal input.

        inputless: whether the finding may have no input that brings it back, so that it needs none.
        What its examples come to when they are minimised is for the caller to know.
        """
        if self.whole or data in self.examples:
            return True
        kind = kind_in(bucket)
        if kind == UNMINIMISED:
            return inputless
        return stands_out(kind) and kind_in(self.bucket) == kind

    def shows_in(self, bucket: str, vocabulary: str) -> bool:
        """Whether a finding shows the divergence, be it that others share it: ``a=b|c``.

        So does one that blames nobody (``a<>b``), which the entry nevertheless does not cover.
        """
        head, _, blamed = bucket.rpartition("/")
        return self.covers(bucket, vocabulary) or any(
            self.covers(f"{head}/{name}", vocabulary) for name in re.split("<>|[=|]", blamed)
        )

    def applies(self, versions: Mapping[str, str]) -> bool:
        """Whether all its implementations take part, in versions of its ranges."""
        return all(
            name in versions and in_range(versions[name], allowed)
            for name, allowed in self.implementations.items()
        )

    def concerns(self, contract: Contract, versions: Mapping[str, str]) -> bool:
        """Whether its examples belong under this contract."""
        parts = self.bucket.split("/")
        place = (contract.algorithm, contract.mode.label)
        patterns = tuple(parts[1:3]) if len(parts) > 2 else ("*", "*")
        return (
            self.applies(versions)
            and (not self.shipped or contract.vocabulary.id in embedded())
            and fnmatchcase(contract.vocabulary.id, self.vocabulary)
            and all(fnmatchcase(*pair) for pair in zip(place, patterns, strict=False))
            and set(self.implementations) <= set(contract.names)
        )

    def expired(self, today: datetime.date) -> bool:
        """Whether its time is over."""
        return self.expires is not None and today > self.expires


def in_range(version: str, allowed: SpecifierSet) -> bool:
    """Whether a version lies in a range; one that is no PEP 440 version only in ``*``."""
    try:
        return allowed.contains(Version(version), prereleases=True)
    except InvalidVersion:
        return not str(allowed)


def load(path: Path, *, drafts: bool = False) -> list[Expectation]:
    """The entries under ``[[expected]]`` of a file. Raises ExpectationsError.

    drafts: a reason that is still to be written is no fault.
    """
    found = entries(path, "expected", Expectation, drafts=drafts)
    return [replace(one, shipped=path == SHIPPED) for _, one in found]


def with_shipped(path: Path | None) -> list[Expectation]:
    """The entries of the user's file, if there is one, and the shipped ones after them."""
    return [*(load(path) if path is not None else ()), *load(SHIPPED)]


def tables(path: Path, name: str) -> list[tuple[str, dict[str, Any]]]:
    """The tables of one kind in an expectations file, each with its place in words.

    Raises ExpectationsError.
    """
    raw = toml_document(path, ExpectationsError)
    for other in raw.keys() - TABLES:
        known = "entries stand under [[expected]] or [[scaling]]"
        raise ExpectationsError(f"{path}: unknown table {shown(other)}; {known}")
    found = raw.get(name, [])
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise ExpectationsError(f"{path}: {name!r} is not a list of tables; write [[{name}]]")
    return [(f"{path}: {name} entry {i}", entry) for i, entry in enumerate(found, 1)]


def entries(
    path: Path, name: str, kind: type[T], *, drafts: bool = False
) -> Iterator[tuple[str, T]]:
    """The entries of one table as data of a class, each with its place. Raises ExpectationsError.

    drafts: as of :func:`load`.
    """
    known = {one.name for one in fields(cast("Any", kind))}.difference(NOT_WRITTEN)
    for place, raw in tables(path, name):
        for field in raw.keys() - known:
            listed = ", ".join(sorted(known))
            raise ExpectationsError(
                f"{place}: unknown field {shown(field)}; the fields are {listed}"
            )
        try:
            made = msgspec.convert(raw, kind, dec_hook=_read)
        except msgspec.ValidationError as error:
            raise ExpectationsError(f"{fault_of(error, place)}; correct that field") from error
        if not drafts and raw["reason"].lstrip().upper().startswith(TODO):
            raise ExpectationsError(
                f"{place}: field 'reason' still says TODO; write there why this difference is known"
            )
        yield place, made


def _read(kind: type, raw: Any) -> SpecifierSet | Example:
    """A range of versions, or an example, of what stands in a file. Raises ValueError."""
    if kind is SpecifierSet:
        try:
            return SpecifierSet("" if raw == "*" else str(raw))
        except InvalidSpecifier:
            raise ValueError(
                f"version range {shown(raw)} is not PEP 440; write '>=1.2' or '*'"
            ) from None
    if isinstance(raw, str):
        return Example(raw.encode())
    if not isinstance(raw, dict) or not isinstance(raw.get("hex"), str):
        raise ValueError(f"example {shown(raw)} is neither a text nor {{hex = '..'}}")
    try:
        return Example(bytes.fromhex(raw["hex"]))
    except ValueError:
        raise ValueError(f"example {shown(raw)} is not hexadecimal") from None
