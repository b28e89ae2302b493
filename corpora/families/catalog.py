"""The families by name: inputs that took down one tokenizer or another, and a control."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.families import drawn_from
from corpora.families.base import Family
from corpora.families.recipes import AnyText, Characters, Drawn, English, Letters, Repeated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from corpora.families.recipes import Recipe
    from corpora.vocabularies.model import Vocabulary

MARKS = tuple(chr(point).encode() for point in range(0x300, 0x318))
"""Marks that are put above and below: NFC sorts a run of them by their classes."""

ABOVE_BELOW = "\u0301\u0323".encode()
"""The acute has class 230, the dot below 220: each pair is in the wrong order for NFC."""

HIGH = bytes(range(0x80, 0x100))


def always(recipe: Recipe) -> Callable[[Vocabulary], Recipe]:
    """The same for all vocabularies."""
    return lambda vocabulary: recipe


def run_of(unit: str, prefix: str = "") -> Callable[[Vocabulary], Recipe]:
    """A text over and over, for all vocabularies."""
    return always(Repeated(unit.encode(), prefix.encode()))


TELLING = (
    Family("prose", "the control: what everybody measures", always(English())),
    Family(
        "letter-run",
        "one pre-token, one merge that fits everywhere: ties",
        drawn_from.letter_run,
    ),
    Family(
        "long-word",
        "one pre-token that no pattern splits, merges all over",
        drawn_from.long_word,
    ),
    Family(
        "trailing-spaces",
        "a run of spaces to the end: look-ahead for a word, removal, escapes",
        drawn_from.trailing_spaces,
    ),
    Family("newlines", "one run of newlines: greedy classes of white space", run_of("\n")),
    Family("brackets", "opened and never closed: recursion", run_of("[")),
    Family(
        "combining-marks",
        "one grapheme that never ends, sorted by NFC",
        always(Drawn((*MARKS,))),
    ),
    Family(
        "token-prefixes",
        "tokens without their last byte: every longest match begins and fails",
        drawn_from.token_prefixes,
    ),
    Family(
        "byte-fallback",
        "rare ideographs: no token but those of single bytes",
        always(Characters(0x20000, 0x2A6DF)),
    ),
    Family(
        "merge-chain",
        "the token with most merges one above the other, repeated",
        drawn_from.merge_chain,
    ),
    Family("invalid-utf8", "random high bytes, no text: repair, or raw", always(Letters(HIGH))),
)
"""The control, then those that brought most to light: a short run measures these."""

RUNS = (
    Family(
        "digits",
        "digits without end: groups of three, or one pre-token",
        always(Letters(b"0123456789")),
    ),
    Family("digit-run", "one digit over and over", run_of("7")),
    Family("capital-run", "one capital over and over: patterns that tell cases apart", run_of("A")),
    Family(
        "changing-case",
        "aBaB: patterns for words of both cases give up at each letter",
        run_of("aB"),
    ),
    Family("punctuation-run", "one sign over and over", run_of("=")),
    Family(
        "punctuation",
        "signs at random: one pre-token for some patterns",
        always(Letters(b"!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~")),
    ),
    Family("slashes", "slashes and newlines: o200k takes both after signs", run_of("/\n")),
    Family("contractions", "apostrophes with letters: rules for 's and 't", run_of("'s't're")),
    Family(
        "base64",
        "letters of both cases and digits: long words cut everywhere",
        always(Letters(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")),
    ),
    Family("null-bytes", "U+0000: ends a string in C", run_of("\0")),
    Family(
        "controls",
        "control characters at random: cleaning, escapes",
        always(Letters(bytes(range(1, 9)))),
    ),
)

REPETITIONS = (
    Family("pair-run", "two letters in turn: two merges compete for each", drawn_from.pair_run),
    Family(
        "doubled-pair",
        "two letters, each twice: ties at every other place",
        drawn_from.doubled_pair,
    ),
    Family(
        "triple-run", "three letters in turn: merges that overlap in chains", drawn_from.triple_run
    ),
    Family(
        "few-letters",
        "two letters at random: most tokens over the fewest letters",
        drawn_from.few_letters,
    ),
    Family(
        "overlapping-merges", "x y z, where y z is merged before x y", drawn_from.overlapping_merges
    ),
    Family("longest-token", "one long token over and over", drawn_from.longest_token),
    Family(
        "long-tokens", "long tokens at random: wide windows, deep tries", drawn_from.long_tokens
    ),
    Family(
        "longest-prefix",
        "the longest prefix that is no token: matches given up late",
        drawn_from.longest_prefix,
    ),
    Family(
        "token-suffixes",
        "tokens without their first byte: ends that fit, beginnings that do not",
        drawn_from.token_suffixes,
    ),
    Family(
        "densest-lattice",
        "the string with most tokens at each byte: edges for unigram",
        drawn_from.densest_lattice,
    ),
    Family(
        "most-extensions",
        "beginnings that most tokens go on from: what healing must weigh",
        drawn_from.most_extensions,
    ),
    Family(
        "fresh-words", "words that were never seen: caches of words fill up", drawn_from.fresh_words
    ),
)

SPACES = (
    Family("leading-spaces", "a run of spaces, then a word", drawn_from.leading_spaces),
    Family(
        "spaces-before-words",
        "runs of spaces, each to be given up but for one before the word: backtracking",
        drawn_from.spaces_before_words,
    ),
    Family("tabs", "one run of tabs", run_of("\t")),
    Family("line-ends", "carriage return and newline in turn", run_of("\r\n")),
    Family(
        "spaces-and-newlines",
        "spaces before each newline: greedy classes overlap",
        run_of(" " * 63 + "\n"),
    ),
    Family(
        "other-spaces",
        "spaces of Unicode: no-break, ideographic, thin, line ends",
        always(Drawn(tuple(c.encode() for c in "\u00a0\u3000\u2009\u202f\u2028\u0085"))),
    ),
    Family("metaspaces", "U+2581, by which SentencePiece writes a space", run_of("\u2581")),
    Family("zero-width", "joiners and other characters without width", run_of("\u200d\u200b")),
)

CHARACTERS = (
    Family(
        "cjk",
        "ideographs without a space: one pre-token, many byte fallbacks",
        always(Characters(0x4E00, 0x9FA5)),
    ),
    Family(
        "private-use",
        "characters that mean nothing: unknown to all",
        always(Characters(0xE000, 0xF8FF)),
    ),
    Family("accents", "letters with combining accents: NFC composes each", run_of("e\u0301")),
    Family(
        "marks-out-of-order",
        "above, below, above: NFC sorts one endless run",
        run_of("\u0301\u0323", "a"),
    ),
    Family(
        "hangul-jamo", "syllables in three parts: NFC composes them", run_of("\u1112\u1161\u11ab")
    ),
    Family(
        "emoji-joined", "emoji with joiners: one grapheme without end", run_of("\U0001f469\u200d")
    ),
    Family(
        "regional-indicators",
        "letters of flags: pairs are counted from the start",
        run_of("\U0001f1e6"),
    ),
    Family(
        "full-width",
        "full-width letters: NFKC makes each a letter",
        always(Characters(0xFF21, 0xFF5A)),
    ),
    Family("normalizer-expansion", "U+FDFA, 18 characters under NFKC", run_of("\ufdfa")),
    Family(
        "charsmap-expansion",
        "the key of the charsmap that becomes most bytes",
        drawn_from.charsmap_expansions,
    ),
    Family(
        "charsmap-prefixes",
        "the longest keys of the charsmap, cut short",
        drawn_from.charsmap_prefixes,
    ),
    Family(
        "script-changes",
        "another script with each character",
        always(Drawn(tuple(c.encode() for c in "aαбאع中あ한9 "))),
    ),
    Family(
        "random-text",
        "random characters: unknown tokens, fallbacks, rare classes",
        always(AnyText()),
    ),
)

SPECIALS = (
    Family(
        "special-tokens",
        "texts of special and added tokens: searched for everywhere",
        drawn_from.special_tokens,
    ),
    Family(
        "special-prefixes",
        "texts of special tokens, cut short: searches that fail late",
        drawn_from.special_prefixes,
    ),
    Family("special-openings", "what special tokens begin with, over and over", run_of("<|")),
)

NO_TEXT = (
    Family("byte-run", "one byte that no text has", always(Repeated(b"\xff"))),
    Family("continuations", "bytes that only continue a character", always(Repeated(b"\x80"))),
    Family(
        "cut-characters",
        "characters without their last byte: each to be replaced",
        always(Repeated("中".encode()[:2])),
    ),
    Family(
        "surrogates", "a surrogate as bytes, as CESU-8 has them", always(Repeated(b"\xed\xa0\x80"))
    ),
)

FAMILIES = (*TELLING, *REPETITIONS, *RUNS, *SPACES, *CHARACTERS, *SPECIALS, *NO_TEXT)


def families(besides: Iterable[Family] = ()) -> dict[str, Family]:
    """All families by name, the control first, in the order in which they are measured.

    besides: the user's own, which come before all that are not telling, as they were put there
    to be measured; one of a name that is taken replaces it.
    """
    own = {family.name: family for family in besides}
    rest = {family.name: family for family in FAMILIES[len(TELLING) :]}
    return {family.name: family for family in TELLING} | own | rest | own
