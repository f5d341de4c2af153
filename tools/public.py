# SPDX-License-Identifier: MIT
"""Reads the public headers for tools/plain.py and tools/reference.py: what they declare, with comments, in their order.

The lines of the tables (include/perfdata/table) are expanded as the headers say; their texts become comments. No compiler
is needed: of the preprocessor's language this knows what the headers use, and stops at everything else.
"""

import os
import re

TABLE = "table/"
# Comments, strings and characters are passed over as a whole.
TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'|\w+|\s+|.", re.S)
DEFINE = re.compile(r"#\s*define\s+(\w+)(\(([^)]*)\))?\s*(.*)", re.S)
# A line of flag.def that opens a set, and the line inside that is expanded instead.
SETS = {"BITS": "BIT", "ENUM": "VALUE"}
# Longer members do not move the comments of others.
COMMENT_AT = 60
NUMBERS = {"UINT64_MAX": 2**64 - 1, "UINT32_MAX": 2**32 - 1}


class PublicError(Exception):
    """Something in a header that is not understood."""


class Item:
    """A declaration, constant or comment of a header.

    kind: struct, opaque, enum, callback, function, inline, constant, macro; text (a comment of its own), chapter, and
    subchapter (of a table).
    doc is the comment before it, as lines; code its C without that, but with comments inside; names are what it declares.
    is_joined: no blank line before it.
    """

    def __init__(self, kind, names, code, doc, is_joined):
        self.kind, self.names, self.code, self.doc, self.is_joined = kind, names, code, doc, is_joined

    @property
    def name(self):
        return self.names[0]


class Header:
    """name is that of the file; purpose its first sentence; about the rest of its head, as lines."""

    def __init__(self, name, purpose, about, includes, items):
        self.name, self.purpose, self.about, self.includes, self.items = name, purpose, about, includes, items


def number_of(expression):
    """The value of a constant, or None: a number, maybe with brackets, a sign and a cast."""
    text = expression.strip()
    while text.startswith("(") and text.endswith(")") and balanced(text[1:-1]):
        text = text[1:-1].strip()
    cast = re.fullmatch(r"\((int|uint64_t)\)(.+)", text)
    if cast:
        value = number_of(cast[2])
        if value is None:
            return None
        return value % 2**64 if cast[1] == "uint64_t" else (value + 2**31) % 2**32 - 2**31
    if text in NUMBERS:
        return NUMBERS[text]
    match = re.fullmatch(r"(-?)\s*(0[xX][0-9a-fA-F]+|\d+)[uUlL]*", text)
    if not match:
        return None
    value = int(match[2], 0)
    return -value if match[1] else value


def balanced(text):
    depth = 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            return False
    return depth == 0


def comment_lines(comment):
    """The text of a comment, without its stars."""
    text = re.sub(r"^/\*+|\*/$", "", comment)
    lines = [re.sub(r"^\s*\* ?", "", line).rstrip() if i else line.strip() for i, line in enumerate(text.split("\n"))]
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


# ---- tables ----


def arguments_of(text, start):
    """The arguments of a call whose ( is at start, and where it ends."""
    depth, current, found, at = 0, "", [], start
    for match in TOKEN.finditer(text, start):
        token = match[0]
        at = match.end()
        if token == "(":
            depth += 1
            if depth == 1:
                continue
        elif token == ")":
            depth -= 1
            if depth == 0:
                return [argument.strip() for argument in [*found, current]], at
        elif token == "," and depth == 1:
            found.append(current)
            current = ""
            continue
        current += token
    raise PublicError(f"a call has no end: {text[start:start + 60]}")


def table_lines(folder, name, of_flags=False):
    """The lines of a table as (word, arguments); comments of their own as ("", [comment]). Includes are followed."""
    with open(os.path.join(folder, TABLE, name), encoding="utf-8") as f:
        text = f.read()
    # A table of fields may have the bits that announce them: those are lines of flag.def.
    of_flags |= name == "flag.def"
    text = re.sub(r"^#ifdef END_BITS\n(.*?)^#else\n(.*?)^#endif\n", r"\1" if of_flags else r"\2", text, flags=re.M | re.S)
    # Words that nobody defined become nothing here anyway.
    text = re.sub(r"^#(ifndef|define|undef|endif).*\n", "", text, flags=re.M)
    at = 0
    while at < len(text):
        token = TOKEN.match(text, at)
        at = token.end()
        if token[0].startswith("#"):
            include = re.compile(r'include "(\w+\.def)"').match(text, at)
            if not include:
                raise PublicError(f"{name}: a directive that is not known: {text[at:at + 40]}")
            at = include.end()
            yield from table_lines(folder, include[1], of_flags)
        elif token[0].startswith("/*"):
            yield "", [token[0]]
        elif re.fullmatch(r"\w+", token[0]):
            arguments, at = arguments_of(text, text.index("(", at))
            yield token[0], arguments
        elif token[0].strip():
            raise PublicError(f"{name}: not a line of a table: {text[at - 1:at + 40]}")


def string_of(argument):
    """The text of adjacent strings."""
    return "".join(part.replace('\\"', '"') for part in re.findall(r'"((?:\\.|[^"\\])*)"', argument))


class Macros:
    """Definitions of a header, as far as its tables need them."""

    def __init__(self):
        self.known = {}

    def define(self, directive):
        match = DEFINE.match(re.sub(r"\\\n", " ", directive))
        self.known[match[1]] = ([p.strip() for p in match[3].split(",")] if match[2] else None, match[4].strip())

    def expand(self, word, arguments):
        """A line of a table as C; what has a doc gets it as a comment."""
        parameters, body = self.known[word]
        if len(parameters) != len(arguments):
            raise PublicError(f"{word} has {len(parameters)} parameters, not {len(arguments)}")
        given = dict(zip(parameters, arguments))
        code = re.sub(r"\s*##\s*", "\0", body)
        code = re.sub(r"\w+", lambda m: given.get(m[0], m[0]), code).replace("\0", "")
        code = re.sub(r"\w+", lambda m: self.known.get(m[0], ([], m[0]))[1] if self.is_object(m[0]) else m[0], code)
        doc = string_of(given["doc"]) if "doc" in given else ""
        return laid_out(code, doc)

    def is_object(self, name):
        return name in self.known and self.known[name][0] is None


def laid_out(code, doc):
    """Expanded code as lines: a line for each member, the doc where comments stand."""
    code = re.sub(r"\s+", " ", code).strip()
    if not code:
        return []
    if code.replace(" ", "") == "};":
        return ["};", ""]
    comment = f" /* {doc} */" if doc else ""
    opened = re.match(r"struct \w+ \{ ?", code)
    if opened:
        members = [member.strip() + ";" for member in code[opened.end():].split(";") if member.strip()]
        return [*([f"/** {doc} */"] if doc else []), opened[0].strip(), *("\t" + member for member in members)]
    if code.startswith("static inline"):
        return [code]
    enumerator = re.findall(r"(\w+) = ([^,]+),", code)
    if enumerator:
        values = [(name, number_of(value)) for name, value in enumerator]
        if any(value is None for _, value in values):
            raise PublicError(f"not a number: {code}")
        return ["\t" + " ".join(f"{name} = {value}," for name, value in values) + comment]
    return ["\t" + code + comment]


def expanded(folder, name, macros):
    """A table as C. A word that is not defined is nothing; chapters stay where structs are made."""
    lines, chapter = [], []
    for word, arguments in table_lines(folder, name):
        if not word:
            if arguments[0].startswith("/* ----"):
                chapter = ["", arguments[0].replace(" ---- ", " -- "), ""]
        elif word in macros.known:
            made = macros.expand(word, arguments)
            if made and made[-1].startswith("\t") and not made[0].startswith("\t"):
                lines += chapter
                chapter = []
            lines += made
        elif SETS.get(word) in macros.known:
            lines.append(f"\t/* {arguments[1]}: {string_of(arguments[2])} */")
    with open(os.path.join(folder, TABLE, name), encoding="utf-8") as f:
        for word in re.findall(r"^#undef (\w+)", f.read(), flags=re.M):
            macros.known.pop(word, None)
    return "\n".join(aligned(lines))


def aligned(lines):
    """Comments behind members one below the other."""
    out, block = [], []
    for line in [*lines, ""]:
        if re.match(r"\t[^/]", line):
            block.append(line.split(" /* ", 1))
            continue
        width = max((len(code) for code, *comment in block if comment and len(code) <= COMMENT_AT), default=0)
        out += [code.ljust(width) + "".join(" /* " + text for text in comment) if comment else code for code, *comment in block]
        out.append(line)
        block = []
    return out[:-1]


def flat(folder, name):
    """A header without tables, guards and includes; and which other headers it includes."""
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        text = f.read().replace("/* SPDX-License-Identifier: MIT */\n", "", 1)
    text = re.sub(r'#ifdef __cplusplus\n(?:extern "C" \{|\})\n#endif\n', "", text)
    text = re.sub(r"#if defined\(__GNUC__\)\n.*?#endif\n", "", text, flags=re.S)
    # Structs that others declare, too, each with the guard that all of them have.
    text = re.sub(r"#ifndef (ARROW_\w+)\n#define \1\n(.*?)#endif\n", r"\2", text, flags=re.S)
    guard = f"PERFDATA_{name.upper().replace('.', '_')}"
    text, guards = re.subn(rf"#ifndef {guard}\n#define {guard}\n|#endif\n\Z", "", text)
    if guards != 2:
        raise PublicError(f"{name}: its guard is not {guard}")
    out, includes, macros = [], [], Macros()
    for chunk in re.split(r"(^#(?:[^\n]*\\\n)*[^\n]*\n)", text, flags=re.M):
        directive = chunk.split()[0] if chunk.startswith("#") else ""
        if not directive:
            out.append(chunk)
        elif directive == "#include":
            path = chunk.split()[1].strip("<>")
            inner = path.removeprefix("perfdata/")
            if inner == TABLE + "end.h":
                macros = Macros()
            elif inner.endswith(".def"):
                out.append(expanded(folder, inner.removeprefix(TABLE), macros) + "\n")
            elif inner != path and not inner.startswith(TABLE):
                includes.append(inner)
        elif directive == "#undef":
            macros.known.pop(chunk.split()[1], None)
        elif directive == "#define":
            macros.define(chunk)
            if chunk.startswith("#define PD_") and not chunk.startswith(("#define PD_TYPE_", "#define PD_ARRAY_")):
                out.append(chunk)
        else:
            raise PublicError(f"{name}: {chunk.strip()}: not known here")
    return "".join(out), includes


# ---- declarations ----


def chunks(text):
    """Comments, directives and declarations, each with the white space before it."""
    at = 0
    while at < len(text):
        space = re.compile(r"\s*").match(text, at)
        at = space.end()
        if at == len(text):
            return
        start = at
        if text.startswith("#", at):
            at = re.compile(r"(?:[^\n]*\\\n)*[^\n]*").match(text, at).end()
        elif text.startswith("/*", at):
            at = text.index("*/", at) + 2
        else:
            at = end_of_declaration(text, at)
        yield space[0], text[start:at]


def end_of_declaration(text, at):
    is_inline = text.startswith("static inline", at)
    depth = 0
    for match in TOKEN.finditer(text, at):
        depth += (match[0] in "({") - (match[0] in ")}")
        if depth == 0 and (match[0] == ";" or is_inline and match[0] == "}"):
            # A comment behind it belongs to it.
            more = re.compile(r"[ \t]*/\*.*?\*/", re.S).match(text, match.end())
            return more.end() if more else match.end()
    raise PublicError(f"a declaration has no end: {text[at:at + 60]}")


def without_comments(code):
    return re.sub(r"/\*.*?\*/", "", code, flags=re.S)


def kind_of(code):
    """Kind and names of a declaration or definition."""
    bare = re.sub(r"\s+", " ", without_comments(code)).strip()
    if bare.startswith("#"):
        match = DEFINE.match(code)
        return ("macro" if match[2] else "constant"), [match[1]]
    for pattern, kind in ((r"struct (pd_\w+) ?;", "opaque"), (r"struct ((?:pd_|Arrow)\w+) \{", "struct"), (r"enum (pd_\w+) \{", "enum"),
                          (r"typedef [^(]*?(pd_\w+)\(", "callback"), (r"static inline [^(]*?(pd_\w+)\(", "inline"),
                          (r"PD_API [^(]*?(pd_\w+)\(", "function")):
        match = re.match(pattern, bare)
        if match:
            return kind, [match[1]]
    match = re.match(r"enum \{(.*)\} ?;", bare)
    if match:
        return "enum", re.findall(r"\bPD_\w+(?= ?[,=]| ?$)", match[1])
    raise PublicError(f"not known here: {bare[:80]}")


def read_items(text):
    items, doc = [], None
    for space, chunk in chunks(text):
        is_joined = space.count("\n") < 2
        if doc and (not is_joined or chunk.startswith("/*")):
            # A comment that stands alone.
            items.append(Item("text", [], "", doc[0], doc[1]))
            doc = None
        if chunk.startswith("/* --"):
            kind = "chapter" if chunk.startswith("/* ----") else "subchapter"
            items.append(Item(kind, [], "", [re.sub(r"^/\* -+ (.*?) -+ ?\*/$", r"\1", chunk)], False))
        elif chunk.startswith("/*"):
            doc = comment_lines(chunk), is_joined
        else:
            kind, names = kind_of(chunk)
            items.append(Item(kind, names, chunk, doc[0] if doc else [], doc[1] if doc else is_joined))
            doc = None
    if doc:
        items.append(Item("text", [], "", doc[0], doc[1]))
    return items


def read_header(folder, name):
    text, includes = flat(folder, name)
    items = read_items(text)
    head = items.pop(0)
    title = " ".join(head.doc).split("  ")[0] if head.kind == "text" else ""
    prefix = f"{name} - "
    if not title.startswith(prefix):
        raise PublicError(f"{name}: does not begin with what it is for")
    gap = head.doc.index("") if "" in head.doc else len(head.doc)
    purpose = " ".join(head.doc[:gap]).removeprefix(prefix)
    return Header(name, purpose, head.doc[gap + 1:], includes, items)


def read_headers(folder):
    """All public headers, those that others include first."""
    names = sorted(name for name in os.listdir(folder) if name.endswith(".h"))
    headers = {name: read_header(folder, name) for name in names}
    order = []

    def add(name):
        if name not in order:
            for other in headers[name].includes:
                add(other)
            if name not in order:
                order.append(name)

    add("base.h")
    for name in names:
        if name != "perfdata.h":
            add(name)
    add("perfdata.h")
    return [headers[name] for name in order]
