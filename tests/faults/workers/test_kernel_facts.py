"""What confinement knows of the kernel by heart, held against the kernel's own headers.

Where these are not installed, the facts are not looked at. Only those of ARM's programs of 32 bits
are in no header of another machine.
"""

import re
from pathlib import Path

import pytest

from harness.confinement import filters, kernel, steps
from harness.workers import keeper

INCLUDE = Path("/usr/include")
NUMBER = re.compile(r"\(?(?:(0x[0-9a-fA-F]+|\d+)U?L{0,2})(?:\s*<<\s*(\d+))?\)?")


def header(name):
    """The plain numbers that a header of the kernel defines."""
    path = INCLUDE / name
    if not path.is_file():
        pytest.skip(f"no {name} here")
    found = {}
    for line in path.read_text().splitlines():
        words = line.split("/*")[0].split(None, 2)
        if len(words) == 3 and words[0] == "#define" and (number := NUMBER.match(words[2])):
            found[words[1]] = int(number[1], 0) << int(number[2] or 0)
    return found


def audit(machine):
    """An architecture as ``linux/audit.h`` makes it of the number that ELF has for it."""
    known = header("linux/elf-em.h") | header("linux/audit.h")
    wide = machine in {"X86_64", "AARCH64"}
    little = known["__AUDIT_ARCH_LE"] | (known["__AUDIT_ARCH_64BIT"] if wide else 0)
    return known[f"EM_{machine}"] | little


@pytest.mark.parametrize(
    ("machine", "place", "name"),
    [
        ("x86_64", 0, "X86_64"),
        ("x86_64", 1, "386"),
        ("aarch64", 0, "AARCH64"),
        ("aarch64", 1, "ARM"),
    ],
)
def test_architectures_are_those_of_the_kernel(machine, place, name):
    assert filters.CALLS[machine][place].audit == audit(name)


def test_rights_of_landlock_are_those_of_the_kernel():
    known = header("linux/landlock.h")
    writing = "WRITE_FILE REMOVE_DIR REMOVE_FILE MAKE_CHAR MAKE_DIR MAKE_REG MAKE_SOCK MAKE_FIFO"
    names = {1: f"{writing} MAKE_BLOCK MAKE_SYM", 2: "REFER", 3: "TRUNCATE", 5: "IOCTL_DEV"}
    assert steps.SINCE.keys() == names.keys()
    for abi, some in names.items():
        rights = [known.get(f"LANDLOCK_ACCESS_FS_{name}") for name in some.split()]
        if abi == 1 or None not in rights:  # a header may be older than that
            assert sum(right or 0 for right in rights) == steps.SINCE[abi]
    assert known["LANDLOCK_CREATE_RULESET_VERSION"] == kernel.ASK_VERSION


def calls(machine, place):
    """The numbers of system calls that are known here, by the names that headers have for them."""
    of = filters.CALLS[machine][place]
    known = {
        "socket": of.socket,
        "prlimit64": of.prlimit,
        "io_uring_setup": filters.IO_URING_SETUP,
        "landlock_create_ruleset": kernel.CREATE_RULESET,
        "landlock_add_rule": kernel.ADD_RULE,
        "landlock_restrict_self": kernel.RESTRICT_SELF,
    }
    known |= {} if of.socketcall is None else {"socketcall": of.socketcall}
    known |= {} if place else {"seccomp": filters.SECCOMP[machine]}
    return {f"__NR_{name}": number for name, number in known.items()}


FACTS = {
    "x86_64-linux-gnu/asm/unistd_64.h": calls("x86_64", 0),
    "x86_64-linux-gnu/asm/unistd_32.h": calls("x86_64", 1),
    # That of all architectures that came after it, of which aarch64 is the first.
    "asm-generic/unistd.h": calls("aarch64", 0),
    "linux/sched.h": {"CLONE_NEWNS": kernel.NEW_MOUNTS, "CLONE_NEWUSER": kernel.NEW_USER},
    "linux/mount.h": {
        "MS_NOSUID": kernel.NO_SETUID,
        "MS_NODEV": kernel.NO_DEVICES,
        "MS_BIND": kernel.BIND,
        "MS_REC": kernel.RECURSIVE,
        "MS_SLAVE": kernel.SLAVE,
    },
    "linux/capability.h": {"_LINUX_CAPABILITY_VERSION_3": kernel.CAPABILITIES},
    "linux/prctl.h": {
        "PR_SET_NO_NEW_PRIVS": kernel.NO_NEW_PRIVILEGES,
        "PR_SET_CHILD_SUBREAPER": keeper.PR_SET_CHILD_SUBREAPER,
    },
    "linux/seccomp.h": {
        "SECCOMP_SET_MODE_FILTER": kernel.MODE_FILTER,
        "SECCOMP_FILTER_FLAG_TSYNC": kernel.ALL_THREADS,
        "SECCOMP_RET_ERRNO": filters.ERRNO,
        "SECCOMP_RET_ALLOW": filters.ALLOW,
    },
}


@pytest.mark.parametrize("name", FACTS)
def test_numbers_are_those_of_the_kernel(name):
    known = header(name)
    assert {one: known.get(one) for one in FACTS[name]} == FACTS[name]
