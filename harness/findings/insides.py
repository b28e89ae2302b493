"""Whose inside is known: an implementation that explains itself, or that has a model of ours.

Of all others only what they answer can be seen, and a diagnosis that names a stage of theirs
("merges", "pre-tokens") would be a guess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.core.standing import Standing
from impls import registry
from impls.interface import Explains

if TYPE_CHECKING:
    from harness.checks.base import Violation
    from harness.core.comparisons import Contract
    from harness.core.participants import Participant
    from harness.core.partition import Part

MODELS: dict[str, dict[str, str]] = {
    "sentencepiece": {"unigram": "unigram.sentencepiece", "spm": "spm.sentencepiece"},
    "mistral-common": {"spm": "spm.sentencepiece"},
    "tokenizers": {"unigram": "unigram.huggingface", "wordpiece": "wordpiece.bert"},
    "llama.cpp": {
        "unigram": "unigram.llama-cpp",
        "spm": "spm.llama-cpp",
        "wordpiece": "wordpiece.llama-cpp",
    },
}
"""The implementation that explains an engine, by the contract's algorithm."""


def known_inside(one: Participant, algorithm: str) -> bool:
    """Whether the stages of an implementation may be named when it encodes by an algorithm."""
    if registry.our_own(one.spec) or isinstance(one.implementation, Explains):
        return True
    return registry.built_in(one.spec) and algorithm in MODELS.get(one.spec, {})


def stages_known(violation: Violation, contract: Contract) -> bool:
    """Whether a diagnosis may say at which stage the first two parts of a violation differ.

    The stages of whoever is blamed must be known. So must those of the part that it is compared
    with, unless that has a built-in reference: its outcome is what the vocabulary defines, and what
    the vocabulary defines has stages.
    """
    if len(violation.parts) < 2:
        return False
    trusted, other = violation.parts[:2]
    if not _known(other, contract):
        return False
    return _known(trusted, contract) or (not violation.undecided and _defines(trusted, contract))


def _known(part: Part, contract: Contract) -> bool:
    return any(
        known_inside(one, contract.algorithm)
        for one in contract.participants
        if one.name in part.names
    )


def _defines(part: Part, contract: Contract) -> bool:
    standing = contract.standing
    return any(
        standing[one.name] is Standing.REFERENCE and registry.built_in(one.spec)
        for one in contract.participants
        if one.name in part.names
    )
