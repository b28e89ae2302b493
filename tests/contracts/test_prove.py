"""``tokgate prove``: equal, different with the shortest text, or not decided, with its status."""

import json
from dataclasses import replace
from itertools import pairwise

from corpora.vocabularies import sources
from corpora.vocabularies.model import AddedToken, Merges, RankOrder
from corpora.vocabularies.patterns import PATTERNS
from tests.doubles.command import tokgate

BYTES = sources.resolve("toy_bytes")
[GPT2] = PATTERNS["gpt2"]


def written(folder, name, **changed):
    """A tokenizer.json of the toy vocabulary with some changes."""
    path = folder / name
    plain = {"native": None, "splits": (GPT2,), "rank_order": RankOrder.MERGES}
    path.write_bytes(replace(BYTES, **plain | changed).as_tokenizer_json())
    return str(path)


def proved(folder, a, b):
    """The exit status, what is printed, and the verdict and the words of each stage."""
    done = tokgate("prove", a, b, "--budget", "1s", folder=folder)
    told = json.loads((folder / "tokgate-prove" / "prove.json").read_text())
    return done.returncode, done.stdout, {one["name"]: one for one in told["stages"]}, told


def test_other_merges_are_proved_equal_where_no_text_tells_them_apart(tmp_path):
    """All merges in an order in which only those change places that share no token."""
    triples = BYTES.merges.triples()
    at = next(
        at for at, (one, other) in enumerate(pairwise(triples))
        if not {one[0], one[1], one[2]} & {other[0], other[1], other[2]}
    )  # fmt: skip
    triples[at : at + 2] = [triples[at + 1], triples[at]]
    own = GPT2.replace(r"\s+(?!\S)|\s+", r"\s+(?=\s|\Z)|\s+")
    a = written(tmp_path, "a.json")
    b = written(tmp_path, "b.json", merges=Merges.of(triples), splits=(own,))
    status, said, stages, told = proved(tmp_path, a, b)
    assert (status, told["verdict"], told["defect"]) == (0, "equal", ""), said
    assert stages["pattern"]["words"].startswith("other expressions")
    assert told["texts"] and "Proved equal" in said


def test_a_lost_merge_shows_its_shortest_text(tmp_path):
    triples = BYTES.merges.triples()
    at = next(at for at, one in enumerate(triples) if BYTES.tokens[one[2]].isalpha())
    lost = triples.pop(at)[2]
    a, b = written(tmp_path, "a.json"), written(tmp_path, "b.json", merges=Merges.of(triples))
    status, said, stages, _ = proved(tmp_path, a, b)
    assert status == 1
    assert len(BYTES.tokens[lost]) == 2
    assert "no shorter text" in stages["merges"]["words"] and stages["merges"]["shown"]
    assert "other tokens for" in said


def test_a_pattern_that_parts_a_text_in_another_way_is_shown_only_if_tokens_differ(tmp_path):
    other = GPT2.replace(r"| ?\p{N}+", r"| ?\p{N}")
    a, b = written(tmp_path, "a.json"), written(tmp_path, "b.json", splits=(other,))
    status, _, stages, _ = proved(tmp_path, a, b)
    assert stages["pattern"]["verdict"] == "different"
    assert stages["pattern"]["shortest"] == "'00'"
    assert status == (1 if stages["pattern"]["shown"] else 4)


def test_what_is_not_covered_is_not_decided(tmp_path):
    a = written(tmp_path, "a.json")
    b = written(tmp_path, "b.json", splits=(GPT2 + r"|(?<=x)y",))
    status, said, stages, told = proved(tmp_path, a, b)
    assert (status, told["verdict"]) == (4, "undecided"), said
    assert stages["pattern"]["words"] == "look-behind"


def test_an_added_token_of_one_alone_differs(tmp_path):
    a = written(tmp_path, "a.json")
    token = AddedToken("<x>", len(BYTES.tokens))
    b = written(tmp_path, "b.json", added_tokens=(*BYTES.added_tokens, token))
    status, _, stages, _ = proved(tmp_path, a, b)
    assert status == 1
    assert stages["added tokens"]["verdict"] == "different" and stages["added tokens"]["shown"]
