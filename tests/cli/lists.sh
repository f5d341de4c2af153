# SPDX-License-Identifier: MIT

# Events.
try evlist data/hot.data
try evlist -v data/hot.data
try evlist -F data/hot-multi.data
try evlist -g data/hot-group.data
try evlist data/hot-trace.data
try evlist --trace-fields data/hot-trace.data
try evlist -v --trace-fields data/hot-trace.data
try evlist -F --trace-fields data/hot-multi.data
try evlist --json data/hot-group.data
try evlist --json data/hot-trace.data
shell 'perfdata evlist data/hot-trace-pipe.data'
shell 'cat data/hot-trace-pipe.data | perfdata evlist --trace-fields'
try evlist -q data/hot-sigkill.data
try evlist -g -v data/hot.data
try evlist none

# Objects.
try buildid-list data/hot.data
try buildid-list -H data/hot.data
try buildid-list --json data/hot.data
try buildid-list --json -H data/hot.data
try buildid-list data/hot-pipe.data
shell 'cat data/hot-pipe.data | perfdata buildid-list'
shell 'cat data/hot-records.data | perfdata buildid-list -H | cmp - <(perfdata buildid-list -H data/hot-records.data)'
try buildid-list data/hot-stat.data
try buildid-list none

# Of an ELF file: wide and narrow, of both byte orders, notes in sections and in segments.
cat >elf.py <<'END'
import struct, sys

def elf(wide, big, sections, note):
    order, word = ">" if big else "<", "Q" if wide else "I"
    head = 64 if wide else 52
    at = head + (64 if wide else 40)
    table = (0, 0) if not sections else (head, 1)
    segment = (0, 0) if sections else (head, 1)
    out = b"\x7fELF" + bytes((2 if wide else 1, 2 if big else 1, 1)) + bytes(9)
    out += struct.pack(order + "HHI" + 3 * word + "IHHHHHH", 2, 62, 1, 0, segment[0], table[0], 0, head,
                       56 if wide else 32, segment[1], 64 if wide else 40, table[1], 0)
    if sections:
        entry = struct.pack(order + "II" + 4 * word, 0, 7, 0, 0, at, len(note))
    elif wide:
        entry = struct.pack(order + "IIQQQQ", 4, 0, at, 0, 0, len(note))
    else:
        entry = struct.pack(order + "IIIII", 4, at, 0, 0, len(note))
    return out + entry.ljust(at - head, b"\0") + note

for wide in (0, 1):
    for big in (0, 1):
        for sections in (0, 1):
            order = ">" if big else "<"
            note = struct.pack(order + "III", 4, 5, 1) + b"GNU\0other\0\0\0"
            note += struct.pack(order + "III", 4, 20, 3) + b"GNU\0" + bytes(range(0x10, 0x24))
            name = f"elf-{wide}{big}{sections}"
            with open(name, "wb") as f:
                f.write(elf(wide, big, sections, note))
with open("elf-none", "wb") as f:
    f.write(elf(1, 0, 1, b""))
with open("elf-cut", "wb") as f:
    f.write(elf(1, 0, 1, note[:30]))
END
shell 'python3 elf.py; for f in elf-[01]*; do perfdata buildid-list $f; done | uniq -c'
try buildid-list -i elf-none
try buildid-list -i elf-cut
shell 'printf "\177ELF" >elf-short; perfdata buildid-list elf-short'
# As perf 7.2: how an event is encoded, and the events of a PMU.
try list --details context-switches user_time
try list --unit 'soft*' --details switches
try list --unit tool
try list -j --details user_time
try list --unit no-such-pmu
# As perf 7.2, an array.
shell 'perfdata list -j -o list.json context-switches && cat list.json'
shell 'perfdata list -o list.json no-such-event; cat list.json | wc -l'
