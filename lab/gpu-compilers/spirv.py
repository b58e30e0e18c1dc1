"""What the modules of the library say of themselves: their names, and the shared memory that they declare."""
import glob
import os
import re
import struct

TYPE_BOOL, TYPE_INT, TYPE_FLOAT, TYPE_VECTOR, TYPE_ARRAY, TYPE_STRUCT, TYPE_POINTER = 20, 21, 22, 23, 28, 30, 32
FUNCTION, LOOP_MERGE, LOOP_CONTROL = 54, 246, 2
DECORATE, SPEC_ID, WORKGROUP = 71, 1, 4
OPERATIONS = {
    128: lambda a, b: a + b, 130: lambda a, b: a - b, 132: lambda a, b: a * b, 134: lambda a, b: a // b,
    137: lambda a, b: a % b, 166: lambda a, b: a or b, 167: lambda a, b: a and b, 168: lambda a: not a,
    169: lambda a, b, c: b if a else c, 170: lambda a, b: a == b, 171: lambda a, b: a != b, 172: lambda a, b: a > b,
    174: lambda a, b: a >= b, 176: lambda a, b: a < b, 178: lambda a, b: a <= b, 194: lambda a, b: a >> b,
    196: lambda a, b: a << b, 197: lambda a, b: a | b, 198: lambda a, b: a ^ b, 199: lambda a, b: a & b,
}


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    return list(struct.unpack(f"<{len(data) // 4}I", data))


def operations(words):
    """(place, opcode, operands) of every instruction."""
    at = 5
    while at < len(words):
        length = max(words[at] >> 16, 1)
        yield at, words[at] & 0xFFFF, words[at + 1:at + length]
        at += length


def fingerprint(words):
    """FNV-1a over the functions of a module, as the layer prints it: the library may change decorations and loop controls."""
    value, inside = 0xCBF29CE484222325, False
    for at, op, operands in operations(words):
        inside = inside or op == FUNCTION
        if inside:
            kept = operands[:LOOP_CONTROL] + operands[LOOP_CONTROL + 1:] if op == LOOP_MERGE else operands
            for word in [words[at], *kept]:
                value = (value ^ word) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def modules(root):
    """Fingerprint -> (name, words) of every compiled module of a checkout."""
    found = {}
    for path in sorted(glob.glob(os.path.join(root, "spirv", "*.spv"))):
        words = read(path)
        found[fingerprint(words)] = (os.path.basename(path)[:-4], words)
    return found


def constants(root):
    """Specialization constant -> id, from the contract between host and kernels."""
    with open(os.path.join(root, "src", "abi.rs")) as file:
        block = re.search(r"^specialization! \{\n(.*?)^\}", file.read(), re.M | re.S)
    return {name: str(index) for index, name in enumerate(re.findall(r"^    ([A-Z0-9_]+) = ", block.group(1), re.M))}


def has_constant(words, constant):
    """Whether a module declares the specialization constant with this id."""
    return any(op == DECORATE and operands[1:] == [SPEC_ID, int(constant)] for _, op, operands in operations(words))


def shared_bytes(words, values):
    """Bytes of shared memory that a module declares, with these values of its specialization constants."""
    ids, types, known = {}, {}, {}
    total = 0

    def size(kind):
        op, operands = types[kind]
        if op == TYPE_BOOL:
            return 4
        if op in (TYPE_INT, TYPE_FLOAT):
            return operands[0] // 8
        if op == TYPE_VECTOR:
            return operands[1] * size(operands[0])
        if op == TYPE_ARRAY:
            return known[operands[1]] * size(operands[0])
        return sum(size(member) for member in operands)

    for _, op, operands in operations(words):
        if op == DECORATE and operands[1] == SPEC_ID:
            ids[operands[0]] = str(operands[2])
        elif 19 <= op <= 39:
            types[operands[0]] = (op, operands[1:])
        elif op in (41, 42, 48, 49):
            known[operands[1]] = int(op in (41, 48))
        elif op in (43, 50):
            known[operands[1]] = values.get(ids.get(operands[1]), operands[2])
        elif op == 52 and all(operand in known for operand in operands[3:]) and operands[2] in OPERATIONS:
            known[operands[1]] = int(OPERATIONS[operands[2]](*(known[operand] for operand in operands[3:]))) & 0xFFFFFFFF
        elif op == 59 and operands[2] == WORKGROUP:
            total += size(types[operands[0]][1][1])
    return total
