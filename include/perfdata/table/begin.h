/* SPDX-License-Identifier: MIT */
/*
 * The vocabulary of the format tables. Include this before part.def, sample.def, record.def,
 * feature.def or simpleperf.def with the lines you need already defined; the rest become nothing.
 * end.h forgets them all.
 *
 * Layouts
 *   PART(layout, doc)      a piece used inside others
 *   BOX(layout, doc)       a piece in a place of known size; what is left over is kept as `rest`
 *   BODY(layout, doc)      body of a record: `rest`, and `sample_id` where the record has that trailer
 *   END(layout)
 *
 * Numbers
 *   RECORD(NAME, name, number, layout, GROUP, doc)     GROUP: KERNEL (may have a sample_id trailer),
 *                          SAMPLE, TOOL (written by perf), SIMPLEPERF (other record header)
 *   FEATURE(NAME, name, number, layout, doc)
 *
 * Lines of a layout, in the order of the wire
 *   FIELD(KIND, member, SHOW, WHEN, doc)       KIND: U8 U16 U32 U64 S32 F64
 *   FLAGS(KIND, member, set, WHEN, doc)        C bit-fields of the producer: mirrored in big-endian files
 *   TEXT(KIND, member, WHEN, doc)              STR0: to the end, ends with a NUL, padded;
 *                                              CSTR: ends with a NUL; PSTR: u32 length, bytes with padding
 *   CHARS(member, bytes, FIT, WHEN, doc)       fixed room for a text; FIT CUT: may be shorter at the end
 *   ARRAY(KIND, member, COUNT, SHOW, WHEN, doc)
 *   TRAILING_ARRAY(...)                        an ARRAY that stands first in the struct: see sample.def
 *   ONE(layout, member, WHEN, doc)             a PART
 *   AGAIN(layout, member, WHEN, doc)           a second place for a ONE that is there only once
 *   BOXED(layout, member, SIZE, WHEN, doc)     a BOX; SIZE: WORD(w), OF(member), ATTR (asks the attr)
 *   LIST(layout, member, COUNT, WHEN, doc)     PARTs one after another
 *   RECORDS(member, NAME, doc)                 whole records to the end, all of type NAME whatever they say
 *
 * Lines that stand for no bytes
 *   SIZED()                keeps the size of the layout's place as `wire_size`, for SINCE
 *   MORE(member, NEED)     keeps whether enough bytes are left as `member`; NEED: BYTES(n), EACH(m, n)
 *                        n for each of m, WORD_EACH(WORD, n), AFTER(member, n) n, and member not 0
 *   SET(WORD, member)      hands a member down to the parts that follow, as a word of conditions
 *   ORDER(member)          from here on the byte order is big if member is not 0, else little
 *
 * SHOW   DEC HEX ADDR TIME(ns) SIGNED HIDDEN(shown when not 0) NAMES(enum) BITS(set) CHAIN REGS(word);
 *        ID: an id of an event, shown as DEC; TASK: a process or thread, shown as SIGNED
 * WHEN   ALWAYS, HAS(WORD, BIT), LACKS(WORD, BIT), ONLY(WORD, BIT, WITHOUT_BIT), IS(member, value), NOT(member, value),
 *        LEAST(member, value), WORD_IS(WORD, value), WORD_NOT(WORD, value), WORD_LEAST(WORD, value),
 *        WORD_BELOW(WORD, value), SINCE(bytes)
 * COUNT  LEADING(KIND) written before the array; MEMBER(m); FIXED(n); REST; POPCOUNT(WORD);
 *        BITS_OF(m) number of bits set; WORD(w); BITMAP(m) u64 words that hold m bits
 * WORD   MISC SAMPLE_TYPE READ_FORMAT BRANCH_TYPE REGS_USER REGS_INTR TRAILER NRCPUS ATTR_SIZE
 *        SCHEDSTAT QUIRKS
 */
#ifndef PART
#define PART(layout, doc)
#endif
#ifndef BOX
#define BOX(layout, doc)
#endif
#ifndef BODY
#define BODY(layout, doc)
#endif
#ifndef END
#define END(layout)
#endif
#ifndef RECORD
#define RECORD(NAME, name, number, layout, GROUP, doc)
#endif
#ifndef FEATURE
#define FEATURE(NAME, name, number, layout, doc)
#endif
#ifndef FIELD
#define FIELD(KIND, member, SHOW, WHEN, doc)
#endif
#ifndef FLAGS
#define FLAGS(KIND, member, set, WHEN, doc)
#endif
#ifndef TEXT
#define TEXT(KIND, member, WHEN, doc)
#endif
#ifndef CHARS
#define CHARS(member, bytes, FIT, WHEN, doc)
#endif
#ifndef ARRAY
#define ARRAY(KIND, member, COUNT, SHOW, WHEN, doc)
#endif
#ifndef TRAILING_ARRAY
#define TRAILING_ARRAY(KIND, member, COUNT, SHOW, WHEN, doc) ARRAY(KIND, member, COUNT, SHOW, WHEN, doc)
#endif
#ifndef ONE
#define ONE(layout, member, WHEN, doc)
#endif
#ifndef AGAIN
#define AGAIN(layout, member, WHEN, doc)
#endif
#ifndef BOXED
#define BOXED(layout, member, SIZE, WHEN, doc)
#endif
#ifndef LIST
#define LIST(layout, member, COUNT, WHEN, doc)
#endif
#ifndef RECORDS
#define RECORDS(member, NAME, doc)
#endif
#ifndef SIZED
#define SIZED()
#endif
#ifndef MORE
#define MORE(member, NEED)
#endif
#ifndef SET
#define SET(WORD, member)
#endif
#ifndef ORDER
#define ORDER(member)
#endif
