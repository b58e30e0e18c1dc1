"""NVIDIA's compiler, assembler and disassembler, each under a time limit, with what they made kept by its inputs."""

import dataclasses
import glob
import hashlib
import json
import os
import re
import struct
import subprocess

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.environ.get("VKSORT_ROOT") or os.path.dirname(os.path.dirname(HERE))
CONTRACT = os.environ.get("VKSORT_CONTRACT") or os.path.join(ROOT, "target", "release", "vksort-contract")
CACHE = os.environ.get("VKSORT_NVIDIA_ASSEMBLER") or os.path.join(ROOT, "target", "nvidia-assembler")
COMPILE_SECONDS = int(os.environ.get("VKSORT_NVIDIA_ASSEMBLER_SECONDS", "240"))


class Failed(Exception):
    """A tool refused its input, or took too long."""


@dataclasses.dataclass
class Binary:
    """Machine code of one kernel, and what the assembler says of it."""

    sass: str
    lines: str  # the same with the lines of the source that each instruction comes from
    banks: dict  # constant banks but the first, as words
    registers: int
    shared_bytes: int
    stack_bytes: int
    spill_stores: int
    spill_loads: int
    arch: int

    @property
    def parameter(self):
        """Where the parameter starts in the first constant bank."""
        return 0x380 if self.arch >= 100 else 0x210 if self.arch >= 90 else 0x160


def cuda():
    """The root of the toolkit, or None where there is none."""
    homes = [os.environ.get("CUDA_HOME", "")] + sorted(glob.glob(os.path.join(CACHE, "cuda", "nvidia", "cu*")))
    return next((home for home in homes if home and os.path.exists(os.path.join(home, "bin", "ptxas"))), None)


def run(command, seconds):
    """The output of a command."""
    name = os.path.basename(command[command[0] == "nice"])
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired as late:
        raise Failed(f"{name} took more than {seconds} s") from late
    if done.returncode:
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        errors = [line for line in lines if "error" in line.lower() or "fatal" in line.lower()]
        raise Failed(f"{name}: {' | '.join(errors[:3] or lines[:1])}")
    return done.stdout + done.stderr


def version():
    """The assembler's version."""
    return re.search(r"V([\d.]+)", run([os.path.join(cuda(), "bin", "ptxas"), "--version"], 60))[1]


def sections(path):
    """The sections of a 64-bit ELF file by name."""
    with open(path, "rb") as f:
        data = f.read()
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, table + size * k) for k in range(count)]
    strings = headers[names][4]
    out = {}
    for name, kind, _, _, offset, length in headers:
        end = data.index(b"\0", strings + name)
        out[data[strings + name : end].decode()] = b"" if kind == 8 else data[offset : offset + length]
    return out


def compile(text, kernel, arch, flags=()):
    """Compiles CUDA C++ to machine code; `kernel` is the function's name. What was compiled before is kept."""
    home = cuda()
    with open(os.path.join(HERE, "shim.cuh")) as f:
        shim = f.read()
    inputs = json.dumps([text, shim, kernel, arch, list(flags), home, version()])
    stem = os.path.join(CACHE, "kernels", f"{kernel}-sm_{arch}-" + hashlib.sha256(inputs.encode()).hexdigest()[:16])
    os.makedirs(os.path.dirname(stem), exist_ok=True)
    log, sass, lines, cubin = (stem + end for end in (".log", ".sass", ".lines", ".cubin"))
    if not os.path.exists(log):
        with open(stem + ".cu", "w") as f:
            f.write(text)
        tools = os.path.join(home, "bin")
        command = [
            "nice",
            os.path.join(tools, "nvcc"),
            "-I" + HERE,
            "-I" + os.path.join(home, "include", "cccl"),
            "-std=c++20",
            "-O3",
            f"-arch=sm_{arch}",
            "-cubin",
            "-lineinfo",
            "-diag-suppress=177,550",
            "-Xptxas",
            "-v",
            *flags,
            "-o",
            cubin,
            stem + ".cu",
        ]
        said = run(command, COMPILE_SECONDS)
        with open(sass, "w") as f:
            f.write(run([os.path.join(tools, "cuobjdump"), "-sass", cubin], 120))
        with open(lines, "w") as f:
            f.write(run([os.path.join(tools, "nvdisasm"), "-gi", "-c", cubin], 120))
        with open(log + ".new", "w") as f:
            f.write(said)
        os.rename(log + ".new", log)
    with open(log) as f:
        said = f.read()
    banks = {}
    for name, data in sections(cubin).items():
        if (match := re.match(r"\.nv\.constant([1-9])\.", name)) and name.endswith("." + kernel):
            banks[int(match[1])] = data
    spills = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", said)
    shared = re.search(r"(\d+) bytes smem", said)
    return Binary(
        sass,
        lines,
        banks,
        int(re.search(r"Used (\d+) registers", said)[1]),
        int(shared[1]) if shared else 0,
        *map(int, spills.groups()),
        arch,
    )
