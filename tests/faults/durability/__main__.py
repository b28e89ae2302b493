"""The table of kills: ``python -m tests.faults.durability --kills 1000 --seed 0``.

Exit status 1 where something was lost or done twice. Ctrl-C prints the table so far.
"""

import argparse
import sys
from collections import Counter

from tests.faults.durability import subjects
from tests.faults.durability.driver import Account, Killing, folder, planned
from tests.faults.durability.postgres import fresh_databases

SHOWN = 20
"""Faults that are told in full."""

COLUMNS = ("kills", "survived", "lost", "twice")


def main():
    """The command; its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.durability", description=__doc__)
    parser.add_argument("--kills", type=int, default=50, help="in all, evenly over the subjects")
    parser.add_argument("--database", default="sqlite", help="sqlite, or postgresql://..")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--subject", action="append", choices=list(subjects.SUBJECTS))
    given = parser.parse_args()
    names = given.subject or list(subjects.SUBJECTS)
    subjects.prepare()
    status = 0
    for place, name in enumerate(names):
        account = Account()
        kills = given.kills // len(names) + (place < given.kills % len(names))
        try:
            kill(name, kills, given.database, given.seed, account)
        except KeyboardInterrupt:
            status = 130
        tell(f"{name}, {given.database.split(':')[0]}", account)
        if status == 130:
            break
        status |= bool(account.faults)
    return status


def kill(name, kills, database, seed, account):
    """All kills of one subject, with new databases: SQLite files, or of a PostgreSQL server."""

    def in_a_file(home):
        return str(home / "out" / "campaign.db")

    databases = in_a_file if database == "sqlite" else fresh_databases(database, name)
    with folder() as scratch:
        killing = Killing(subjects.SUBJECTS[name](), databases, scratch, account)
        killing.run(planned(killing.begin(), kills, seed))


def tell(title, account):
    """Print by point of death how many were killed, survived, lost something or did it twice."""
    print(f"\n{title:60}", *(f"{one:>9}" for one in COLUMNS), sep="")
    total = sum(account.rows.values(), Counter())
    for kind, row in (*sorted(account.rows.items()), ("all", total)):
        print(f"{kind:60}", *(f"{row[one]:9}" for one in COLUMNS), sep="")
    for fault in account.faults[:SHOWN]:
        print(f"  {fault}")
    if len(account.faults) > SHOWN:
        print(f"  and {len(account.faults) - SHOWN} more")


if __name__ == "__main__":
    sys.exit(main())
