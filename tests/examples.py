#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Takes the example out of the head of each public header, compiles all of them as C and as C++, and runs them.

usage: examples.py INCLUDE LIBRARY-FOLDER DATA CC CXX

INCLUDE is the folder with perfdata/, LIBRARY-FOLDER has libperfdata.so, DATA recordings. A header without an example fails.
What an example does not declare itself is made for it, see perfdata.h.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

WITHOUT = {"perfdata.h", "version.h"}
# Kernels and containers may refuse to record; the client of debuginfod may not be installed; no recording here has system calls or wakeups;
# a daemon has no directory where nothing is configured.
MAY_FAIL = {"recorder", "counter", "debuginfod", "daemon", "pairs", "why", "lock", "kmem", "kwork"}
# Examples whose perf.data is another one than hot.data.
RECORDINGS = {"interval": "hot-records.data", "sched": "hot-trace.data", "timechart": "hot-trace.data", "waiting": "hot-trace.data"}

# A program that has a function to probe.
SERVER = """
struct request {
	int id;
	const char *name;
};

__attribute__((noipa)) int handle(struct request *request)
{
	return request->id + request->name[0];
}

int main(int argc, char **argv)
{
	struct request request = { argc, argv[0] };

	return handle(&request) == 0;
}
"""

BEGIN = """
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfdata/perfdata.h>

static struct pd_error error;

/* Of what surrounds an example. */
static void need(bool is_fine, const char *what)
{
	if (!is_fine) {
		fprintf(stderr, "%s: %s\\n", what, error.message);
		exit(2);
	}
}

static enum pd_status count_record(void *self, struct pd_stream *stream, const struct pd_record *record, struct pd_error *why)
{
	(void)stream;
	(void)record;
	(void)why;
	*(unsigned *)self += 1;
	return PD_OK;
}
"""

# Variable: declaration, how it is made, how it is given back; in this order.
VARIABLES = {
    "file": ("struct pd_file *file = NULL;", 'need(pd_file_open("perf.data", NULL, &file, &error) == PD_OK, "file");',
             "pd_file_close(file);"),
    "other": ("struct pd_file *other = NULL;", 'need(pd_file_open("other.data", NULL, &other, &error) == PD_OK, "other");',
              "pd_file_close(other);"),
    "stream": ("struct pd_stream *stream = NULL;", 'need(pd_stream_open(file, NULL, &stream, &error) == PD_OK, "stream");',
               "pd_stream_close(stream);"),
    "record": ("const struct pd_record *record = NULL;", "", ""),
    "profile": ("struct pd_profile *profile = NULL;",
                "struct pd_profile_options by = {}; by.size = sizeof(by); by.by = PD_BY_COMM | PD_BY_CHAIN;\n"
                '\tneed(pd_profile_read(file, &by, &profile, &error) == PD_OK, "profile");',
                "pd_profile_free(profile);"),
    "symbols": ("struct pd_symbols *symbols = NULL;",
                'need(pd_symbols_new(file, pd_profile_state(profile), NULL, &symbols, &error) == PD_OK, "symbols");\n'
                '\tneed(pd_profile_name(profile, symbols, &error) == PD_OK, "names");',
                "pd_symbols_free(symbols);"),
    "writer": ("struct pd_writer *writer = NULL;",
               "struct pd_writer_options form = {}; form.size = sizeof(form); form.inputs = &other; form.input_count = 1;\n"
               '\tneed(pd_writer_open("written.data", &form, &writer, &error) == PD_OK, "writer");',
               'need(pd_writer_finish(writer, &error) == PD_OK, "end of the writer");'),
    "text": ("struct pd_text *text = pd_text_new();", "", "fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stdout); pd_text_free(text);"),
    "fd": ("int fd = -1;", 'fd = open("written", O_RDWR | O_CREAT | O_TRUNC, 0600); need(fd >= 0, "fd");', "close(fd);"),
    "events": ("struct pd_events *events = NULL;",
               'need(pd_events_new(NULL, &events, &error) == PD_OK && pd_events_add(events, "cpu-clock", &error) == PD_OK, "events");',
               "pd_events_free(events);"),
    "command": ('char word[] = "true"; char *command[] = { word, NULL };', "", ""),
    "recorder": ("struct pd_recorder *recorder = NULL;", "", ""),
    "recorded": ("struct pd_recorded recorded;", "", ""),
    "counted": ("struct pd_counted counted;", "", ""),
    "count": ("unsigned count = 0;", "", ""),
}
NEEDS = {"stream": ["file"], "profile": ["file"], "symbols": ["file", "profile"], "writer": ["other"]}


def example_of(path):
    """The lines behind "Example:" in the head of a header, or None."""
    with open(path, encoding="utf-8") as file:
        head = re.search(r"/\*\*\n(.*?)\*/", file.read(), re.DOTALL)
    match = head and re.search(r"^ \* Example:\n \*\n((?: \*(?:\t.*)?\n)+)", head.group(1), re.MULTILINE)
    if not match:
        return None
    return "\n".join(line[3:] for line in match.group(1).splitlines()).strip("\n")


def is_made(name, example):
    """Whether the example makes the variable itself, by a call that may fail."""
    return re.search(rf"pd_\w+\((?:[^;{{}}]|\n)*&{name}, &error\)", example) is not None


def function(name, example):
    wanted = {variable for variable in VARIABLES if re.search(rf"(?<![\w.>]){variable}\b(?!\()", example)}
    made = {variable for variable in wanted if is_made(variable, example)}
    for variable in list(VARIABLES)[::-1]:
        if variable in wanted - made:
            wanted |= set(NEEDS.get(variable, ()))
    order = [variable for variable in VARIABLES if variable in wanted]
    lines = [f"static void example_{name}(void)", "{"]
    lines += ["\t" + VARIABLES[variable][0] for variable in order]
    lines += ["\t" + VARIABLES[variable][1] for variable in order if variable not in made and VARIABLES[variable][1]]
    lines += ["\t{"] + ["\t\t" + line for line in example.splitlines()] + ["\t}"]
    lines += ["\t" + VARIABLES[variable][2] for variable in order[::-1] if variable not in made and VARIABLES[variable][2]]
    lines += ["\t" + " ".join(f"(void){variable};" for variable in order), "}"]
    return "\n".join(lines)


def program(examples):
    calls = "".join(f'\tif (strcmp(argv[1], "{name}") == 0)\n\t\texample_{name}();\n' for name in examples)
    return (BEGIN + "\n" + "\n\n".join(function(name, example) for name, example in examples.items())
            + "\n\nint main(int argc, char **argv)\n{\n\tif (argc != 2)\n\t\treturn 2;\n\t(void)count_record;\n" + calls
            + '\tif (error.message[0])\n\t\tfprintf(stderr, "%s\\n", error.message);\n\treturn error.message[0] != 0;\n}\n')


def prepare(folder, data, cc):
    for name in ("perf.data", "other.data", "broken.data"):
        shutil.copy(os.path.join(data, "hot.data"), os.path.join(folder, name))
    with open(os.path.join(folder, "broken.data"), "r+b") as file:
        file.truncate(5000)
    shutil.copy(os.path.join(data, "hot-stat.data"), os.path.join(folder, "stat.data"))
    shutil.copy(os.path.join(data, "..", "demo", "hot.tar.zst"), os.path.join(folder, "bundle.tar"))
    with open(os.path.join(folder, "jit-1.dump"), "wb") as file:
        file.write(struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 1, 0, 0))
    subprocess.run([*cc.split(), "-x", "c", "-g", "-O1", "-Wno-attributes", "-o", os.path.join(folder, "server"), "-"], input=SERVER.encode(), check=True)


def main():
    include, library, data, cc, cxx = (sys.argv[1], os.path.abspath(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5])
    failures = 0
    examples = {}
    for name in sorted(os.listdir(os.path.join(include, "perfdata"))):
        if not name.endswith(".h") or name in WITHOUT:
            continue
        example = example_of(os.path.join(include, "perfdata", name))
        if example is None:
            print(f"perfdata/{name}: no example in its head")
            failures += 1
        else:
            examples[name[:-2]] = example
    with tempfile.TemporaryDirectory(prefix="perfdata-examples-") as folder:
        prepare(folder, data, cc)
        for compiler, standard, suffix in ((cc, "c11", "c"), (cxx, "c++20", "cc")):
            source, binary = os.path.join(folder, "examples." + suffix), os.path.join(folder, "examples-" + suffix)
            with open(source, "w", encoding="utf-8") as file:
                text = program(examples)
                file.write("#define _GNU_SOURCE\n" + text if suffix == "c" else text)
            built = subprocess.run([*compiler.split(), "-std=" + standard, "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers",
                                    "-I", include, source, "-o", binary, "-L", library, "-lperfdata", "-Wl,-rpath," + library],
                                   capture_output=True, check=False)
            if built.returncode != 0:
                print(built.stderr.decode(errors="replace")[:6000])
                failures += 1
                continue
            for name in examples:
                shutil.copy(os.path.join(data, RECORDINGS.get(name, "hot.data")), os.path.join(folder, "perf.data"))
                ran = subprocess.run([binary, name], cwd=folder, capture_output=True, timeout=120, check=False)
                if ran.returncode != 0 and not (name in MAY_FAIL and ran.returncode == 1):
                    print(f"perfdata/{name}.h as {standard}: exit status {ran.returncode}: {ran.stderr.decode(errors='replace')}")
                    failures += 1
    print(f"{len(examples)} examples, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
