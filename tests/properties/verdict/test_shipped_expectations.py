"""Each shipped expectation shows on every embedded vocabulary that it names."""

from dataclasses import replace
from fnmatch import fnmatchcase

import pytest

from corpora.generators.base import Case
from corpora.vocabularies import embedded, sources
from harness.checks import CHECKS
from harness.checks.questions import examine
from harness.core.comparisons import contracts_of
from harness.engine import selection
from harness.findings.entries import Entry
from harness.verdict.expectations import SHIPPED, load
from harness.workers import Limits
from harness.workers.pool import WorkerPool
from tests.breadth import thorough

ENTRIES = load(SHIPPED)
PLACES = [
    (place, name)
    for place, entry in enumerate(ENTRIES)
    for name in embedded.embedded()
    if entry.examples and fnmatchcase(name, entry.vocabulary)
]
QUICK = {ENTRIES[place].bucket.split("/")[0]: (place, name) for place, name in reversed(PLACES)}
"""Of each check the first entry, on the first vocabulary that it names; all others are breadth."""
NAMES = sorted({name for entry in ENTRIES for name in entry.implementations})


@pytest.fixture(scope="module")
def pool():
    made = WorkerPool(selection.participants(NAMES)[0], Limits())
    yield made
    made.close()


def compared(vocabulary, entry):
    """The versions of those that an entry is about, and the comparisons of them."""
    members = selection.participants(sorted(entry.implementations))[0]
    trusted = selection.references([], members)
    versions = {one.name: one.about.version for one in members}
    return versions, contracts_of(vocabulary, members, trusted, proper=True)


def buckets(pool, entry, name):
    """The buckets of the violations that the entry's examples show, by example."""
    vocabulary = sources.resolve(name)
    assert pool.load(vocabulary, list(entry.implementations)) == {}
    check = CHECKS[entry.bucket.split("/")[0]]
    found = {example: set() for example in entry.examples}
    versions, contracts = compared(vocabulary, entry)
    for contract in contracts:
        if entry.concerns(contract, versions):
            for one in examine(pool, contract, check, entry.examples).violations:
                shown = Entry(contract, one, Case(one.data, "examples", 0, 0))
                found[one.data].add(shown.bucket())
    return found


@pytest.mark.parametrize(
    ("place", "name"),
    [one if one in QUICK.values() else thorough(one) for one in PLACES],
    ids=[f"{ENTRIES[p].bucket} on {n}" for p, n in PLACES],
)
def test_an_entry_shows_where_it_applies(pool, place, name):
    entry = ENTRIES[place]
    shown = buckets(pool, entry, name)
    having = [any(entry.shows_in(one, name) for one in found) for found in shown.values()]
    assert all(having) if entry.one_vocabulary else any(having), shown


def test_every_entry_with_examples_names_a_vocabulary():
    having = {place for place, entry in enumerate(ENTRIES) if entry.examples}
    assert {place for place, _ in PLACES} == having
    # Of the others there is no telling whether they are stale: they stand for users' vocabularies,
    # and each says what an entry with examples says of an embedded one, but for what only random
    # vocabularies show.
    others = {entry.bucket for place, entry in enumerate(ENTRIES) if place not in having}
    assert len(others) == len(ENTRIES) - len(having) == 59


def test_examples_are_for_the_embedded_vocabularies_whatever_a_users_file_is_called():
    entry = next(one for one in ENTRIES if one.examples and one.vocabulary == "*unigram*")
    vocabulary = sources.resolve("unigram_nfkc")
    for name, asked in ((vocabulary.id, True), ("my_unigram.model", False)):
        versions, (contract,) = compared(replace(vocabulary, id=name), entry)
        assert entry.covers(entry.bucket, name)
        assert entry.concerns(contract, versions) is asked
        own = replace(entry, shipped=False)
        assert own.concerns(contract, versions)
