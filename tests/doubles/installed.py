"""Implementations whose libraries may not be installed."""

import pytest

from impls import registry
from impls.adapters.common import ABSENT
from impls.errors import ImplementationError


def installed(name):
    """The implementation of this name; the test is skipped where its library is not installed."""
    try:
        found = registry.resolve(name)
        version = found.about.version
    except (ImportError, ImplementationError) as error:
        pytest.skip(str(error))
    if version == ABSENT:
        pytest.skip(f"{name} is not installed")
    return found
