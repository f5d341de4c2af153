#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The sort keys type, typeoff and typecln of perfdata report, and members that annotate --data-type lists: programs in C and C++ are
compiled, without and with optimization, and a recording has a sample at each of their instructions. Which types and members each function accesses is known.

usage: expected.py PERFDATA CC... -- CXX...

Exit status: 0 all is as expected, 1 not, 77 no compiler for x86-64.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

import made

C = r"""
#define N __attribute__((noinline))
struct point { int x, y; };
struct nested { long tag; struct point p[4]; union { int i; float f; } u; unsigned bits : 3, more : 9; };
struct node { struct node *next; struct nested n; char name[80]; struct point *far; };
typedef struct { int left, right; } Pair;
typedef Pair *PairPointer;
struct nested global;
static int table[64];
Pair pair;
struct node *head;
static inline long inlined(struct point *p, long k) { return p->x * k + p->y; }
N void use(void *p) { __asm__ volatile("" :: "r"(p) : "memory"); }
N long member(struct node *n) { return n->n.tag; }
N long deep(struct node *n) { return n->n.p[2].y; }
N int in_union(struct node *n) { return n->n.u.i; }
N unsigned bit_field(struct nested *n) { return n->more; }
N char far_member(struct node *n) { return n->name[70]; }
N long chased(struct node *n) { return n->next->next->n.tag; }
N int pointed(struct node *n) { return n->far->y; }
N int of_typedef(Pair *p) { return p->right; }
N int of_pointer_typedef(PairPointer p) { return p->right; }
N int twice(Pair **p) { return (*p)->left; }
N int qualified(const volatile int *p) { return *p; }
N long of_global(void) { return global.u.i; }
N int of_pair(void) { return pair.right; }
N int of_table(void) { return table[9]; }
N struct node *of_head(void) { return head; }
N long inlines(struct node *n, long k) { return inlined(n->far, k); }
N long loop(struct nested *n, long count) { long sum = 0; for (long i = 0; i < count; i++) sum += n[i].tag; return sum; }
N int of_nothing(void *p) { return *(int *)p; }
N int kept(long k) { static struct point last; last.x += k; use(&last); return last.y; }
int main(void)
{
	use(table);
	return 0;
}
"""

CXX = r"""
#define N __attribute__((noinline))
struct Base { long id; virtual ~Base() {} };
class Derived : public Base { public: int first; short list[8]; struct Inner { char c; double d; } inner; };
namespace space { struct In { int a; struct { int b, c; }; }; enum Color { red }; }
template <class T> struct Holder { T value; T *where; };
Derived derived;
extern "C" {
N double of_class(Derived *d) { return d->inner.d; }
N int of_member(Derived *d) { return d->first; }
N int in_space(space::In *p) { return p->c; }
N int of_enum(space::Color *p) { return *p; }
N long of_template(Holder<long> *p) { return *p->where; }
}
int main() { return derived.first; }
"""

# By function: what it accesses, with optimization.
EXPECTED = {
    "member": "struct node +0x8 (n.tag)",
    "deep": "struct node +0x24 (n.p)",
    "in_union": "struct node +0x30 (n.u.i)",
    "far_member": "struct node +0x7e (name)",
    "chased": "struct node +0x8 (n.tag)",
    "pointed": "struct point +0x4 (y)",
    "of_typedef": "Pair +0x4 (right)",
    "of_pointer_typedef": "Pair +0x4 (right)",
    "twice": "Pair +0 (left)",
    "qualified": "int +0 (no field)",
    "of_global": "struct nested +0x28 (u.i)",
    "of_table": "int[] +0x24 (no field)",
    "of_head": "struct node* +0 (no field)",
    "inlines": "struct point +0 (x)",
    "loop": "struct nested +0 (tag)",
    "kept": "struct point +0x4 (y)",
    "of_class": "Derived +0x30 (inner.d)",
    "of_member": "Derived +0x10 (first)",
    "in_space": "struct In +0x8 (c)",
    "of_enum": "enum Color +0 (no field)",
    "of_template": "struct Holder<long> +0x8 (where)",
}
NOTHING = ("of_nothing",)
# Without optimization, with frames in .debug_frame: variables are on the stack.
ON_STACK = {"member": "struct node* +0 (no field)", "of_typedef": "Pair* +0 (no field)", "loop": "long +0 (no field)", "twice": "Pair** +0 (no field)"}
LINES = {"far_member": "struct node: cache-line 1", "member": "struct node: cache-line 0", "of_table": "int[]: cache-line 0"}


class Made:
    """A program with a sample at each address of its functions."""

    def __init__(self, perfdata, folder, name, source, compiler, options):
        self.perfdata, self.name = perfdata, name
        self.program, self.data = os.path.join(folder, name), os.path.join(folder, name + ".data")
        path = os.path.join(folder, name + (".cc" if "C++" in name else ".c"))
        with open(path, "w", encoding="utf-8") as f:
            f.write(source)
        done = subprocess.run([*compiler, "-g", "-fno-stack-protector", *options, "-o", self.program, path], stderr=subprocess.PIPE, check=False)
        self.compiled = done.returncode == 0
        if not self.compiled:
            return
        self.functions = made.functions(self.program)
        made.record(perfdata, self.program, [at + i for at, size in self.functions.values() for i in range(size)], self.data)

    def run(self, command, *options):
        return subprocess.run([self.perfdata, command, "-i", self.data, *options], stdout=subprocess.PIPE, check=True).stdout.decode()

    def report(self, *options):
        return self.run("report", "--no-demangle", *options)

    def accesses(self, key):
        """The values of a key by function."""
        found = {}
        for function, value in made.rows(self.report("-t", "|", "-s", f"sym,{key}")):
            found.setdefault(function[4:], set()).add(value.replace("long int", "long"))  # as clang
        return found

    def check(self, key, expected):
        found = self.accesses(key)
        wrong = [f"{self.name}: {key} of {function}: {value} expected, {sorted(found.get(function, ()))} found" for function, value in expected.items()
                 if function in self.functions and value not in found.get(function, ())]
        print("\n".join(wrong), end="\n" if wrong else "")
        return not wrong


def check_forms(program):
    """JSON, CSV and the tree say the same as the table."""
    rows = sorted(row[0] for row in made.rows(program.report("-t", "|", "-s", "typeoff")))
    table = json.loads(program.report("--json", "-s", "typeoff"))
    values = sorted(row["type_offset"] for event in table["tables"] for row in event["rows"])
    csv = program.report("--csv", "-s", "typeoff")
    tree = program.report("--hierarchy", "-s", "type,typeoff")
    wrong = [form for form, right in (("JSON", values == rows), ("CSV", all(row in csv for row in rows)), ("tree", all(row in tree for row in rows))) if not right]
    print("".join(f"{form} differs from the table\n" for form in wrong), end="")
    return not wrong


def members_of(kind, depth=0, name="", outer="in_members"):
    """A type of JSON as the lines of text: samples, offset, size, name and depth of each member."""
    rows = [(kind[outer][0]["samples"], kind.get("offset", 0), kind["size"], name, depth)]
    for member in kind.get("members", ()):
        rows += members_of(member, depth + 1, member["name"], "sums")
    return rows


def check_json(program):
    """annotate --data-type says the same as text and as JSON: types, members, their samples, and counts of answers."""
    text = program.run("annotate", "--data-type", "-n", "--type-stat")
    table = json.loads(program.run("annotate", "--data-type", "--json", "--type-stat"))
    rows = [(int(words[0]), int(words[1], 16), int(words[2], 16), words[4], len(words[3]) // 4)
            for words in re.findall(r"^ +(\d+) +(0|0x[0-9a-f]+) +(0|0x[0-9a-f]+)  ( *)\S[^\t\n]*\t(.*?)(?: {|;)$", text, re.MULTILINE)]
    kinds = table["tables"][0]["types"]
    stat = table["type_stat"]
    right = [rows == [row for kind in kinds for row in members_of(kind)], len(rows) > len(kinds) > 1,
             re.findall(r"^Annotate type: '(.*)' in", text, re.MULTILINE) == [kind["type"] for kind in kinds],
             f"total {stat['ok'] + stat['bad']}, ok {stat['ok']} " in text, stat["ok"] >= sum(kind["sums"][0]["samples"] for kind in kinds) > 0]
    print("" if all(right) else f"{program.name}: members of JSON and text differ: {right}\n", end="")
    return all(right)


def check_nothing(program):
    found = program.accesses("type")
    wrong = [name for name in NOTHING if found[name] - {"(unknown)", "(stack operation)"}]
    print("".join(f"{name} has a type\n" for name in wrong), end="")
    return not wrong


def check_refused(perfdata, program, folder):
    """Code of another machine: a sentence that says so."""
    path = os.path.join(folder, "other.data")
    made.record(perfdata, program, [0x1000], path, "s390x")
    done = subprocess.run([perfdata, "report", "-i", path, "-s", "type"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    right = done.returncode != 0 and b"types of data are known of x86_64 only, and this is a recording of s390x" in done.stderr
    print("" if right else f"of another machine: {done}\n", end="")
    return right


def members_source(members, methods):
    """C++ text: a structure whose members all have a type with many methods, which stand between what is listed."""
    inner = "".join(f"void m{i}(); " for i in range(methods))
    outer = "".join(f"inner a{i}; " for i in range(members))
    return f"struct inner {{ {inner}int x; }}; struct outer {{ {outer}int last; }} all; __attribute__((noinline)) int get(outer *o) {{ return o->a0.x; }} " \
           "int main() { return get(&all); }"


def check_members(perfdata, folder, compiler):
    """annotate --data-type has all members, or says that there are more."""
    right = True
    for members, methods in ((600, 2000), (600, 8000)):
        program = Made(perfdata, folder, f"C++{methods}", members_source(members, methods), compiler, ("-O1",))
        done = subprocess.run([perfdata, "annotate", "-i", program.data, "--data-type=outer"], stdout=subprocess.PIPE, check=False)
        lines = done.stdout.decode().splitlines()
        listed = sum(line.endswith("\tx;") for line in lines)
        whole = listed == members and lines[-3].endswith("int\tlast;")
        right = right and (whole or (methods > 2000 and listed > 100 and any("(more members than are listed)" in line for line in lines)))
        print("" if right else f"{listed} of {members} members are listed, and then {lines[-4:]}\n", end="")
    return right


def check_stripped(program):
    """Without debug information nothing is known."""
    subprocess.run(["strip", "--strip-debug", program.program], check=True)
    found = {value for values in program.accesses("type").values() for value in values}
    print("" if found == {"(unknown)"} else f"without debug information: {found}\n", end="")
    return found == {"(unknown)"}


def main():
    perfdata, words = sys.argv[1], sys.argv[2:]
    compilers = words[:words.index("--")], words[words.index("--") + 1:]
    with tempfile.TemporaryDirectory() as folder:
        frames = "-fno-asynchronous-unwind-tables"
        fast = [Made(perfdata, folder, f"{kind}{level}", source, compiler, (level,))
                for kind, source, compiler in (("C", C, compilers[0]), ("C++", CXX, compilers[1])) for level in ("-O1", "-O2") if compiler]
        slow = Made(perfdata, folder, "C-O0", C, compilers[0], ("-O0", frames))
        if not all(program.compiled for program in (*fast, slow)) or "X86-64" not in made.output("readelf", "-h", slow.program):
            print("no compiler for x86-64")
            return 77
        right = [program.check("typeoff", EXPECTED) for program in fast]
        right += [slow.check("typeoff", ON_STACK), fast[0].check("typecln", LINES), check_forms(fast[0]), *map(check_json, fast), check_nothing(fast[1])]
        right += [check_members(perfdata, folder, compilers[1])] if compilers[1] else []
        right += [check_refused(perfdata, fast[0].program, folder), check_stripped(fast[0])]
    print(f"{right.count(True)} of {len(right)} checks are as expected")
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
