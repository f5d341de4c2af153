# SPDX-License-Identifier: MIT

# Nothing of this machine: no objects, no cache, no index.
doctor()
{
	try doctor --symfs none --buildid-dir none --debug-path none --no-index "$@"
}

doctor data/hot.data
doctor data/hot-group.data
doctor data/hot-records.data
doctor data/hot-sigkill.data
doctor data/hot-stat.data
doctor data/hot-regs.data
shell 'cat data/hot-pipe.data | perfdata doctor --symfs none --buildid-dir none --debug-path none --no-index'
shell 'head -c 5000 data/hot.data >cut.data; perfdata doctor --symfs none --no-index cut.data | grep -A2 "cut\|damaged"'
cat >show.py <<'END'
import json, sys
found = json.load(sys.stdin)
findings = found.pop("findings")
print(*sorted(found.items()))
for finding in findings:
    for thing in finding["objects"]:
        thing["detail"] = thing["detail"] != ""
    print(*finding.items())
END
shell 'perfdata doctor --json --symfs none --buildid-dir none --no-index data/hot-sigkill.data | python3 show.py'
shell 'echo | perfdata doctor'
try doctor none
try doctor one two

# Losses, throttling, gaps in traces, times that go back, records of the future: made, as no recorder makes them on demand.
cat >made.py <<'END'
import struct

IP, TID, TIME, CPU, PERIOD, CHAIN, ID = 1, 2, 4, 128, 256, 32, 64
ATTR = struct.pack("<IIQQQQQIIQQ", 0, 72, 0, 4000, IP | TID | TIME | CHAIN | ID | CPU | PERIOD, 4, 1 << 10 | 1 << 18, 0, 0, 0, 0)
ATTR = ATTR[:72]

def record(kind, body, misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body

def sample_id(time):
    return struct.pack("<IIQQII", 7, 7, time, 1, 0, 0)

def sample(time, chain, cpu=0):
    body = struct.pack("<QIIQQIIQ", chain[0], 7, 7, time, 1, cpu, 0, 1000)
    return record(9, body + struct.pack("<Q", len(chain) + 1) + struct.pack("<Q", 2**64 - 512)
                  + b"".join(struct.pack("<Q", ip) for ip in chain), 2)

data = record(10, struct.pack("<IIQQQIIQQII", 7, 7, 0x1000, 0x100000, 0, 8, 1, 5, 0, 5, 2) + b"/opt/made/program\0".ljust(24, b"\0")
              + sample_id(0), 2)
for i in range(200):
    data += sample(1000000 * (i + 1), [0x2000] if i % 2 else [0x2000 + 16 * k for k in range(127)])
data += sample(100000000, [0x3000])
data += sample(300000000, [0xdead0000])
data += record(5, struct.pack("<QQQ", 50000000, 1, 1) + sample_id(50000000))
data += record(6, struct.pack("<QQQ", 80000000, 1, 1) + sample_id(80000000))
data += record(2, struct.pack("<QQ", 1, 60) + sample_id(90000000))
data += record(13, struct.pack("<Q", 7) + sample_id(91000000))
data += record(11, struct.pack("<QQQ", 0, 64, 1) + sample_id(92000000))
data += record(63, bytes(16))
ids = struct.pack("<Q", 1)
head = 104
attrs = ATTR + struct.pack("<QQ", head, len(ids))
header = b"PERFILE2" + struct.pack("<QQQQQQQQ", head, len(attrs), head + len(ids), len(attrs), head + len(ids) + len(attrs),
                                   len(data), 0, 0) + bytes(32)
with open("made.data", "wb") as f:
    f.write(header + ids + attrs + data)
END
shell 'python3 made.py'
doctor made.data

# Counters that took turns: the made event with readings, on a counter a quarter of the time.
cat >turns.py <<'END'
import struct

exec(open("made.py").read().split("data = record(10")[0])
ATTR = struct.pack("<IIQQQQQIIQQ", 0, 72, 0, 4000, IP | TID | TIME | 16, 7, 1 << 18, 0, 0, 0, 0)[:72]
data = b"".join(record(9, struct.pack("<QIIQQQQQ", 0x2000, 7, 7, 1000 * i, 5 * i, 4000 * i, 1000 * i, 1), 2) for i in range(1, 150))
header = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 88, 112, 88, 200, len(data), 0, 0) + bytes(32)
with open("turns.data", "wb") as f:
    f.write(header + struct.pack("<Q", 1) + ATTR + struct.pack("<QQ", 104, 8) + data)
END
shell 'python3 turns.py; perfdata doctor --symfs none --no-index turns.data | grep -A2 multiplexed'

# A chain that goes on with a marker that does not exist: frame pointers led it into garbage.
cat >garbage.py <<'END2'
exec(open("made.py").read().split("data = record(10")[0])
data = b"".join(sample(1000000 * (i + 1), [0x2000, 2**64 - 77 if i < 20 else 0x2100]) for i in range(150))
header = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 88, 112, 88, 200, len(data), 0, 0) + bytes(32)
with open("garbage.data", "wb") as f:
    f.write(header + struct.pack("<Q", 1) + ATTR + struct.pack("<QQ", 104, 8) + data)
END2
shell 'python3 garbage.py; perfdata doctor --symfs none --no-index garbage.data | grep -A3 stacks-damaged'

# A warning is no failure: everything has a name, and some samples were lost.
cat >fair.py <<'END2'
exec(open("made.py").read().split("for i in range(200)")[0])
data += record(3, struct.pack("<II", 7, 7) + b"made".ljust(8, b"\0") + sample_id(0), 0)
data += b"".join(sample(1000000 * (i + 1), [0x2000, 0x2100]) for i in range(150)) + record(13, struct.pack("<Q", 7) + sample_id(91000000))
header = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 88, 112, 88, 200, len(data), 0, 0) + bytes(32)
with open("fair.data", "wb") as f:
    f.write(header + struct.pack("<Q", 1) + ATTR + struct.pack("<QQ", 104, 8) + data)
END2
python3 fair.py
python3 "${BASH_SOURCE[0]%/*}/object.py" root/opt/made/program 0123456789abcdef0123456789abcdef01234567 work=1000-3000
try doctor --symfs root --buildid-dir none --debug-path none --no-index fair.data
