#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Branch stacks as compilers want them: exact counts, and what perf2bolt and llvm-profgen make of them.

usage: compilers.py PERFDATA [--readers]

A program is built as a position independent executable and as one with a fixed address, by the linkers that are here, and run step by step:
its branches, as a processor would have recorded them, make the branch stacks of a recording that is assembled. The counts are those that were
recorded, at the addresses that each format has; perf2bolt finds each branch with its counts, llvm-bolt makes a program of them that
still works, llvm-profgen finds the functions. With --readers they must be there. Exit status: 0 so it is, 1 not, 77 no compiler, or
no reader.
"""

import collections
import ctypes
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
# Without a library, so that all of its steps are its own. It ends with a number that says whether it works.
SOURCE = """
__attribute__((noinline)) static long next(long n)
{
	return n & 1 ? 3 * n + 1 : n / 2;
}
__attribute__((noinline)) static long steps(long n)
{
	long count = 0;
	for (; n != 1; count++)
		n = next(n);
	return count;
}
__attribute__((noinline)) static long sort(long *items, long count)
{
	long swaps = 0;
	for (long i = 1; i < count; i++)
		for (long k = i; k && items[k - 1] > items[k]; k--, swaps++) {
			long other = items[k];
			items[k] = items[k - 1];
			items[k - 1] = other;
		}
	return swaps;
}
__attribute__((used)) static long work(void)
{
	long items[40], sum = 0;
	for (long i = 0; i < 40; i++)
		items[i] = steps(i + 3);
	sum = sort(items, 40);
	return (sum ^ items[39]) & 127;
}
__asm__(".text\\n.globl _start\\n.type _start,@function\\n_start: xorl %ebp, %ebp\\n call work\\n movl %eax, %edi\\n movl $60, %eax\\n syscall\\n"
	".size _start, .-_start\\n");
"""
FUNCTIONS = ("next", "steps", "sort", "work")
# of each sample; and between two of them, so that stacks have some branches twice
ENTRIES, BETWEEN = 32, 23
MISPREDICTED = 7  # each seventh branch
STEPS_MOST = 200000
HEAD = """event {
	name: "cycles:u"
	ids: [7]
	type: hardware
	sample_period: 4000
	sample_type: IP|TID|TIME|PERIOD|BRANCH_STACK|IDENTIFIER
	branch_sample_type: USER|ANY
	flags: mmap|comm|sample_id_all
}
feature ARCH {value: "x86_64"}
feature NRCPUS {available: 1, online: 1}
feature BRANCH_STACK {}
COMM misc: user|COMM_EXEC, pid: 42, tid: 42, comm: "program", sample_id: {pid: 42, tid: 42, time_ns: 1.0}
"""


def run(words, **more):
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)


def tools(name):
    return sorted(glob.glob(f"/usr/lib/llvm-*/bin/{name}")) or [found for found in [shutil.which(name)] if found]


def code_segment(path):
    """Offset, address and size of what the loader maps executable."""
    for line in run(["readelf", "-lW", path]).stdout.splitlines():
        found = re.match(r"\s+LOAD\s+(0x\w+) (0x\w+) 0x\w+ (0x\w+) 0x\w+ R E", line)
        if found:
            return [int(number, 16) for number in found.groups()]
    return None


def lengths_of(path):
    """Sizes of instructions by their address, as linked."""
    text = run(["objdump", "-d", path]).stdout
    return {int(address, 16): len(raw.split()) for address, raw in re.findall(r"^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)", text, re.MULTILINE)}


class Stepper:
    """A program that runs one instruction after another."""
    TRACEME, PEEKUSER, SINGLESTEP, RIP = 0, 3, 9, 128

    def __init__(self, path):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        libc.ptrace.restype = ctypes.c_long
        self.ptrace = libc.ptrace
        self.pid = os.fork()
        if not self.pid:
            self.ptrace(self.TRACEME, 0, None, None)
            os.execv(path, [path])
        self.status = os.waitpid(self.pid, 0)[1]

    def addresses(self):
        """Of each instruction that runs."""
        while os.WIFSTOPPED(self.status):
            yield self.ptrace(self.PEEKUSER, self.pid, self.RIP, None)
            self.ptrace(self.SINGLESTEP, self.pid, None, None)
            self.status = os.waitpid(self.pid, 0)[1]

    def maps(self):
        with open(f"/proc/{self.pid}/maps", encoding="utf-8") as file:
            return file.read()


def run_by_steps(path):
    """Each branch that was taken, as linked; how far the program was moved; and its exit code. None if that is not possible here."""
    stepper = Stepper(path)
    if not os.WIFSTOPPED(stepper.status):
        return None
    address = code_segment(path)[1]
    mapped = re.search(rf"^([0-9a-f]+)-\S+ r-xp .*{re.escape(path)}$", stepper.maps(), re.MULTILINE)
    bias = int(mapped[1], 16) - (address & -4096)
    lengths, taken, last = lengths_of(path), [], None
    for count, at in enumerate(stepper.addresses()):
        at -= bias
        if last is not None and at != last + lengths[last]:
            taken.append((last, at))
        last = at
        if count > STEPS_MOST:
            raise SystemExit(f"{path} does not end")
    return taken, bias, os.waitstatus_to_exitcode(stepper.status)


def stacks_of(taken):
    """Branch stacks as a processor has them, the newest branch first: from, to, mispredicted."""
    flagged = [(source, target, i % MISPREDICTED == 0) for i, (source, target) in enumerate(taken)]
    return [flagged[end - ENTRIES:end][::-1] for end in range(ENTRIES, len(flagged) + 1, BETWEEN)]


def recording(perfdata, folder, program, bias, stacks):
    """Returns also where the file begins in memory, and the first page of the code, as linked."""
    offset, address, size = code_segment(program)
    page = address & -4096
    text = HEAD + (f"MMAP misc: user, pid: 42, tid: 42, addr: {bias + page:#x}, len: {(size + address - page + 4095) & -4096:#x}, "
                   f"pgoff: {offset & -4096:#x}, filename: \"{program}\", sample_id: {{time_ns: 1.0}}\n")
    for i, stack in enumerate(stacks):
        entries = "".join(f"\t{{from: {bias + source:#x}, to: {bias + target:#x}, flags: {'mispred' if missed else 'predicted'}}}\n"
                          for source, target, missed in stack)
        text += (f"SAMPLE misc: user, ip: {bias + stack[0][1]:#x}, pid: 42, tid: 42, time_ns: {i + 1}.1, period: 4000, branch_stack: "
                 f"{{entries: [\n{entries}]}}\n")
    plain, data = os.path.join(folder, "x.txt"), os.path.join(folder, "x.data")
    with open(plain, "w", encoding="utf-8") as file:
        file.write(text)
    done = run([perfdata, "assemble", "-o", data, plain])
    if done.returncode:
        raise SystemExit(f"assemble: {done.stdout}")
    return data, page - (offset & -4096), page


def count(stacks):
    """How often each branch was taken and mispredicted, each range run through, and each address sampled."""
    taken, missed, ranges, addresses = (collections.Counter() for _ in range(4))
    for stack in stacks:
        addresses[stack[0][1]] += 1
        for i, (source, target, wrong) in enumerate(stack):
            taken[source, target] += 1
            missed[source, target] += wrong
            if i:
                ranges[target, stack[i - 1][0]] += 1
    return taken, missed, ranges, addresses


def expected(stacks, file_base, page):
    """The texts."""
    taken, missed, ranges, addresses = count(stacks)

    def lines(counts, mark, base):
        return f"{len(counts)}\n" + "".join(f"{a - base:x}{mark}{b - base:x}:{value}\n" for (a, b), value in sorted(counts.items()))

    sampled = f"{len(addresses)}\n" + "".join(f"{a - file_base:x}:{value}\n" for a, value in sorted(addresses.items()))
    return {
        "autofdo": lines(ranges, "-", file_base) + sampled + lines(taken, "->", file_base),
        "bolt": "".join(f"B {a:x} {b:x} {value} {missed[a, b]}\n" for (a, b), value in sorted(taken.items())) +
                "".join(f"F {a:x} {b:x} {value}\n" for (a, b), value in sorted(ranges.items())),
        "llvm-profgen": lines(ranges, "-", page) + lines(taken, "->", page),
    }


def symbols_of(program):
    text = run(["nm", program]).stdout
    return sorted((int(address, 16), name) for address, name in re.findall(r"^([0-9a-f]+) t (\w+)$", text, re.MULTILINE) if name in FUNCTIONS)


def place(symbols, address):
    """Function and offset, as perf2bolt writes them; None for what is in no function that it can know."""
    found = [symbol for symbol in symbols if symbol[0] <= address]
    return (found[-1][1], f"{address - found[-1][0]:x}") if found else None


def by_bolt(tool, folder, program, profile, stacks, code):
    """Each branch between two functions, or inside of one, is there with both counts; and a program that llvm-bolt makes with them works."""
    out, better = os.path.join(folder, "out.fdata"), os.path.join(folder, "better")
    done = run([tool, "-pa", "-p", profile, "-o", out, program])
    if done.returncode:
        return done.stdout[-300:]
    with open(out, encoding="utf-8") as file:
        found = {(m[1], m[2], m[3], m[4]): (int(m[5]), int(m[6])) for m in
                 re.finditer(r"^1 (\w+?)(?:/\S+)? (\w+) 1 (\w+?)(?:/\S+)? (\w+) (\d+) (\d+)$", file.read(), re.MULTILINE)}
    taken, missed, _, _ = count(stacks)
    symbols = symbols_of(program)
    for branch, value in taken.items():
        source, target = (place(symbols, address) for address in branch)
        if source and target and found.get((*source, *target)) != (missed[branch], value):
            return f"branch {source} to {target}: {found.get((*source, *target))}, expected {missed[branch], value}; there are {len(found)}"
    done = run([os.path.join(os.path.dirname(os.path.realpath(tool)), "llvm-bolt"), program, "-data", out, "-o", better, "-reorder-blocks=ext-tsp"])
    if done.returncode:
        return f"llvm-bolt: {done.stdout[-300:]}"
    return None if run([better]).returncode == code else "the program that llvm-bolt made does something else"


def by_profgen(tool, folder, program, profile, stacks, code):
    """Samples of each function that ran."""
    out = os.path.join(folder, "out.prof")
    done = run([tool, "--binary", program, "--unsymbolized-profile", profile, "--output", out, "--format=text"])
    if done.returncode or not os.path.exists(out):
        return done.stdout[-300:]
    with open(out, encoding="utf-8") as file:
        found = dict(re.findall(r"^(\w+):(\d+):\d+$", file.read(), re.MULTILINE))
    symbols = symbols_of(program)
    ran = {place(symbols, source)[0] for (source, _) in count(stacks)[0] if place(symbols, source)}
    missing = [name for name in ran if not int(found.get(name, "0"))]
    return f"nothing of {missing} in {found}" if missing or code is None else None


def programs(folder):
    """By what is here; linked so that BOLT may move functions."""
    source = os.path.join(folder, "program.c")
    with open(source, "w", encoding="utf-8") as text:
        text.write(SOURCE)
    compiler = shutil.which("clang") or shutil.which("gcc")
    for linker in ("bfd", "lld"):
        for kind in ("static-pie", "static"):
            path = os.path.join(folder, f"program-{linker}-{kind}")
            extra = ["-static-pie", "-fPIE"] if kind == "static-pie" else ["-static", "-no-pie"]
            done = run([compiler, "-g", "-gdwarf-4", "-O1", "-fno-stack-protector", "-nostdlib", f"-fuse-ld={linker}", "-Wl,-q", *extra, "-o", path, source])
            if done.returncode == 0 and code_segment(path):
                yield path


READERS = (("perf2bolt", by_bolt, "bolt"), ("llvm-profgen", by_profgen, "llvm-profgen"))


def judge(perfdata, folder, program):
    """What is wrong with each format, and how many were looked at."""
    ran = run_by_steps(program)
    if not ran:
        return [], 0
    taken, bias, code = ran
    stacks = stacks_of(taken)
    data, file_base, page = recording(perfdata, folder, program, bias, stacks)
    wrong, checks = [], 0
    for name, text in expected(stacks, file_base, page).items():
        profile = os.path.join(folder, "profile." + name)
        run([perfdata, "export", "-q", "--to", name, "-o", profile, data])
        with open(profile, encoding="utf-8") as file:
            got = file.read()
        checks += 1
        if got != text:
            first = next((pair for pair in zip(got.splitlines(), text.splitlines()) if pair[0] != pair[1]), ("its length", len(text)))
            wrong.append(f"{os.path.basename(program)}: {name}: {first[0]!r}, expected {first[1]!r}")
    for kind, reader, name in READERS:
        for tool in tools(kind):
            checks += 1
            why = reader(tool, folder, program, os.path.join(folder, "profile." + name), stacks, code)
            wrong += [f"{os.path.basename(program)}: {tool}: {why}"] if why else []
    return wrong, checks


def main():
    perfdata, needs_readers = os.path.abspath(sys.argv[1]), "--readers" in sys.argv[2:]
    if not (shutil.which("clang") or shutil.which("gcc")) or os.uname().machine != "x86_64":
        print("no compiler for x86_64")
        return SKIPPED
    missing = [kind for kind, _, _ in READERS if not tools(kind)]
    if needs_readers:
        for kind in missing:
            print(f"skipped: {kind} is missing; tools/setup viewers installs it")
        if len(missing) == len(READERS):
            return SKIPPED
    wrong, checks = [], 0
    with tempfile.TemporaryDirectory(prefix="perfdata-compilers-") as folder:
        for program in programs(folder):
            more, some = judge(perfdata, folder, program)
            wrong += more
            checks += some
    for kind, _, _ in READERS:
        print(f"{kind}: {', '.join(tools(kind)) or 'not installed'}")
    print("\n".join(wrong) or f"{checks} profiles are right")
    return 1 if wrong else 0 if checks else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
