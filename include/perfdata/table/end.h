/* SPDX-License-Identifier: MIT */
/* Forgets the vocabulary of begin.h. */
#undef PART
#undef BOX
#undef BODY
#undef END
#undef RECORD
#undef FEATURE
#undef FIELD
#undef FLAGS
#undef TEXT
#undef CHARS
#undef ARRAY
#undef TRAILING_ARRAY
#undef ONE
#undef AGAIN
#undef BOXED
#undef LIST
#undef RECORDS
#undef SIZED
#undef MORE
#undef SET
#undef ORDER
