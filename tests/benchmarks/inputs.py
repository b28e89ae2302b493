"""The vocabulary and the text that benchmarks share."""

from corpora.texts.benchmarks import TEXTS
from corpora.vocabularies import sources
from tests.data import data_path


def o200k():
    """The vocabulary, with its pattern."""
    path = data_path("vocabs/o200k_base.tiktoken.gz")
    return sources.resolve(f"{path}#pattern=o200k_base")


def text_of(size):
    """Words, numbers and punctuation: source code."""
    return TEXTS["source"].of(o200k(), size, 64)
