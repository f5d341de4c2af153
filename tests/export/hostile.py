#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings whose names and numbers want to break out of every format, exported and read back: well-formed, harmless, nothing lost.

usage: hostile.py PERFDATA

Names of threads, objects, functions and events have control characters, invalid UTF-8, quotes, separators of the formats, markup,
formulas, and one has 60,000 characters. Periods, times and CPUs are as large as they can be, stacks as deep. Exit status: 0 all is well-formed, 1 not.
"""

import os
import re
import struct
import subprocess
import sys
import tempfile

import ctf
import formats

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scale"))
import escapes  # noqa: E402
import scale  # noqa: E402

LEADS = (b"", b"=1+cmd|' /C calc'!A0", b"+1+", b"-2", b"@SUM(1)", b'"],"x":["', b"</script><script>alert(1)</script>", b"a;b c 12",
         b"fn=(1) x", b"(1) y", b"\\u0000\\", b"'\"`$(id)", b"%s%n", b"//x\n\nfl=y\n")
LONG = b"N" * 60000
BAD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def recording(lead):
    """Names that begin so, and the long one, which only functions of the kernel can have."""
    r = escapes.hostile(lead)
    for i, name in enumerate((lead + b"z" if lead else b"x", LONG[:500])):
        start = 0xffffffffd0000000 + i * 0x1000
        r.add(17, scale.KERNEL, struct.pack("<QIHH", start, 0x100, 1, 0) + escapes.padded(name))
        r.sample(7, start + 8, misc=scale.KERNEL)
    return r


def long_recording():
    """An object whose path takes all that a record can hold."""
    r = scale.Recording(events=1)
    r.add(10, scale.USER, struct.pack("<IIQQQIIQQII", 7, 7, 0x400000, 0x1000, 0, 8, 1, 2, 0, 5, 2) + escapes.padded(b"/" + LONG), pid=7)
    for _ in range(3):
        r.sample(7, 0x400010)
    return r


def numbers_recording():
    """Periods, times and CPUs at the ends of what they can be."""
    r = scale.Recording(events=2)
    for time, cpu, period in ((0, 0, 2**64 - 1), (1, 2**32 - 2, 2**63), (2**63, 4095, 2**63 - 1), (2**64 - 3, 1, 2**64 - 1), (2**64 - 2, 1, 0)):
        for event in range(2):
            body = struct.pack("<QQIIQIIQQ", event + 1, 0x400010, 1, 1, time, cpu, 0, period, 1)
            r.records.append(struct.pack("<IHH", 9, scale.USER, 8 + len(body)) + body)
    return r


DEEP = """event {
	name: "cycles:u"
	ids: [7]
	type: hardware
	sample_period: 4000
	sample_type: IP|TID|TIME|PERIOD|CALLCHAIN|IDENTIFIER
	flags: mmap|comm|sample_id_all
}
"""


class Deep:
    """Stacks of as many callers as a record can hold, each sample with others."""

    def __init__(self, perfdata):
        self.perfdata = perfdata

    def write(self, path):
        text = DEEP
        for i in range(3):
            chain = ", ".join(["0xfffffffffffffe00", *(hex(0x400000 + i + 16 * k) for k in range(8100))])
            text += f"SAMPLE misc: user, ip: {0x400000 + i:#x}, pid: 42, tid: 42, time_ns: 1.{i}, period: 9, callchain: [{chain}]\n"
        subprocess.run([self.perfdata, "assemble", "-o", path], input=text.encode(), check=True)


def events_recording(count):
    """So many events: tables of strings grow somewhere on the way."""
    r = scale.Recording(events=count)
    for i in range(count):
        r.sample(1, 0x400010, event=i)
    descs = [scale.attr(config=i % 8) + struct.pack("<I", 1) + escapes.string(b"event-%d" % i) + struct.pack("<Q", i + 1) for i in range(count)]
    r.features[12] = struct.pack("<II", count, scale.ATTR_SIZE) + b"".join(descs)
    return r


def judge(perfdata, name, label, path, samples, failures):
    done = subprocess.run([perfdata, "export", "--to", name, "--no-symbols", path], capture_output=True, timeout=60)
    if name in formats.FROM_BRANCHES and done.returncode == 5 and b"branch" in done.stderr:
        return
    if done.returncode not in (0, 1):
        failures.append(f"{name}: {label}: exit code {done.returncode}: {done.stderr[:200]}")
        return
    try:
        stacks = formats.read(name, done.stdout)
    except formats.Malformed as error:
        failures.append(f"{name}: {label}: malformed: {str(error)[:200]}")
        return
    if name == "callgrind":
        failures += [f"callgrind: {label}: a name with {text!r}" for names in stacks.names.values() for text in names.values() if BAD.search(text)]
        return
    if name not in formats.WITHOUT_SAMPLES and sum(stack.samples or stack.value for stack in stacks) != samples:
        failures.append(f"{name}: {label}: {sum(stack.samples or stack.value for stack in stacks)} samples, expected {samples}")
    for stack in stacks:
        for text in (stack.thread, *stack.frames):
            if BAD.search(text or ""):
                failures.append(f"{name}: {label}: a name with {BAD.search(text).group()!r}")
                return


def main():
    perfdata = os.path.abspath(sys.argv[1])
    said = subprocess.run([perfdata, "export"], capture_output=True, text=True).stderr.splitlines()[1:]
    names = [line.split(":", 1)[1].split()[0] for line in said]
    failures = []
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        cases = [(repr(lead), recording(lead), 10) for lead in LEADS] + [("a path of 60,000 bytes", long_recording(), 3)]
        cases += [("large numbers", numbers_recording(), 10), ("deep stacks", Deep(perfdata), 3)]
        for label, made, samples in cases:
            path = os.path.join(folder, "x.data")
            made.write(path)
            for name in names:
                if name in formats.IN_FOLDERS:
                    continue
                judge(perfdata, name, label, path, samples, failures)
                count += 1
            failures += ctf.differences(perfdata, path, os.path.join(folder, "trace"), samples)
        for number in range(1, 20):
            path = os.path.join(folder, "events.data")
            events_recording(number).write(path)
            failures += ctf.differences(perfdata, path, os.path.join(folder, "trace"), number)
    print("\n".join(failures[:40]) or f"{count} exports of hostile names are well-formed")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
