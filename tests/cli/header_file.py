# SPDX-License-Identifier: MIT
"""Writes a perf.data with one event, no samples, and every header feature that has a text.

usage: header_file.py FILE [big] [damaged]
"""

import struct
import sys

ORDER = ">" if "big" in sys.argv[2:] else "<"
IDENTIFIER = 1 << 16


def pack(kinds, *values):
    return struct.pack(ORDER + kinds, *values)


def text(word):
    room = (len(word) + 64) // 64 * 64
    return pack("I", room) + word.encode().ljust(room, b"\0")


def texts(*words):
    return pack("I", len(words)) + b"".join(map(text, words))


def flags(*bits):
    """C bit-fields: counted from the other end on big-endian machines."""
    return sum(1 << (63 - bit if ORDER == ">" else bit) for bit in bits)


def attr(kind, config, period, sample_type, bits):
    return pack("IIQQQQQ", kind, 128, config, period, sample_type, 31, flags(*bits)) + pack(
        "IIQQQQIiQIHHIIQ", 7, 3, 0x1000, 4, 1 << 0 | 1 << 19, 0xFF, 512, 1, 0xF0, 9, 8, 0, 5, 0, 77
    )


def event_desc():
    names = [("cycles:u", [1, 2]), ("an \x1b[31mevent", [])]
    body = pack("II", len(names), 128)
    for name, ids in names:
        body += attr(0, 1 << 63, 4000, (1 << 25) - 1, range(38))
        body += pack("I", len(ids)) + text(name) + pack(f"{len(ids)}Q", *ids)
    return body


def btf(*names):
    """BTF with an int, a struct of two members and functions of these names."""
    words = b"\0" + b"".join(name.encode() + b"\0" for name in names)
    types = pack("IIII", 0, 1 << 24, 4, 32)
    types += pack("III", 0, 4 << 24 | 2, 8) + pack("6I", 0, 1, 0, 0, 1, 32)
    place = 1
    for name in names:
        types += pack("III", place, 12 << 24, 0)
        place += len(name) + 1
    return pack("HBBIIIII", 0xEB9F, 1, 0, 24, 0, len(types), len(types), len(words)) + types + words


def program(number, name, functions, btf_id=0):
    """A BPF program; functions are (address, size, type)."""
    count = len(functions)
    arrays = [
        (3, pack(f"{count}Q", *(f[0] for f in functions))),
        (4, pack(f"{count}I", *(f[1] for f in functions))),
        (5, b"".join(pack("II", 0, f[2]) for f in functions)),
        (8, b"".join(bytes([i + 1] * 8) for i in range(count))),
    ]
    data, places = b"", {}
    for bit, array in arrays:
        places[bit] = len(data)
        data += array + bytes(-len(array) % 8)
    info = pack("II8xIIQQQIIQ16sII", 2, number, 0, 0, 0, 0, 0, 0, 0, 0, name.encode(), 0, 0)
    info += pack("QQIIQQIIQIIQQ", 0, 0, count, count, places[3], places[4], btf_id, 8, places[5], count, 0, 0, 0)
    info += pack("IIIIQ", 0, 0, 0, count, places[8])
    return pack("IIQ", len(info), len(data), sum(1 << bit for bit in places)) + info + data


def bpf_programs():
    programs = [
        program(9, "plain", [(0xFFFFFFFFC0001000, 54, 0)]),
        program(5, "two", [(0xFFFFFFFFC0002000, 16, 3), (0xFFFFFFFFC0003000, 20, 4)], btf_id=3),
        program(6, "lost", [(0xFFFFFFFFC0004000, 16, 3), (0xFFFFFFFFC0005000, 20, 4)], btf_id=4),
    ]
    return pack("I", len(programs)) + b"".join(programs)


def bpf_btf():
    items = [(7, btf("other")), (3, btf("first", "second"))]
    return pack("I", len(items)) + b"".join(pack("II", n, len(b)) + b for n, b in items)


def caches():
    levels = [(1, "Data", "32K", "0"), (3, "Unified", "36608K", "0-1")]
    return pack("II", 1, len(levels)) + b"".join(
        pack("IIII", level, 64, 64, 8) + text(kind) + text(size) + text(cpus) for level, kind, size, cpus in levels
    )


def domains():
    def domain(number, name, mask, cpus):
        return pack("I", number) + text(name) + text(mask) + text(cpus)

    one = pack("II", 0, 2) + domain(0, "SMT", "3", "0-1") + domain(1, "PKG", "f", "0-3")
    return pack("II", 17, 2) + one + pack("II", 1, 0)


FEATURES = {
    3: text("a\x07host"),
    4: text("6.1.0"),
    5: text("6.1"),
    6: text("x86_64"),
    7: pack("II", 4, 3),
    8: text("A CPU"),
    9: text("Vendor,6,85,7"),
    10: pack("Q", 2014540),
    11: texts("/usr/bin/perf", "it's", "two words", ""),
    12: event_desc(),
    13: texts("0-3")
    + texts("0-1", "2-3")
    + pack("8I", 0, 0, 1, 0, 2, 1, 2**32 - 1, 2**32 - 1)
    + texts("0-3")
    + pack("4I", 0, 0, 1, 2**32 - 1),
    14: pack("I", 1) + pack("IQQ", 1, 1000, 10) + text("0-3"),
    15: b"",
    16: pack("I", 2) + pack("I", 1) + text("software") + pack("I", 2**32 - 2) + text("tool"),
    17: pack("I", 0),
    18: pack("Q", 0),
    19: b"",
    20: caches(),
    21: pack("QQ", 1234567891234, 1234667891234),
    22: pack("QQQ", 1, 1 << 27, 1) + pack("QQQ", 7, 130, 130) + pack("3Q", 0xFF00FF, 1, 3),
    23: pack("Q", 1),
    25: bpf_programs(),
    26: bpf_btf(),
    27: pack("5I", 0, 1, 3, 7, 4096),
    28: pack("I", 2) + text("branches") + text("32") + text("max_precise") + text("3"),
    29: pack("IIQQ", 1, 4, 1600000000123456789, 5555555555),
    30: pack("I", 2) + text("cpu_core") + text("0-3") + text("cpu_atom") + text("4-7"),
    31: pack("I", 2) + pack("I", 1) + text("a") + text("1") + text("cpu_core") + pack("I", 0) + text("cpu_atom"),
    32: domains(),
    33: pack("II", 62, 0),
    34: pack("I", 64),
}


def write(path, features):
    event = attr(1, 0, 1, IDENTIFIER, []) + pack("QQ", 104, 8)
    data = pack("IHH", 68, 0, 8)
    data_offset = 104 + 8 + len(event)
    place = data_offset + len(data) + 16 * len(features)
    bits = sum(1 << number for number in features)
    magic = int.from_bytes(b"PERFILE2", "little")
    header = pack("QQQQQQQQQ4Q", magic, 104, len(event), 112, len(event), data_offset, len(data), 0, 0, bits, 0, 0, 0)
    table = b""
    for body in features.values():
        table += pack("QQ", place, len(body))
        place += len(body)
    with open(path, "wb") as f:
        f.write(header + pack("Q", 1) + event + data + table + b"".join(features.values()))


if "damaged" in sys.argv[2:]:
    # Each payload lacks its end: what is there is not what the layout says.
    FEATURES = {number: body[: min(3, len(body))] for number, body in FEATURES.items()}
write(sys.argv[1], FEATURES)
