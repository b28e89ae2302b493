"""Reload: a tokenizer is the same, saved and loaded again, and its file spelled another way."""

from harness.checks.another_way import EncodesAnotherWay
from harness.core.messages import Way


class Reload(EncodesAnotherWay):
    """For all x: load(save(tokenizer)).encode(x) = tokenizer.encode(x).

    Of encoders that can be saved (``Reloads``), each through its own library's file format; and of
    those that read the user's file likewise for the file that is written from the plain model: its
    pattern is spelled in another way, ``use_regex`` is a Split, and so on (``Respells``). Both are
    loaded once, at the first question, which takes a second: few batches are asked.
    """

    name = "reload"
    summary = "a tokenizer that is saved and loaded, or spelled differently, gives the same ids"
    said = "answered differently when saved and loaded again"
    every = 24
    stages = ((Way.RELOADED, "reload"), (Way.RESPELLED, "spelling"))
