"""What the functions of a shader have issued, by the lines that the compiler says each instruction comes from."""

import collections
import re


def chains(path):
    """Address of an instruction -> its lines, as (file, line), from the innermost to the outermost."""
    found, frames, fresh = {}, [], True
    with open(path) as f:
        for text in f:
            if match := re.match(r'\s*//## File "([^"]+)", line (\d+)', text):
                frames = [] if fresh else frames
                fresh = False
                frames.append((match[1], int(match[2])))
            elif match := re.match(r"\s+/\*([0-9a-f]{4,})\*/\s", text):
                fresh = True
                found[int(match[1], 16)] = frames
    return found


def by_function(figures, kernel, items):
    """(function, executed an item, static instructions), the most executed first. Inlined functions count for themselves."""
    of_address = chains(figures.binary.lines)
    warps = figures.block.threads // 32
    executed, static = collections.Counter(), collections.Counter()
    for (address, text), count in zip(figures.block.program.code, figures.block.executed):
        if text.startswith("NOP"):
            continue
        name = "?"
        for file, line in of_address.get(address, []):
            inside = [p[3] for p in kernel.functions if file.endswith("/" + p[0]) and p[1] <= line <= p[2]]
            if inside:
                name = inside[0]
                break
        executed[name] += int(count)
        static[name] += 1
    return [(name, count / warps / items, static[name]) for name, count in executed.most_common()]
