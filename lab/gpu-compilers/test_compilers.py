"""Tests of the tool without a GPU, a compiler or the network: python3 -B -m unittest discover lab/gpu-compilers"""
import contextlib
import dataclasses
import io
import os
import stat
import subprocess
import tempfile
import unittest

import compilers
import few
import gpus
import model
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


DEVICE = model.Device(cores=10, clock_mhz=1000, bandwidth_gb_s=100, lanes=64, shared_lanes=32, latency=500, transaction=32,
                      subgroups=(32,))
CANDIDATE = {"gpu": "h100", "request": "keys", "built_in": "0", "workgroup_size": "256", "items": "16", "subgroup_size": "32",
             "rank": "ballot", "ballot": "by-place", "few_registers": "false", "registers": "48",
             "spills": "0", "fills": "0", "workgroups_per_core": "4", "instructions": "1600"}


class Model(unittest.TestCase):
    def predict(self, pairs=False, **changes):
        return model.predict(DEVICE, {**CANDIDATE, **changes}, pairs)

    def test_terms_are_those_of_the_formula(self):
        # 1600 x 0.8 instructions of 8 warps on 2 warps' lanes, for 4096 keys: 40 cycles for 32.
        self.assertEqual(self.predict()["issue"], 40)
        self.assertEqual(self.predict()["shared"], 16.8)
        # 8 bytes a key, 3 KiB of the table, and half a transaction of 256 runs: 10 bytes in a cycle.
        self.assertEqual(self.predict()["bytes"], round((8 * 4096 + 3072 + 256 * 16) / 10 / 128, 2))
        self.assertEqual(self.predict()["latency"], round(2000 / 128, 2))
        self.assertEqual((self.predict()["cycles"], self.predict()["bound"]), (40, "issue"))

    def test_what_is_worse_costs_more(self):
        base = self.predict()["cycles"]
        for changes in [{"instructions": "3200"}, {"spills": "400", "fills": "400"}, {"workgroups_per_core": "1"},
                        {"rank": "match"}]:
            self.assertGreater(self.predict(**changes)["cycles"], base, changes)
        self.assertGreater(self.predict(pairs=True)["bytes"], self.predict()["bytes"])
        self.assertEqual(self.predict(workgroups_per_core="1")["bound"], "latency")
        self.assertIsNone(self.predict(workgroups_per_core="0"))

    def test_every_gpu_of_the_model_has_a_compiler(self):
        for name, device in model.devices().items():
            for subgroup in device.subgroups:
                self.assertIn(sweep.node(name, subgroup), gpus.GPUS)

    def test_the_kept_candidates_have_a_built_in_row_each_and_are_in_the_model_s_order(self):
        rows = compilers.read_csv(os.path.join(ROOT, "lab", "record", "gpu-sweep.csv"))
        for gpu in model.devices():
            for request in sweep.REQUESTS:
                lines = [row for row in rows if (row["gpu"], row["request"]) == (gpu, request)]
                self.assertEqual([row["built_in"] for row in lines].count("1"), 1, (gpu, request))
                self.assertEqual([row["place"] for row in lines], [str(place + 1) for place in range(len(lines))])
        again = sweep.predicted_again(rows)
        self.assertEqual([row["cycles"] for row in again], [float(row["cycles"]) for row in rows])

    def test_the_page_has_the_places_of_the_kept_candidates(self):
        rows = compilers.read_csv(os.path.join(ROOT, "lab", "record", "gpu-sweep.csv"))
        with open(os.path.join(ROOT, "lab", "GPU-COMPILERS.md"), encoding="utf-8") as page:
            self.assertIn(f"\n\n{sweep.places(rows)}\n\n", page.read())

    def test_the_built_in_rows_of_both_records_are_the_same(self):
        kept = {(row["gpu"], row["request"]): row for row in compilers.read_csv(
            os.path.join(ROOT, "lab", "record", "gpu-compilers.csv")) if row["kernel"].startswith(("onesweep_32", "scatter_32"))}
        for row in compilers.read_csv(os.path.join(ROOT, "lab", "record", "gpu-sweep.csv")):
            if row["built_in"] == "1":
                other = kept[sweep.node(row["gpu"], row["subgroup_size"]), row["request"]]
                fields = ["workgroup_size", "items", "subgroup_size", "registers", "spills", "instructions"]
                self.assertEqual([row[field] for field in fields], [other[field] for field in fields], row)

    def test_a_table_marks_the_built_in_row(self):
        rows = sweep.predicted_again([{**CANDIDATE, "items": "16", "built_in": "1"}, {**CANDIDATE, "instructions": "1000"}])
        text = sweep.table(rows)
        self.assertIn("| h100 | keys | 2 of 2 | **256 x 16 / 32 ballot by-place** |", text)

    def test_one_workgroup_takes_longer_with_more_elements_and_a_chain_does_not(self):
        row = {"workgroup_size": "256", "subgroup_size": "32", "slope": "80", "instructions": "1600",
               "kernel": "onesweep_32"}
        times = [few.single(DEVICE, row, n) for n in (1000, 1024, 1025, 4096)]
        self.assertTrue(times[0] == times[1] < times[2] < times[3], times)
        # Eighty instructions for each of four items, in each of four passes, each waiting for the one before.
        four_more = few.single(DEVICE, row, 256 * 12) - few.single(DEVICE, row, 256 * 8)
        self.assertAlmostEqual(four_more, 4 * 4 * 80 * 5 / 1000)
        # On half the lanes, eight warps take turns; of 1280 elements only five have some.
        slow = dataclasses.replace(DEVICE, lanes=32)
        self.assertAlmostEqual(few.single(slow, row, 2048) - few.single(slow, row, 1280), 4 * 8 * 80 * 3 / 1000)
        scatter = {**row, "kernel": "scatter_32"}
        self.assertEqual(few.chain(DEVICE, scatter, row) - few.chain(DEVICE, row, row), 8 * few.DISPATCH)


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
