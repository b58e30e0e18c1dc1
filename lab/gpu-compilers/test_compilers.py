"""Tests of the tool without a GPU, a compiler or the network: python3 -B -m unittest discover lab/gpu-compilers"""
import contextlib
import io
import os
import stat
import subprocess
import tempfile
import unittest
from unittest import mock

import compilers
import gpus
import spirv
import sweep

ROOT = os.path.realpath(os.path.join(compilers.HERE, "..", ".."))
LIMIT = {"gpu": "h100|navi*", "request": "*", "kernel": "onesweep_*", "max_registers": "56", "min_workgroups": "2"}
ROW = {"gpu": "h100", "request": "keys", "kernel": "onesweep_32", "workgroup_size": "384", "items": "20", "registers": "56",
       "spills": "0", "fills": "0", "scratch_bytes": "0", "workgroups_per_core": "2", "instructions": "2020",
       "instructions_per_item": "101", "slope": "", "compile_ms": "120"}


def run(*arguments):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        status = compilers.main(list(arguments))
    return status, said.getvalue()


class Limits(unittest.TestCase):
    def test_figures_at_their_limits_pass(self):
        self.assertEqual(compilers.check([ROW], [LIMIT]), [])

    def test_a_figure_beyond_its_limit_is_named_with_both_numbers(self):
        said = compilers.check([{**ROW, "registers": "57", "workgroups_per_core": "1"}], [LIMIT])
        self.assertEqual(said, ["h100 keys onesweep_32: registers is 57, allowed is 56 at most",
                                "h100 keys onesweep_32: workgroups_per_core is 1, allowed is 2 at least"])

    def test_the_first_line_that_matches_counts_alone(self):
        first = {**LIMIT, "max_registers": "", "min_workgroups": "3"}
        said = compilers.check([{**ROW, "registers": "57"}], [first, LIMIT])
        self.assertEqual(said, ["h100 keys onesweep_32: workgroups_per_core is 2, allowed is 3 at least"])

    def test_patterns_choose_rows(self):
        for changed, matches in [({}, True), ({"gpu": "navi31-wave32"}, True), ({"gpu": "dg2"}, False),
                                 ({"kernel": "histogram_32"}, False)]:
            self.assertEqual(compilers.matches(LIMIT, {**ROW, **changed}), matches, changed)

    def test_a_limit_for_no_kernel_is_named(self):
        self.assertEqual(compilers.unused([ROW], [LIMIT, {**LIMIT, "kernel": "twosweep"}]),
                         ["h100|navi* * twosweep: no such kernel"])

    def test_tightening_takes_the_worst_of_today_and_loosens_nothing(self):
        limits = [{**LIMIT, "max_registers": "80", "min_workgroups": "1"}]
        rows = [ROW, {**ROW, "request": "pairs", "registers": "64", "workgroups_per_core": "3"}]
        self.assertEqual(compilers.tighten(rows, limits)[0], {**LIMIT, "max_registers": "64", "min_workgroups": "2"})
        worse = compilers.tighten([{**ROW, "registers": "99", "workgroups_per_core": "1"}], [dict(LIMIT)])
        self.assertEqual(worse, [LIMIT])

    def test_a_record_beyond_the_limits_fails_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            record, limits = os.path.join(folder, "record.csv"), os.path.join(folder, "limits.csv")
            compilers.write_csv(record, [ROW], ROW)
            for most, status in [("56", 0), ("55", 1)]:
                compilers.write_csv(limits, [{**LIMIT, "max_registers": most}], LIMIT)
                got, said = run("--read", record, "--check", "--limits", limits)
                self.assertEqual(got, status, said)
                self.assertEqual("beyond its limit: h100 keys onesweep_32: registers" in said, bool(status), said)

    def test_the_kept_record_is_within_the_kept_limits(self):
        status, said = run("--read", os.path.join(ROOT, "lab", "record", "gpu-compilers.csv"), "--check")
        self.assertEqual(status, 0, said)


class Figures(unittest.TestCase):
    def test_constants_and_modules_are_found(self):
        ids = spirv.constants(ROOT)
        self.assertEqual((ids["WORKGROUP_SIZE"], ids["ITEMS"]), ("0", "2"))
        found = {name: words for name, words in spirv.modules(ROOT).values()}
        self.assertEqual(len(found), len(spirv.modules(ROOT)), "two modules have the same functions")
        self.assertTrue(spirv.has_constant(found["onesweep_32"], ids["ITEMS"]))
        self.assertFalse(spirv.has_constant(found["scan_32"], ids["ITEMS"]))

    def test_shared_memory_follows_the_constants(self):
        # A type, a length, an array of it, a pointer and a variable in shared memory.
        words = [0] * 5
        for op, *operands in [(71, 2, 1, 7), (21, 1, 32, 0), (50, 1, 2, 64), (28, 3, 1, 2), (32, 4, 4, 3), (59, 4, 5, 4)]:
            words += [len(operands) + 1 << 16 | op, *operands]
        self.assertEqual(spirv.shared_bytes(words, {}), 256)
        self.assertEqual(spirv.shared_bytes(words, {"7": 100}), 400)

    def test_slopes_need_two_shapes(self):
        row, fewer = {**ROW, "items": 20, "instructions": 2020}, {**ROW, "items": 16, "instructions": 1660}
        self.assertEqual(compilers.add_slopes([dict(row)], [fewer])[0]["slope"], 90)
        self.assertEqual(compilers.add_slopes([dict(row)], [row])[0]["slope"], "")

    def test_workgroups_that_fit_a_core(self):
        for name, said, registers, shared, workgroup, subgroup, fit in [
            ("h100", {"Max warps/SM": 40}, 48, 32 << 10, 384, 32, 3),
            ("h100", {"Max warps/SM": 64}, 24, 100 << 10, 384, 32, 2),
            ("vega20", {}, 64, 20 << 10, 512, 64, 2),
            ("navi31", {}, 120, 1 << 10, 512, 64, 3),
            ("navi31-wave32", {}, 96, 40 << 10, 512, 32, 3),
            ("dg2", {"GRF registers": 0}, 100, 21520, 256, 16, 4),
            ("dg2", {"GRF registers": 256}, 200, 1024, 256, 16, 4),
            ("adreno740", {"Max Waves Per Core": 8}, 24, 0, 128, 128, 4),
            ("m1", {"Threads": 576}, 183, 1 << 10, 256, 32, 2),
            ("m1", {"Threads": 1024}, 97, 1 << 10, 256, 32, 4),
            ("m1", {"Threads": 1024}, 43, 20 << 10, 256, 32, 3),
            ("m1", {"Threads": 1024}, 15, 0, 512, 32, 6),
        ]:
            self.assertEqual(gpus.workgroups(gpus.GPUS[name], said, registers, shared, workgroup, subgroup), fit, name)


CANDIDATE = {"gpu": "h100", "request": "keys", "built_in": "0", "workgroup_size": "256", "items": "16", "subgroup_size": "32",
             "rank": "ballot", "ballot": "by-place", "few_registers": "false", "registers": "48", "spills": "0", "fills": "0",
             "shared_bytes": "20480", "workgroups_per_core": "4", "instructions": "1600", "instructions_per_item": "100"}


class Sweep(unittest.TestCase):
    def test_candidates_that_spill_or_of_which_one_fits_come_last(self):
        few = {**CANDIDATE, "instructions_per_item": "90"}
        worse = [{**few, "spills": "1"}, {**few, "workgroups_per_core": "1"}]
        larger = {**CANDIDATE, "items": "20"}
        self.assertEqual(sorted([*worse, CANDIDATE, larger, few], key=sweep.order), [few, larger, CANDIDATE, *worse])

    def test_a_table_has_the_built_in_row_and_the_first_line_of_each_method(self):
        changes = [{}, {"items": "12"}, {"items": "8", "built_in": "1"}, {"rank": "match"}]
        lines = [{**CANDIDATE, **change} for change in changes]
        text = sweep.table(lines).splitlines()[2:]
        self.assertEqual([line.split(" | ")[2] for line in text],
                         ["256 x 16 / 32 ballot by-place", "**256 x 8 / 32 ballot by-place**", "256 x 16 / 32 match"])

    def test_each_candidate_is_compiled_once_with_the_subgroups_that_the_device_has(self):
        row = {field: CANDIDATE[field] for field in sweep.FIELDS}
        compiled = []

        def compile_request(options, *_):
            compiled.append(dict(change.split("=") for change in options.tuning))
            return [compiled[-1]], []

        def rows_of(gpu, request, made, *_):
            shape = {"workgroup_size": int(made[0]["workgroup_size"]), "items": int(made[0]["items_keys"]), "subgroup_size": 64}
            figures = {field: float(CANDIDATE[field]) for field in sweep.FIGURES}
            return [{**figures, **shape, "gpu": gpu, "request": request}]

        options = compilers.arguments([])
        with (mock.patch.object(sweep, "built_in", lambda *_: dict(row)), mock.patch.object(compilers, "rows_of", rows_of),
              mock.patch.object(compilers, "compile_request", compile_request)):
            lines, failures = sweep.sweep(options, {}, {}, "vega20", "keys")
        self.assertEqual([line["built_in"] for line in lines].count(1), 1)
        self.assertEqual(({line["subgroup_size"] for line in lines}, failures), ({64}, []))
        self.assertEqual([change["subgroup_size"] for change in compiled[:2]], ["32", "64"])
        tried = [tuple(sorted(change.items())) for change in compiled]
        self.assertEqual((len(tried), len(lines)), (len(set(tried)), len(tried)))
        # Six methods in the row's shape, and 19 other shapes by the row's method and by match masks.
        self.assertEqual(len(tried), 1 + 5 + 2 * 19)


class BadInput(unittest.TestCase):
    def test_compilers_that_crash_or_hang_are_named_and_the_others_go_on(self):
        # Stands for the program: module 1 is compiled well, module 2 crashes, module 3 hangs.
        text = """#!/bin/sh
for module in 1 2 3; do
    case $PIPESTATS_SKIP in *$module*) continue ;; esac
    echo "{\\"compiling\\": \\"$module\\"}" >>"$PIPESTATS"
    [ $module != 2 ] || kill -SEGV $$
    [ $module != 3 ] || exec sleep 60
    echo "{\\"module\\": \\"$module\\"}" >>"$PIPESTATS"
done
"""
        with tempfile.NamedTemporaryFile("w", suffix=".sh", delete=False) as file:
            file.write(text)
        os.chmod(file.name, stat.S_IRWXU)
        try:
            options = compilers.arguments(["--runner", file.name, "--timeout", "1", "--folder", "/", "--program", "none"])
            made, failures = compilers.compile_request(options, {"2": ("onesweep_32", [])}, "dg2", "keys", 0)
        finally:
            os.remove(file.name)
        self.assertEqual(made, [{"module": "1"}])
        self.assertEqual(failures, ["dg2 keys onesweep_32: the compiler ended with status -11",
                                    "dg2 keys 3: the compiler took more than 1 s"])

    def test_packages_that_cannot_be_had_are_one_line_and_no_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "VKSORT_DEBIAN": "http://127.0.0.1:9/debian", "VKSORT_GPU_COMPILERS": folder}
            done = subprocess.run([os.path.join(ROOT, "scripts", "gpu-compilers.sh"), "--check"], env=environment,
                                  capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stderr.startswith("gpu-compilers: skipped: "), done.stderr)
        self.assertEqual(done.stdout + done.stderr.rstrip("\n"), done.stderr.rstrip("\n"))
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
