# SPDX-License-Identifier: MIT
"""Recordings to measure with: what is recorded, and how it gets its size."""

import os
import shlex
import shutil
import signal
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
CC = shlex.split(os.environ.get("CC", "cc"))
BUSY = ("6", "4", "5000")  # processes, threads of each, milliseconds
BUILD_SECONDS = 8
FORKS_MOST = {"forks": 30 * 10**6, "locks": 3 * 10**6}  # bytes that are repeated, with all records
FORKS_PART = 10  # of the size, if it is less
PATIENCE_S = 3600  # for a recording
RING = "4M"

REAL = {
    "real": (["-a", "-g", "-F", "15000", "-m", RING], "real: the whole machine while this tree is built; nothing is repeated"),
    "forks": (
        ["-a", "-g", "-F", "2000", "-m", RING],
        "forks: the whole machine while this tree is built, all records repeated with new times and process numbers",
    ),
    "stacks": (
        ["-a", "--call-graph", "dwarf,16384", "-F", "2000", "-m", RING],
        "stacks: the whole machine while this tree is built, with copied stacks of 16 KiB to be unwound; nothing is repeated",
    ),
    "syscalls": (
        ["-a", "-e", "raw_syscalls:*", "-m", RING],
        "syscalls: begins and ends of all system calls while this tree is built; nothing is repeated",
    ),
    "kmem": (
        ["-a", "-e", "kmem:kmalloc,kmem:kfree,kmem:kmem_cache_alloc,kmem:kmem_cache_free", "-m", RING],
        "kmem: allocations of the kernel while this tree is built; nothing is repeated",
    ),
    "locks": (
        ["-a", "-g", "-e", "lock:contention_begin,lock:contention_end", "-m", RING],
        "locks: waiting for locks of the kernel while this tree is built, all records repeated with new times and process numbers",
    ),
    "sched": (["-a", "-e", "sched:*", "-m", RING], "sched: all scheduler events while this tree is built; nothing is repeated"),
}
START = "start: a compiler, once: what a command costs before it reads much"
REPEATED = {
    "busy": "busy: a program of which nearly every sample has a stack of its own, samples repeated",
    "build": "build: the whole machine while a compiler works, samples repeated",
}
# one after another
SEVERAL = {"waiting": ("sched", "syscalls", "kmem", "locks")}
NAMES = (*REAL, "start", *REPEATED, *SEVERAL)


class Failure(Exception):
    """A recording cannot be made."""


def compile_tool(scratch, name, *flags):
    """Path of a compiled tool of this folder."""
    out = os.path.join(scratch, name)
    subprocess.run([*CC, "-std=gnu11", *flags, "-o", out, os.path.join(HERE, name + ".c")], check=True)
    return out


def linked_tool(folder, name):
    """A tool of this folder, linked with the library of a build folder, or None."""
    made = os.path.join(folder, "bench", name)
    if os.path.exists(os.path.join(folder, "build.ninja")):
        subprocess.run(["ninja", "-C", folder, "bench/" + name], stdout=subprocess.DEVNULL, check=False)
    return made if os.access(made, os.X_OK) else None


# ---- small recordings, to be repeated ----


def work_of(scratch, name):
    """Options of perf record, and the command that it records."""
    if name == "busy":
        return [], [compile_tool(scratch, "busy", "-O0", "-fno-omit-frame-pointer", "-pthread"), *BUSY]
    # two at a time, until the time is over
    compiler = f"{shlex.join(CC)} -O2 -c -o /dev/null large.c"
    loop = f"end=$(($(date +%s) + {BUILD_SECONDS})); while [ $(date +%s) -lt $end ]; do {compiler}; done"
    return ["-a"], ["sh", "-c", f"({loop}) & {loop}; wait"]


def record_small(scratch, work):
    """A small recording, and a word about where it comes from."""
    small = os.path.join(scratch, "small.data")
    if shutil.which("perf"):
        options, command = work_of(scratch, work)
        words = ["perf", "record", "-q", *options, "-g", "-F", "20000", "-e", "cpu-clock"]
        words_here = [*words, "-o", os.path.abspath(small), *command]
        done = subprocess.run(words_here, cwd=HERE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if done.returncode == 0:
            return small, shlex.join([*words, os.path.basename(command[0]), *command[1:]])
    return os.path.join(TOP, "tests", "data", "hot.data"), "tests/data/hot.data"


def record_start(path):
    """A recording of some 100 KB, with processes, objects and functions of the kernel; returns how it was made."""
    compiler = [*CC, "-O0", "-c", "-o", "/dev/null", os.path.join(HERE, "once.c")]
    command = ["perf", "record", "-q", "-g", "-F", "15000"]
    if not shutil.which("perf"):
        raise Failure("perf is not there")
    done = subprocess.run([*command, "-o", path, *compiler], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode:
        raise Failure(f"perf record failed: {done.stderr.strip()}")
    return shlex.join([*command, *compiler[:-1], "once.c"])


def describe(work):
    """What a work is, in a line."""
    if work == "start":
        return START
    return REAL[work][1] if work in REAL else REPEATED[work]


# ---- real work, recorded until there is enough of it ----


def start_builds(scratch):
    """Builds the tree again and again, each time from nothing, in a session of its own."""
    tree = shlex.quote(os.path.join(scratch, "tree"))
    once = f"rm -rf {tree}; meson setup {tree} {shlex.quote(TOP)} --buildtype=release && ninja -C {tree}"
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    return subprocess.Popen(["sh", "-c", f"while :; do {once} || exit; done"], env=environment, start_new_session=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def stop(process):
    """Ends a session that was started here."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
    except ProcessLookupError:
        pass
    process.wait()


def record_real(scratch, work, size, path):
    """Records until the file has a size; returns the options of perf record."""
    options = REAL[work][0]
    # perf begins to end when it has written so much, and takes whole pages of its unit
    command = ["perf", "record", "-q", *options, f"--max-size={max(size >> 10, 1)}K", "-o", path]
    builds = start_builds(scratch)
    try:
        recorder = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + PATIENCE_S
        while recorder.poll() is None and builds.poll() is None and time.monotonic() < end:
            time.sleep(0.2)
        if recorder.poll() is None:
            recorder.send_signal(signal.SIGINT)
        said = recorder.communicate()[1].strip()
        if builds.returncode is not None:
            raise Failure("the tree cannot be built")
    finally:
        stop(builds)
        shutil.rmtree(os.path.join(scratch, "tree"), ignore_errors=True)
    if not os.path.exists(path) or os.path.getsize(path) < size // 2:
        raise Failure(f"perf record failed: {said or 'too little was recorded'}")
    return shlex.join(["perf", "record", *options])


def make_real(scratch, work, size, path, folder):
    """A recording of real work of about that size; returns how it was made."""
    if work == "start":
        return record_start(path)
    if not shutil.which("perf"):
        raise Failure("real work is recorded with perf, which is not there")
    if work not in FORKS_MOST:
        return record_real(scratch, work, size, path)
    forks = linked_tool(folder, "forks")
    if not forks:
        raise Failure(f"{folder}/bench/forks: not there; build first")
    seed = os.path.join(scratch, "seed.data")
    origin = record_real(scratch, work, min(FORKS_MOST[work], size // FORKS_PART), seed)
    done = subprocess.run([forks, seed, path, str(size)], check=True, stdout=subprocess.PIPE, text=True)
    os.unlink(seed)
    return f"{origin}; {done.stdout.strip()}"
