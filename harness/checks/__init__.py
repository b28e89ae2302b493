"""Properties that outcomes must have: one file a property."""

from harness.checks.base import Check
from harness.checks.batch import Batch
from harness.checks.chunks import Chunks
from harness.checks.clean_up import CleanUp
from harness.checks.count_till_limit import CountTillLimit
from harness.checks.determinism import Determinism
from harness.checks.equivalence import Equivalence
from harness.checks.heal import Heal
from harness.checks.incremental import Incremental
from harness.checks.interval import Interval
from harness.checks.minimality import Minimality
from harness.checks.offsets import Offsets
from harness.checks.re_encoding import ReEncoding
from harness.checks.reachability import Reachability
from harness.checks.releases import ReleaseDecode, ReleaseOffsets
from harness.checks.reload import Reload
from harness.checks.round_trip import RoundTrip
from harness.checks.shapes import PaddedRows, Truncation
from harness.checks.single_ids import SingleIds
from harness.checks.skip_specials import SkipSpecials
from harness.checks.specials import Specials
from harness.checks.split import Split
from harness.checks.stream_decoder import StreamDecoder
from harness.checks.streaming import Streaming
from harness.checks.surrogates import Surrogates
from harness.checks.survival import Survival
from harness.checks.template import AddedSpecials
from harness.checks.unstable import UnstableEnds
from harness.checks.validity import Validity

CHECKS: dict[str, Check] = {
    check.name: check
    for check in (
        Survival(),
        Equivalence(),
        RoundTrip(),
        ReEncoding(),
        Determinism(),
        Batch(),
        Reload(),
        Specials(),
        Streaming(),
        StreamDecoder(),
        SingleIds(),
        SkipSpecials(),
        CleanUp(),
        Truncation(),
        PaddedRows(),
        AddedSpecials(),
        UnstableEnds(),
        Surrogates(),
        Chunks(),
        Validity(),
        Offsets(),
        ReleaseOffsets(),
        ReleaseDecode(),
        Minimality(),
        Reachability(),
        Incremental(),
        Interval(),
        CountTillLimit(),
        Split(),
        Heal(),
    )
}
"""All checks by name, in the order in which they judge."""


def inputless(bucket: str) -> bool:
    """Whether findings of a bucket may have no input that brings them back."""
    check = CHECKS.get(bucket.split("/", maxsplit=1)[0])
    return check is not None and check.alone


MEASURES = {
    "scaling": "cost grows linearly with the length of the input, on every hostile family",
    "canonicality": "tokens that a grammar forces are those of the tokenizer, on our own schemas",
}
"""The measurements of a run besides the checks of cases. They are chosen by name, as checks are."""
