# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each program and library of a folder needs of C libraries; fails above glibc 2.N.

Of the C++ library (libstdc++) nothing is allowed that came after GCC 11.
"""

import pathlib
import re
import subprocess
import sys

folder, oldest = pathlib.Path(sys.argv[1]), int(sys.argv[2])
failed = False
for file in sorted(folder.rglob("*")):
    if not file.is_file() or file.read_bytes()[:4] != b"\x7fELF":
        continue
    table, needed = (
        subprocess.run([tool, option, file], capture_output=True, text=True, check=True).stdout
        for tool, option in (("objdump", "-T"), ("llvm-readelf", "--needed-libs"))
    )
    newest = max(map(int, re.findall(r"\bGLIBC_2\.(\d+)", table)), default=0)
    newest_cxx = max(map(int, re.findall(r"\bGLIBCXX_3\.4\.(\d+)", table)), default=0)
    cxx = f", libstdc++ 3.4.{newest_cxx}" if "libstdc++" in needed else ""
    print(f"{file.relative_to(folder)}: glibc 2.{newest}{cxx}")
    failed |= newest > oldest or newest_cxx > 29
sys.exit(failed)
