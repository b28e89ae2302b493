"""The implementations that tokgate brings: a row each, with where it is and what it joins."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Joins(StrEnum):
    """Which runs an implementation joins without being named."""

    RUNS = "runs"
    """Every run."""
    BENCH = "bench"
    """Measurements of speed: libraries that are there to be measured (the extra ``bench``). They
    join ``tokgate field``, too."""
    FIELD = "field"
    """What ``tokgate field`` runs with the other libraries (the extra ``field``)."""
    FAST = "fast"
    """Measurements of speed and the nightly suite: what gives answers of a plain one, sooner."""


class Row(NamedTuple):
    """An implementation that tokgate brings. What else there is to know of it, it says itself."""

    module: str
    attribute: str = "IMPLEMENTATION"
    joins: Joins = Joins.RUNS

    @property
    def target(self) -> str:
        """Where it is: ``module:attr``."""
        return f"{self.module}:{self.attribute}"


ROWS = {
    "tiktoken": Row("impls.adapters.tiktoken"),
    "tokenizers": Row("impls.adapters.tokenizers"),
    "sentencepiece": Row("impls.adapters.sentencepiece"),
    "mistral-common": Row("impls.adapters.mistral_common"),
    "llguidance": Row("impls.adapters.llguidance"),
    "rs-bpe": Row("impls.adapters.rs_bpe"),
    "llama.cpp": Row("impls.adapters.llama_cpp"),
    "bpe.naive": Row("impls.bpe.naive"),
    "bpe.heap": Row("impls.bpe.heap"),
    "bpe.table": Row("impls.bpe.table"),
    "bpe.backtracking": Row("impls.bpe.backtracking"),
    "bpe.incremental": Row("impls.bpe.incremental"),
    "bpe.greedy": Row("impls.bpe.greedy"),
    "bpe.minimal": Row("impls.bpe.minimal"),
    "bpe.dropout": Row("impls.bpe.dropout"),
    "unigram.sentencepiece": Row("impls.unigram.encoder", "SENTENCEPIECE"),
    "unigram.llama-cpp": Row("impls.unigram.encoder", "LLAMA_CPP"),
    "unigram.huggingface": Row("impls.unigram.encoder", "HUGGING_FACE"),
    "unigram.sentencepiece-0.2.1": Row("impls.unigram.encoder", "SENTENCEPIECE_0_2_1"),
    "unigram.llama-cpp-float": Row("impls.unigram.encoder", "LLAMA_CPP_FLOAT"),
    "wordpiece.bert": Row("impls.wordpiece.encoder", "BERT_IMPLEMENTATION"),
    "wordpiece.llama-cpp": Row("impls.wordpiece.encoder", "LLAMA_CPP_IMPLEMENTATION"),
    "spm.sentencepiece": Row("impls.spm.encoder", "SENTENCEPIECE"),
    "spm.llama-cpp": Row("impls.spm.encoder", "LLAMA_CPP"),
    "spm.huggingface": Row("impls.spm.hugging_face"),
    "pipeline.huggingface": Row("impls.pipeline.encoder"),
    "quicktok-v1": Row("impls.adapters.quicktok", joins=Joins.BENCH),
    "fastokens": Row("impls.adapters.fastokens", joins=Joins.BENCH),
    "splintr-rs": Row("impls.adapters.splintr", joins=Joins.BENCH),
    "gigatoken": Row("impls.adapters.gigatoken", joins=Joins.BENCH),
    "riptoken": Row("impls.adapters.riptoken", joins=Joins.FIELD),
    "tokie": Row("impls.adapters.tokie", joins=Joins.FIELD),
    "kitoken": Row("impls.adapters.kitoken", joins=Joins.FIELD),
    "wordchipper": Row("impls.adapters.wordchipper", joins=Joins.FIELD),
    "puretiktoken": Row("impls.adapters.puretiktoken", joins=Joins.FIELD),
    "bpe-openai": Row("impls.adapters.bpe_openai", joins=Joins.FIELD),
    "c-bpe": Row("impls.adapters.c_bpe", joins=Joins.FIELD),
    "budtiktok": Row("impls.adapters.budtiktok", joins=Joins.FIELD),
    "snaptokens": Row("impls.adapters.snaptokens", joins=Joins.FIELD),
    "morpheme": Row("impls.adapters.morpheme", joins=Joins.FIELD),
    "nanotoken": Row("impls.adapters.nanotoken", joins=Joins.FIELD),
    "flash-tokenizer": Row("impls.adapters.flash_tokenizer", joins=Joins.FIELD),
    "curated-tokenizers": Row("impls.adapters.curated_tokenizers", joins=Joins.FIELD),
    "transformers": Row("impls.adapters.transformers", joins=Joins.FIELD),
    "transformers-slow": Row("impls.adapters.transformers", "SLOW", joins=Joins.FIELD),
    "transformers-converted": Row("impls.adapters.transformers", "CONVERTED", Joins.FIELD),
    "bpe.backtracking.fast": Row("impls.fast.bpe.implementations", joins=Joins.FAST),
    "bpe.cached": Row("impls.fast.bpe.implementations", "CACHED", Joins.FAST),
    "unigram.sentencepiece.fast": Row("impls.fast.unigram.encoder", joins=Joins.FAST),
    "spm.sentencepiece.fast": Row("impls.fast.spm_encoder", "SENTENCEPIECE", Joins.FAST),
    "spm.llama-cpp.fast": Row("impls.fast.spm_encoder", "LLAMA_CPP", Joins.FAST),
    "wordpiece.bert.fast": Row("impls.fast.wordpiece_encoder", "BERT", Joins.FAST),
    "wordpiece.llama-cpp.fast": Row("impls.fast.wordpiece_encoder", "LLAMA_CPP", Joins.FAST),
}
"""The implementations that tokgate itself brings, by name, in the order of reports: references come
first. Nothing but these rows may lead to ``impls.fast``."""


def joining(*kinds: Joins) -> dict[str, str]:
    """The names of those that join these runs, with their ``module:attr``."""
    return {name: row.target for name, row in ROWS.items() if row.joins in kinds}


def field() -> dict[str, str]:
    """The libraries that ``tokgate field`` runs besides those of every run."""
    return joining(Joins.BENCH, Joins.FIELD)
