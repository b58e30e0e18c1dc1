"""The translator by itself; nothing is compiled."""

import os
import shutil
import tempfile
import unittest

import glsl2cu

HERE = os.path.dirname(os.path.realpath(__file__))


@unittest.skipUnless(shutil.which("g++"), "there is no C preprocessor")
class Translator(unittest.TestCase):
    def of(self, body, **constants):
        """The translation of a shader of these lines, from line 3 on."""
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "small.comp")
            with open(path, "w") as f:
                f.write("#version 460\nlayout(local_size_x = 64) in;\n" + body)
            return glsl2cu.translate(path, work, {}, constants)

    def refuses(self, body, message):
        with self.assertRaises(glsl2cu.Unsupported) as caught:
            self.of(body)
        self.assertIn(message, str(caught.exception))

    def test_parameters_are_read_from_the_shader(self):
        kernel = glsl2cu.translate(os.path.join(HERE, "builtins.comp"), HERE, {}, {"WORKGROUP_SIZE": 128})
        self.assertEqual(kernel.workgroup_size, 128)
        buffers = [(buffer.name, buffer.binding, buffer.length) for buffer in kernel.buffers]
        self.assertEqual(buffers, [("Source", 0, 1), ("answers", 1, 2), ("Head", 2, 1)])
        self.assertEqual(kernel.push, [("offset", 1), ("pair", 2), ("shift", 1)])
        names = {name: (file, first, last) for file, first, last, name in kernel.functions}
        with open(os.path.join(HERE, "builtins.comp")) as f:
            lines = f.read().splitlines()
        file, first, last = names["sum_of"]
        self.assertEqual(
            (file, lines[first - 1], lines[last - 1]), ("builtins.comp", "uint sum_of(uint items[ROUNDS]) {", "}")
        )

    def test_constants_are_those_that_are_given(self):
        shader = (
            "layout(constant_id = 3) const uint ITEMS = 8;\nconst uint TILE = 64 * ITEMS;\nshared uint pool[TILE];\n"
        )
        self.assertIn("constexpr uint ITEMS = 20u;", self.of(shader, ITEMS=20).text)
        self.assertIn("constexpr uint ITEMS = 8;", self.of(shader).text)
        self.assertIn("__shared__ uint pool[TILE];", self.of(shader).text)

    def test_arrays_and_outputs_are_references(self):
        text = self.of(
            "void f(inout uint a[4], out uint b, uint c[2], const uint d) { a[0] = b = c[1]; }\nvoid main() {}\n"
        ).text
        self.assertIn("f(uint (&a)[4], uint & b, const uint (&c)[2], const uint d)", text)

    def test_lines_are_those_of_the_shader(self):
        self.assertIn('#line 4 "small.comp"\nDEVICE void f()', self.of("\nvoid f() {}\nvoid main() {}\n").text)

    def test_what_is_not_known_is_refused_by_its_line(self):
        self.refuses(
            "void main() { subgroupQuadSwapVertical(1); }\n", "small.comp:3: the shim has no `subgroupQuadSwapVertical`"
        )
        self.refuses(
            "void f() {}\nvoid main() {\n    imageStore(x, 1);\n}\n", "small.comp:5: the shim has no `imageStore`"
        )
        self.refuses("void main() { uint a[2] = uint[2](1, 2); }\n", "small.comp:3: array constructor")
        self.refuses("void main() { [[loop_dance]] for (;;) {} }\n", "small.comp:3: attribute `loop_dance`")
        self.refuses(
            "layout(buffer_reference) buffer At { uint cell; };\nvoid main() {}\n", "small.comp:3: buffers by address"
        )
        self.refuses(
            "layout(set = 0, binding = HERE) buffer At { uint cell[]; };\nvoid main() {}\n",
            "a buffer without a known binding",
        )
        self.refuses('#include "nowhere.glsl"\n', "nowhere.glsl")
        self.refuses("void main() {\n", "the file ends within")

    def test_integers(self):
        known = {"A": 6, "B": 4}
        for text, value in [
            ("A * B + 1u", 25),
            ("1u << B", 16),
            ("A / B", 1),
            ("0xFFu & ~1", 254),
            ("A > B ? 1 : 2", None),
            ("C", None),
            ("-1", 0xFFFFFFFF),
        ]:
            self.assertEqual(glsl2cu.integer(text, known), value, text)
