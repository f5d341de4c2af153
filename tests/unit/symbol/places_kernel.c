/* SPDX-License-Identifier: MIT */
/* From addresses of the kernel to functions: lists of symbols, modules, vmlinux, and the kernel that runs. */
#include "places.h"

#include "symbol/lookup.h"

static const char list[] = "0000000081000000 T _text\n"
			   "0000000081000000 T _stext\n"
			   "0000000081000100 T start_kernel\n"
			   "0000000081000200 t do_idle\n"
			   "00000000c0000000 t ext_a\t[ext]\n"
			   "00000000c0000100 t ext_b\t[ext]\n";

static struct made make_kernel(uint64_t text, const char *module)
{
	struct made made = make_begin();

	make_mmap(&made, MAKE_KERNEL, MAKE_NOBODY, text, 0x10000000, text, "[kernel.kallsyms]_text", 0);
	make_mmap(&made, MAKE_KERNEL, MAKE_NOBODY, 0xc0000000, 0x4000, 0, module, 0);
	make_ksymbol(&made, 0xd0000000, 0x100, false, "bpf_prog_0123456789abcdef_watch", 2);
	return made;
}

TEST(test_places__kernel)
{
	struct made made = make_kernel(KERNEL_TEXT, "/lib/modules/6/kernel/ext.ko");
	struct pd_symbols *symbols;
	struct pd_place place;

	put_text("kallsyms", list);
	CHECK(make_state(&made, NULL));
	symbols = open_symbols(&made, (struct pd_symbols_options){ .kallsyms = under("kallsyms") });
	CHECK(symbols);
	place = kernel_at(symbols, KERNEL_TEXT + 0x204);
	CHECK(place.dso && place.function && place.dso->kernel);
	CHECK_STR(place.dso->name, "[kernel.kallsyms]");
	CHECK_STR(place.dso->long_name, "[kernel.kallsyms]");
	CHECK_STR(place.function->name, "do_idle");
	CHECK(place.addr == KERNEL_TEXT + 0x204 && place.addr - place.function->start == 4);
	CHECK_STR(place.dso->detail, under("kallsyms"));
	place = kernel_at(symbols, 0xc0000108);
	CHECK(place.dso && place.function && place.dso->kernel);
	CHECK_STR(place.dso->name, "[ext]");
	CHECK_STR(place.function->name, "ext_b");
	place = kernel_at(symbols, 0xd0000010);
	CHECK(place.dso && place.function && place.addr - place.function->start == 16);
	CHECK_STR(place.dso->name, "bpf_prog_0123456789abcdef_watch");
	CHECK_STR(place.function->name, "bpf_prog_0123456789abcdef_watch");
	pd_symbols_free(symbols);
	make_free(&made);
}

// Where nothing was recorded the list says how far the kernel goes.
TEST(test_places__kernel_after_its_mapping)
{
	struct made made = make_kernel(KERNEL_TEXT, "/lib/modules/6/kernel/ext.ko");
	struct pd_symbols *symbols;
	struct pd_place place, text;
	char both[sizeof(list) + 80];

	// the mapping ends at 0x91000000
	snprintf(both, sizeof(both), "%s0000000091000040 T init_late\n0000000091002000 b _end\n", list);
	put_text("kallsyms", both);
	CHECK(make_state(&made, NULL));
	symbols = open_symbols(&made, (struct pd_symbols_options){ .kallsyms = under("kallsyms") });
	CHECK(symbols);
	place = kernel_at(symbols, 0x91000048);
	text = kernel_at(symbols, KERNEL_TEXT + 0x104);
	CHECK(place.function && place.dso == text.dso && place.addr - place.function->start == 8);
	CHECK_STR(place.function->name, "init_late");
	CHECK(!kernel_at(symbols, 0x91004000).dso && !kernel_at(symbols, KERNEL_TEXT - 1).dso);
	CHECK_STR(kernel_at(symbols, 0xc0000108).dso->name, "[ext]");
	CHECK(!user_at(symbols, 0x91000048).dso);
	pd_symbols_free(symbols);
	// without symbols the kernel is what was recorded of it
	put_text("kallsyms", "");
	symbols = open_symbols(&made, (struct pd_symbols_options){ .kallsyms = under("kallsyms") });
	CHECK(symbols);
	CHECK(!kernel_at(symbols, 0x91000048).dso);
	text = kernel_at(symbols, KERNEL_TEXT + 0x104);
	CHECK(text.dso && !text.function && text.dso->state == PD_DSO_NO_SYMBOLS);
	pd_symbols_free(symbols);
	symbols = open_symbols(&made, (struct pd_symbols_options){ .flags = PD_SYMBOLS_NO_FILES });
	CHECK(symbols && !kernel_at(symbols, 0x91000048).dso);
	pd_symbols_free(symbols);
	make_free(&made);
}

// Names of all sorts of places, one after the other, from before the kernel to after it.
static char *name_places(struct made *made, const struct pd_kallsyms *list_of_all, const char *index)
{
	struct pd_symbols *symbols = open_symbols(made, (struct pd_symbols_options){ .symfs = "/", .index = index });
	size_t count = pd_symtab_count(list_of_all->table), step = count / 500 + 1, size;
	char *names = NULL;
	FILE *out = open_memstream(&names, &size);

	for (size_t i = 0; symbols && out && i < count;
	     i += i + step < count || i + 1 == count ? step : count - 1 - i) {
		struct pd_symbol symbol = pd_symtab_at(list_of_all->table, i);
		struct pd_place place = kernel_at(symbols, symbol.start + (symbol.end - symbol.start) / 2);

		fprintf(out, "%s+%llx\n", place.function ? place.function->name : "-",
			place.function ? (unsigned long long)(place.addr - place.function->start) : 0);
	}
	pd_symbols_free(symbols);
	if (out)
		fclose(out);
	return names;
}

// With an index that is empty, and then with what was put there, places have the names that they have without one.
TEST(test_places__kernel_that_runs)
{
	struct pd_object_id id = { .size = 0 };
	struct made made = make_begin();
	struct pd_kallsyms k;
	char *names[3];

	if (!pd_lookup_running_id(&id) || id.size != 20 || pd_kallsyms_open(&k, "/proc/kallsyms", 0, NULL)) {
		make_free(&made);
		return;
	}
	make_mmap2(&made, &(struct made_mmap2){ .misc = MAKE_KERNEL | MAKE_BUILD_ID,
						.pid = MAKE_NOBODY,
						.addr = k.text_addr,
						.len = UINT64_MAX - k.text_addr,
						.prot = 5,
						.build_id = id.bytes,
						.path = "[kernel.kallsyms]_text" });
	CHECK(make_state(&made, NULL));
	make_folders("index/");
	names[0] = name_places(&made, &k, NULL);
	names[1] = name_places(&made, &k, under("index"));
	names[2] = name_places(&made, &k, under("index"));
	for (size_t i = 0; i < 3; i++) {
		CHECK(names[i]);
		CHECK_STR(names[i], names[0]);
	}
	CHECK(k.hidden || strlen(names[0]) > 100);
	for (size_t i = 0; i < 3; i++)
		free(names[i]);
	pd_kallsyms_close(&k);
	make_free(&made);
}

TEST(test_places__kernel_of_another_boot)
{
	struct made made = make_kernel(KERNEL_TEXT + 0x6000000, "[ext]");
	struct pd_symbols *symbols;
	struct pd_place place;

	put_text("kallsyms", list);
	CHECK(make_state(&made, NULL));
	symbols = open_symbols(&made, (struct pd_symbols_options){ .kallsyms = under("kallsyms") });
	CHECK(symbols);
	place = kernel_at(symbols, KERNEL_TEXT + 0x6000104);
	CHECK(place.function && place.addr == KERNEL_TEXT + 0x104 && place.recorded == KERNEL_TEXT + 0x6000104);
	CHECK_STR(place.function->name, "start_kernel");
	// where modules stand then is not known
	place = kernel_at(symbols, 0xc0000108);
	CHECK(place.dso && !place.function && place.addr == 0x108);
	CHECK_STR(place.dso->name, "[ext]");
	pd_symbols_free(symbols);
	make_free(&made);
}

TEST(test_places__vmlinux)
{
	struct made made = make_kernel(KERNEL_TEXT, "[ext]");
	struct pd_symbols *symbols = NULL;
	struct pd_symbols_options options = { .size = sizeof(options), .vmlinux = under("nothing") };
	struct pd_place place;

	put_object("vmlinux", id_a, 0x1000);
	CHECK(make_state(&made, NULL));
	CHECK(pd_symbols_new(made.file, made.state, &options, &symbols, NULL) == PD_ERROR_SYSTEM && !symbols);
	symbols = open_symbols(&made, (struct pd_symbols_options){ .vmlinux = under("vmlinux") });
	CHECK(symbols);
	// its _text stands at 0x1040
	place = kernel_at(symbols, KERNEL_TEXT - 0x40 + 0x112);
	CHECK(!place.dso || !place.function || strcmp(place.function->name, "first") != 0);
	place = kernel_at(symbols, KERNEL_TEXT + 0x102 - 0x40);
	CHECK(place.function && place.addr == 0x1102);
	CHECK_STR(place.function->name, "many0");
	pd_symbols_free(symbols);
	make_free(&made);
}

TEST(test_places__no_kernel)
{
	struct made made = make_kernel(KERNEL_TEXT, "/lib/modules/6/kernel/ext-a.ko.xz");
	struct pd_symbols *symbols;
	struct pd_place place;

	CHECK(make_state(&made, NULL));
	symbols = open_default(&made);
	CHECK(symbols);
	place = kernel_at(symbols, KERNEL_TEXT + 0x204);
	CHECK(place.dso && !place.function && place.dso->state == PD_DSO_MISSING && place.addr == KERNEL_TEXT + 0x204);
	CHECK_STR(kernel_at(symbols, 0xc0000100).dso->name, "[ext_a]");
	pd_symbols_free(symbols);
	make_free(&made);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(test_places__kernel),           TEST_CASE(test_places__kernel_after_its_mapping),
		TEST_CASE(test_places__kernel_that_runs), TEST_CASE(test_places__kernel_of_another_boot),
		TEST_CASE(test_places__vmlinux),          TEST_CASE(test_places__no_kernel),
	};

	return run_places(cases, sizeof(cases) / sizeof(cases[0]));
}
