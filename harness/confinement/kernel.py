"""The system calls of confinement, and no decision: what to ask for is for the caller to say.

By ``ctypes``, because nothing on PyPI does it as well: ``landlock`` has no network rules and no
scopes, and ``pyseccomp`` needs the C library libseccomp to be installed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from typing import Protocol

from harness.confinement.filters import INSTRUCTION, SECCOMP

NO_NEW_PRIVILEGES = 38
MODE_FILTER = 1
ALL_THREADS = 1  # SECCOMP_FILTER_FLAG_TSYNC

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
ASK_VERSION = 1
PATH_BENEATH = 1

RULESET = struct.Struct("<QQQ")
RULE = struct.Struct("<Qi")


class Kernel(Protocol):
    """What confinement asks of the kernel. Each method raises OSError where it is refused."""

    def no_new_privileges(self) -> None:
        """Give up what setuid programs would bring, which the other calls ask for."""
        ...

    def landlock_version(self) -> int:
        """Return the Landlock ABI of this kernel."""
        ...

    def landlock_ruleset(self, files: int, network: int, scopes: int, size: int) -> int:
        """Return a new rule set that handles these, as a descriptor; size: of its structure."""
        ...

    def landlock_allow(self, ruleset: int, path: int, access: int) -> None:
        """Allow an access at and below an open path."""
        ...

    def landlock_restrict(self, ruleset: int) -> None:
        """Hold this thread, and those that come of it, to a rule set."""
        ...

    def seccomp(self, program: bytes) -> None:
        """Hold all threads of this process to a filter."""
        ...


class Linux:
    """The kernel itself."""

    def __init__(self) -> None:
        self._c = ctypes.CDLL(None, use_errno=True)
        self._c.syscall.restype = ctypes.c_long

    def _call(self, number: int, *arguments: object) -> int:
        """Make a system call. ``None`` is a null pointer. Raises OSError."""
        # The C library's function takes machine words, whose upper halves an int would leave open.
        words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
        result = int(self._c.syscall(ctypes.c_long(number), *words))
        if result < 0:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))
        return result

    def no_new_privileges(self) -> None:
        """See :class:`Kernel`."""
        nothing = ctypes.c_ulong(0)
        if self._c.prctl(NO_NEW_PRIVILEGES, ctypes.c_ulong(1), nothing, nothing, nothing):
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))

    def landlock_version(self) -> int:
        """See :class:`Kernel`."""
        return self._call(CREATE_RULESET, None, 0, ASK_VERSION)

    def landlock_ruleset(self, files: int, network: int, scopes: int, size: int) -> int:
        """See :class:`Kernel`."""
        return self._call(CREATE_RULESET, RULESET.pack(files, network, scopes), size, 0)

    def landlock_allow(self, ruleset: int, path: int, access: int) -> None:
        """See :class:`Kernel`."""
        self._call(ADD_RULE, ruleset, PATH_BENEATH, RULE.pack(access, path), 0)

    def landlock_restrict(self, ruleset: int) -> None:
        """See :class:`Kernel`."""
        self._call(RESTRICT_SELF, ruleset, 0)

    def seccomp(self, program: bytes) -> None:
        """See :class:`Kernel`."""
        number = SECCOMP.get(platform.machine())
        if number is None:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        code = ctypes.create_string_buffer(program, len(program))
        # struct sock_fprog: the number of instructions, and where they are.
        count = len(program) // INSTRUCTION.size
        described = struct.pack("HxxxxxxQ", count, ctypes.addressof(code))
        thread = self._call(number, MODE_FILTER, ALL_THREADS, described)
        if thread:  # the kernel names a thread that has other filters
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
