"""``python -m tests.durability --kills 1000 --database sqlite --seed 0``: the table of kills.

Exit status 1 where something was lost or done twice. Ctrl-C prints the table so far.
"""

import argparse
import sys
from collections import Counter

from rich.console import Console
from rich.table import Table

from tests.durability import subjects
from tests.durability.driver import Account, Killing, folder, planned

SHOWN = 20
"""Faults that are told in full."""


def main():
    """The command; its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.durability", description=__doc__)
    parser.add_argument("--kills", type=int, default=50, help="in all, over the subjects")
    parser.add_argument("--database", default="sqlite", help="sqlite, or postgresql://..")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--subject", action="append", choices=list(subjects.SUBJECTS))
    given = parser.parse_args()
    names = given.subject or list(subjects.SUBJECTS)
    subjects.prepare()
    accounts = {}
    status = 0
    try:
        for name, kills in zip(names, shares(names, given.kills), strict=True):
            account = accounts[name] = Account()
            kill(name, kills, given.database, given.seed, account)
    except KeyboardInterrupt:
        status = 130
    console = Console(width=None if sys.stdout.isatty() else 140)
    for name, account in accounts.items():
        console.print(table(f"{name}, {given.database.split(':')[0]}", account))
        for fault in account.faults[:SHOWN]:
            print(f"  {fault}")
        if len(account.faults) > SHOWN:
            print(f"  and {len(account.faults) - SHOWN} more")
    return status or int(any(account.faults for account in accounts.values()))


def shares(names, kills):
    """Half of the kills for campaigns, which have most to lose; the rest evenly."""
    if "fuzz" not in names or len(names) == 1:
        return [kills // len(names) + (i < kills % len(names)) for i in range(len(names))]
    others = len(names) - 1
    rest = kills // 2
    counts = iter([rest // others + (i < rest % others) for i in range(others)])
    return [kills - rest if name == "fuzz" else next(counts) for name in names]


def kill(name, kills, database, seed, account):
    """All kills of one subject."""
    with folder() as scratch:
        killing = Killing(subjects.SUBJECTS[name](), databases(database, name), scratch, account)
        plan = planned(killing.begin(), kills, seed)

        def after():
            if sys.stderr.isatty():
                print(f"\r{name}: {account.kills} of {kills} kills", end="", file=sys.stderr)

        killing.run(plan, after)


def databases(database, name):
    """New databases: SQLite files, or schemas of their own in a database of PostgreSQL."""
    if database == "sqlite":
        return lambda home: str(home / "out" / "campaign.db")
    from tests.durability.postgres import fresh_databases

    return fresh_databases(database, name)


def table(title, account):
    """Point of death, kills, survived, lost, twice."""
    made = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    made.add_column("point of death", no_wrap=True)
    columns = ("kills", "survived", "lost", "twice")
    for heading in columns:
        made.add_column(heading, justify="right")
    total = sum(account.rows.values(), Counter[str]())
    for kind, row in (*sorted(account.rows.items()), ("all", total)):
        made.add_row(kind, *(str(row[one]) for one in columns))
    return made


if __name__ == "__main__":
    sys.exit(main())
