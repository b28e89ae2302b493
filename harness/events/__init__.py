"""The stream of events that a run is, and its record ``run.jsonl``.

The progress display, the store and every report consume this stream or its record; nothing else
knows about them. Each event is one JSON object a line with its class name in ``event``; a record
without :class:`Finished` is an incomplete run.
"""

from harness.events.base import Event, read_events
from harness.events.bench import Benched, BenchStarted, Opening, Timing, VocabularyOpened
from harness.events.campaign import Campaign, FindingFixed, Outlook
from harness.events.causes import (
    any_kind,
    by_cause,
    cause_of,
    kind_in,
    named,
    readability,
    stands_out,
)
from harness.events.cluster import (
    ClusterUsed,
    NodeJoined,
    NodeLeft,
    NodeUsed,
    UnitDone,
    UnitLost,
    UnitResumed,
    UnitStarted,
)
from harness.events.forced import Forced, ForcedCorpus, ForcedWitness
from harness.events.growth import FamiliesMeasured, GrowthJudged, Measured
from harness.events.run import (
    FAIL,
    PASS,
    UNEXAMINED,
    BatchDone,
    ContractOpened,
    Counted,
    ExpectationJudged,
    Finished,
    Found,
    Group,
    ImplementationFailed,
    NotReached,
    Phase,
    Preparing,
    SlowOnce,
    Started,
    Unsettled,
    VocabularyLoaded,
    VocabularyRefused,
    Withdrawn,
)
from harness.events.steps import Compared, MatchPlayed, Searched, StepDone, StudyStarted
from harness.events.texts import (
    FirstDifference,
    TextsCompared,
    TextsGiven,
    TextsRead,
    TokenCounts,
)
