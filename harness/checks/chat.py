"""Chats: what a template makes of messages grows at its end, and messages stay what they are."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from harness.checks.another_way import AsksAgain, Fault, Look, Subject
from harness.checks.base import draw
from harness.core.messages import Chat
from harness.core.outcomes import Encoded, Failed

TURNS = (1, 2, 3)
"""Messages of the conversations that grow: the user's, the assistant's, the user's again."""

MARKS = 2
"""Special tokens whose texts a message has that tries to forge some."""

LETTER = b"a"
"""A message that can add no special token."""


class Conversations(AsksAgain):
    """For conversations of n messages x, n = 1, 2, 3: chat(x, n+1) = chat(x, n) c for some c. And
    for texts s of special tokens: chat(x s, 1) has the special tokens of chat(a, 1) with a letter
    a, and no others. A template may refuse a conversation, such as one of empty messages.

    Of encoders that encode conversations by a template (``EncodesChats``). Servers keep what they
    computed for the beginning of a conversation, and compute it again where its ids change. And a
    message that adds the tokens of another role speaks for that role.
    """

    name = "chat"
    summary = (
        "a longer conversation begins with the ids of the shorter one, and no message adds "
        "special tokens"
    )
    said = "encoded a conversation wrongly"
    every = 12

    def look(self, one: Subject) -> Look:
        """Conversations that grow, and one with the texts of special tokens in its message."""
        texts = sorted(one.vocabulary.special_tokens)
        marks = draw(one.data).sample(texts, min(MARKS, len(texts)))
        forged = one.data + "".join(marks).encode()
        asked = [one.encode(one.data, shape=Chat(turns)) for turns in TURNS]
        answers = yield [*asked, *(one.encode(x, shape=Chat(1)) for x in (LETTER, forged))]
        chats = [each for each in answers if isinstance(each, Encoded)]
        if len(chats) == len(answers):
            one.judge(answers[0], self.faults(one, chats))
        elif wrong := [each for each in answers if isinstance(each, Failed)]:
            one.expect(self.name, one.says(Encoded(())), wrong[0], str(Chat(1)), lawful=False)

    def faults(self, one: Subject, chats: Sequence[Encoded]) -> Iterator[Fault]:
        """Where conversations do not grow at their end, and where a message forges a token."""
        *grown, plain, forged = chats
        for number, (shorter, longer) in enumerate(pairwise(grown)):
            if longer.ids[: len(shorter.ids)] != shorter.ids:
                told = [str(Chat(TURNS[at])) for at in (number, number + 1)]
                yield "prefix", one.says(shorter, told[0]), one.says(longer, told[1])
        special = {*one.vocabulary.special_tokens.values()}
        added = [[i for i in each.ids if i in special] for each in (plain, forged)]
        if added[0] != added[1]:
            words = "a message with the texts of special tokens"
            yield "forged", one.says(plain, "a message"), one.says(forged, words)
