"""WordPiece vocabularies in tokenizer.json and GGUF, there and back."""

import json
from dataclasses import replace

import pytest

from corpora.generators.material import material
from corpora.vocabularies.gguf_file import to_gguf
from corpora.vocabularies.model import Normalizer, VocabularyError, WordPieceRules
from corpora.vocabularies.preflight import preflight
from corpora.vocabularies.sources import resolve
from corpora.vocabularies.tokenizer_json import from_document
from corpora.vocabularies.tokenizer_json_out import to_tokenizer_json

TOY = resolve("toy_wordpiece")


def document(**changes):
    made = json.loads(to_tokenizer_json(TOY, True))
    for field, value in changes.items():
        made[field] = {**made[field], **value} if isinstance(value, dict) else value
    return made


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("strip_accents", [True, False])
def test_gguf_file_and_in_again(tmp_path, lowercase, strip_accents):
    rules = WordPieceRules(lowercase=lowercase, strip_accents=strip_accents)
    before = replace(TOY, wordpiece=rules)
    path = tmp_path / "toy.gguf"
    path.write_bytes(to_gguf(before))
    after = resolve(str(path))

    for field in ("algorithm", "tokens", "special_tokens", "unk_id", "wordpiece", "alphabet"):
        assert getattr(after, field) == getattr(before, field), field


def test_accents_are_stripped_where_letters_are_small_unless_told():
    for strip, lowercase, expected in [
        (None, True, True),
        (None, False, False),
        (True, False, True),
    ]:
        changed = document(normalizer={"strip_accents": strip, "lowercase": lowercase})
        rules = from_document(changed, "x", None).wordpiece
        assert (rules.strip_accents, rules.lowercase) == (expected, lowercase)


def test_without_a_normalizer_nothing_changes():
    rules = from_document(document(normalizer=None), "x", None).wordpiece

    assert rules == WordPieceRules(False, False, False, False, max_word=12)


@pytest.mark.parametrize(
    ("changes", "step"),
    [
        ({"normalizer": {"type": "Nmt"}}, "normalizer Nmt {"),
        ({"pre_tokenizer": None}, "pre_tokenizer null"),
        ({"model": {"unk_token": "<no>"}}, 'model.unk_token "<no>", which is not a token'),
        (
            {"added_tokens": [{"id": len(document()["model"]["vocab"]), "content": "a b"}]},
            'the added token "a b" that is not special, of a WordPiece model',
        ),
        (
            {"pre_tokenizer": {"type": "Whitespace"}},
            "pre_tokenizer Whitespace",
        ),
    ],
)
def test_what_only_who_reads_the_file_can_run(changes, step):
    [told] = from_document(document(**changes), "x", None).unexpressed
    assert told.startswith(step)


def test_what_gguf_cannot_say():
    for rules in (WordPieceRules(clean_text=False), WordPieceRules(handle_chinese_chars=False)):
        with pytest.raises(VocabularyError, match="always cleans"):
            to_gguf(replace(TOY, wordpiece=rules))
    twice = replace(TOY, tokens=(*TOY.tokens, b"##\xe2\x96\x81a"))
    with pytest.raises(VocabularyError, match="distinct"):
        to_gguf(twice)
    with pytest.raises(VocabularyError, match="unknown"):
        to_gguf(replace(TOY, unk_id=None))


def test_the_model_says_what_it_is():
    assert TOY.normalizes
    assert TOY.normalizer == Normalizer()
    assert TOY.byte_alphabet is None
    other = replace(TOY, wordpiece=WordPieceRules(lowercase=False))
    assert other.fingerprint != TOY.fingerprint
    assert [problem.kind for problem in preflight(replace(TOY, unk_id=None))] == ["no-unknown"]
    assert b"able" in material(TOY).surfaces
    assert not any(surface.startswith(b"##") for surface in material(TOY).surfaces)
