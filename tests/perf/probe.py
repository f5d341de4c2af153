#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perfdata probe beside perf probe: definitions, variables and lines of programs in C, C++ and Rust.

usage: probe.py PERFDATA FOLDER [--perf PERF] [--object FILE [--most N] [--lines N] [--seconds N]] [--verbose]

FOLDER has the sources. With --object, functions of that program are taken instead, by the names that they have in the source, and at
most N of their lines; without lines, what both say of the function alone, until the seconds have passed. A definition that perf cannot resolve must fail
with a message, unless perfdata can resolve more. Exit status: 0 all that perf prints is equal, 1 otherwise, 77 no perf here or it has
no debug information reader.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

from made import Recording, functions, kernel_line

SKIPPED = 77
PROGRAMS = {
    "probed.c": ["main", "walk", "leaf", "many", "by_value", "small", "outer", "mai*", "walk%return $retval", "w=walk $params",
                 "walk list->id list->color list->name:string list->text:string list->bytes:string list->points[1].y",
                 "walk list->others[2].x list->others->y list->next->next->id:x32 list->whole list->part.y list->call",
                 "walk list->table[1][1] list->number list->on what:string what[3] length:u8", "walk list->id:x list->id:s list->id:u",
                 "walk global_count file_count global_text:string corner.y", "walk buffer:string buffer[2] sum", "small twice number item->id",
                 "small $vars", "outer $vars", "walk $vars", "many g h a", "many+4 a", "main argc argv[0]:string item.name:string item.id",
                 "by_value point.x factor", "walk list->nothing", "walk list.id", "walk nothing", "walk sum->x", "walk list->id:string",
                 "leaf a b c d", "walk what:ustring@user list->id@user", "g:e=walk %ax $stack0 +8(%di):x64", "probed.c;sum+=*",
                 "walk;sum+=*", "walk@probed.c list", "walk@other.c", "walk+100000", "0x1234", "puts", "nothing", "many $vars h", "leaf%return"],
    "probed.cc": ["main", "add", "convert", "largest", "total", "add this->count_ price times", "add price->whole times:x", "add $vars",
                  "total name sum", "total $vars", "largest a b", "_ZN4shop6Basket3addERKNS_5PriceEl", "add this->last_.parts before", "add*",
                  "convert%return $retval:s32", "operator()", "main basket price.whole"],
    "probed.rs": ["handle", "handle count factor", "handle $vars", "sum", "sum $vars", "one item flag", "one $vars", "one item->id item->small",
                  "one item->point.x item->name", "twice", "twice number", "main", "main $vars"],
}
KERNEL = ["vfs_read", "vfs_read+4", "vfs_read%return $retval", "vfs_r*", "g:e=do_sys_openat2 %ax @jiffies:u64 +0(%si):string", "nosuchfunction",
          "vfs_read file", "0xffffffff81234567", "vfs_read+100000"]
# Programs whose probes are recorded: functions, their ends and lines, with arguments.
EVENTS = (("probed.c", ["gcc", "-g", "-O0"], ["walk list->id what:string", "small number item->id", "many%return $retval:s32", "walk:6 list"]),
          ("probed.cc", ["g++", "-g", "-O0"], ["add price times", "total name sum", "main%return $retval:s32", "main argc"]),
          ("probed.rs", ["rustc", "-g"], ["handle count factor", "one item->id flag", "handle%return $retval:s64", "sum scale"]))
# Of a program in the place of a kernel's image.
IMAGE = ["many", "walk list->id list->name:string", "small number", "many%return $retval", "many h", "walk:6", "nosuchfunction"]
COMPILERS = {".c": [["gcc", "-g", "-O2"], ["gcc", "-g", "-O0"], ["gcc", "-gdwarf-4", "-O1"], ["clang", "-g", "-O2"], ["clang", "-g", "-O0"],
                    ["gcc", "-g", "-O2", "-no-pie", "-fno-omit-frame-pointer"], ["gcc", "-g", "-O1", "-flto"]],
             ".cc": [["g++", "-g", "-O2"], ["g++", "-g", "-O0"], ["clang++", "-g", "-O1"]],
             ".rs": [["rustc", "-g", "-O"], ["rustc", "-g"]]}


def without_doubles(text):
    """A definition without values whose name is there already, as the kernel takes it."""
    lines = []
    for line in text.splitlines(keepends=True):
        words, names = line.split(" "), set()
        kept = [word for word in words if "=" not in word or not (word.split("=")[0] in names or names.add(word.split("=")[0]))]
        lines.append(" ".join(kept).rstrip("\n") + "\n")
    return "".join(lines)


def variables_as_told(text, has_cold):
    """perf 6.1 has another word for void*, which changes the order, and other headings where a function has a cold part; see docs/differences.md."""
    lines = text.replace("(unknown_type)", "void*").splitlines()
    return sorted(re.sub(r"^\t@<[^+]+\+\d+>", "\t@", line) if has_cold else line for line in lines)


def run(words):
    done = subprocess.run(words, capture_output=True, encoding="utf-8", errors="replace", check=False, timeout=600,
                          env={**os.environ, "LC_ALL": "C", "PERF_PAGER": "cat", "PAGER": "cat"})
    return done.returncode, done.stdout, done.stderr


class Comparison:
    def __init__(self, options):
        self.options = options
        self.counts = {"equal": 0, "both fail": 0, "only perfdata": 0, "different": 0}
        self.wrong = []
        self.cold = set()

    def same_variables(self, words, theirs, ours):
        name = re.match(r"\w*", words[1])[0]
        return words[0] == "-V" and not ours[0] and variables_as_told(theirs[1], name in self.cold) == variables_as_told(ours[1], name in self.cold)

    def compare(self, program, words, what="-x"):
        where = [what, program] if program else []
        theirs = run([self.options.perf, "probe", *where, *words])
        ours = run([self.options.perfdata, "probe", *where, *words])
        if "$vars" in words[-1]:
            theirs, ours = ((done[0], without_doubles(done[1]), done[2]) for done in (theirs, ours))
        if ours[0] < 0 or ours[0] > 5:
            result = "different"
        elif theirs[0] != 0 or not theirs[1]:
            result = "both fail" if ours[0] else "only perfdata"
        else:
            result = "equal" if ours[:2] == theirs[:2] or self.same_variables(words, theirs, ours) else "different"
        self.counts[result] += 1
        if self.options.verbose and result == "only perfdata":
            print(f"only perfdata: {program} {words}\n{ours[1]}    perf: {theirs[2]}", file=sys.stderr)
        if result == "both fail" and not ours[2].strip():
            self.wrong.append(f"{program} {words}: fails without a message")
        if result == "different":
            self.wrong.append(f"{program} {words}:\n--- perf ({theirs[0]})\n{theirs[1]}{theirs[2][-300:]}--- perfdata ({ours[0]})\n{ours[1]}{ours[2]}")

    def lines_of(self, program, function):
        """Numbers of lines that perf says probes can be at."""
        _, text, _ = run([self.options.perf, "probe", "-x", program, "-L", function])
        return [int(number) for number in re.findall(r"^ {0,6}(\d+)  ", text, re.MULTILINE)]

    def compare_function(self, program, function):
        self.compare(program, ["-L", function])
        self.compare(program, ["-V", function])
        if not self.options.lines:
            return
        self.compare(program, ["-V", function, "--range"])
        for number in self.lines_of(program, function)[:self.options.lines]:
            if number:
                self.compare(program, ["-D", f"{function}:{number}"])
                self.compare(program, ["-D", f"{function}:{number} $vars"])
                self.compare(program, ["-V", f"{function}:{number}"])

    def compare_kernel(self, image):
        for definition in KERNEL:
            self.compare(None, ["-D", definition])
        for definition in IMAGE:
            self.compare(image, ["-D", definition], "-k")

    def compare_events(self, program, added):
        """Events that perf adds, as both list them and as both print what was recorded."""
        group = "probe_" + os.path.basename(program)
        code, _, error = run([self.options.perf, "probe", "-x", program, *[word for one in added for word in ("-a", one)]])
        if code:
            print(f"perf cannot add events here: {error}", file=sys.stderr)
            return
        data = program + ".data"
        self.compare(None, ["-l"])
        self.compare(None, ["-l", f"{group}:{re.match('[a-z]+', added[0])[0]}*"])
        run([self.options.perfdata, "record", "-q", "-e", f"{group}:*", "-o", data, "--", program])
        self.compare_script(data)
        code, text, error = run([self.options.perfdata, "probe", "-d", f"{group}:*"])
        if code or text.count("Removed event:") != len(added) or run([self.options.perf, "probe", "-l", f"{group}:*"])[1]:
            self.wrong.append(f"events of {group} are not removed: {text}{error}")

    def compare_script(self, data):
        """A recording of probes as both print it."""
        theirs, ours = run([self.options.perf, "script", "-i", data]), run([self.options.perfdata, "script", "-i", data])
        self.counts["equal" if theirs[1] and theirs[:2] == ours[:2] else "different"] += 1
        if not theirs[1] or theirs[:2] != ours[:2]:
            self.wrong.append(f"script of {data}:\n{theirs[1]}--- perfdata\n{ours[1]}{ours[2]}")

    def compare_kernel_events(self, there):
        """kprobes and kretprobes with the formats that the kernel makes of them; assembled, so that no kernel need have them."""
        place, places = functions("vfs_read"), functions("ksys_read")
        if not place or not places:
            print("the kernel's functions have no addresses here", file=sys.stderr)
            return
        address = ("unsigned long", "__probe_ip", 8, 8, 0)
        back = (("unsigned long", "__probe_func", 8, 8, 0), ("unsigned long", "__probe_ret_ip", 16, 8, 0))
        events = [("probe:vfs_read", (address, ("u64", "count", 16, 8, 0), ("__data_loc char[]", "name", 24, 4, 0), ("s32", "mode", 28, 4, 1))),
                  ("probe:vfs_read__return", (*back, ("s64", "arg1", 24, 8, 1), ("u8", "flags", 32, 1, 0)))]
        prints = {0: '(%lx) count=%Lu name=\\\\"%s\\\\" mode=%d", REC->__probe_ip, REC->count, __get_str(name), REC->mode',
                  1: '(%lx <- %lx) arg1=%Ld flags=0x%x", REC->__probe_func, REC->__probe_ret_ip, REC->arg1, REC->flags'}
        made = Recording(events, kernel_line(self.options.perfdata), prints)
        made.comm(77, "reader")
        for number in range(20):
            made.sample(0, 10**9 + number * 5000, 77, number % 2, (place[0], places[0] + 4), __probe_ip=place[0], count=4096 * number, name=f"file{number}", mode=-number)
            made.sample(1, 10**9 + number * 5000 + 900, 77, number % 2, (places[0] + 4,), __probe_func=place[0], __probe_ret_ip=places[0] + 4, arg1=number - 5,
                        flags=number)
        data = os.path.join(there, "kernel.data")
        made.write(self.options.perfdata, data)
        self.compare_script(data)

    def compare_program(self, program, definitions):
        for definition in definitions:
            self.compare(program, ["-D", definition])
        for function in [definition for definition in definitions if re.fullmatch(r"\w+", definition)]:
            self.compare_function(program, function)


def name_in_source(name):
    """The last part of a demangled name, without parameters and arguments of templates."""
    name = re.sub(r"::h[0-9a-f]{16}$", "", name)
    while (shorter := re.sub(r"<[^<>]*>|\([^()]*\)", "", name)) != name:
        name = shorter
    return re.split(r"::|[ *&]", name.replace(" const", "").strip())[-1]


def functions_of(program, most):
    _, text, _ = run(["nm", "-C", "--defined-only", program])
    names = {name_in_source(found[1]) for found in re.finditer(r"^\S+ [tTW] (.*)$", text, re.MULTILINE)}
    names = sorted(name for name in names if re.fullmatch(r"[A-Za-z]\w*", name))
    random.Random(1).shuffle(names)
    return names[:most]


def compile_all(folder, there):
    for source in PROGRAMS:
        for number, words in enumerate(COMPILERS[os.path.splitext(source)[1]]):
            if not shutil.which(words[0]):
                continue
            program = os.path.join(there, f"{source.replace('.', '_')}{number}")
            done = subprocess.run([*words, "-o", program, os.path.join(folder, source)], capture_output=True, check=False)
            if done.returncode == 0:
                yield source, program


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfdata")
    parser.add_argument("folder")
    parser.add_argument("--perf", default=shutil.which("perf"))
    parser.add_argument("--object")
    parser.add_argument("--most", type=int, default=20)
    parser.add_argument("--lines", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if not options.perf or run([options.perf, "probe", "-h"])[2].find("--vars") < 0 and run([options.perf, "probe", "-h"])[1].find("--vars") < 0:
        print("no perf probe with debug information here")
        return SKIPPED
    comparison = Comparison(options)
    if options.object:
        comparison.cold = set(re.findall(r" t (\w+)\.cold$", run(["nm", options.object])[1], re.MULTILINE))
        begin, done = time.monotonic(), 0
        for function in functions_of(options.object, options.most):
            if time.monotonic() - begin > options.seconds:
                break
            if options.lines:
                comparison.compare_program(options.object, [function, f"{function} $vars", f"{function} $params"])
            else:
                comparison.compare_function(options.object, function)
            done += 1
        print(f"{done} functions of {options.object}")
    else:
        with tempfile.TemporaryDirectory(prefix="perfdata-probe-") as there:
            for source, program in compile_all(options.folder, there):
                comparison.compare_program(program, PROGRAMS[source])
            for source, words, added in EVENTS:
                program = os.path.join(there, f"events{source.replace('.', '')}")
                if not shutil.which(words[0]) or subprocess.run([*words, "-o", program, os.path.join(options.folder, source)], check=False).returncode:
                    continue
                comparison.compare_events(program, added)
                if source == "probed.c":
                    comparison.compare_kernel(program)
            comparison.compare_kernel_events(there)
    print(", ".join(f"{count} {name}" for name, count in comparison.counts.items()))
    for problem in comparison.wrong[:20]:
        print(problem, file=sys.stderr)
    return 1 if comparison.wrong or not comparison.counts["equal"] else 0


if __name__ == "__main__":
    sys.exit(main())
