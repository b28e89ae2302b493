"""New databases on a PostgreSQL server that a URL names."""

import os
from itertools import count

import sqlalchemy as sa

from harness.ledger.engine import parse
from tests.faults.durability.driver import forked

VARIABLE = "TOKGATE_TEST_POSTGRES"
"""Of the environment: the URL of a server whose user may create databases."""


def fresh_databases(url, name):
    """URLs of new databases; the one before goes."""
    numbers = count()
    server = parse(url)

    def replaced():
        number = next(numbers)
        names = [f"tokgate_{name}_{os.getpid()}_{n}" for n in (number - 1, number)]

        def replace():
            engine = sa.create_engine(server, isolation_level="AUTOCOMMIT")
            with engine.connect() as connection:
                if number:
                    connection.exec_driver_sql(f"DROP DATABASE {names[0]} WITH (FORCE)")
                connection.exec_driver_sql(f"CREATE DATABASE {names[1]}")

        forked(replace)
        return server.set(database=names[1]).render_as_string(hide_password=False)

    return lambda home: replaced()
