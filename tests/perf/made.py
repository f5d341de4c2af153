# SPDX-License-Identifier: MIT
"""Recordings of tracepoints that are made up, as text for perfdata assemble: events that no kernel here has, in orders that are rare.

The kernel is that of this machine, so that its functions have names.
"""

import os
import struct
import subprocess
import tempfile

COMMON = (("unsigned short", "common_type", 0, 2, 0), ("unsigned char", "common_flags", 2, 1, 0),
          ("unsigned char", "common_preempt_count", 3, 1, 0), ("int", "common_pid", 4, 4, 1))
CODES = {(1, 0): "B", (1, 1): "b", (2, 0): "H", (2, 1): "h", (4, 0): "I", (4, 1): "i", (8, 0): "Q", (8, 1): "q"}


def field_line(field):
    kind, name, offset, size, signed = field
    return f"\\tfield:{kind} {name};\\toffset:{offset};\\tsize:{size};\\tsigned:{signed};\\n"


def functions(*names):
    """Addresses of functions of the kernel; those that it lacks are left out."""
    found = {}
    with open("/proc/kallsyms", encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if len(words) == 3 and words[2] in names:
                found.setdefault(words[2], int(words[0], 16))
    return [found[name] for name in names if found.get(name)]


def kernel_line(perfdata):
    """The record that says where the kernel is, as perf writes it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k.data")
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-o", path, "true"], capture_output=True, check=False)
        text = subprocess.run([perfdata, "text", path], capture_output=True, check=False).stdout.decode(errors="replace")
    return [line.split(", sample_id")[0] for line in text.splitlines() if line.startswith("MMAP ") and "kallsyms]_" in line][:1]


class Recording:
    """Events are (system:name, fields); each field as in COMMON. prints: what some print, from after the first quote."""

    def __init__(self, events, kernel=(), prints=None):
        self.events = events
        self.prints = prints or {}
        self.lines = list(kernel)

    def comm(self, tid, name):
        self.lines.append(f'COMM pid: {tid}, tid: {tid}, comm: "{name}"')

    def sample(self, number, time_ns, tid, cpu, chain=(), **values):
        name, fields = self.events[number]
        raw = bytearray(struct.pack("<HBBi", number + 1, 0, 0, tid))
        raw += bytes(max(offset + size for _, _, offset, size, _ in fields) - len(raw))
        for kind, field, offset, size, signed in fields:
            value = values.get(field, 0)
            if isinstance(value, str):
                value = value.encode() + b"\0"
                if "__data_loc" in kind:
                    struct.pack_into("<I", raw, offset, len(value) << 16 | len(raw))
                    raw += value
                else:
                    raw[offset:offset + size] = value[:size].ljust(size, b"\0")
                continue
            if "[" in field:
                value = value if isinstance(value, list) else [value] * (size // 8)
                struct.pack_into(f"<{len(value)}q", raw, offset, *value)
                continue
            struct.pack_into("<" + CODES[size, signed], raw, offset, value)
        raw += bytes(-(len(raw) + 4) % 8)
        calls = " ".join(hex(addr) for addr in chain)
        self.lines.append(f"SAMPLE event: {number}, misc: kernel, ip: {hex(chain[0]) if chain else 0}, pid: {tid}, tid: {tid}, time_ns: {time_ns}, "
                          f"id: {number + 1}, cpu: {cpu}, period: 1, callchain: [{'KERNEL ' + calls if calls else ''}], raw: x\"{raw.hex()}\"")

    def text(self):
        out = ["header form: file, byte_order: little"]
        systems = {}
        for i, (name, fields) in enumerate(self.events):
            out.append(f'event {{name: "{name}", ids: [{i + 1}], type: tracepoint, size: 128, config: {i + 1}, sample_period: 1, sample_type: '
                       "IP|TID|TIME|CALLCHAIN|ID|CPU|PERIOD|RAW, read_format: ID, flags: disabled|inherit}")
            system, short = name.split(":")
            shown = "".join(map(field_line, COMMON)) + "\\n" + "".join(map(field_line, fields))
            printed = self.prints.get(i, 'x"').replace('"', '\\"')
            systems.setdefault(system, []).append(f'{{data: "name: {short}\\nID: {i + 1}\\nformat:\\n{shown}\\nprint fmt: \\"{printed}\\n"}}')
        shown = ", ".join(f'{{name: "{name}", formats: [{", ".join(formats)}]}}' for name, formats in systems.items())
        out.append('feature TRACING_DATA {magic: x"17084474726163696e67", version: "0.6", long_size: 8, page_size: 4096, header_page_name: '
                   '"header_page", header_page: "\\tfield: u64 timestamp;\\toffset:0;\\tsize:8;\\tsigned:0;\\n\\tfield: local_t commit;\\toffset:8;'
                   '\\tsize:8;\\tsigned:1;\\n\\tfield: char data;\\toffset:16;\\tsize:4080;\\tsigned:1;\\n", header_event_name: "header_event", '
                   f'header_event: "\\n", ftrace_formats: [], systems: [{shown}], kallsyms: "", printk_formats: "", saved_cmdlines: ""}}')
        return "\n".join(out + self.lines) + "\n"

    def write(self, perfdata, path):
        subprocess.run([perfdata, "assemble", "-o", path, "-"], input=self.text().encode(), check=True)
