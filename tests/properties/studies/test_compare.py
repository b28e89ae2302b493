"""Two vocabularies apart: settings put back make one the other; models differ where they do."""

from dataclasses import fields, replace

from hypothesis import given
from hypothesis import strategies as st

from corpora.generators.material import is_text
from corpora.vocabularies import sources
from corpora.vocabularies.model import AddedToken, Merges, Normalizer
from harness.studies.compare import differences, inputs

PIECES = replace(sources.resolve("unigram_nfkc"), native=None)
BYTES = replace(sources.resolve("toy_bytes"), native=None)
SWITCHES = [one.name for one in fields(Normalizer) if one.type == "bool"]

changes = st.fixed_dictionaries(
    {},
    optional={
        "normalizer": st.builds(
            Normalizer,
            charsmap=st.sampled_from([None, PIECES.normalizer.charsmap]),
            form=st.sampled_from([None, "NFC", "NFKC"]),
            **dict.fromkeys(SWITCHES, st.booleans()),
        ),
        "splits": st.sampled_from([(), (r"\w+",), (r"\w+", r"\d")]),
        "byte_fallback": st.booleans(),
        "ignore_merges": st.booleans(),
        "added_tokens": st.sampled_from([(), (AddedToken("<x>", 7, special=True, lstrip=True),)]),
    },
)


@given(changes, changes)
def test_settings_put_back_make_the_second_vocabulary_the_first(mine, theirs):
    a, b = replace(PIECES, **mine), replace(PIECES, **theirs)
    found = differences.settings(a, b)
    assert (not found) == (a.fingerprint == b.fingerprint)
    for one in found[-1:]:
        assert replace(b, **one.part).fingerprint == a.fingerprint
    single = [one for one in found if one.name not in differences.TOGETHER]
    assert len({one.name for one in single}) == len(single)
    assert all(one.words for one in found)
    for one in single:
        others = differences.settings(a, replace(b, **one.part))
        assert one.name not in {other.name for other in others}, "it is put back"


@given(st.permutations(range(len(BYTES.tokens))))
def test_tokens_are_the_same_whatever_their_ids(order):
    moved = replace(BYTES, tokens=tuple(BYTES.tokens[i] for i in order), special_tokens={})
    plain = replace(BYTES, special_tokens={})
    numbers = differences.numbering(plain, moved)
    assert all(plain.tokens[i] == moved.tokens[other] for i, other in numbers.items())
    assert len(set(numbers.values())) == len(numbers) == len(differences.spelled(plain))


@given(st.data())
def test_merges_that_one_lacks_or_that_changed_places_are_named(data):
    triples = BYTES.merges.triples()
    at = data.draw(st.integers(0, len(triples) - 2))
    lacking = replace(BYTES, merges=Merges.of(triples[:at] + triples[at + 1 :]))
    [words] = differences.model_differences(BYTES, lacking).merges.values()
    assert words.startswith(f"B lacks merge {at} ")
    [words] = differences.model_differences(lacking, BYTES).merges.values()
    assert words.startswith(f"A lacks merge {at} ")
    swapped = [*triples[:at], triples[at + 1], triples[at], *triples[at + 2 :]]
    moved = replace(BYTES, merges=Merges.of(swapped))
    found = differences.model_differences(BYTES, moved)
    assert set(found.merges) == {BYTES.tokens[merged] for _, _, merged in triples[at : at + 2]}
    assert all("are swapped" in words for words in found.merges.values())
    assert not differences.model_differences(BYTES, BYTES).keys


def test_a_score_and_a_token_of_one_alone():
    piece = PIECES.pieces[9]
    changed = [*PIECES.pieces]
    changed[9] = replace(piece, score=piece.score - 1)
    found = differences.model_differences(PIECES, replace(PIECES, pieces=tuple(changed)))
    assert [*found.scores] == [piece.text.encode()]
    changed[9] = replace(piece, text="\u2581other")
    found = differences.model_differences(PIECES, replace(PIECES, pieces=tuple(changed)))
    assert {*found.tokens} == {piece.text.encode(), "\u2581other".encode()}
    assert found.cause([piece.text.encode()], [])[0] == "tokens"
    assert found.cause([], [b"x"])[0] == differences.ELSEWHERE


def test_vocabularies_of_two_algorithms_have_no_settings_in_common():
    assert "bpe in A, unigram in B" in differences.apart(BYTES, PIECES)
    assert not differences.apart(PIECES, PIECES)


def test_texts_are_given_ones_then_tokens_then_generated_ones():
    made = inputs.batches(inputs.texts(BYTES, BYTES, None, 0, [b"the"]))
    first = next(made)
    assert "the" in first[0][1].decode()
    origins = {origin for batch in [first, *(next(made) for _ in range(3))] for origin, _ in batch}
    assert origins == {inputs.OWN, inputs.GENERATED}
    assert all(is_text(data) for _, data in first)
