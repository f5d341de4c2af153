#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/reference: a page for each public header, an index of the headers and one of all names.

usage: tools/reference.py INCLUDE FORMAT OUTPUT

INCLUDE is the folder with perfdata/, FORMAT is docs/format/perf.data.md, which describes the structs that come from tables:
pages link there. OUTPUT is a folder. A link that leads nowhere is an error.
"""

import os
import re
import sys
import textwrap

import public

MADE = "<!-- Made by tools/docs from include/perfdata: edit the headers. -->\n"
FORMAT = "../format/perf.data.md"
# Parameters of nearly every function.
EVERYWHERE = {"pd_error", "pd_status"}
WIDTH = 100
# What is not plain text in a comment.
INLINE = re.compile("|".join((
    r"`[^`]+`",
    r"\"[^\"`]+\"",
    r"\btable/[\w*]+\.\w+",
    r"(?<![\w.])/?(?:[\w.-]+/)+[\w.*-]*[\w*]",  # paths
    r"\b\w+\.(?:h|def)\b",
    r"[\w-]+\(\d\)",  # manual pages
    r"(?:struct |enum )?\*?\b[A-Za-z]\w*(?:(?:\.|->)[a-z]\w*)*(?:\((?:\w|->)*\)|\.\.\.)?",
    r"(?<!\w)_\w+",
    r"[\\*_<>|\[\]~`#]",  # special to Markdown
)))
FIRST_SENTENCE = re.compile(r"(.+?[.:;])(?: [A-Z*\"]|$)", re.S)


class PageError(Exception):
    """A page that cannot be written."""


def slug(heading):
    """The anchor that forges give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def slugs_of(text):
    """The headings of a page as (section, heading, anchor); the same heading again gets a number."""
    section, seen = "", {}
    for line in re.sub(r"^```.*?^```", "", text, flags=re.S | re.M).split("\n"):
        match = re.match(r"(#+) (.*)", line)
        if not match:
            continue
        heading = match[2].replace("\\", "")
        if match[1] == "##":
            section = heading
        anchor = slug(heading)
        seen[anchor] = seen.get(anchor, -1) + 1
        yield section, heading, anchor + (f"-{seen[anchor]}" if seen[anchor] else "")


def cell(text):
    return re.sub(r"(?<!\\)\|", r"\\|", text)


def table(titles, rows):
    """Columns that are empty in all rows are left out."""
    kept = [i for i in range(len(titles)) if any(row[i] for row in rows)]
    lines = [" | ".join(titles[i] for i in kept), " | ".join("---" for _ in kept)]
    lines += [" | ".join(row[i] for i in kept) for row in rows]
    return "\n".join(f"| {line} |" for line in lines) + "\n"


# ---- C ----


def parts_of(body, end):
    """What a struct or enum has in its braces, as (code, comment): comments stand before or behind, code ends with end."""
    found, before, code, was_new_line = [], "", "", True
    depth = 0
    for match in public.TOKEN.finditer(body):
        token = match[0]
        if token.startswith("/*"):
            comment = " ".join(public.comment_lines(token))
            if code.strip():
                # The last enumerator has no comma.
                found.append((code, f"{before} {comment}".strip()))
                before = code = ""
            elif found and not was_new_line:
                found[-1] = found[-1][0], f"{found[-1][1]} {comment}".strip()
            else:
                before = f"{before} {comment}".strip()
            continue
        depth += (token in "([") - (token in ")]")
        if token == end and depth == 0:
            found.append((code, before))
            before, code, was_new_line = "", "", False
            continue
        was_new_line = was_new_line or "\n" in token
        code += token
    if code.strip():
        found.append((code, before))
    return [(re.sub(r"\s+", " ", code).strip(), comment) for code, comment in found]


def body_of(code):
    return code[code.index("{") + 1:code.rindex("}")]


def members_of(code):
    """Members of a struct as (names, type, comment); several names have one type."""
    for declaration, comment in parts_of(body_of(code), ";"):
        function = re.match(r"(.*)\(\*(\w+)\)(\(.*\))$", declaration)
        if function:
            yield [function[2]], f"{function[1]}(*){function[3]}", comment
            continue
        first, *others = declaration.split(",")
        match = re.match(r"(.*?)(\w+)((?:\[\w*\])*)$", first)
        kind = match[1].strip() + (" " if match[1].endswith("*") and others else "") + match[3]
        yield [match[2], *(re.sub(r"[ *]", "", other) for other in others)], kind.strip(), comment


def enumerators_of(code):
    """Constants of an enum as (name, value, comment)."""
    following = 0
    for constant, comment in parts_of(body_of(code), ","):
        name, _, value = (part.strip() for part in constant.partition("="))
        number = public.number_of(value) if value else following
        following = None if number is None else number + 1
        yield name, value if number is None else str(number), comment


def wrapped(code):
    """A declaration with its parameters below the first one."""
    bare = re.sub(r"\s+", " ", public.without_comments(code)).replace("PD_API ", "")
    bare = re.sub(r"\bPD_PRINTF\([^)]*\)", "", bare).strip().replace(" ;", ";")
    column = bare.find("(") + 1
    if not column or len(bare) <= WIDTH:
        return bare
    indent = column if column < WIDTH // 2 else 8
    end = bare.rindex(")")
    lines = [""]
    # Parameters stay whole, also those that are functions.
    for part in re.findall(r"(?:[^,()]|\((?:[^()]|\([^()]*\))*\))+,? ?", bare[column:end]):
        width = (column if len(lines) == 1 else indent) + 2
        if lines[-1] and width + len(lines[-1] + part.rstrip()) > WIDTH:
            lines.append("")
        lines[-1] += part
    return bare[:column] + ("\n" + " " * indent).join(line.rstrip() for line in lines) + bare[end:]


# ---- pages ----


class Reference:
    def __init__(self, folder, format_text):
        self.folder = folder
        self.headers = public.read_headers(folder)
        self.layouts = {}
        self.records, self.features = [], []
        self.read_tables()
        self.format_anchors = {(section.partition(" ")[0], heading): anchor for section, heading, anchor in slugs_of(format_text)}
        self.anchors = {FORMAT: {anchor for _, _, anchor in slugs_of(format_text)}}
        self.targets = {}
        self.summaries = {}
        self.opaque = set()
        self.find_targets()

    def read_tables(self):
        for word, arguments in public.table_lines(self.folder, "layouts.def"):
            if word in ("PART", "BOX", "BODY"):
                self.layouts[arguments[0]] = public.string_of(arguments[1])
            elif word in ("RECORD", "FEATURE"):
                (self.records if word == "RECORD" else self.features).append(
                    (arguments[0], arguments[1], public.number_of(arguments[2]), arguments[3], public.string_of(arguments[-1])))

    def format_link(self, *keys):
        """A place of the description of the format, by section and heading; the first that is there."""
        for key in keys:
            if key in self.format_anchors:
                return f"{FORMAT}#{self.format_anchors[key]}"
        raise PageError(f"{FORMAT} has none of {keys}")

    def layout_link(self, layout):
        """Where the struct of a layout is described: by itself, or with the record or feature that has it."""
        keys = [("Pieces", layout)]
        keys += [("Records", name) for name, _, _, of, _ in self.records if of == layout]
        keys += [("Features", name) for name, _, _, of, _ in self.features if of == layout]
        return self.format_link(*keys)

    def is_from_table(self, item):
        return item.kind == "struct" and item.name.removeprefix("pd_") in self.layouts

    # -- where a name leads --

    def groups_of(self, header):
        """Items that share a heading: functions that follow one another without a comment, runs of inline functions."""
        groups = []
        for item in header.items:
            last = groups[-1][-1] if groups else None
            is_more = last is not None and (
                item.kind in ("function", "constant", "macro") and item.kind == last.kind and item.is_joined and not item.doc
                or item.kind == last.kind == "inline"
                or self.is_from_table(item) and self.is_from_table(last))
            if is_more:
                groups[-1].append(item)
            else:
                groups.append([item])
        return groups

    def heading_of(self, group):
        item = group[0]
        if item.kind == "inline" and len(group) > 1:
            return "Inline functions"
        if self.is_from_table(item):
            return None
        return self.lead_of(item) + item.name

    def lead_of(self, item):
        """What stands before a name in C; an enum without a name is called by its first constant."""
        return {"struct": "struct ", "opaque": "struct ", "enum": "enum "}.get(item.kind, "") * item.name.startswith("pd_")

    def find_targets(self):
        defined = {item.name for header in self.headers for item in header.items if item.kind == "struct"}
        # Inline functions of the tables.
        made = {f"pd_as_{short}": doc for _, short, _, _, doc in self.records}
        made.update({f"pd_file_{short}": doc for _, short, _, _, doc in self.features})
        self.opaque = {item.name for header in self.headers for item in header.items if item.kind == "opaque"} - defined
        for header in self.headers:
            page = header.name.replace(".h", ".md")
            header.items = [item for item in header.items if item.kind != "opaque" or item.name not in defined
                            and item.name not in self.targets]
            for group in self.groups_of(header):
                if group[0].kind in ("text", "chapter", "subchapter"):
                    continue
                heading = self.heading_of(group)
                for item in group:
                    place = self.layout_link(item.name.removeprefix("pd_")) if heading is None else f"{page}#{slug(heading)}"
                    for name in [*item.names, *(re.findall(r"\bPD_\w+", item.code) if item.kind == "enum" else [])]:
                        self.targets.setdefault(name, place)
                    summary = FIRST_SENTENCE.match(" ".join(" ".join(item.doc).split()))
                    self.summaries[item.name] = summary[1].rstrip(".:;") if summary else ""
                    self.summaries[item.name] = made.get(item.name, self.summaries[item.name])
                if group[0].kind in ("function", "macro") and not group[0].doc:
                    raise PageError(f"{header.name}: {group[0].name} has no comment")
        for layout, doc in self.layouts.items():
            self.summaries[f"pd_{layout}"] = doc

    def link(self, text, name, page):
        place = self.targets[name]
        if place.startswith(page + "#"):
            place = place.removeprefix(page)
        return f"[{text}]({place})"

    # -- prose --

    def word(self, text, page):
        """A word of a comment: code and a link if it is a name, else itself without meaning for Markdown."""
        if text.startswith("`"):
            name = re.match(r"`(?:struct |enum )?(\w+)", text)
            return self.link(text, name[1], page) if name and name[1] in self.targets else text
        if text.startswith('"'):
            return f"`{text}`"
        if text.startswith("table/"):
            is_there = os.path.exists(os.path.join(self.folder, text))
            return f"[`{text}`](../../include/perfdata/{text})" if is_there else f"`{text}`"
        if re.fullmatch(r"[\w-]+\(\d\)", text) or "/" in text:
            is_path = text.startswith("/") or text.count("/") > 1 or "." in text or text.endswith(")")
            return f"`{text}`" if is_path else text
        if text.endswith(".def"):
            return self.word("table/" + text, page).replace("`table/", "`")
        if re.fullmatch(r"\w+\.h", text):
            is_page = text != "perfdata.h" and os.path.exists(os.path.join(self.folder, text))
            return f"[{text}]({text.replace('.h', '.md')})" if is_page else f"`{text}`" if "_" in text else text
        lead, bare = re.match(r"(struct |enum |)(.*)", text).groups()
        name = re.match(r"\*?(\w*)", bare)[1]
        if name in self.targets:
            return self.link(f"`{text}`", name, page)
        if len(text) == 1:
            return "\\" + text if not text.isalnum() else text
        return f"{lead}`{bare}`" if "_" in bare or bare.startswith("*") or bare.endswith(")") else text

    def prose(self, text, page):
        return INLINE.sub(lambda match: self.word(match[0], page), text)

    def block(self, lines, page, is_example):
        """A paragraph, a list, code, or names with what they do."""
        if all(re.match(r"\t| {2}", line) for line in lines if line):
            pairs = [re.fullmatch(r"\s+(pd_\w+)(?:\s{2,}(.*))?", line) for line in lines]
            if all(pairs) and not is_example:
                rows = [[self.prose(pair[1], page), cell(self.prose(pair[2] or "", page))] for pair in pairs]
                return table(["call", "what it does"], rows)
            return "```c\n" + textwrap.dedent("\n".join(lines)).replace("\t", "        ") + "\n```\n"
        out = []
        for line in lines:
            if line.startswith("- ") or not out:
                out.append(line)
            else:
                out[-1] += " " + line.strip()
        text = [self.prose(line, page) for line in out]
        if len(text) > 1 and not out[0].startswith("- "):
            text[0] += "\n"
        return "\n".join(text) + "\n"

    def comment(self, lines, page):
        out, current, is_example = [], [], False
        for i, line in enumerate([*lines, ""]):
            if line or current and is_example and i < len(lines):
                current.append(line)
            elif current == ["Example:"]:
                current, is_example = [], True
            elif current:
                out.append(self.block(current, page, is_example))
                current = []
        return "\n".join(out)

    # -- items --

    def types_line(self, group, page):
        names = []
        for item in group:
            for lead, name in re.findall(r"\b((?:struct |enum )?)(pd_\w+)", public.without_comments(item.code)):
                is_type = lead or name.endswith("_fn")
                if is_type and name not in (*EVERYWHERE, *self.opaque, *item.names, *(other for _, other in names)):
                    names.append((lead, name))
        return "Types: " + ", ".join(self.link(f"`{lead}{name}`", name, page) for lead, name in names) + "\n" if names else ""

    def code_group(self, group, page):
        """Functions, callbacks, constants and macros: C, then the comments."""
        if group[0].kind in ("constant", "macro"):
            code = [re.sub(r"\\\n\s*", "", item.code) for item in group]
        elif group[0].kind == "inline":
            code = [wrapped(item.code.split("{")[0].strip() + ";") for item in group]
        else:
            code = [wrapped(item.code) for item in group]
        out = ["```c\n" + "\n".join(code) + "\n```\n", self.comment(group[0].doc, page)]
        for item in group:
            behind = re.search(r"/\*(.*?)\*/", item.code, re.S)
            if behind:
                out.append(f"`{item.name}`: " + self.prose(" ".join(behind[1].split()), page) + "\n")
        if group[0].kind in ("function", "callback", "inline"):
            out.append(self.types_line(group, page))
        return out

    def struct(self, item, page):
        rows = []
        for names, kind, comment in members_of(item.code):
            known = sorted((name for name in re.findall(r"\bpd_\w+", kind) if name in self.targets),
                           key=lambda name: name in EVERYWHERE or name in self.opaque)
            shown = cell(f"`{kind}`")
            rows.append([", ".join(f"`{name}`" for name in names), self.link(shown, known[0], page) if known else shown,
                         cell(self.prose(comment, page))])
        return [self.comment(item.doc, page), table(["member", "type", "meaning"], rows)]

    def enum(self, item, page):
        out = [self.comment(item.doc, page)]
        if item.name in ("pd_bit", "pd_value", "pd_misc_bit"):
            return [*out, self.sets(item)]
        if item.name in ("pd_record_type", "pd_feature_number"):
            return [*out, self.numbers(item, page)]
        rows = [[f"`{name}`", value, cell(self.prose(comment, page))] for name, value, comment in enumerators_of(item.code)]
        return [*out, table(["constant", "value", "meaning"], rows)]

    def sets(self, item):
        """The sets of flag.def that have constants in an enum."""
        rows, word = [], {"pd_bit": "BITS", "pd_value": "ENUM"}.get(item.name)
        if word is None:
            return f"[The bits]({self.format_link(('Bits', 'misc'))}) and the records that have them.\n"
        for kind, arguments in public.table_lines(self.folder, "flag.def"):
            if kind == word:
                ending = "_SHIFT`, `_WIDTH" if word == "BITS" else ""
                rows.append([f"`PD_{arguments[0]}_...{ending}`", f"[{arguments[1]}]({self.format_link(('Bits', arguments[1]))})",
                             cell(self.prose(public.string_of(arguments[2]), ""))])
        return table(["constants", "names and numbers", "of"], rows)

    def numbers(self, item, page):
        """Numbers of records or features with their structs."""
        is_record = item.name == "pd_record_type"
        rows = []
        for name, short, number, layout, doc in self.records if is_record else self.features:
            constant = f"PD_{'RECORD' if is_record else 'FEATURE'}_{name}"
            call = f"pd_{'as' if is_record else 'file'}_{short}"
            place = self.format_link(("Records" if is_record else "Features", name))
            rows.append([f"[`{constant}`]({place})", str(number), self.link(f"`{call}`", call, page),
                         self.link(f"`struct pd_{layout}`", f"pd_{layout}", page), cell(self.prose(doc, page))])
        listed = {row[0].split("`")[1] for row in rows}
        rest = [[f"`{name}`", value, "", "", cell(self.prose(comment, page))]
                for name, value, comment in enumerators_of(item.code) if name not in listed]
        return table(["constant", "number", "decoded by", "struct", "meaning"], rows + rest)

    def table_structs(self, group, page):
        rows = [[self.link(f"`struct {item.name}`", item.name, page), cell(self.prose(self.summaries[item.name], page))]
                for item in group]
        return table(["struct", "meaning"], rows)

    def inline_functions(self, group, page):
        rows = []
        for item in group:
            bare = item.code.split("{")[0]
            struct = re.search(r"struct (pd_\w+)", bare)[1]
            rows.append([f"`{item.name}`", self.link(f"`const struct {struct} *`", struct, page),
                         cell(self.prose(self.summaries[item.name], page))])
        return [self.comment(group[0].doc, page), table(["function", "returns", "meaning"], rows)]

    # -- whole pages --

    def page(self, header):
        page = header.name.replace(".h", ".md")
        out = [f"# {header.name}\n", self.sentence(header.purpose, page), self.comment(header.about, page)]
        others = [name for name in header.includes if name != "base.h"]
        line = f"`#include <perfdata/{header.name}>`"
        out.append(line + (", which includes " + ", ".join(self.prose(name, page) for name in others) if others else "") + ".\n")
        level = "##"
        for group in self.groups_of(header):
            out += self.section(group, page, level)
            level = "###" if group[0].kind == "chapter" else level
        return MADE + "\n" + "\n".join(part for part in out if part.strip())

    def sentence(self, text, page):
        return self.prose(text[0].upper() + text[1:], page) + "\n"

    def section(self, group, page, level):
        item = group[0]
        if item.kind == "chapter":
            return [f"## {item.doc[0][0].upper()}{item.doc[0][1:]}\n"]
        if item.kind == "subchapter":
            return [f"### {item.doc[0][0].upper()}{item.doc[0][1:]}\n"]
        if item.kind == "text":
            return [self.comment(item.doc, page)]
        if self.is_from_table(item):
            return [self.table_structs(group, page)]
        out = [f"{level} {self.heading_of(group)}\n"]
        if item.kind == "inline" and len(group) > 1:
            return [*out, *self.inline_functions(group, page)]
        if item.kind == "struct":
            return [*out, *self.struct(item, page)]
        if item.kind == "enum":
            return [*out, *self.enum(item, page)]
        if item.kind == "opaque":
            return [*out, self.comment(item.doc, page) or "Its contents are private: the functions take pointers to it.\n"]
        return [*out, *self.code_group(group, page)]

    def index(self):
        """The front page: the head of perfdata.h, whose list of headers becomes tables."""
        header = self.headers[-1]
        page = "README.md"
        start = next(i for i, line in enumerate(header.about) if re.match(r"  \w+\.h ", line)) - 1
        end = max(i for i, line in enumerate(header.about) if re.match(r"  \w+\.h ", line)) + 1
        out = ["# Reference of libperfdata\n", "A page for each header; [names.md](names.md) has all names by the alphabet. "
               f"[The format]({FORMAT}) describes the structs of records and features; [abi.md](../abi.md) is what stays stable, and "
               "how other languages use the library.\n", self.comment(header.about[:start], page)]
        rows = []
        for line in header.about[start:end]:
            match = re.match(r"  (\w+\.h) +(.*)", line)
            if match:
                rows.append([self.prose(match[1], page), cell(self.prose(match[2], page))])
                continue
            if rows:
                out.append(table(["header", "what it is for"], rows))
            out.append(f"## {line[0].upper()}{line[1:]}\n")
            rows = []
        out += [table(["header", "what it is for"], rows), "## Examples\n", self.comment(header.about[end:], page)]
        return MADE + "\n" + "\n".join(part for part in out if part.strip())

    def names(self):
        rows = []
        for header in self.headers:
            for item in header.items:
                if item.kind in ("text", "chapter", "subchapter"):
                    continue
                lead = self.lead_of(item)
                for name in item.names if not lead else [item.name]:
                    about = cell(self.prose(self.summaries.get(name, ""), "names.md"))
                    rows.append((name.lower(), [self.link(f"`{lead}{name}`", name, "names.md"), self.prose(header.name, "names.md"),
                                                about]))
        return MADE + "\n# All names of libperfdata\n\n" + table(["name", "header", "meaning"], [row for _, row in sorted(rows)])

    def pages(self):
        found = {header.name.replace(".h", ".md"): self.page(header) for header in self.headers[:-1]}
        found["README.md"], found["names.md"] = self.index(), self.names()
        return {name: re.sub(r"\n{3,}", "\n\n", text) for name, text in found.items()}

    def check_links(self, pages):
        anchors = {**self.anchors, **{name: {anchor for _, _, anchor in slugs_of(text)} for name, text in pages.items()}}
        for name, text in pages.items():
            for place, anchor in re.findall(r"\]\(([^)#]*)(#[^)]*)?\)", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)):
                there = anchors.get(place or name)
                path = os.path.normpath(os.path.join(self.folder, "../../docs/reference", place))
                if there is None and not os.path.exists(path):
                    raise PageError(f"{name}: a link to {place}")
                if anchor and anchor[1:] not in (there or ()):
                    raise PageError(f"{name}: a link to {place}{anchor}")


def main(arguments):
    if len(arguments) != 3:
        sys.exit(__doc__.split("\n\n")[1])
    include, format_path, output = arguments
    with open(format_path, encoding="utf-8") as f:
        text = f.read()
    try:
        reference = Reference(os.path.join(include, "perfdata"), text)
        pages = reference.pages()
        reference.check_links(pages)
    except (public.PublicError, PageError) as error:
        sys.exit(f"tools/reference.py: {error}")
    os.makedirs(output, exist_ok=True)
    for name, page in pages.items():
        with open(os.path.join(output, name), "w", encoding="utf-8") as f:
            f.write(page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
