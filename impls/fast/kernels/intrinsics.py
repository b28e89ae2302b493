"""Whether the processor instructions that the fast kernels ask for can be had here.

The fast kernels ask LLVM for some operations by name (:mod:`impls.fast.bpe.vectors`,
:mod:`impls.fast.bpe.processor`, :mod:`impls.fast.kernels.bits`, :mod:`impls.fast.scanner.masks`).
An LLVM that does not know such a name would leave a call to a function that does not exist, and
loading the kernel would end the process. So the operations are tried first, in a function of a few
lines that is translated to assembly and never run: that takes milliseconds, where compiling a
kernel takes half a minute.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache

COMPRESS = "llvm.experimental.vector.compress.v16i32"
"""Pack the numbers of a vector whose flags are set; LLVM has it since version 19."""

_PROBE = f"""
declare <16 x i32> @{COMPRESS}(<16 x i32>, <16 x i1>, <16 x i32>)
declare i64 @llvm.cttz.i64(i64, i1)
declare i64 @llvm.ctlz.i64(i64, i1)
declare i64 @llvm.ctpop.i64(i64)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)

define i64 @probe(<16 x i32> %numbers, <64 x i8> %bytes, ptr %place) {{
  %low = icmp ult <16 x i32> %numbers, splat (i32 7)
  %packed = call <16 x i32> @{COMPRESS}(<16 x i32> %numbers, <16 x i1> %low, <16 x i32> undef)
  store <16 x i32> %packed, ptr %place
  call void @llvm.prefetch.p0(ptr %place, i32 0, i32 3, i32 1)
  %letters = icmp ult <64 x i8> %bytes, splat (i8 26)
  %word = bitcast <64 x i1> %letters to i64
  %below = call i64 @llvm.cttz.i64(i64 %word, i1 false)
  %above = call i64 @llvm.ctlz.i64(i64 %word, i1 false)
  %ones = call i64 @llvm.ctpop.i64(i64 %word)
  %sum = add i64 %below, %above
  %all = add i64 %sum, %ones
  ret i64 %all
}}
"""
"""One of each: the operations that differ from those of all compiled code."""

_LEFT_AS_CALL = re.compile(r"llvm\.[\w.]+")


@lru_cache(maxsize=1)
def lacking() -> str | None:
    """Why the fast kernels cannot be compiled here, in one line; None if they can.

    Interpreted (``NUMBA_DISABLE_JIT=1``) nothing is asked for.
    """
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}:
        return None
    return _tried(_PROBE)


def _tried(probe: str) -> str | None:
    """Why a module in LLVM's language cannot be translated for this processor, or None."""
    from llvmlite import binding  # noqa: PLC0415 - takes a while, and is not always asked for

    version = ".".join(map(str, binding.llvm_version_info))

    try:
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        module = binding.parse_assembly(probe)
        module.verify()
        target = binding.Target.from_default_triple().create_target_machine(
            cpu=binding.get_host_cpu_name(),
            features=binding.get_host_cpu_features().flatten(),
            opt=3,
        )
        assembly = target.emit_assembly(module)
    except RuntimeError as error:
        line = " ".join(str(error).split())[:120]
        return f"LLVM {version} refuses an operation: {line}"
    left = _LEFT_AS_CALL.search(assembly)
    if left is not None:
        return f"LLVM {version} does not know {left.group()}"
    return None
