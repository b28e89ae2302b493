"""Adapters of peers: the ids of the reference, absent where the extra is not installed."""

from dataclasses import replace

import pytest

from corpora.vocabularies import sources
from corpora.vocabularies.merges import merges_from_ranks
from corpora.vocabularies.model import Algorithm, Vocabulary
from corpora.vocabularies.patterns import PATTERNS
from harness.cli.commands.list import rows
from harness.engine import selection
from impls import registry, roster
from impls.adapters.peers import Peer, rank_order_trouble
from impls.interface import Mode

TEXT = Mode()
PEERS = roster.joining(roster.Joins.BENCH)


def ranked(tokens=600):
    """A byte-level vocabulary by ranks from 0 on, with o200k_base's pattern: tekken's tokens."""
    whole = sources.resolve("tekken_240911")
    ordinary = tuple(token for token in whole.tokens if token is not None)[:tokens]
    merges = merges_from_ranks(ordinary)
    return Vocabulary("ranked", Algorithm.BPE, "tiktoken", ordinary, merges,
                      splits=PATTERNS["o200k_base"])  # fmt: skip


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_says_what_it_does_not_run(name):
    try:
        peer = registry.resolve(name)
    except ImportError as error:
        pytest.skip(str(error))
    vocabulary = ranked()
    for mode in (Mode(pretokenize=False), Mode(special="all")):
        assert peer.supports(vocabulary, mode)
    if name != "splintr-rs":
        assert peer.supports(sources.resolve("unigram_nfkc"), TEXT)
    assert peer.supports(replace(vocabulary, splits=("a", "b")), TEXT)


def test_peers_take_part_only_when_named():
    assert not set(PEERS) & {row["name"] for row in rows("impls")}
    present, missing = selection.participants([])
    assert not {*PEERS, *roster.field()} & ({one.name for one in present} | set(missing))


def test_a_peer_that_is_not_installed_says_what_to_install():
    absent = Peer("mine", "", "tokgate-absent", extra="bench")
    with pytest.raises(ImportError, match=r"pip install 'tokgate\[bench\]'"):
        _ = absent.installed


def test_ranks_with_holes_are_told():
    assert rank_order_trouble(ranked()) is None
    tekken = sources.resolve("tekken_240911")
    assert "without holes" in str(rank_order_trouble(tekken))
    vocabulary = ranked()
    assert rank_order_trouble(replace(vocabulary, tokens=(*vocabulary.tokens, b"zqzqzq")))
