# SPDX-License-Identifier: MIT
"""Structs of the format: made from dicts, and copied with other values. Which members there are is what the library says."""

import array
import ctypes
from typing import Any, Dict, List, Mapping, NamedTuple, Optional

from ._errors import Error, text
from ._library import CBytes, CList, CStr, lib

NUMBERS = {"uint8_t": ctypes.c_uint8, "uint16_t": ctypes.c_uint16, "uint32_t": ctypes.c_uint32, "uint64_t": ctypes.c_uint64,
           "int32_t": ctypes.c_int32, "double": ctypes.c_double, "bool": ctypes.c_bool}
ARRAYS = {"struct pd_u16s": ctypes.c_uint16, "struct pd_u32s": ctypes.c_uint32, "struct pd_u64s": ctypes.c_uint64}
SAMPLE_ID_OFFSET = ctypes.sizeof(CBytes)  # of records: behind the bytes that are not known
KERNEL = 1  # of pd_record_group: records that may have a sample_id


class Member(NamedTuple):
    """A member of a struct; kind is its type in C, part the layout behind it."""

    name: str
    kind: str
    offset: int
    part: Optional[int]


_members: Dict[int, Dict[str, Member]] = {}


def members_of(layout) -> Dict[str, Member]:
    """The members of a layout by name."""
    if layout not in _members:
        found = {}
        for i in range(lib.pd_layout_field_count(layout)):
            field, declaration = lib.pd_layout_field(layout, i), ctypes.create_string_buffer(200)
            lib.pd_field_c(field, declaration, len(declaration))
            kind = declaration.value.decode().rpartition(" ")[0]
            name = text(lib.pd_field_name(field))
            if kind:
                found[name] = Member(name, kind, lib.pd_field_offset(field), lib.pd_field_part(field))
        _members[layout] = found
    return _members[layout]


class Struct:
    """A struct of a layout in memory, which keeps what it points to."""

    def __init__(self, layout, source: Optional[int] = None, has_sample_id: bool = False):
        self.layout, self._has_sample_id = layout, has_sample_id
        self._kept: List[Any] = []
        size = lib.pd_layout_struct_size(layout)
        self.memory = ctypes.create_string_buffer(ctypes.string_at(source, size) if source else b"\0" * size, size)
        self._parts: Dict[str, "Struct"] = {}

    @property
    def address(self) -> int:
        return ctypes.addressof(self.memory)

    def _wrong(self, name, value):
        return Error(f"{text(lib.pd_layout_name(self.layout))}.{name} cannot be {value!r:.100}", "argument")

    def _member(self, name) -> Member:
        members = members_of(self.layout)
        if name == "sample_id" and self._has_sample_id:
            return Member(name, "const struct pd_sample_id", SAMPLE_ID_OFFSET, lib.pd_layout_by_name(b"sample_id"))
        if name not in members:
            raise Error(f"{text(lib.pd_layout_name(self.layout))} has no field '{name}'", "argument")
        return members[name]

    def _place(self, member, kind):
        return kind.from_buffer(self.memory, member.offset)

    def _put_number(self, member, value):
        kind = NUMBERS[member.kind]
        number = kind(value)
        if kind is not ctypes.c_double and number.value != value:
            raise self._wrong(member.name, value)
        self._place(member, kind).value = value

    def _put_text(self, member, value):
        raw = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else bytes(memoryview(value))
        if b"\0" in raw:
            raise self._wrong(member.name, value)
        buffer = ctypes.create_string_buffer(raw)
        self._kept.append(buffer)
        place = self._place(member, CStr)
        place.data, place.length, place.size = ctypes.addressof(buffer), len(raw), 0

    def _put_array(self, member, value):
        if member.kind == "struct pd_bytes":
            raw = bytes.fromhex(value) if isinstance(value, str) else bytes(memoryview(value))
            items, count = ctypes.create_string_buffer(raw, max(len(raw), 1)), len(raw)
        else:
            kind, count = ARRAYS[member.kind], len(value)
            items = (kind * max(count, 1))(*value)
            if list(items[:count]) != list(value):
                raise self._wrong(member.name, value)
        self._kept.append(items)
        place = self._place(member, CBytes)
        place.data, place.size = ctypes.addressof(items), count

    def _put_list(self, member, value):
        size = lib.pd_layout_struct_size(member.part)
        items = ctypes.create_string_buffer(max(size * len(value), 1))
        for i, fields in enumerate(value):
            item = Struct(member.part)
            item.update(fields)
            ctypes.memmove(ctypes.addressof(items) + i * size, item.address, size)
            self._kept.append(item)
        self._kept.append(items)
        place = self._place(member, CList)
        place.items, place.count, place.stride = ctypes.addressof(items), len(value), size

    def _part(self, member) -> "Struct":
        """A part of its own, that can be changed."""
        if member.name not in self._parts:
            pointer = self._place(member, ctypes.c_void_p)
            self._parts[member.name] = part = Struct(member.part, pointer.value)
            pointer.value = part.address
        return self._parts[member.name]

    def _put(self, member, value):
        if member.kind in NUMBERS:
            self._put_number(member, value)
        elif member.kind == "struct pd_str":
            self._put_text(member, value)
        elif member.kind in ARRAYS or member.kind == "struct pd_bytes":
            self._put_array(member, value)
        elif member.kind == "struct pd_list":
            self._put_list(member, value)
        elif value is None:
            self._parts.pop(member.name, None)
            self._place(member, ctypes.c_void_p).value = None
        else:
            self._part(member).update(value)

    def put(self, name: str, value: Any) -> None:
        """Sets a field; of parts by their names, "sample_id.cpu"."""
        if not isinstance(name, str):
            raise Error(f"{name!r:.100} is not the name of a field", "argument")
        first, _, rest = name.partition(".")
        member = self._member(first)
        if rest:
            if not member.part or member.kind == "struct pd_list":
                raise Error(f"{first} has no fields", "argument")
            self._part(member).put(rest, value)
            return
        try:
            self._put(member, value)
        except (TypeError, ValueError, OverflowError):
            raise self._wrong(name, value) from None

    def update(self, fields: Mapping[str, Any]) -> None:
        """Sets fields."""
        if not isinstance(fields, Mapping):
            raise Error(f"the fields of {text(lib.pd_layout_name(self.layout))} cannot be {fields!r:.100}", "argument")
        for name, value in fields.items():
            self.put(name, value)


def record_struct(type: int, source: Optional[int] = None) -> Struct:
    """The fields of a record."""
    return Struct(lib.pd_record_layout(type), source, lib.pd_record_group(type) == KERNEL)


def number_of_misc(value: Any) -> int:
    """The flags of the header of a record, which have 16 bits."""
    try:
        return array.array("H", [value])[0]
    except (TypeError, OverflowError):
        raise Error(f"misc cannot be {value!r:.100}", "argument") from None
