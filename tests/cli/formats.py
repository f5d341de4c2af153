#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damaged formats of tracepoints through every command that reads pairs of events.

usage: formats.py PERFDATA DATA [COUNT [SEED]]

The text form of a recording of switches, and of one with switches, wakeups and system calls, is changed: offsets, sizes and signs of
fields, names of fields that are gone. No command may crash or hang, and each failure says what is wrong. Exit status: 0 all is well.
"""

import os
import random
import re
import subprocess
import sys
import tempfile

COMMANDS = ("sched timehist -w -n -M --state", "sched timehist -S", "sched latency", "sched map", "trace -s --errno-summary", "waiting",
            "waiting --json", "folded --waiting", "sql --waiting - 'select count(*) from samples'")
CODES = (0, 1, 3, 5, 6)
FIELDS = {
    "sched:sched_switch": ("pid_t prev_pid", "long prev_state", "pid_t next_pid"),
    "sched:sched_waking": ("int pid",),
    "sched:sched_migrate_task": ("int pid", "int orig_cpu", "int dest_cpu"),
    "raw_syscalls:sys_enter": ("long id",),
    "raw_syscalls:sys_exit": ("long id", "long ret"),
}


def synthetic():
    """Four events with fields of 8 bytes, and samples of random threads."""
    chance = random.Random(1)
    systems, samples, head = {}, [], "header form: file, byte_order: little\n"
    for number, (name, fields) in enumerate(FIELDS.items()):
        system, event = name.split(":")
        body = "".join(f"\\n\\tfield:{field};\\toffset:{8 + 8 * i};\\tsize:8;\\tsigned:1;" for i, field in enumerate(fields))
        systems.setdefault(system, []).append(
            f'{{data: "name: {event}\\nID: {number + 1}\\nformat:\\n\\tfield:unsigned short common_type;\\toffset:0;\\tsize:2;\\tsigned:0;\\n'
            f'{body}\\n\\nprint fmt: \\"x\\"\\n"}}')
        head += (f'event {{name: "{name}", ids: [{number + 1}], type: tracepoint, config: {number + 1}, sample_period: 1, '
                 "sample_type: TID|TIME|CPU|RAW|IDENTIFIER, flags: sample_id_all}\n")
    for i in range(200):
        number = chance.randrange(len(FIELDS))
        raw = b"".join(chance.randrange(4).to_bytes(8, "little") for _ in range(3))
        samples.append(f'SAMPLE event: {number}, identifier: {number + 1}, pid: 1, tid: {chance.randrange(4)}, time_ns: {1000 + i}, cpu: '
                       f'{chance.randrange(3)}, raw: x"{(number + 1).to_bytes(8, "little").hex()}{raw.hex()}"\n')
    lists = ", ".join(f'{{name: "{system}", formats: [{", ".join(formats)}]}}' for system, formats in systems.items())
    return (head + 'feature TRACING_DATA {magic: x"17084474726163696e67", version: "0.6", long_size: 8, page_size: 4096, header_page_name: '
            '"header_page", header_page: "\\n", header_event_name: "header_event", header_event: "\\n", ftrace_formats: [], systems: '
            f'[{lists}], kallsyms: "", printk_formats: "", saved_cmdlines: ""}}\n' + "".join(samples))


def mutate(text, chance):
    """A few numbers or names of formats become others."""
    places = [*re.finditer(r"(offset:|size:|signed:)(\d+)", text), *re.finditer(r"()\b((?:prev|next)_\w+|pid|id|ret|common_type)\b;", text)]
    for place in sorted(chance.sample(places, min(len(places), chance.randint(1, 4))), key=lambda match: -match.start(2)):
        new = str(chance.choice((0, 1, 2, 3, 4, 8, 16, 63, 255, 4096, 65535, 2**31, 2**32 - 1, 2**63))) if place[1] else "gone"
        text = text[: place.start(2)] + new + text[place.end(2):]
    return text


def main():
    perfdata, data = os.path.abspath(sys.argv[1]), sys.argv[2]
    count, seed = (int(sys.argv[3]) if len(sys.argv) > 3 else 12), (int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    chance, wrong, runs, failed = random.Random(seed), 0, 0, 0
    texts = [subprocess.run([perfdata, "text", os.path.join(data, "hot-trace.data")], capture_output=True, check=True).stdout.decode(),
             synthetic()]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "mutant.data")
        for i in range(count + 2):
            # the first ones are as they were
            text = texts[i % 2] if i < 2 else mutate(texts[i % 2], chance)
            made = subprocess.run([perfdata, "assemble", "-o", path, "-"], input=text.encode(), capture_output=True, check=False)
            if made.returncode:
                print(f"mutant {i} cannot be assembled: {made.stderr.decode()}")
                wrong += 1
                continue
            for line in COMMANDS:
                words = [path if word == "-" else word for word in re.findall(r"'[^']*'|\S+", line)]
                words = [word.strip("'") for word in words] + ([] if path in words else [path])
                done = subprocess.run([perfdata, *words], capture_output=True, check=False, timeout=120)
                runs += 1
                failed += done.returncode != 0
                if done.returncode not in CODES or (done.returncode and not done.stderr):
                    print(f"mutant {i} (seed {seed}): {line}: exit status {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")
                    wrong += 1
    print(f"{runs} runs, {failed} with an error, {wrong} of them wrong")
    return 1 if wrong or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
