"""``python -m tests.harness.refusing COMMAND..``: runs a command on a machine without confinement.

The kernel itself answers ENOSYS to the system calls of Landlock and seccomp from then on, as one
does that was built without them; a filter of this process's own sees to that.
"""

import errno
import os
import platform
import sys

from harness.confinement.filters import (
    ALLOW,
    EQUAL,
    ERRNO,
    INSTRUCTION,
    LOAD,
    NUMBER,
    RETURN,
    SECCOMP,
)
from harness.confinement.kernel import CREATE_RULESET, Linux


def program():
    """Return the filter."""
    code = [(LOAD, 0, 0, NUMBER)]
    for number in (CREATE_RULESET, SECCOMP[platform.machine()]):
        code += [(EQUAL, 0, 1, number), (RETURN, 0, 0, ERRNO | errno.ENOSYS)]
    code.append((RETURN, 0, 0, ALLOW))
    return b"".join(INSTRUCTION.pack(*one) for one in code)


if __name__ == "__main__":
    kernel = Linux()
    kernel.no_new_privileges()
    kernel.seccomp(program())
    os.execv(sys.argv[1], sys.argv[1:])
