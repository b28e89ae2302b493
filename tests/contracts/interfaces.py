"""What is looked at without running a command: option names, and the modules that users import."""

import importlib

from harness.cli.deferred import COMMANDS
from tests.contracts import observed

MODULES = {"impls.interface": True, "harness.testing": False}
"""What users import, and whether they import its classes, too."""


def options():
    """The arguments and options of each command, with their kinds; ``*`` is what must be given."""
    return {name: list(map(told, one.loaded().params)) for name, one in COMMANDS.items()}


def told(one):
    """A parameter in a line: its names, and the type by which it is parsed."""
    kind = one.type_descriptor.annotation
    # Python 3.13 has paths in another module.
    shown = kind.__name__ if isinstance(kind, type) else str(kind).replace("._local", "")
    names = one.opts if one.param_type_name == "option" else [one.name.upper()]
    return " ".join([*["*"] * one.required, *names, *one.secondary_opts, f"<{shown}>"])


def modules():
    """The public names of each module."""
    return {
        name: observed.of_module(importlib.import_module(name), classes)
        for name, classes in MODULES.items()
    }


INTERFACES = {"options": options, "modules": modules}
