"""A study of steps: the tokens of a word, one implementation per step."""

from pathlib import Path

from harness.engine.selection import participants, vocabularies
from harness.engine.steps import SteppedStudy, conduct
from harness.events import Finished, Phase
from impls.interface import Mode


class WordStudy(SteppedStudy):
    """Counts the tokens of a word."""

    name = "word"

    def __init__(self, word, names):
        self.word = word
        self.names = names
        [load] = vocabularies(["toy_bytes"], 0).values()
        self.vocabulary = load()

    def identity(self):
        """What must be the same for a record to go on."""
        return {"word": self.word, "names": self.names}

    def plan(self, past):
        """A step for each implementation."""
        return self.names

    def step(self, name, tell):
        """Ask one implementation."""
        [participant], _ = participants([name])
        encoder = participant.implementation.load(self.vocabulary)
        ids = encoder.encode(self.word.encode(), Mode(pretokenize=False))
        tell(Phase(f"{name}: {len(ids)} tokens"))

    def fold(self, events, ending):
        """The closing event, of all events."""
        counted = sum(isinstance(event, Phase) for event in events)
        return Finished(ending.complete, "pass", [], 0.0, counted, 0, ending.status)


said = []
finished = conduct(WordStudy("abab", ["bpe.naive", "bpe.heap"]), Path("word-study"), [said.append])
print(finished.cases, [event.text for event in said if isinstance(event, Phase)])
