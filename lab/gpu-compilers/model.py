"""A model of what a pass costs on a GPU, from what the compiler says of its kernel: lab/GPU-COMPILERS.md has the formula.

All terms are cycles of one core for 32 elements of one ordered pass over u32 keys, alone or with u32 values.
"""
import csv
import os
from dataclasses import dataclass, fields

# Executed over static instructions: onesweep on sm_90, lab/record/nvidia-assembler.csv.
EXECUTED = 0.8
# Turns of shared memory for 32 keys, by the emulator on sm_90.
TURNS = {"ballot": 16.8, "match": 26.5}
# What a turn counts that match masks add, whose lanes wait for an atomic on a word that they share.
MATCH_TURN = 3.3
# More of them for the values of 32 pairs.
VALUE_TURNS = 4.5
# Round trips to memory that follow each other in a tile: ticket, keys, counts of the tile before and the anchor.
ROUND_TRIPS = 4
# Cycles from an instruction to the next of the same subgroup that needs its result.
DEPENDENT = 5
# Words of the look-back table that a tile reads and writes.
TABLE_WORDS = 3 * 256
# Bytes of a spilled register that a core moves in a cycle.
SPILL_BYTES = 64
DIGITS = 256
TERMS = "issue shared spill bytes latency".split()


@dataclass(frozen=True)
class Device:
    """A line of model.csv."""
    cores: int
    clock_mhz: float
    bandwidth_gb_s: float
    lanes: int  # of integer instructions that a core issues in a cycle
    shared_lanes: int  # words of shared memory that a core moves in a cycle
    latency: int  # cycles of a round trip to memory
    transaction: int  # bytes
    subgroups: tuple  # sizes that the device has

    @property
    def bytes_a_cycle(self):
        """Of memory, for each core."""
        return 1e3 * self.bandwidth_gb_s / (self.cores * self.clock_mhz)


def devices(path=os.path.join(os.path.dirname(os.path.realpath(__file__)), "model.csv")):
    """The lines of model.csv by the names of GPUs."""
    def parse(row):
        return Device(**{field.name: tuple(map(int, row["subgroups"].split())) if field.name == "subgroups"
                         else float(row[field.name]) for field in fields(Device)})
    with open(path, newline="") as file:
        return {row["gpu"]: parse(row) for row in csv.DictReader(file)}


def predict(device, row, pairs):
    """The terms of a candidate, their sum as `cycles`, and `bound`, which of them it is; nothing where it does not fit."""
    fit = int(row["workgroups_per_core"])
    if fit == 0:
        return None
    number = {name: float(row[name]) for name in "workgroup_size items instructions spills fills".split()}
    group, executed = number["workgroup_size"], number["instructions"] * EXECUTED
    elements = group * number["items"]
    # Comparisons access shared memory as ballots do.
    rank = "match" if row["rank"] == "match" else "ballot"
    ballots = TURNS["ballot"]
    turns = ballots + (TURNS[rank] - ballots) * MATCH_TURN + (VALUE_TURNS if pairs else 0)
    # A run of equal digits in the output begins and ends within a transaction.
    runs = min(elements, DIGITS) * (2 if pairs else 1)
    moved = elements * (16 if pairs else 8) + 4 * TABLE_WORDS + runs * device.transaction / 2
    tile = {
        "issue": executed * group / device.lanes,
        "shared": turns * elements / device.shared_lanes,
        "spill": (number["spills"] + number["fills"]) * EXECUTED * group * 4 / SPILL_BYTES,
        "bytes": moved / device.bytes_a_cycle,
        "latency": (ROUND_TRIPS + pairs) * device.latency,
    }
    # Workgroups take turns on what is busiest. Alone, each of them does one thing after the other.
    busy = {"issue": tile["issue"], "shared": tile["shared"], "bytes": tile["bytes"] + tile["spill"]}
    alone = sum(tile.values()) - tile["issue"] + executed * max(group / device.lanes, DEPENDENT)
    bound = max(busy, key=busy.get)
    cycles = max(busy[bound], alone / fit)
    scale = 32 / elements
    terms = {name: round(tile[name] * scale, 2) for name in TERMS}
    return {**terms, "cycles": round(cycles * scale, 2), "bound": "latency" if alone / fit > busy[bound] else bound}
