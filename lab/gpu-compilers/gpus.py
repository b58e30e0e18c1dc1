"""The GPUs whose compilers are asked, and how many workgroups of a kernel fit one of their cores."""
from dataclasses import dataclass

KIB = 1024


@dataclass(frozen=True)
class Gpu:
    compiler: str  # NVK, anv, RADV, Turnip or Honeykrisp
    node: str  # what the driver finds: NULLGPU of nullgpu.c, or RADV's own name
    core: tuple  # what one core has, as workgroups() reads it
    subgroup: int = 0  # size of the subgroups to ask for; 0 for what the library chooses

    @property
    def driver(self):
        return {"NVK": "nouveau", "anv": "intel", "RADV": "radeon", "Turnip": "freedreno", "Honeykrisp": "asahi"}[self.compiler]

    @property
    def environment(self):
        if self.compiler == "RADV":
            return {"RADV_FORCE_FAMILY": self.node}
        # The first is for chips on which NVK has not passed the conformance tests.
        return {"NVK_I_WANT_A_BROKEN_VULKAN_DRIVER": "1", "NULLGPU": self.node}


# NVIDIA: warps, workgroups and shared bytes of a multiprocessor, and shared bytes that the system takes of each workgroup.
HOPPER, ADA, TURING = (64, 32, 228 * KIB, KIB), (48, 24, 100 * KIB, KIB), (32, 16, 64 * KIB, 0)
# AMD: SIMDs, waves of each, registers x lanes of each, granule of registers at 32 lanes, shared bytes. The core of RDNA is a
# work-group processor, which is two compute units.
GCN, RDNA2, RDNA3 = (4, 10, 256 * 64, 8, 64 * KIB), (4, 16, 1024 * 32, 16, 128 * KIB), (4, 16, 1536 * 32, 24, 128 * KIB)
# Intel: threads and shared bytes of a subslice, dual subslice or Xe core.
GEN9, GEN12, XE_HPG, XE2 = (56, 64 * KIB), (112, 128 * KIB), (128, 128 * KIB), (64, 128 * KIB)
# Apple: invocations, registers of 16 bits and shared bytes of a core, as measured by the README of
# github.com/philipturner/metal-benchmarks.
APPLE7 = (3072, 208 * KIB // 2, 60 * KIB)

GPUS = {
    "h100": Gpu("NVK", "nouveau:180", HOPPER),
    "rtx4090": Gpu("NVK", "nouveau:192", ADA),
    "rtx2080ti": Gpu("NVK", "nouveau:162", TURING),
    "vega20": Gpu("RADV", "VEGA20", GCN),
    "navi21": Gpu("RADV", "NAVI21", RDNA2, 64),
    "navi21-wave32": Gpu("RADV", "NAVI21", RDNA2, 32),
    "navi31": Gpu("RADV", "NAVI31", RDNA3, 64),
    "navi31-wave32": Gpu("RADV", "NAVI31", RDNA3, 32),
    "gfx1201": Gpu("RADV", "GFX1201", RDNA3, 64),
    "gfx1201-wave32": Gpu("RADV", "GFX1201", RDNA3, 32),
    "skl": Gpu("anv", "i915:skl", GEN9),
    "tgl": Gpu("anv", "i915:tgl", GEN12),
    "dg2": Gpu("anv", "i915:dg2", XE_HPG),
    "bmg": Gpu("anv", "i915:bmg", XE2),
    "adreno660": Gpu("Turnip", "msm:660", ()),
    "adreno740": Gpu("Turnip", "msm:740", ()),
    "m1": Gpu("Honeykrisp", "asahi:m1", APPLE7),
}


def up(number, granule):
    return -(-number // granule) * granule


def workgroups(gpu, statistics, registers, shared, workgroup, subgroup):
    """How many workgroups fit a core by registers, shared memory and the subgroups that it holds."""
    waves = up(workgroup, subgroup) // subgroup
    if gpu.compiler == "NVK":
        warps, most, memory, system = gpu.core
        return min(most, min(warps, statistics["Max warps/SM"]) // waves, memory // (up(shared, 128) + system or 1))
    if gpu.compiler == "RADV":
        simds, slots, file, granule, memory = gpu.core
        granule = granule * 32 // subgroup if simds * slots > 40 else granule
        held = min(slots, file // (up(max(registers, 1), granule) * subgroup))
        return min(32, simds * held // waves, memory // up(max(shared, 1), 512))
    if gpu.compiler == "anv":
        threads, memory = gpu.core
        # A thread with 256 registers takes the place of two.
        threads //= 2 if statistics.get("GRF registers", 0) > 128 else 1
        return min(threads // waves, memory // (1 << max(shared - 1, KIB - 1).bit_length()))
    if gpu.compiler == "Honeykrisp":
        most, file, memory = gpu.core
        # The compiler's table of registers ends at the 1024 invocations that a workgroup has at most.
        held = statistics["Threads"] if statistics["Threads"] < 1024 else min(most, file // up(max(registers, 1), 8))
        return min(held // (waves * subgroup), memory // up(max(shared, 1), 16))
    # Turnip's own figure knows of shared memory, and waves come in pairs.
    return statistics["Max Waves Per Core"] // up(waves, 2)
