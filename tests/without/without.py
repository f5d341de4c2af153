#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the library without some of its parts, and for WASI, and lets each build print the same report.

usage: without.py TOP REPORT PERFDATA DATA CC...
REPORT and PERFDATA are programs with all of the library, DATA the folder of recordings. Where a part is left out, its
functions of the system must not be called: nm tells. Exit status: 77 if all is well but what WebAssembly takes is missing.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

FILES = ["open", "open64", "openat", "openat64", "fopen", "fopen64", "fdopen", "opendir", "fdopendir", "mmap", "mmap64", "stat",
         "stat64", "lstat", "lstat64", "readlink", "realpath", "mkstemp", "mkstemp64", "mkostemp", "mkdtemp", "mkdir", "rename",
         "unlink", "rmdir"]
RECORD = ["perf_event_open", "fork", "execvp", "execve", "ptrace", "syscall"]
# options, functions that must not be called
BUILDS = {
    "without recording": (["record=disabled"], RECORD),
    "without threads": (["threads=disabled"], ["pthread_create", "pthread_mutex_lock", "pthread_cond_wait"] + RECORD),
    "without files": (["files=disabled"], FILES + RECORD),
    "without all": (["record=disabled", "threads=disabled", "files=disabled", "zstd=disabled", "zlib=disabled", "lzma=disabled",
                     "bzip2=disabled", "cxx=disabled", "sqlite=disabled", "capstone=disabled"], ["pthread_create", "pthread_mutex_lock"] + FILES + RECORD),
}
WASI_FLAGS = ["-isystem", "/usr/include/wasm32-wasi", "-D_WASI_EMULATED_MMAN"]
WASI_LIBRARIES = ["-L/usr/lib/wasm32-wasi", "-fuse-ld=lld", "-lwasi-emulated-getpid", "-lwasi-emulated-process-clocks",
                  "-lwasi-emulated-mman"]
failures = 0


def fail(message):
    global failures
    print(message)
    failures += 1


def done(command, **more):
    result = subprocess.run(command, capture_output=True, check=False, **more)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {result.returncode}\n"
                 f"{result.stdout.decode(errors='replace')[-3000:]}{result.stderr.decode(errors='replace')[-3000:]}")
    return result.stdout


def build(top, folder, options, *more, compiler=None):
    """The library of a build with these options."""
    env = dict(os.environ, CC=" ".join(compiler)) if compiler else None
    done(["meson", "setup", folder, top, "--buildtype=plain", "-Dwerror=true", "-Dtests=false", *more]
         + ["-D" + option for option in options], env=env)
    done(["ninja", "-C", folder, "src/libperfdata.a"])
    return os.path.join(folder, "src", "libperfdata.a")


def check_calls(name, library, forbidden):
    undefined = set(re.findall(r" U (\w+)", done(["nm", "-u", library]).decode()))
    if not undefined:
        fail(f"{name}: nm shows no undefined functions")
    for function in forbidden:
        if function in undefined:
            fail(f"{name}: the library calls {function}")


def libraries(options):
    every = {"zstd": "-lzstd", "zlib": "-lz", "lzma": "-llzma", "bzip2": "-lbz2"}
    return [flag for name, flag in every.items() if name + "=disabled" not in options]


def make_inputs(folder, perfdata, data):
    """Recordings, and a bundle with names that a build without zstd reads."""
    inputs = []
    for name in ("hot.data", "hot-multi.data", "hot-pipe.data", "hot-records.data"):
        inputs.append(os.path.join(folder, name))
        shutil.copy(os.path.join(data, name), inputs[-1])
    unpacked = os.path.join(folder, "unpacked")
    bundle = os.path.join(data, "..", "demo", "hot.tar.zst")
    done([perfdata, "unpack", "-o", unpacked, bundle])
    plain = os.path.join(folder, "plain.data")
    done([perfdata, "convert", "--no-compress", "-o", plain, bundle])
    inputs.append(os.path.join(folder, "plain.tar"))
    done([perfdata, "pack", "--no-index", "--symfs", unpacked, "-o", inputs[-1], plain])
    return inputs


def compare(name, command, inputs, expected, rename=lambda path: path, more=()):
    for path in inputs:
        result = subprocess.run([*command, rename(path), *more], capture_output=True, check=False)
        if result.returncode != 0 or result.stdout != expected[path]:
            fail(f"{name}: {os.path.basename(path)}: exit status {result.returncode}, {len(result.stdout)} bytes instead of "
                 f"{len(expected[path])}: {result.stderr.decode(errors='replace')[-500:]}")


def native(top, folder, cc, inputs, nothing, expected):
    report = os.path.join(top, "tests", "without", "report.c")
    for name, (options, forbidden) in BUILDS.items():
        library = build(top, os.path.join(folder, name.replace(" ", "-")), options, compiler=cc)
        check_calls(name, library, forbidden)
        program = os.path.join(folder, "report " + name)
        done([*cc, "-I", os.path.join(top, "include"), report, library, "-o", program, *libraries(options), "-lm",
              "-lpthread"] + ([] if "cxx=disabled" in options or "threads=disabled" in options else ["-lsupc++"]))
        # objects of this machine would give names
        more = [] if "files=disabled" in options else [nothing]
        compare(name, [program], inputs, expected, more=more)
        print(f"{name}: built, {len(inputs)} reports alike")


def webassembly(top, folder, inputs, expected):
    missing = [tool for tool in ("clang", "wasm-ld", "node") if not shutil.which(tool)]
    missing += [path for path in ("/usr/include/wasm32-wasi", "/usr/lib/wasm32-wasi/libc.a") if not os.path.exists(path)]
    if missing:
        print(f"WebAssembly is left out: there is no {', '.join(missing)} here")
        return False
    here = os.path.join(top, "tests", "without")
    options = ["record=disabled", "threads=disabled", "files=disabled", "zstd=disabled", "zlib=disabled", "lzma=disabled",
               "bzip2=disabled", "cxx=disabled", "sqlite=disabled", "capstone=disabled"]
    library = build(top, os.path.join(folder, "wasi"), options, "--cross-file", os.path.join(here, "wasi.ini"))
    program = os.path.join(folder, "report.wasm")
    done(["clang", "--target=wasm32-wasi", *WASI_FLAGS, "-I", os.path.join(top, "include"), os.path.join(here, "report.c"),
          library, "-o", program, *WASI_LIBRARIES])
    compare("WebAssembly", ["node", "--no-warnings", os.path.join(here, "run.mjs"), program, os.path.dirname(inputs[0])], inputs,
            expected, lambda path: "/data/" + os.path.basename(path))
    print(f"WebAssembly: built, {len(inputs)} reports alike")
    return True


def main():
    top, report, perfdata, data = (os.path.abspath(path) for path in sys.argv[1:5])
    cc = sys.argv[5:]
    with tempfile.TemporaryDirectory(prefix="perfdata-without-") as folder:
        inputs = make_inputs(folder, perfdata, data)
        nothing = os.path.join(folder, "nothing")
        os.mkdir(nothing)
        expected = {path: done([report, path, nothing]) for path in inputs}
        if b"burn_div" not in expected[inputs[-1]]:
            fail("the bundle shows no names")
        for path in inputs:
            if b"%" not in expected[path]:
                fail(f"{path}: an empty report")
        native(top, folder, cc, inputs, nothing, expected)
        ran = webassembly(top, folder, inputs, expected)
    if failures:
        sys.exit(1)
    return 0 if ran else 77


if __name__ == "__main__":
    sys.exit(main())
