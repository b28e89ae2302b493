"""Interpreted, kernels give what they give compiled: tests of their definitions, once more."""

import pytest

from tests.doubles.command import python

CHOSEN = {
    "impls/test_bpe_encoders.py": [
        "test_a_byte_without_a_token_is_rejected",
        "test_exact_encoders_are_the_definition",
        "test_exact_encoders_are_the_definition_on_improper_vocabularies",
        "test_inexact_encoders_keep_their_laws",
    ],
    "impls/test_bpe_services.py": [
        "test_services_are_the_definition",
        "test_encodings_that_never_meet",
    ],
    "impls/test_fast_bpe.py": [
        "test_drawn_pieces",
        "test_merges_that_stand_far_from_their_place_are_found",
        "test_without_a_token_of_one_byte_nothing_is_read",
    ],
    "impls/test_fast_pieces.py": [
        "test_for_which_vocabularies_bytes_can_stand",
        "test_runs_of_characters_that_no_piece_has",
        "test_a_word_of_as_many_ids_as_bytes",
    ],
    "impls/test_fast_scanner.py": [
        "test_long_texts_split_as_the_regex_package_does",
        "test_windows_end_where_a_special_text_begins",
    ],
    "impls/test_pretokenizers.py": [
        "test_scanners_split_as_the_regex_package_does",
        "test_long_runs",
        "test_invalid_utf8_is_found_as_python_finds_it",
        "test_special_texts_leftmost_and_longest",
    ],
    "impls/test_spm.py": ["test_llama_cpp_variant_is_the_definition"],
    "impls/test_spm_engines.py": ["test_random_models_as_sentencepiece"],
    "impls/test_unigram_normalizer.py": ["test_nothing_is_written_behind_the_room"],
    "impls/test_unigram_variants.py": ["test_random_vocabularies_as_their_engines"],
    "impls/test_wordpiece.py": [
        "test_bert_is_its_definition",
        "test_llama_cpp_is_its_definition",
    ],
}


@pytest.mark.thorough  # interpreted kernels are slow
def test_interpreted_kernels_are_the_definition(tmp_path):
    """Their tables are built interpreted, too: in a cache of their own."""
    folder = "tests/properties"
    chosen = [f"{folder}/{file}::{name}" for file, names in CHOSEN.items() for name in names]
    done = python(
        *("-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen),
        seconds=None,
        NUMBA_DISABLE_JIT="1",
        TOKGATE_CACHE_DIR=str(tmp_path),
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
