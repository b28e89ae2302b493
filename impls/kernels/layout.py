"""The arrays that compiled code works on: their types, and numbers that mean the same in all."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]
Ints: TypeAlias = NDArray[np.int32]
Longs: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

EMPTY = -1
"""A free slot in a table; also "no such token"."""

INDEX = 0x7FFFFFFF
"""An entry AND this is itself where it is an index, and the compiler then knows that it does not
count from the end: reading by it is two instructions shorter, in the middle of a chain of reads."""

PLACE = (1 << 62) - 1
"""A place in a text AND this is the place itself, and the compiler then knows that it does not
count from the end."""
