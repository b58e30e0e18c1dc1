"""Translates a compute shader from GLSL to CUDA C++ without changing its expressions, so that NVIDIA's compiler takes it.

The C preprocessor expands includes and macros as a GLSL compiler would. The text is then cut at its top level:

* constants, structures and shared variables stay where they are, in a namespace;
* private variables and functions become members of one structure, as CUDA has no private globals;
* buffers and push constants become the kernel's parameter.

shim.cuh gives the types and built-in functions of GLSL their meaning. What neither of the two knows is an error that names
the file and the line."""

import dataclasses
import os
import re
import subprocess
import tempfile

SHIM = os.path.join(os.path.dirname(os.path.realpath(__file__)), "shim.cuh")
ATTRIBUTES = {"unroll": "UNROLL", "dont_unroll": "DONT_UNROLL", "flatten": "", "branch": "", "dont_flatten": ""}
TYPE = r"(?:const\s+)?\w+"
# Names that GLSL defines and the shim has to know, wherever they are used.
BUILT_IN = re.compile(
    r"\b(?:gl_\w+|(?:subgroup|atomic|image|texture|texel)[A-Z]\w*|memoryBarrier\w*|groupMemoryBarrier"
    r"|[biud]?vec[234]|[biu]8vec\d|[biu]16vec\d|mat[234]\w*|(?:un)?pack[A-Z]\w*|bitfield\w+|find[LM]SB)\b"
)


class Unsupported(Exception):
    """GLSL that has no translation."""


@dataclasses.dataclass
class Buffer:
    """A storage buffer, or an array of them: parameters of the kernel."""

    name: str
    binding: int
    length: int  # descriptors


@dataclasses.dataclass
class Kernel:
    """A translated shader."""

    text: str
    name: str
    workgroup_size: int
    buffers: list  # their pointers come first in the parameter
    push: list  # (name, words) of the push constants, which follow
    functions: list  # (file, first line, last line, name)


@dataclasses.dataclass
class Declaration:
    """A piece of the top level."""

    text: str  # with line markers
    file: str
    line: int
    last: int = 0  # line on which it ends

    @property
    def plain(self):
        """The text in one line, without markers."""
        return re.sub(r"\s+", " ", re.sub(r"^#line .*$", "", self.text, flags=re.M)).strip()

    def at(self, text):
        """Text that stands for the declaration, with where it is."""
        return f'#line {self.line} "{self.file}"\n{text}'

    def fail(self, why):
        short = self.plain if len(self.plain) < 100 else self.plain[:97] + "..."
        raise Unsupported(f"{self.file}:{self.line}: {why}: {short}")


def preprocess(path, include, macros, abi):
    """The text of a shader with `#line` markers, without comments, versions and extensions."""
    with tempfile.TemporaryDirectory() as work:
        for folder, _, files in os.walk(include):
            inside = os.path.relpath(folder, include)
            os.makedirs(os.path.join(work, inside), exist_ok=True)
            for file in files:
                if file.endswith((".comp", ".glsl")):
                    with open(os.path.join(folder, file)) as f:
                        text = re.sub(r"^[ \t]*#[ \t]*(version|extension)\b.*$", "", f.read(), flags=re.M)
                    with open(os.path.join(work, inside, file), "w") as f:
                        f.write(text)
        if abi is not None:
            with open(os.path.join(work, "abi.glsl"), "w") as f:
                f.write(abi)
        source = os.path.join(work, os.path.relpath(path, include))
        command = ["g++", "-E", "-x", "c++", "-std=c++20", "-undef", "-nostdinc", "-I", work, source]
        command += [f"-D{name}={value}" for name, value in macros.items()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise Unsupported(done.stderr.replace(work + "/", "").strip())
        text = done.stdout.replace(work + "/", "")
    return re.sub(r'^# (\d+) "([^"]*)".*$', r'#line \1 "\2"', text, flags=re.M)


def declarations(text):
    """Cuts text into declarations: up to a `;`, or to the closing brace of a function."""
    found, depth, start, file, line = [], 0, None, "?", 1
    at = 0
    for match in re.finditer(r'#line (\d+) "([^"]*)"\n|[\n(){};]|[^\s(){};#]+|#', text):
        token = match[0]
        if token.startswith("#line"):
            line, file = int(match[1]), match[2]
            continue
        if token == "\n":
            line += 1
            continue
        if start is None:
            start, where, head = match.start(), (file, line), ""
        if token in "({":
            head = head or (text[start : match.start()] if token == "{" else "")
            depth += 1
        elif token in ")}":
            depth -= 1
        function = token == "}" and head.rstrip().endswith(")")
        if depth == 0 and (token == ";" or function):
            found.append(Declaration(text[start : match.end()], *where, line))
            start = None
        at = match.end()
    if start is not None:
        Declaration(text[start:at], *where).fail("the file ends within")
    return found


def integer(expression, known):
    """The value of a constant expression of GLSL, or None where it is not an integer that is known."""
    text = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uU]\b", r"\1", expression)
    names = set(re.findall(r"\b[A-Za-z_]\w*\b", re.sub(r"0[xX][0-9a-fA-F]+", "", text)))
    if "?" in text or not names <= known.keys():
        return None
    text = re.sub(r"(?<!/)/(?!/)", "//", text).replace("&&", " and ").replace("||", " or ")
    try:
        return int(eval(text, {"__builtins__": {}}, dict(known))) & 0xFFFFFFFF
    except (SyntaxError, TypeError, ValueError, ZeroDivisionError):
        return None


def parameters(item):
    """A function's parameters as C++ has them: references for `out` and for arrays."""
    head, body = item.text.split("{", 1)
    name, inside = head.split("(", 1)
    inside = inside.rsplit(")", 1)[0]
    out = []
    for parameter in filter(None, (re.sub(r"\s+", " ", p).strip() for p in inside.split(","))):
        match = re.fullmatch(
            r"((?:(?:const|in|out|inout|highp|mediump|lowp) )*)(\w+)(\[.+?\])? (\w+)(\[.+\])?", parameter
        )
        if not match:
            item.fail(f"parameter `{parameter}`")
        qualifiers, kind, early, variable, late = match.groups()
        array = (early or "") + (late or "")
        writes = re.search(r"\b(in)?out\b", qualifiers)
        constant = "" if writes or not (array or "const" in qualifiers) else "const "
        reference = f"(&{variable}){array}" if array else f"{'& ' if writes else ''}{variable}"
        out.append(f"{constant}{kind} {reference}")
    return f"{name}({', '.join(out)}) {{{body}"


def check_names(item, known):
    """Refuses built-ins that the shim does not have."""
    for offset, line in enumerate(re.sub(r"^#line .*\n", "", item.text, flags=re.M).split("\n")):
        for name in BUILT_IN.findall(line):
            if name not in known:
                Declaration(line, item.file, item.line + offset).fail(f"the shim has no `{name}`")
    if match := re.search(r"\b\w+\s*\[\s*\w*\s*\]\s*\(", item.text):
        item.fail(f"array constructor `{match[0]}`")
    if match := re.search(r"\.length\(\)", item.text):
        item.fail("length of an array")


def attributes(item):
    """Loop attributes as macros of the shim."""

    def replace(match):
        names = [name.strip() for name in match[1].split(",")]
        for name in names:
            if name not in ATTRIBUTES:
                item.fail(f"attribute `{name}`")
        return " ".join(ATTRIBUTES[name] for name in names)

    item.text = re.sub(r"\[\[([^\[\]]*)\]\]", replace, item.text)


QUALIFIERS = r"(?:(?:coherent|readonly|writeonly|restrict|volatile) )*"
WORDS = {"uint": 1, "int": 1, "float": 1, "uvec2": 2, "ivec2": 2}


class Shader:
    """What has been read of a shader."""

    def __init__(self, constants):
        self.constants = constants  # values of specialization constants by name
        self.known = {}  # integer constants by name
        self.ids = {}  # names of specialization constants by id
        self.size = "1"  # of a workgroup
        self.buffers, self.push, self.places = [], [], []
        # Text: at file scope, of the parameter, macros, and members of the structure that is the kernel.
        self.globals, self.fields, self.defines, self.members, self.functions = [], [], [], [], []
        self.pushed = []

    def take(self, item):
        """Sorts a declaration in."""
        one = item.plain
        forms = [
            (r"layout ?\(constant_id = (\w+)\) const (\w+) (\w+) = (.*);", self.specialization),
            (r"layout ?\((.*local_size_x.*)\) in;", self.workgroup),
            (r"layout ?\((?:.*, ?)?push_constant(?:, ?.*)?\) uniform (\w+) \{(.*)\}(?: (\w+))?;", self.push_constants),
            (rf"layout ?\(([^()]*)\) {QUALIFIERS}buffer (\w+) \{{(.*)\}}(?: (\w+)(?: ?\[(.*)\])?)?;", self.buffer),
            (r"layout.*", self.other_layout),
            (r"struct .*", self.structure),
            (r"shared .*", self.shared),
            (r"const \w+ .*", self.constant),
            (rf"{TYPE} (\w+) ?\(.*\}}", self.function),
            (rf"{TYPE} \w+ ?\([^()]*\);", lambda item: None),  # a prototype: members see each other
            (r"(\w+) ?(\[.*?\]) (\w+)( = .*)?;", self.array),
            (r"\w+ \w+.*;", self.variable),
            (r";", lambda item: None),
        ]
        for form, take in forms:
            if match := re.fullmatch(form, one):
                return take(item, *match.groups())
        item.fail("declaration")

    def specialization(self, item, id, kind, name, value):
        if name in self.constants:
            value = str(self.constants[name]) + ("u" if kind == "uint" else "")
        self.ids[id] = name
        self.know(name, value)
        self.globals.append(item.at(f"constexpr {kind} {name} = {value};"))

    def know(self, name, value):
        number = integer(value, self.known)
        if number is not None:
            self.known[name] = number

    def workgroup(self, item, layout):
        by_id = re.search(r"local_size_x_id = (\w+)", layout)
        self.size = self.ids[by_id[1]] if by_id else re.search(r"local_size_x = (\w+)", layout)[1]

    def push_constants(self, item, block, body, instance):
        for kind, field, dimensions in fields_of(item, body):
            words = WORDS.get(kind)
            for dimension in re.findall(r"\[(.*?)\]", dimensions):
                words = words and words * (integer(dimension, self.known) or 0)
            if not words:
                item.fail(f"push constant `{kind} {field}{dimensions}`")
            self.push.append((field, words))
        self.globals.append(item.at(f"struct {block} {{{body}}};"))
        self.pushed = [f"{block} push_;"]
        self.define(instance, [field for field, _ in self.push], "params.push_")

    def define(self, instance, names, target):
        """Makes a block's instance, or the names in a block without one, stand for a part of the parameter."""
        if instance:
            self.defines.append(f"#define {instance} {target}")
        else:
            self.defines += [f"#define {name} {target}.{name}" for name in names]

    def buffer(self, item, layout, block, body, instance, array):
        if "buffer_reference" in layout:
            item.fail("buffers by address")
        binding = re.search(r"\bbinding = ([^,]+)", layout)
        binding = binding and integer(binding[1], self.known)
        length = 1 if array is None else integer(array, self.known)
        if binding is None or length is None:
            item.fail("a buffer without a known binding, or number of them")
        fields = fields_of(item, body)
        alone = len(fields) == 1 and fields[0][2] == "[]"
        if not alone and array is not None:
            item.fail("an array of buffers with several members")
        name = instance or block
        self.buffers.append(Buffer(name, binding, length))
        if alone:
            # The structure holds the address, so that no member's offset is in the way of the compiler.
            inner = f"{fields[0][0]}* {fields[0][1]};"
            self.fields.append(f"{block} {name}_{'' if array is None else f'[{length}]'};")
        else:
            sized = lambda dimensions: "[1 << 28]" if dimensions == "[]" else dimensions
            inner = " ".join(f"{kind} {field}{sized(dimensions)};" for kind, field, dimensions in fields)
            self.fields.append(f"{block}* {name}_;")
        self.globals.append(item.at(f"struct {block} {{ {inner} }};"))
        target = f"params.{name}_" if alone else f"(*params.{name}_)"
        self.define(instance, [field for _, field, _ in fields], target)

    def other_layout(self, item):
        item.fail("layout")

    def structure(self, item):
        self.globals.append(item.at(item.text))

    def shared(self, item):
        self.globals.append(item.at(re.sub(r"\bshared\b", "__shared__", item.text, count=1)))

    def constant(self, item):
        if match := re.fullmatch(r"const u?int (\w+) = (.*);", item.plain):
            self.know(*match.groups())
        self.globals.append(item.at(re.sub(r"\bconst\b", "constexpr", item.text, count=1)))

    def function(self, item, name):
        text = re.sub(r"\bmain(?= ?\()", "kernel_main", parameters(item), count=1)
        self.functions.append(item.at("DEVICE " + text))
        self.places.append((item.file, item.line, item.last, name))

    def array(self, item, kind, dimensions, name, value):
        self.members.append(item.at(f"{kind} {name}{dimensions}{value or ''};"))

    def variable(self, item):
        self.members.append(item.at(item.text))

    def text(self, kernel):
        """The CUDA C++."""
        indented = lambda lines: "".join(f"    {line}\n" for line in lines)
        return "\n".join(
            [
                '#include "shim.cuh"',
                "namespace glsl {",
                *self.globals,
                f"struct Params {{\n{indented(self.fields + self.pushed)}}};",
                "struct Kernel {",
                "const Params& params;",
                "DEVICE Kernel(const Params& p) : params(p) {}",
                *self.defines,
                *self.members,
                *self.functions,
                "};",
                '#line 1 "kernel"',
                f'extern "C" __global__ void __launch_bounds__({self.size})',
                f"{kernel}(const __grid_constant__ Params params) {{",
                "    Kernel kernel(params);",
                "    kernel.kernel_main();",
                "}",
                "}\n",
            ]
        )


def fields_of(item, body):
    """(type, name, dimensions) of each member of a block."""
    found = []
    for part in filter(None, (part.strip() for part in body.split(";"))):
        match = re.fullmatch(rf"{QUALIFIERS}(\w+) (\w+)((?:\[.*\])?)", part)
        if not match:
            item.fail(f"member `{part}`")
        found.append(match.groups())
    return found


def translate(path, include, macros, constants, abi=None, name=None):
    """Translates the shader at `path`, whose includes lie under `include`.

    `constants` are values of specialization constants by name; the rest keep their defaults. `abi` is the text of
    `abi.glsl`, if the shader includes that. The kernel has the name of the file, unless another is given."""
    with open(SHIM) as f:
        shim = set(re.findall(r"\w+", f.read()))
    shader = Shader(constants)
    for item in declarations(preprocess(path, include, macros, abi)):
        attributes(item)
        check_names(item, shim)
        shader.take(item)
    name = name or os.path.basename(path).removesuffix(".comp")
    size = integer(shader.size, shader.known)
    return Kernel(shader.text(name), name, size, shader.buffers, shader.push, shader.places)
