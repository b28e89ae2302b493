"""Toy files are run by who reads them, and mean what the library of their format makes of them."""

from itertools import islice

import pytest

from corpora.generators.catalog import generators
from corpora.vocabularies.embedded import TOY_FILES
from corpora.vocabularies.sources import resolve
from impls import registry
from impls.interface import Mode, Unsupported

EACH, LONGEST = 40, 600


@pytest.mark.parametrize("name", sorted(TOY_FILES.keys() - {"toy_file_dropout"}))
def test_the_definition_gives_what_the_library_gives(name):
    vocabulary = resolve(name)
    assert vocabulary.unexpressed
    ours, library = (
        registry.resolve(spec).load(vocabulary) for spec in ("pipeline.huggingface", "tokenizers")
    )
    compared = 0
    for generator in generators().values():
        for data in islice(generator.cases(vocabulary, 5), EACH):
            if len(data) > LONGEST:
                continue
            try:
                ids = list(ours.encode(data, Mode()))
            except Unsupported:
                continue
            assert ids == library.encode(data, Mode()), data
            assert ours.decode(ids) == library.decode(ids), data
            compared += 1
    assert compared > 10 * EACH
