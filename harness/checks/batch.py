"""Batch: many inputs in one call give what each gives by itself."""

from harness.checks.another_way import EncodesAnotherWay
from harness.checks.base import LongRuns
from harness.core.messages import Way


class Batch(EncodesAnotherWay):
    """For all x1, .., xn and i: encode_many(x1, .., xn)[i] = encode(xi).

    Of encoders that take batches (``EncodesBatches``, by which they are asked anyway: here input by
    input), and of those whose library has a call of its own for many (``EncodesMany``).
    """

    name = "batch"
    summary = "many inputs in one call give the ids that each gives by itself"
    said = "answered differently in a batch"
    every = 8
    long_runs = LongRuns.ALL
    stages = ((Way.SINGLY, "single"), (Way.MANY, "batch"))
