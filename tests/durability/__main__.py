"""``python -m tests.durability --kills 1000 --database sqlite --seed 0``: the table of kills.

Exit status 1 where something was lost or done twice. Ctrl-C prints the table so far; with
``--state FILE`` the same command goes on, as the plan depends on the seed alone.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.durability import subjects
from tests.durability.driver import Account, Killing, Row, folder, planned

SHOWN = 20
"""Faults that are told in full."""

STATE = "durability.json"


def main() -> int:
    """The command; its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.durability", description=__doc__)
    parser.add_argument("--kills", type=int, default=50, help="in all, over the subjects")
    parser.add_argument("--database", default="sqlite", help="sqlite, or postgresql://..")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--subject", action="append", choices=list(subjects.SUBJECTS))
    parser.add_argument(
        "--state", type=Path, help=f"file to go on from after Ctrl-C, as {STATE} (default: none)"
    )
    given = parser.parse_args()
    names = given.subject or list(subjects.SUBJECTS)
    subjects.prepare()
    identity = [given.kills, given.database, given.seed, names]
    accounts = restored(given.state, identity)
    status = 0
    try:
        for name, kills in zip(names, shares(names, given.kills), strict=True):
            kill(name, kills, given.database, given.seed, accounts, given.state, identity)
    except KeyboardInterrupt:
        print("interrupted; the same command with --state goes on", file=sys.stderr)
        status = 130
    console = Console(width=None if sys.stdout.isatty() else 140)
    for name, account in accounts.items():
        console.print(table(f"{name}, {given.database.split(':')[0]}", account))
        for fault in account.faults[:SHOWN]:
            print(f"  {fault}")
        if len(account.faults) > SHOWN:
            print(f"  and {len(account.faults) - SHOWN} more")
    return status or int(any(account.faults for account in accounts.values()))


def shares(names: list[str], kills: int) -> list[int]:
    """Half of the kills for campaigns, which have most to lose; the rest evenly."""
    if "fuzz" not in names or len(names) == 1:
        return [kills // len(names) + (i < kills % len(names)) for i in range(len(names))]
    others = len(names) - 1
    rest = kills // 2
    counts = iter([rest // others + (i < rest % others) for i in range(others)])
    return [kills - rest if name == "fuzz" else next(counts) for name in names]


def kill(
    name: str,
    kills: int,
    database: str,
    seed: int,
    accounts: dict[str, Account],
    state: Path | None,
    identity: list[object],
) -> None:
    """All kills of one subject that are not yet in its account."""
    account = accounts.setdefault(name, Account())
    done = account.kills + account.unreached
    if done >= kills:
        return
    with folder() as scratch:
        killing = Killing(subjects.SUBJECTS[name](), databases(database, name), scratch, account)
        plan = planned(killing.begin(), kills, seed)
        progress = sys.stderr.isatty()

        def after() -> None:
            if state is not None:
                save(state, identity, accounts)
            if progress:
                print(f"\r{name}: {account.kills} of {kills} kills", end="", file=sys.stderr)

        killing.run(plan[done:], after)
        if progress:
            print(file=sys.stderr)


def databases(database: str, name: str) -> Callable[[Path], str]:
    """New databases: SQLite files, or schemas of their own in a database of PostgreSQL."""
    if database == "sqlite":
        return lambda home: str(home / "out" / "campaign.db")
    from tests.durability.postgres import fresh_databases

    return fresh_databases(database, name)


def restored(state: Path | None, identity: list[object]) -> dict[str, Account]:
    """The accounts of the same command that was interrupted."""
    if state is None or not state.exists():
        return {}
    raw = json.loads(state.read_text())
    if raw["identity"] != identity:
        return {}
    return {
        name: Account(
            {kind: Row(**row) for kind, row in one["rows"].items()}, one["faults"], one["unreached"]
        )
        for name, one in raw["accounts"].items()
    }


def save(state: Path, identity: list[object], accounts: dict[str, Account]) -> None:
    """Write the accounts, whole."""
    plain = {
        name: {
            "rows": {kind: vars(row) for kind, row in one.rows.items()},
            "faults": one.faults,
            "unreached": one.unreached,
        }
        for name, one in accounts.items()
    }
    part = state.with_name(f"{state.name}.part")
    part.write_text(json.dumps({"identity": identity, "accounts": plain}))
    part.replace(state)


def table(title: str, account: Account) -> Table:
    """Point of death, kills, survived, lost, twice."""
    made = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    made.add_column("point of death", no_wrap=True)
    for heading in ("kills", "survived", "lost", "twice"):
        made.add_column(heading, justify="right")
    total = Row()
    for kind, row in itertools.chain(sorted(account.rows.items()), [("all", total)]):
        made.add_row(kind, *map(str, (row.kills, row.survived, row.lost, row.twice)))
        if row is not total:
            total.kills += row.kills
            total.survived += row.survived
            total.lost += row.lost
            total.twice += row.twice
    return made


if __name__ == "__main__":
    sys.exit(main())
