"""What is killed: commands that go on, each small, with what it must come to in the end."""

import base64
import json
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import asdict, replace

import sqlalchemy as sa

from corpora.families import user
from corpora.vocabularies import sources
from harness.cli.commands import forced as cli_forced
from harness.cli.progress import CampaignProgress
from harness.cli.records import recorded, reported
from harness.core.countdown import Countdown
from harness.engine import flow as runs
from harness.engine import streams
from harness.engine.suites import Budget
from harness.engine.units import OF_THE_MOMENT
from harness.events import Found, read_events
from harness.findings.folder import RunFolder
from harness.ledger.engine import open_database
from harness.ledger.store import history
from harness.studies.campaigns.state import Kept
from harness.studies.campaigns.store import CampaignStore
from harness.studies.default import studies
from harness.studies.forced import hunt as hunts
from harness.studies.forced import run as forced
from harness.studies.forced.jobs import Task
from harness.studies.forced.policies import Policies
from harness.studies.fuzz import arms
from harness.studies.fuzz.plan import FuzzPlan
from harness.studies.fuzz.run import execute
from harness.studies.worst.patterns import Breeder
from harness.studies.worst.results import Entry, Report, as_families
from harness.studies.worst.run import store_of
from harness.studies.worst.search import Search
from harness.studies.worst.state import Sizes
from harness.studies.worst.state import State as SearchState
from impls.interface import Mode
from reports import worst as worst_tables
from reports import write
from reports.studies import files as study_files
from tests.doubles.fuzz_campaign import everything
from tests.doubles.planted_costs import Planted as PlantedCosts
from tests.doubles.planted_costs import gauge_of
from tests.doubles.planted_costs import runs as runs_of_one_byte
from tests.doubles.toy_plans import toy_plan
from tests.faults.durability import inside

REPORTS = ("report.html", "summary.json", "summary.md", "junit.xml", "report.sarif")

BATCH = 24
"""Cases: so that a few hundred are rounds enough to be killed in."""

TIMES = frozenset({"time", "seconds", "prepared", "machine", "load_seconds"}) | {
    "rate", "ahead", "chance", "to_come", "canary", "said",
}  # fmt: skip
"""Fields that differ from run to run, of all that is compared: the second line is what a campaign
may find in the next hour, by its speed, and how the canary of its last session fared."""


class Subject:
    """A command with its input.

    A session may be killed anywhere; sessions follow one another until one comes to its end.
    """

    name = ""

    def session(self, home, where):
        """Run to the end, or go on. home: a folder. where: a database."""
        raise NotImplementedError

    def outcome(self, home, where):
        """What there is after a session that came to its end."""
        raise NotImplementedError

    def faults(self, home, where):
        """What is wrong with what a killed session has left."""
        return broken_files(home / "out")


def named(pairs):
    """These by their names, of which one that comes again is another thing."""
    found = {}
    for name, one in pairs:
        while name in found:
            name += ", again"
        found[name] = one
    return found


def timeless(value):
    """Plain data without times."""
    if isinstance(value, Mapping):
        return {k: timeless(v) for k, v in value.items() if k not in TIMES}
    return [timeless(one) for one in value] if isinstance(value, list | tuple) else value


def files(out, below=("findings", "vocabularies")):
    """All files and folders below a folder: their names, and the contents of those named."""
    found = {}
    for path in sorted(out.rglob("*")):
        name = str(path.relative_to(out))
        known = name.split("/", maxsplit=1)[0] in below and path.is_file()
        found[name] = path.read_bytes() if known else path.is_dir()
    # How many of these a database has just now is its own affair.
    return {n: v for n, v in found.items() if not n.endswith(("-wal", "-shm"))}


def record_of(out):
    """The record as reports read it: events by what they are about, and none of the moment."""

    def told():
        for event in read_events(out / "run.jsonl"):
            if not isinstance(event, OF_THE_MOMENT):  # others may have loaded for any time
                plain = timeless(json.loads(event.to_json()))
                key = event.id if isinstance(event, Found) else json.dumps(plain, sort_keys=True)
                yield f"{type(event).__name__} {key}", plain

    return named(told())


def lines_of(path):
    """The lines of a journal by their units, without the times that policies took."""
    raws = map(json.loads, path.read_text().splitlines())
    return named((f"{one['unit']}", without_seconds(one)) for one in raws)


def reports_of(out):
    """What of the reports can be compared."""
    summary = json.loads((out / "summary.json").read_text())
    found = {f"finding {one['id']}": one["input_b64"] for one in summary["findings"]}
    return found | {
        "verdict": summary["verdict"],
        "complete": summary["complete"],
        "failures": len(list(ET.parse(out / "junit.xml").iter("failure"))),
    }


def broken_files(out):
    """The reports that are there in part."""
    faults = []
    for path in out.glob("*.*"):
        text = path.read_text(errors="replace") if path.is_file() else ""
        whole = text.rstrip().endswith({".html": "</html>", ".xml": ">"}.get(path.suffix, ""))
        if path.suffix in {".json", ".sarif"}:
            try:
                json.loads(text)
            except ValueError:
                whole = False
        if not whole:
            faults.append(f"{path.name} is not whole")
    return faults


def left_over(home):
    """Temporary files and folders."""
    found = {f"tmp/{path.name}": "left over" for path in (home / "tmp").iterdir()}
    parts = {str(p.relative_to(home)): "left over" for p in (home / "out").rglob(".*")}
    return found | parts


def ledger_of(where):
    """The runs of a ledger: verdict and findings of each, and whether it is there whole."""
    return [
        (json.dumps([run.ended.verdict, sorted(run.coverage.findings)]), bool(run.began.versions))
        for run in history(open_database(where)).runs
        if run.ended.complete
    ]


def halves(where):
    """What is wrong with a ledger: runs that are there in part."""
    return [f"ledger: {one} is there in part" for one, whole in ledger_of(where) if not whole]


def recorded_in(home, where):
    """What a command with reports and a ledger has left.

    As many sessions as ended have the same end in the ledger.
    """
    return {
        "record": record_of(home / "out"),
        "reports": reports_of(home / "out"),
        "files": files(home / "out") | consistent(home / "out"),
        "left over": left_over(home),
        "ledger": dict(ledger_of(where)),
    }


def small_plan(cases, checks, mutants):
    """Toys, the definition, and implementations with mutants."""
    own = [f"tests.faults.durability.inside:{mutant}" for mutant in mutants]
    drawn = ("edge", "repeats", "raw")
    return toy_plan(cases, own, checks=checks, drawn=drawn, longest=64, jobs=2)


class Campaign(Subject):
    """``tokgate fuzz``: two targets side by side, an implementation that dies, two that err."""

    name = "fuzz"

    def __init__(self, cases=144):
        plan = small_plan(cases, ("survival", "equivalence"), ("Errs", "Drops", "Dies"))
        self._plan = FuzzPlan(plan, shards=2, structured=False, coverage=False, canary=False)

    def session(self, home, where):
        out = home / "out"

        def progress(known, states):
            return CampaignProgress("", None, known)

        def report(made):
            reported(out, where)

        store = CampaignStore(where, "test")
        made = execute(self._plan, store, out, "test", progress, report, 3600)
        assert made.finished.complete, made.finished.reasons

    def outcome(self, home, where):
        whole = everything(where)
        note_told(home)
        told = (home / "told").read_text().split()
        return {
            "rounds": whole["strands"],
            "corpus": {f"{one[:2]}": one[2:] for one in whole["inputs"]},
            "findings": {
                f"{target} {name} {event['bucket']}": (event["input_b64"], event)
                for target, name, event in whole["findings"]
            },
            "told as new": dict.fromkeys(told, True),
            **recorded_in(home, where),
        }

    def faults(self, home, where):
        note_told(home)
        return [*broken_files(home / "out"), *halves(where)]


def note_told(home):
    """Keep what the last session told as new, if it came to its reports: its user may see it."""
    out = home / "out"
    whole = (out / "report.html").is_file() and (out / "summary.md").is_file()
    about = json.loads((out / "campaign.json").read_text()) if whole else {}
    with (home / "told").open("a") as told:
        told.write("".join(f"{name}\n" for name in about.get("new", ())))


def consistent(out):
    """Findings in whose folder there is another input than in the record."""
    wrong = {}
    for event in read_events(out / "run.jsonl"):
        if isinstance(event, Found):
            path = out / "findings" / event.id / "input.bin"
            if not path.is_file() or path.read_bytes() != base64.b64decode(event.input_b64):
                wrong[f"findings/{event.id} is that of the record"] = False
    return wrong


class WholeRun(Subject):
    """``tokgate run --ledger``: it begins anew after a kill, in the same folder."""

    name = "run"

    def __init__(self, cases=96):
        self._plan = replace(
            small_plan(cases, ("survival", "equivalence"), ("Errs", "Drops")), jobs=1
        )

    def session(self, home, where):
        out = home / "out"
        result = runs.execute(self._plan, RunFolder(out), [], "test", studies)
        assert result.finished.complete, result.finished.reasons
        reported(out, where, keep=True)

    def outcome(self, home, where):
        return recorded_in(home, where)

    def faults(self, home, where):
        out = home / "out"
        found = [*broken_files(out), *halves(where)]
        if (out / "run.jsonl").exists():
            record = recorded(out)
            missing = [
                one.id for one in record.findings if not (out / "findings" / one.id).is_dir()
            ]
            if missing:
                found.append(f"the record has findings without a folder: {missing}")
            stale = [name for name in REPORTS if (out / name).exists()]
            if stale and not record.complete:
                found.append(f"reports of another run beside an incomplete record: {stale}")
            if record.complete and stale and not ledger_of(where):
                found.append("a run with reports is not in the ledger")
        return found


def inline(
    task,
    jobs,
    processes,
    stopped=lambda: False,
    ready=lambda: None,
    left=lambda line: None,
):
    """The answers of jobs that are done in this process."""
    policies = policies_of(task.vocabulary)
    ready()
    for job in jobs:
        if stopped():
            return
        yield job, job.run(policies, task, lambda: None)


_policies = {}


def policies_of(vocabulary):
    """The policies of a vocabulary, which take a second to make, once for all sessions."""
    if vocabulary.id not in _policies:
        _policies[vocabulary.id] = Policies(vocabulary)
    return _policies[vocabulary.id]


FORCED_VOCABULARY = "toy_bytes"


class ForcedWalk(Subject):
    """``tokgate forced``: a walk over a few schemas, gone on with."""

    name = "forced"

    def __init__(self, schemas=3):
        self._schemas = schemas
        policies_of(sources.resolve(FORCED_VOCABULARY))

    def session(self, home, where):
        out = home / "out"
        cli_forced.command(
            "own", FORCED_VOCABULARY, policy=["printed", "healed:tokens=1", "exact"],
            limit=self._schemas, jobs=1, minimize=2, timeout=60.0, out=out,
        )  # fmt: skip
        finished = recorded(out).finished
        assert finished is not None and finished.complete, finished

    def outcome(self, home, where):
        return {
            "schemas": lines_of(home / "out" / forced.RECORD),
            "record": record_of(home / "out"),
            "files": files(home / "out"),
            "left over": left_over(home),
        }


def without_seconds(value):
    """Results without the times that policies took."""
    if isinstance(value, Mapping):
        return {k: without_seconds(v) for k, v in value.items() if "second" not in k}
    return [without_seconds(one) for one in value] if isinstance(value, list) else value


class Adversary(Subject):
    """``tokgate adversary``: rounds against a policy, gone on with until there are so many."""

    name = "adversary"

    def __init__(self, rounds=6):
        self._rounds = rounds
        vocabulary = sources.resolve(FORCED_VOCABULARY)
        policies_of(vocabulary)
        task = Task(vocabulary, ["healed:tokens=1", "printed"], "flexible", 0, 60.0, 2**32)
        self._task = task

    def session(self, home, where):
        hunt = hunts.Hunt(self._task, Budget(cases=10**9), home / "out")

        def watch(share, what):
            if len(hunt.journal.done) >= self._rounds:
                raise KeyboardInterrupt

        if len(hunt.journal.done) < self._rounds:
            hunt.search(watch, Countdown(None))
        else:
            hunt.journal.close()
            hunt.save()

    def outcome(self, home, where):
        out = home / "out"
        counterexamples = json.loads((out / hunts.COUNTEREXAMPLES).read_text())
        return {
            "rounds": lines_of(out / hunts.RECORD),
            "counterexamples": {json.dumps(one): True for one in counterexamples},
            "files": files(out),
            "left over": left_over(home),
        }


class Worst(Subject):
    """``tokgate worst``: generations of a search whose costs are a formula, gone on with."""

    name = "worst"

    def __init__(self, generations=6):
        self._generations = generations
        self._breeder = Breeder(sources.resolve("tekken_240911"))

    def session(self, home, where):
        out = home / "out"
        out.mkdir(exist_ok=True)
        store = store_of(out, {"seed": 1})
        store.begin({"seed": 1}, anew=False)
        kept = Kept(SearchState, store.parts("x"))
        gauge = gauge_of(PlantedCosts(runs_of_one_byte(b"#")))
        search = Search(self._breeder, gauge, Sizes(256, 1024, 4096, 16384), 1, kept.state)
        while kept.state.schedule.number < self._generations:
            search.step()
            store.commit([kept.round("x")])
        report = Report("test", "x", "1", "tekken", 1, 4096, [])
        for one in search.leaders()[:2]:
            expression = one.pattern.expression()
            report.found.append(
                Entry(
                    expression,
                    "cost",
                    expression=expression,
                    pattern=one.pattern.to_dict(),
                    a_byte=1.0,
                )
            )
        report.complete = True
        file = out / "families.toml"
        if user.add(file, as_families(report)):
            report.families = str(file)
        write(study_files("worst", report.to_json(), worst_tables.page(report, [])), out)

    def outcome(self, home, where):
        out = home / "out"
        store = store_of(out, {"seed": 1})
        store.begin({"seed": 1}, anew=False)
        state = SearchState.of(store.parts("x"))
        families = user.entries_of(out / "families.toml")
        return {
            "generations": {str(n): True for n in range(state.schedule.number)},
            "state": {"search.db": asdict(state)},
            "families": {f"{name} {pattern}": True for name, _, pattern in families},
            "files": files(out, ("families.toml",)),
            "left over": left_over(home),
        }

    def faults(self, home, where):
        for file in (home / "out").glob("families.toml"):
            user.entries_of(file)  # which raises for half of one
        return super().faults(home, where)


def prepare():
    """Replace what would start processes, for all sessions that are forked from this process.

    And do once what all of them would do: compile functions, and map tables.
    """
    streams.BATCH_CASES = streams.FIRST_BATCH_CASES = arms.MUTANTS = BATCH
    vocabulary = sources.resolve("toy_bytes")
    inside.NAIVE.load(vocabulary).encode(b"ab", Mode(pretokenize=False))
    sa.orm.configure_mappers()
    inside.install()
    forced.results = inline
    hunts.results = inline


SUBJECTS = {one.name: one for one in (Campaign, WholeRun, ForcedWalk, Adversary, Worst)}
