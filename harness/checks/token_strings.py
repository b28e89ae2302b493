"""Token strings: what a library calls its tokens is what the vocabulary calls them."""

from functools import lru_cache

from corpora.vocabularies.byte_alphabet import spell
from corpora.vocabularies.model import Vocabulary
from harness.checks.another_way import AsksAgain, Look, Subject
from harness.checks.base import Severity
from harness.core.messages import Strings, sequences_in
from harness.core.outcomes import Encoded
from harness.core.partition import Part


class TokenStrings(AsksAgain):
    """For ids t1, .., tn = encode(x) and strings s1, .., sm = token_strings(x): m = n, and si is
    the token ti as text, with U+FFFD for what is not UTF-8, or as its file spells it: each byte a
    letter, a space as U+2581, a byte as <0x0A>.

    Of encoders that name their tokens (``NamesTokens``), as ``tokenize`` does in most libraries.
    Where ti is the unknown token, si may be the text that it stands for, and anything where the
    plain model does not know how the file spells its tokens.
    """

    name = "token-strings"
    summary = "the strings of tokens are as many as the ids, and each is its id's"
    severity = Severity.TEXT
    said = "named tokens by other strings"
    every = 10

    def look(self, one: Subject) -> Look:
        """The strings, each among those that its id may have."""
        (outcome,) = yield [one.encode(one.data, shape=Strings())]
        if not isinstance(outcome, Encoded):
            one.expect("strings", one.says(one.outcome), outcome, "token strings")
            return
        strings = ["".join(map(chr, numbers)) for numbers in sequences_in(outcome.ids)]
        known = [names(one.vocabulary, token_id) for token_id in one.ids]
        lawful = len(strings) == len(known) and all(
            string in some or not some for string, some in zip(strings, known, strict=True)
        )
        right = Encoded(one.ids, "|".join(some[0] for some in known if some).encode())
        shown = Encoded(one.ids, "|".join(strings).encode("utf-8", "surrogatepass"))
        one.expect("strings", Part(("the vocabulary",), right), shown, "token strings", lawful)


@lru_cache(maxsize=1 << 16)
def names(vocabulary: Vocabulary, token_id: int) -> tuple[str, ...]:
    """What a token may be called; nothing for one of which that is open."""
    if token_id == vocabulary.unk_id or vocabulary.unexpressed:
        return ()
    try:
        spelled = vocabulary.spelling(token_id)
    except KeyError:
        return ()
    text = spelled.decode(errors="replace")
    found = [text, spell(spelled), text.replace(" ", "\u2581")]
    if token_id < len(vocabulary.pieces):
        found.append(vocabulary.pieces[token_id].text)
    if len(spelled) == 1:
        found.append(f"<0x{spelled[0]:02X}>")
    special = vocabulary.special_spellings.get(token_id, b"")
    return (*found, *([special.decode()] if special else []))
