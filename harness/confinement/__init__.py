"""Confinement of worker processes by what Linux offers to everybody, without privileges.

``plan`` says what is wanted and what holds, in plain data; ``needs`` of an implementation are read
by :mod:`impls.needs`. ``filters`` makes the seccomp program; ``kernel`` makes the system calls;
``steps`` confines the process that calls it; ``start`` is what a worker process runs first;
``probe`` is the harness's side: what this machine can do, and the line that says so.

``plan``, ``filters``, ``kernel``, ``steps`` and ``start`` import the standard library and
msgspec alone and start no thread, because Landlock holds for the threads that are there when it is
applied.
"""
