"""What is looked at without running a command: option names, and the modules that users import."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any
from unittest import mock

from harness.cli.deferred import COMMANDS
from tests.contracts import observed
from tests.harness.command import here

MODULES = {"impls.interface": True, "impls.conformance": False, "harness.testing": False}
"""What users import, and whether they import its classes, too."""


def options() -> dict[str, list[str]]:
    """The arguments and options of each command, as its help lists them."""
    with mock.patch.dict(os.environ, COLUMNS="200"):
        asked = {name: here(*filter(None, (name, "--help"))) for name in ("", *COMMANDS)}
    return {name or "tokgate": observed.of_help(one.stdout) for name, one in asked.items()}


def modules() -> dict[str, Any]:
    """The public names of each module."""
    return {
        name: observed.of_module(importlib.import_module(name), classes)
        for name, classes in MODULES.items()
    }


INTERFACES: dict[str, Callable[[], Any]] = {"options": options, "modules": modules}
