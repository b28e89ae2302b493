"""Tokens that llama.cpp takes for control tokens by their text, whatever type a file gives them.

llama.cpp looks through a vocabulary for texts that end a turn or frame a gap to be filled, and
makes each a control token: such a token is found in a text only where special tokens are, even if
the file calls it user-defined. A GGUF file means what llama.cpp makes of it, so that the types are
overridden when one is read. The texts were had from llama.cpp itself; a test holds them against it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

ENDS = frozenset(
    {
        *("</s>", "<EOT>", "<end_of_turn>", "<end_of_utterance>", "<eos>", "<turn|>", "<|calls|>"),
        *("<|call|>", "<|end_of_text|>", "<|endoftext|>", "<|end|>", "<|eom_id|>", "<|eot_id|>"),
        *("<|flush|>", "<|ifm|im_end|>", "<|im_end|>", "<|return|>", "<|tool_response>"),
        *("<｜end▁of▁sentence｜>", "[EOS]", "[EOT]", "[e~[", "_<EOT>"),
    }
)
"""Ends of a text or of a turn; all of them in a vocabulary are control tokens, but for `UNLESS`."""

UNLESS = {
    "</s>": (frozenset({"<|tool_response>"}),),
    "<|end|>": tuple(
        frozenset({ends, calls})
        for ends in ("<|return|>", "<|flush|>")
        for calls in ("<|call|>", "<|calls|>")
    ),
}
"""Ends that are ordinary tokens where all of one set of other texts are in the vocabulary."""

ROLES = {
    "fim_pre": frozenset(
        {
            *("<PRE>", "<fim-prefix>", "<fim_prefix>", "<|code_prefix|>", "<|fim_prefix|>"),
            *("<|plamo:fim_prefix|>", "<|prefix|>", "<｜fim▁begin｜>", "▁<PRE>"),
        }
    ),
    "fim_suf": frozenset(
        {
            *("<SUF>", "<fim-suffix>", "<fim_suffix>", "<|code_suffix|>", "<|fim_suffix|>"),
            *("<|plamo:fim_suffix|>", "<|suffix|>", "<｜fim▁hole｜>", "▁<SUF>"),
        }
    ),
    "fim_mid": frozenset(
        {
            *("<MID>", "<fim-middle>", "<fim_middle>", "<|code_middle|>", "<|fim_middle|>"),
            *("<|plamo:fim_middle|>", "<|middle|>", "<｜fim▁end｜>", "▁<MID>"),
        }
    ),
    "fim_pad": frozenset({"<PAD>", "<fim-pad>", "<fim_pad>", "<|fim_pad|>", "[PAD]"}),
    "fim_rep": frozenset(
        {"<REPO>", "<fim-repo>", "<reponame>", "<|fim_repo|>", "<|repo_name|>"},
    ),
    "fim_sep": frozenset({"<|file_sep|>", "<|plamo:file_separator|>"}),
}
"""The texts for each part of filling a gap, by the name in ``tokenizer.ggml.<name>_token_id``. One
token of each becomes a control token; of several, llama.cpp takes whichever its hash table has
first. A file that names the token by its id is not looked through."""


TELLING = ENDS.union(*ROLES.values(), *(texts for sets in UNLESS.values() for texts in sets))
"""All texts on which it depends what is a control token."""


@dataclass(frozen=True, slots=True)
class Controls:
    """What llama.cpp makes of the texts of a vocabulary.

    texts: those that are control tokens by their text. unknown: those of which one is, but which
    one nothing but llama.cpp's hash table says.
    """

    texts: frozenset[str]
    unknown: tuple[str, ...] = ()


def controls_of(texts: Iterable[str], named: Collection[str] = ()) -> Controls:
    """The control tokens among a vocabulary's texts; ``named`` are roles that have their id."""
    there = frozenset(texts)
    found = {
        text for text in ENDS & there if not any(others <= there for others in UNLESS.get(text, ()))
    }
    unknown: list[str] = []
    for role, candidates in ROLES.items():
        among = candidates & there
        if role in named or not among:
            continue
        if len(among) == 1:
            found |= among
        else:
            unknown += sorted(among)
    return Controls(frozenset(found), tuple(unknown))
