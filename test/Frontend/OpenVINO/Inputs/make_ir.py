# ===- make_ir.py - OpenVINO IR, good and damaged -===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Writes a small model as IR: make_ir.py MODEL FILE.xml [OLD NEW]...

OLD is replaced by NEW in the XML; it must be there.
"""

import pathlib
import struct
import sys


def port(k: int, precision: str = "FP32", dims: str = "2") -> str:
    """A port."""
    extents = "".join(f"<dim>{d}</dim>" for d in dims.split(",") if d)
    return f'<port id="{k}" precision="{precision}">{extents}</port>'


def layer(
    k: int, kind: str, name: str, data: str, inputs: str, outputs: str, version: str = "opset1"
) -> str:
    """A layer, on a line of its own."""
    inner = f"<data {data}/>" if data else ""
    inner += f"<input>{inputs}</input>" if inputs else ""
    inner += f"<output>{outputs}</output>" if outputs else ""
    return f'<layer id="{k}" name="{name}" type="{kind}" version="{version}">{inner}</layer>\n'


def edges(*pairs: tuple[int, int, int, int]) -> str:
    """The edges, one a line."""
    return "<edges>\n" + "".join(
        f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>\n'
        for a, b, c, d in pairs
    ) + "</edges>\n"  # fmt: skip


X = layer(0, "Parameter", "x", 'shape="2" element_type="f32"', "", port(0))
C = layer(1, "Const", "c", 'element_type="f32" shape="2" offset="0" size="8"', "", port(0))
ADD = layer(2, "Add", "y", 'auto_broadcast="numpy"', port(0) + port(1), port(2))
RESULT = layer(3, "Result", "r", "", port(0), "")
ADD_GRAPH = (
    f"<layers>\n{RESULT}{ADD}{C}{X}</layers>\n"
    + edges((2, 2, 3, 0), (0, 0, 2, 0), (1, 0, 2, 1))
)  # fmt: skip

BODY = (
    "<body>\n<layers>\n"
    + layer(0, "Parameter", "a", 'shape="2" element_type="f32"', "", port(0))
    + layer(1, "Add", "twice", "", port(0) + port(1), port(2))
    + layer(2, "Result", "next", "", port(0), "")
    + layer(3, "Const", "go", 'element_type="boolean" shape="" offset="16" size="1"', "",
            port(0, "BOOL", ""))
    + layer(4, "Result", "condition", "", port(0, "BOOL", ""), "")
    + "</layers>\n"
    + edges((0, 0, 1, 0), (0, 0, 1, 1), (1, 2, 2, 0), (3, 0, 4, 0))
    + "</body>\n"
)  # fmt: skip
LOOP = (
    '<layer id="4" name="loop" type="Loop" version="opset5">\n<port_map>\n'
    '<input external_port_id="2" internal_layer_id="0"/>\n'
    '<output external_port_id="3" internal_layer_id="2"/>\n'
    '<output external_port_id="-1" internal_layer_id="4" purpose="execution_condition"/>\n'
    "</port_map>\n<back_edges>\n"
    '<edge from-layer="2" to-layer="0"/>\n</back_edges>\n'
    f"<input>{port(0, 'I64', '')}{port(1, 'BOOL', '')}{port(2)}</input>\n"
    f"<output>{port(3)}</output>\n{BODY}</layer>\n"
)
TRIPS = layer(1, "Const", "m", 'element_type="i64" shape="" offset="8" size="8"', "",
              port(0, "I64", ""))  # fmt: skip
GO = layer(2, "Const", "go", 'element_type="boolean" shape="" offset="16" size="1"', "",
           port(0, "BOOL", ""))  # fmt: skip
LOOP_GRAPH = (
    f"<layers>\n{X}{TRIPS}{GO}{LOOP}{RESULT}</layers>\n"
    + edges((1, 0, 4, 0), (2, 0, 4, 1), (0, 0, 4, 2), (4, 3, 3, 0))
)  # fmt: skip
BRANCH = (
    "<layers>\n"
    + layer(0, "Parameter", "a", 'shape="2" element_type="f32"', "", port(0))
    + layer(1, "Result", "b", "", port(0), "")
    + "</layers>\n" + edges((0, 0, 1, 0))
)  # fmt: skip
BRANCH_PORTS = (
    '<input external_port_id="1" internal_layer_id="0"/>\n'
    '<output external_port_id="2" internal_layer_id="1"/>\n'
)
CHOICE = layer(1, "Parameter", "choice", 'shape="" element_type="boolean"', "", port(0, "BOOL", ""))
IF = (
    '<layer id="2" name="if" type="If" version="opset8">\n'
    + "".join(
        f"<{k}_port_map>\n{BRANCH_PORTS}</{k}_port_map>\n<{k}_body>\n{BRANCH}</{k}_body>\n"
        for k in ("then", "else")
    )
    + f"<input>{port(0, 'BOOL', '')}{port(1)}</input>\n<output>{port(2)}</output>\n</layer>\n"
)  # fmt: skip
IF_GRAPH = (
    f"<layers>\n{X}{CHOICE}{IF}{RESULT}</layers>\n"
    + edges((1, 0, 2, 0), (0, 0, 2, 1), (2, 2, 3, 0))
)  # fmt: skip
READ = layer(4, "ReadValue", "read",
             'variable_id="sum" variable_type="f32" variable_shape="2"', port(0), port(1),
             "opset6")  # fmt: skip
ASSIGN = layer(5, "Assign", "keep", 'variable_id="sum"', port(0), port(1), "opset6")
STATE_GRAPH = (
    f"<layers>\n{X}{C}{READ}{ADD}{ASSIGN}{RESULT}</layers>\n"
    + edges((1, 0, 4, 0), (4, 1, 2, 0), (0, 0, 2, 1), (2, 2, 5, 0), (2, 2, 3, 0))
)  # fmt: skip


def main() -> None:
    """Writes what the command line asks for."""
    model, path, *changes = sys.argv[1:]
    graph = {"add": ADD_GRAPH, "loop": LOOP_GRAPH, "if": IF_GRAPH, "state": STATE_GRAPH}[model]
    text = f'<?xml version="1.0"?>\n<net name="{model}" version="11">\n{graph}</net>\n'
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in text, old
        text = text.replace(old, new, 1)
    target = pathlib.Path(path)
    target.write_text(text)
    target.with_suffix(".bin").write_bytes(struct.pack("<ffq?", 1, 2, 3, True))


if __name__ == "__main__":
    main()
