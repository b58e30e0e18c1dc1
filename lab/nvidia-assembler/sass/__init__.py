"""An emulator of NVIDIA's machine code (SASS, sm_75 to sm_90) for one workgroup at a time.

It knows the instructions that sorting integers takes, keeps convergence barriers (BSSY, BSYNC, BREAK, WARPSYNC) and barriers
between warps, and counts what each warp issues: one for an instruction and group of lanes that run together, whatever its
predicate says, as a profiler's `inst_executed` does. An instruction that it does not know is an error when it is reached.
"""

from .block import Block, Global
from .program import Program

__all__ = ["Block", "Global", "Program"]
