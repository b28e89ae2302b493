"""Each planted mistake is one: some input comes out otherwise than from what is right."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from corpora.vocabularies.sources import resolve
from harness.checks import CHECKS, MEASURES
from harness.core.comparisons import algorithm_of
from harness.studies.selftest.canary import CANARY, VOCABULARY, canary
from harness.studies.selftest.catalog import MisplantedError, edited, mistakes
from harness.studies.selftest.groups import REFERENCES, Kind, groups, kind_of
from harness.studies.selftest.plain.bpe import PlainBpe
from harness.studies.selftest.plain.ways import PlainDropout
from impls import registry
from impls.interface import Mode, Rejected, Unsupported
from tests.breadth import thorough_from

MODES = {"text": Mode(), "raw": Mode(pretokenize=False), "special": Mode(special="all")}
RIGHT = {
    "bpe": "bpe.heap",
    "spm": "spm.sentencepiece",
    "unigram": "unigram.sentencepiece",
    "wordpiece": "wordpiece.bert",
    "pipeline": "pipeline.huggingface",
}
EVERY = mistakes()
UNSEEN = {"growth", "healing", "healers", "services", "gate"}
"""Families that show in neither ids nor texts nor offsets."""


def about_answers(mutant):
    """Whether it shows in what is encoded, decoded or located, by one input after another."""
    return mutant.inputs and mutant.family not in UNSEEN


@cache
def right_for(name):
    """The encoder that is right on a vocabulary, which keeps nothing from one input to the next."""
    vocabulary = resolve(name)
    algorithm = "pipeline" if vocabulary.unexpressed else algorithm_of(vocabulary)
    return registry.resolve(RIGHT[algorithm]).load(vocabulary)


def answer(encoder, data, mode):
    try:
        return list(encoder.encode(data, mode))
    except (Rejected, Unsupported) as refusal:
        return type(refusal).__name__
    except BaseException as error:
        return f"raised {type(error).__name__}"


def observed(encoder, check, data, mode):
    """What a user sees, of what the check looks at."""
    ids = answer(encoder, data, mode)
    if check in {"round-trip", "streaming"} and not isinstance(ids, str):
        try:
            return ids, encoder.decode(ids)
        except Exception as error:
            return ids, type(error).__name__
    if check == "offsets" and not isinstance(ids, str):
        try:
            located, spans = encoder.encode_with_offsets(data, mode)
        except Exception as error:
            return ids, type(error).__name__
        return ids, list(located), list(spans)
    if check == "template":
        return ids, [encoder.encode_with_added(data, pair, mode) for pair in (None, data + data)]
    if check == "reachability":
        return ids, encoder.encode_with_dropout(data, mode)
    if check == "survival":
        return ids, [type(one) for one in ids]
    return ids


@pytest.mark.parametrize(
    "mutant",
    thorough_from(20, [one for one in EVERY.values() if about_answers(one)]),
    ids=lambda one: one.name,
)
def test_an_input_shows_it(mutant):
    vocabulary = resolve(mutant.vocabulary)
    mode = MODES[mutant.mode]
    wrong = mutant.implementation.load(vocabulary)
    right = right_for(mutant.vocabulary)
    if mutant.check == "reachability":
        right = PlainDropout().load(vocabulary)

    def all_of(encoder):
        return [observed(encoder, mutant.check, data, mode) for data in mutant.inputs]

    assert all_of(wrong) != all_of(right)


def test_each_is_declared():
    for one in EVERY.values():
        assert one.check in CHECKS or one.check in MEASURES or one.family == "gate"
        assert one.summary.endswith((".", ")"))
        assert one.mode in MODES
        # What has no input to show it has a test of its own below, in test_selftest or test_gate.
        apart = {"caches", "processes", "growth", "ways", *UNSEEN}
        assert one.inputs or one.family in apart, one.name


@pytest.mark.parametrize("name", [n for n, one in EVERY.items() if one.family == "caches"])
def test_who_keeps_something_changes_its_mind(name):
    mutant = EVERY[name]
    vocabulary = resolve(mutant.vocabulary)
    encoder = mutant.implementation.load(vocabulary)
    texts = [b"%d <s> th the %c" % (i, 97 + i % 26) for i in range(300)]
    texts += [b"th", b"ht", b"a" * 60, b"b", b"TH", b"th "] * 8
    modes = [MODES[mutant.mode], *([MODES["text"]] if mutant.mode == "special" else [])]
    right = registry.resolve("bpe.heap").load(vocabulary)

    def differences(ask):
        return [
            (data, mode)
            for _ in range(4)  # over a thousand calls
            for mode in modes
            for data in texts
            if ask(data, mode) != list(right.encode(data, mode))
        ]

    if name == "caches.shared-buffer":
        assert in_threads(encoder, texts, modes[0]) != [encoder.encode(t, modes[0]) for t in texts]
    elif name == "caches.batch-only":
        assert in_batch(encoder, texts, modes[0]) != [encoder.encode(t, modes[0]) for t in texts]
    else:
        assert differences(lambda data, mode: list(encoder.encode(data, mode)))


def in_batch(encoder, texts, mode):
    ends = np.cumsum([len(text) for text in texts])
    ids, id_ends = encoder.encode_batch(b"".join(texts), ends, mode)
    return [part.tolist() for part in np.split(ids, id_ends[:-1])]


def in_threads(encoder, texts, mode):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda text: list(encoder.encode(text, mode)), texts * 5))[
            : len(texts)
        ]


GROWING = [n for n, one in EVERY.items() if one.check == "scaling"]

RAW = MODES["raw"]
BY_OTHER_THAN_TEXT = {
    "growth.square-in-specials": ("encode", b"<s>" * 2000, RAW),
    "growth.square-in-batch": ("encode_batch", b"", np.zeros(2000, dtype=np.int64), RAW),
    "growth.square-in-decoding": ("decode", [0] * 2000),
    "growth.square-in-streams": ("decode_stream", [255] * 2000),
}
MEMORY_AND_LOADING = {"growth.holds-megabytes", "growth.leaves-behind", "growth.square-in-loading"}
"""Nothing but a measurement shows these: tests/properties/studies/test_costs_*.py."""


def passes(patch, encoder, method, *given):
    """How often a method goes over what it is given."""
    counted = []
    call = getattr(encoder, method)
    patch.setitem(
        call.__func__.__globals__, "passed", lambda data, times: counted.append(times) or data
    )
    call(*given)
    return sum(counted)


@pytest.mark.parametrize(
    "name",
    [n for n in GROWING if EVERY[n].vocabulary == "toy_bytes" and n not in MEMORY_AND_LOADING],
)
def test_who_grows_makes_more_passes_than_who_is_right_on_something(name, monkeypatch):
    mutant, texts = EVERY[name], (b"a" * 65536, b" " * 65536, b"ab c" * 16384, b"[" * 64)
    asked = [("encode", data, RAW) for data in texts]
    if name in BY_OTHER_THAN_TEXT:
        asked = [BY_OTHER_THAN_TEXT[name]]
    right = registry.resolve(mutant.control)
    assert {passes(monkeypatch, right, *one) for one in asked} == {1}
    if name == "growth.copies-for-each-character":
        assert mutant.implementation.encode(b"abc", RAW) == [97, 98, 99]
        return  # its copies are no passes
    assert max(passes(monkeypatch, mutant.implementation, *one) for one in asked) > 1000


@pytest.mark.parametrize("name", [n for n in GROWING if n.startswith("growth.rescans")])
def test_who_rescans_gives_the_right_ids(name, monkeypatch):
    mutant = EVERY[name]
    wrong = mutant.implementation.load(resolve(mutant.vocabulary))
    right = right_for(mutant.vocabulary)
    texts = [b"a" * 90, b"\n" * 80, b"some words, and 123 numbers", b"=" * 70]
    for data in texts:
        assert wrong.encode(data, MODES["text"]) == list(right.encode(data, MODES["text"]))
    heap = []
    monkeypatch.setattr(wrong, "_merged", heap.append)
    for data in texts:
        wrong.segment(data)
    assert len(heap) < len(texts), "none of these is slow"


def test_who_keeps_answers_gives_them():
    wrong = EVERY["growth.keeps-answers"].implementation.load(resolve("toy_bytes"))
    assert wrong.encode(b"ab", RAW) is wrong.encode(b"ab", RAW)


def test_every_row_differs_from_what_is_right_and_is_found_by_its_spec():
    assert len({one.spec for one in EVERY.values()}) == len(EVERY)
    for one in EVERY.values():
        assert bool(one.base) != bool(one.program)
        if one.control and one.family != "gate":
            assert one.control.startswith(("harness.studies.selftest.", "impls.forced."))
        if one.base:
            right = one.control.rpartition(":")[2]
            assert one.edits or one.attributes or one.base.rpartition(":")[2] != right, one.name
            assert one.changed().name == one.name


def test_a_change_fits_its_place_once():
    for edits in (("nowhere in it", ""), ("self", "other")):
        with pytest.raises(MisplantedError, match="is not exactly once in PlainBpe"):
            edited(PlainBpe, edits)


def test_groups_hold_everybody_once_and_no_more_than_fit():
    made = groups(EVERY.values())
    members = [one.name for group in made for one in group.mistakes]

    assert sorted(members) == sorted(EVERY)
    for group in made:
        assert len(group.mistakes) <= 12
        assert {one.vocabulary for one in group.mistakes} == {group.vocabulary}
        assert {kind_of(one) for one in group.mistakes} == {group.kind}
    assert {group.kind for group in made} == set(Kind)


def test_the_canary_can_ride():
    vocabulary = resolve(VOCABULARY)

    assert canary().name == CANARY.name
    assert canary().implementation.supports(vocabulary, Mode()) is None
    assert CANARY.check == "equivalence"
    assert set(REFERENCES) == {"bpe", "spm", "unigram", "wordpiece", "pipeline"}
