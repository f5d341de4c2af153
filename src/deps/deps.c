/* SPDX-License-Identifier: MIT */
/* Which optional libraries are built in: the only place with conditions on them. */
#include <string.h>

#include <perfdata/base.h>

#include "annotate/notation/disassembler.h"
#include "deps/deps.h"
#include "file/codec.h"
#include "object/demangle/demangle.h"
#include "sql/engine.h"
#include "store/kinds/http.h"
#include "write/packer.h"

#ifndef HAVE_ZSTD
const struct pd_codec pd_codec_zstd = { .name = "zstd", .use = PD_USE_ZSTD, .magic = PD_MAGIC_ZSTD, .magic_size = 4 };
const struct pd_packer pd_packer_zstd = { .start = NULL };
#endif
#ifndef HAVE_ZLIB
const struct pd_codec pd_codec_gzip = { .name = "gzip", .use = PD_USE_GZIP, .magic = PD_MAGIC_GZIP, .magic_size = 3 };
const struct pd_packer pd_packer_gzip = { .start = NULL };
#endif
#ifndef HAVE_LZMA
const struct pd_codec pd_codec_xz = { .name = "xz", .use = PD_USE_XZ, .magic = PD_MAGIC_XZ, .magic_size = 6 };
#endif
#ifndef HAVE_BZIP2
const struct pd_codec pd_codec_bzip2 = {
	.name = "bzip2", .use = PD_USE_BZIP2, .magic = PD_MAGIC_BZIP2, .magic_size = 3
};
#endif
#ifndef HAVE_CAPSTONE
const struct pd_disassembler pd_disassembler_capstone = { .name = "capstone" };
#endif
#ifndef HAVE_LLVM
const struct pd_disassembler pd_disassembler_llvm = { .name = "libLLVM" };
#endif
#ifndef HAVE_CXA
const struct pd_demangler pd_demangler_cxx = { .name = "libsupc++" };
#endif

#ifndef HAVE_CURL
const struct pd_http pd_http_curl = { .name = "libcurl" };
#endif

#ifndef HAVE_SQLITE
const struct pd_sql_engine pd_sql_sqlite = { .name = "sqlite" };
#endif

const struct pd_codec *const pd_codecs[] = { &pd_codec_zstd, &pd_codec_gzip, &pd_codec_xz, &pd_codec_bzip2, NULL };

const struct pd_codec *pd_codec_by_name(const char *name)
{
	for (size_t i = 0; pd_codecs[i]; i++)
		if (strcmp(pd_codecs[i]->name, name) == 0 && pd_codecs[i]->start)
			return pd_codecs[i];
	return NULL;
}

// Behind the codecs.
static const char *sqlite_part(bool *built_in_out, const char **use_out)
{
	if (built_in_out)
		*built_in_out = pd_sql_sqlite.begin != NULL;
	if (use_out)
		*use_out = "questions in SQL";
	return pd_sql_sqlite.version ? pd_sql_sqlite.version() : pd_sql_sqlite.name;
}

static const char *disassembler_part(bool *built_in_out, const char **use_out)
{
	const struct pd_disassembler *disassembler = &pd_disassembler_capstone;

	if (built_in_out)
		*built_in_out = disassembler->start != NULL;
	if (use_out)
		*use_out = "disassembly";
	return disassembler->version ? disassembler->version() : disassembler->name;
}

const char *pd_build_part(size_t index, bool *built_in_out, const char **use_out)
{
	size_t codecs = sizeof(pd_codecs) / sizeof(pd_codecs[0]) - 1;

	if (index == codecs)
		return sqlite_part(built_in_out, use_out);
	if (index == codecs + 1)
		return disassembler_part(built_in_out, use_out);
	if (index > codecs)
		return NULL;
	if (built_in_out)
		*built_in_out = pd_codecs[index]->start != NULL;
	if (use_out)
		*use_out = pd_codecs[index]->use;
	return pd_codecs[index]->version ? pd_codecs[index]->version() : pd_codecs[index]->name;
}
