# ===- test_quick.py - The tests of one pass --------------------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""./dev test quick: what names stand for, which tests are chosen, and the map of what they exercise."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "utils"))

import quick  # noqa: E402


def meaning(name: str, seconds: float, passes: str = "", operators: str = "") -> quick.Meaning:
    return quick.Meaning(name, seconds, frozenset(passes.split()), frozenset(operators.split()))


def wanted(*names: str) -> quick.Wanted:
    result = quick.Wanted()
    for name in names:
        quick.want(name, set(quick.defined_passes().values()), result)
    return result


def test_the_map_reads_what_it_writes():
    tests = [
        meaning("test_a.py::test_one[x y]", 1.25, "loop-a loop-c", "Add Mul"),
        meaning("test_b.py::test_two", 0.5, "loop-b loop-c"),
    ]
    assert quick.parse_map(quick.print_map(reversed(tests))) == tests


def test_what_was_run_again_replaces_its_row():
    this = "test_quick.py::test_what_was_run_again_replaces_its_row"
    other = meaning("test_quick.py::test_the_map_reads_what_it_writes[x]", 1)
    gone = [meaning("test_quick.py::test_gone", 1), meaning("test_gone.py::test_it", 1)]
    new = [meaning(f"{this}[b]", 2)]
    assert quick.merge([*gone, meaning(f"{this}[a]", 1), other], new) == [other, *new]


def test_traces_keep_the_run_that_shows_most(tmp_path):
    (tmp_path / "gw0.tsv").write_text(
        "test_a.py::test_one[x]\t3\ta b\tAdd\ntest_a.py::test_one[y]\t1\ta b\tMul\n"
        "test_a.py::test_one[z]\t0.1\ta\tMul\n"
    )
    (found,) = quick.read_traces(tmp_path)
    assert found == meaning("test_a.py::test_one[y]", 1, "a b", "Mul")


def test_a_file_stands_for_its_pass():
    assert wanted("lib/Tensor/FoldConstants.cpp").passes == {"tensor-fold-constants"}
    assert wanted(str(ROOT / "lib/Tensor/FoldConstants.cpp")).passes == {"tensor-fold-constants"}


def test_definitions_stand_for_their_passes():
    tensor = wanted("include/loopc/Tensor/Passes.td").passes
    assert {"tensor-fold-constants", "tensor-fuse-elementwise"} <= tensor
    assert "loop-fuse-loops" not in tensor
    assert quick.choose_lit(wanted("include/loopc/Dialect/Loop/IR/LoopOps.td"))


def test_a_header_stands_for_those_that_include_it():
    assert "loopc-launch-kernels" in wanted("lib/Codegen/GPU/Kernels/Grids.h").passes
    assert "loopc-launch-kernels" in wanted("lib/Codegen/GPU/Kernels/Grids.cpp").passes


def test_a_lowering_stands_for_its_operators():
    softmax = wanted("lib/Conversion/ONNXToLinalg/NN/Softmax.cpp")
    assert softmax.operators == {"Softmax", "LogSoftmax", "Hardmax"}
    assert not softmax.passes
    lit = quick.choose_lit(softmax)
    assert lit
    assert all("max" in (ROOT / path).read_text() for path in lit)


def test_a_tool_stands_for_its_tests():
    lit = quick.choose_lit(wanted("tools/loopc-lsp-server/HoverFilter.cpp"))
    folder = pathlib.Path("test/Tools/loopc-lsp-server")
    assert sorted(lit) == [folder / "hover.test", folder / "nested.test"]


def test_a_test_stands_for_itself():
    both = wanted("test/python/test_quick.py", "test/Tensor/fold-constants.mlir")
    assert quick.choose_python(both, []) == ["test_quick.py"]
    assert quick.choose_lit(both) == [pathlib.Path("test/Tensor/fold-constants.mlir")]


def test_lit_tests_name_the_pass():
    lit = quick.choose_lit(wanted("loop-fuse-loops"))
    assert pathlib.Path("test/Dialect/Loop/Transforms/fuse-loops.mlir") in lit
    assert all("--loop-fuse-loops" in (ROOT / path).read_text() for path in lit)


def test_meaning_tests_are_few_and_of_many_files():
    tests = [meaning(f"test_{i % 20}.py::test_{i}", 0.1 + i / 100, "loop-x") for i in range(400)]
    chosen = quick.choose_python(quick.Wanted(passes={"loop-x"}), tests)
    seconds = {test.name: test.seconds for test in tests}
    assert sum(seconds[name] for name in chosen) <= quick.PYTEST_SECONDS
    assert len({name.split("::")[0] for name in chosen}) == quick.TEST_FILES
    # A slow one of another file does not end the choice.
    slow = meaning("test_slow.py::test_it", 1000.0, "loop-x")
    assert quick.choose_python(quick.Wanted(passes={"loop-x"}), [slow, *tests]) == chosen
    # The rare pass has its test beside one that nearly all exercise.
    rare = meaning("test_rare.py::test_it", 2.0, "loop-rare")
    both = quick.Wanted(passes={"loop-x", "loop-rare"})
    assert rare.name in quick.choose_python(both, [*tests, rare])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["loop-fuse-loop"], "neither a pass nor a file 'loop-fuse-loop'; similar passes: loop-f"),
        (["README.md"], "'README.md' is no file of lib/, include/, tools/ or test/"),
        ([], "what was changed?"),
    ],
)
def test_what_is_not_there_is_said(arguments, message):
    script = [sys.executable, "utils/quick.py", *arguments]
    done = subprocess.run(script, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_plan_runs_what_is_there(tmp_path):
    file = tmp_path / "test_plan.py"
    file.write_text(
        "import pytest\n@pytest.mark.parametrize('x', [1, 2])\ndef test_two(x):\n    pass\n"
        "def test_other():\n    assert False\n"
    )
    plan = tmp_path / "plan"
    plan.write_text("lit x\npytest test_plan.py::test_two[2]\npytest test_plan.py::test_two[3]\n")
    environment = dict(os.environ, LOOPC_QUICK_PLAN=str(plan), PYTHONPATH=str(ROOT / "test/python"))
    run = [sys.executable, "-m", "pytest", "-q", "-p", "quick_select", "--rootdir", str(tmp_path)]
    done = subprocess.run([*run, str(file)], env=environment, capture_output=True, text=True)
    assert "1 passed, 2 deselected" in done.stdout


def test_the_map_is_of_these_tests():
    """Renamed, or removed: ./dev test quick --update with the files writes them anew."""
    tests = quick.parse_map((ROOT / quick.MAP).read_text())
    assert [test.name for test in tests if not quick.is_there(test.name)] == []


def test_each_pass_that_changes_tensors_has_tests():
    tests = quick.parse_map((ROOT / quick.MAP).read_text())
    exercised = {name for test in tests for name in test.passes}
    for name in ("tensor-fuse-elementwise", "buffer-assign-storage", "cpu-vectorize-contractions"):
        assert name in exercised
