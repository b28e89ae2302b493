"""What a user asked for by name, and who joins a run in which nobody else would compare."""

from pathlib import Path

import pytest

from corpora.vocabularies import sources
from harness.cli import run_command
from harness.engine import selection
from harness.engine.joiners import installed, joiners
from tests.doubles.command import here


def plan_of(monkeypatch, folder, *arguments):
    """The plan that ``tokgate run`` makes of these arguments."""
    made = []

    def keep(plan, *_, **__):
        made.append(plan)
        raise SystemExit(0)

    monkeypatch.setattr(run_command, "execute", keep)
    ended = here("run", *arguments, folder=folder)
    assert made, ended.stderr
    return made[0]


def test_a_plan_knows_what_the_user_gave(monkeypatch, tmp_path):
    (tmp_path / "mine.txt").write_text("some words\n")
    plan = plan_of(
        monkeypatch, tmp_path, "--vocab=toy_bytes", "--vocab=toy_merges", "--impl=bpe.heap",
        "--impl=bpe.naive", "--check=round-trip", "--input=mine.txt",
    )  # fmt: skip
    assert plan.named == ["bpe.heap", "bpe.naive"]
    assert plan.asked == {
        "vocabularies": ["toy_bytes", "toy_merges"],
        "checks": ["round-trip"],
        "inputs": ["mine.txt"],
    }


def test_what_a_run_takes_by_itself_was_not_asked_for(monkeypatch, tmp_path):
    plan = plan_of(monkeypatch, tmp_path, "--vocab=random:2")
    assert len(plan.vocabularies) == 2
    # A number of random vocabularies names none of them.
    assert list(plan.named) == []
    assert plan.asked == {"vocabularies": [], "checks": [], "inputs": []}


PLUGIN = "tests/doubles/planted.py:Linear"
OTHER = "tests/doubles/planted.py:Quadratic"


def joined(vocabularies, *impls, lacking=""):
    """Who joins a run of these implementations, each with its vocabularies."""
    present, _ = selection.participants(impls)

    def available(spec):
        return None if spec == lacking else installed(spec)

    loaded = map(sources.resolve, vocabularies)
    found = joiners(loaded, present, available)
    return {one.participant.name: one.vocabularies for one in found}


NKFC, BYTES = "unigram_nfkc", "unigram_bytes"


@pytest.mark.parametrize(
    ("vocabularies", "impls", "joins"),
    [
        # The reference joins a candidate that is alone, on each vocabulary that of its format.
        (["toy_bytes"], [PLUGIN], {"tiktoken": ("toy_bytes",)}),
        (
            ["toy_bytes", "toy_wordpiece"],
            [PLUGIN],
            {"tiktoken": ("toy_bytes",), "tokenizers": ("toy_wordpiece",)},
        ),
        # Two candidates are not held to each other alone.
        ([NKFC, BYTES], [PLUGIN, OTHER], {"sentencepiece": (NKFC, BYTES)}),
        # Nor is one to who does not mean to give the same ids.
        (["toy_bytes"], [PLUGIN, "bpe.greedy"], {"tiktoken": ("toy_bytes",)}),
        # One of ours, or a library, is not left alone.
        (["toy_bytes"], ["bpe.naive"], {"tiktoken": ("toy_bytes",)}),
        (["toy_bytes"], ["tiktoken"], {"bpe.heap": ("toy_bytes",)}),
        # The user gave somebody to compare with.
        (["toy_bytes"], [PLUGIN, "tokenizers"], {}),
        (["toy_bytes"], [PLUGIN, "bpe.heap"], {}),
        (["toy_bytes"], ["tokenizers", "bpe.table"], {}),
    ],
)
def test_who_joins(vocabularies, impls, joins):
    assert joined(vocabularies, *impls) == joins


def test_a_definition_of_ours_joins_where_the_reference_is_not_installed():
    assert joined(["toy_bytes"], PLUGIN, lacking="tiktoken") == {"bpe.heap": ("toy_bytes",)}


def test_who_joins_was_not_asked_for(monkeypatch, tmp_path):
    path = Path(__file__).parents[2] / "doubles" / "planted.py"
    plan = plan_of(monkeypatch, tmp_path, "--vocab=toy_bytes", f"--impl={path}:Linear")
    assert [one.name for one in plan.participants] == ["linear", "tiktoken"]
    assert list(plan.named) == ["linear"]
    plan = plan_of(
        monkeypatch, tmp_path, "--vocab=toy_bytes", f"--impl={path}:Linear", "--check=scaling"
    )
    assert [one.name for one in plan.participants] == ["linear"]  # it compares nothing
