"""The system calls of confinement, and no decision: what to ask for is for the caller to say.

By ``ctypes``, because nothing on PyPI does it as well: ``landlock`` has no network rules and no
scopes, and ``pyseccomp`` needs the C library libseccomp to be installed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import stat
import struct
from pathlib import Path

from harness.confinement.filters import INSTRUCTION, SECCOMP

NO_NEW_PRIVILEGES = 38
MODE_FILTER = 1
ALL_THREADS = 1  # SECCOMP_FILTER_FLAG_TSYNC

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
ASK_VERSION = 1
PATH_BENEATH = 1

NEW_MOUNTS, NEW_USER = 0x00020000, 0x10000000
NO_SETUID, NO_DEVICES, BIND, RECURSIVE, SLAVE = 1 << 1, 1 << 2, 1 << 12, 1 << 14, 1 << 19
CAPABILITIES = 0x20080522  # the version of the structure that capset takes

RULESET = struct.Struct("<QQQ")
RULE = struct.Struct("<Qi")


class Linux:
    """What confinement asks of the kernel. Each method raises OSError where it is refused."""

    def __init__(self) -> None:
        self._c = ctypes.CDLL(None, use_errno=True)
        self._c.syscall.restype = ctypes.c_long

    def _call(self, number: int, *arguments: object) -> int:
        """Make a system call. ``None`` is a null pointer. Raises OSError."""
        # The C library's function takes machine words, whose upper halves an int would leave open.
        words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
        return self._done(self._c.syscall(ctypes.c_long(number), *words))

    @staticmethod
    def _done(result: int) -> int:
        """What a function of the C library gave. Raises OSError where it failed."""
        if result < 0:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))
        return result

    def no_new_privileges(self) -> None:
        """Give up what setuid programs would bring, which the other calls ask for."""
        nothing = ctypes.c_ulong(0)
        self._done(self._c.prctl(NO_NEW_PRIVILEGES, ctypes.c_ulong(1), nothing, nothing, nothing))

    def _mount(self, what: str, where: str, kind: str, flags: int, options: str = "") -> None:
        words = [os.fsencode(text) for text in (what, where, kind)]
        self._done(self._c.mount(*words, ctypes.c_ulong(flags), options.encode()))

    def own_memory(self, folder: str, size: int) -> None:
        """Put a file system in memory over a folder, seen by this process and its children alone.

        It is gone when they are. What is in the folder by now stays in it. size: bytes at most.
        Where this fails, the process is fit for nothing but to end.
        """
        user, group = os.geteuid(), os.getegid()
        # Root is left in its name space of users: in another one it could not read others' files.
        self._done(self._c.unshare(NEW_MOUNTS | (NEW_USER if user else 0)))
        if user:
            maps = {"uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}
            for name, text in {"setgroups": "deny", **maps}.items():
                Path("/proc/self", name).write_bytes(text.encode())
        self._mount("none", "/", "", RECURSIVE | SLAVE)
        there = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            options = f"size={size},mode=1777"
            self._mount("tmpfs", folder, "tmpfs", NO_SETUID | NO_DEVICES, options)
            for old in Path(f"/proc/self/fd/{there}").iterdir():
                self._show(old, Path(folder, old.name))
        finally:
            os.close(there)
        if user:
            # A new name space of users comes with all capabilities in it, which nobody needs.
            header = struct.pack("Ii", CAPABILITIES, 0)
            self._done(self._c.capset(header, bytes(24)))

    def _show(self, old: Path, new: Path) -> None:
        """Have a file or a folder appear at another place as well; others are passed over."""
        try:
            mode = old.lstat().st_mode
            if stat.S_ISDIR(mode):
                new.mkdir()
            elif stat.S_ISREG(mode):
                new.touch()
            else:
                return
            self._mount(str(old), str(new), "", BIND | RECURSIVE)
        except FileNotFoundError:  # it was removed meanwhile
            return

    def landlock_version(self) -> int:
        """Return the Landlock ABI of this kernel."""
        return self._call(CREATE_RULESET, None, 0, ASK_VERSION)

    def landlock_ruleset(self, files: int, network: int, scopes: int) -> int:
        """Return a new rule set that handles these, as a descriptor.

        A kernel whose structure is shorter takes a longer one that ends with zeros.
        """
        return self._call(CREATE_RULESET, RULESET.pack(files, network, scopes), RULESET.size, 0)

    def landlock_allow(self, ruleset: int, path: int, access: int) -> None:
        """Allow an access at and below an open path."""
        self._call(ADD_RULE, ruleset, PATH_BENEATH, RULE.pack(access, path), 0)

    def landlock_restrict(self, ruleset: int) -> None:
        """Hold this thread, and those that come of it, to a rule set."""
        self._call(RESTRICT_SELF, ruleset, 0)

    def seccomp(self, program: bytes) -> None:
        """Hold all threads of this process to a filter."""
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
