/* SPDX-License-Identifier: MIT */
/* Names of Rust, OCaml and C++; and names that unfold without end. */
#include "object/demangle/demangle.h"
#include "../test.h"

#include <perfdata/base.h>
#include <stdlib.h>

struct wanted {
	const char *name, *text; // NULL: it has none
};

static bool check(bool (*demangle)(struct pd_text *, const char *, size_t), const struct wanted *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct pd_text text = { 0 };
		size_t length = strlen(cases[i].name);
		// its own memory without a NUL, so that a sanitizer sees a step too far
		char *copy = malloc(length);
		bool ok;

		memcpy(copy, cases[i].name, length);
		pd_text_put(&text, "> ", 2);
		ok = demangle(&text, copy, length);
		free(copy);
		pd_text_char(&text, 0);
		if (ok != !!cases[i].text || strcmp(text.data + 2, ok ? cases[i].text : "") != 0) {
			printf("# %s: \"%s\", wanted \"%s\"\n", cases[i].name, text.data + 2,
			       cases[i].text ? cases[i].text : "nothing");
			return false;
		}
		free(text.data);
	}
	return true;
}

#define CHECK_ALL(demangle, cases) CHECK(check(demangle, cases, sizeof(cases) / sizeof(cases[0])))

TEST(test_demangle__rust)
{
	static const struct wanted cases[] = {
		{ "_RNvC7mycrate4main", "mycrate::main" },
		{ "_RNvCs1234_7mycrate4main", "mycrate::main" },
		{ "_RNvC7mycrate4main.llvm.1234", "mycrate::main" },
		{ "_RNvC7mycrate4main.cold", "mycrate::main" },
		{ "_RNvC7mycrate5___new", "mycrate::__new" },
		{ "_RNvC7mycrate2_2x", "mycrate::2x" },
		{ "_RNvC7mycrateu9bcher_kva", "mycrate::b\xc3\xbc"
					      "cher" },
		{ "_RNvC7mycrateu3!!!", "mycrate::punycode{!!!}" },
		{ "_RNCNvC1a1f0", "a::f::{closure#0}" },
		{ "_RNCNvC1a1fs_0", "a::f::{closure#1}" },
		{ "_RNSNvC1a1f4once", "a::f::{shim:once#0}" },
		{ "_RINvC1a1fmE", "a::f::<u32>" },
		{ "_RINvC1a1fmEC1b", "a::f::<u32>" },
		{ "_RINvC1a1fRmQlPxOyE", "a::f::<&u32, &mut i32, *const i64, *mut u64>" },
		{ "_RINvC1a1fShAhj4_TEThETlmEE", "a::f::<[u8], [u8; 4], (), (u8,), (i32, u32)>" },
		{ "_RINvC1a1fKj2a_Kln1_Kb1_Kc41_KpE", "a::f::<42, -1, true, 'A', _>" },
		{ "_RINvC1a1fKo11111111111111111_E", "a::f::<0x11111111111111111>" },
		{ "_RINvC1a1fFUKCmEuE", "a::f::<unsafe extern \"C\" fn(u32)>" },
		{ "_RINvC1a1fFK6c_declEhE", "a::f::<extern \"c-decl\" fn() -> u8>" },
		{ "_RINvC1a1fFEhE", "a::f::<fn() -> u8>" },
		{ "_RINvC1a1fFG_RL0_hEuE", "a::f::<for<'a> fn(&'a u8)>" },
		{ "_RINvC1a1fDNtC1a1TEL_E", "a::f::<dyn a::T>" },
		{ "_RINvC1a1fDINtC1a1ThEp1OmEL_E", "a::f::<dyn a::T<u8, O = u32>>" },
		{ "_RNvMC1aNtC1a1S3new", "<a::S>::new" },
		{ "_RNvXC1aNtC1a1SNtC1a1T3run", "<a::S as a::T>::run" },
		{ "_RNvYNtC1a1SNtC1a1T3run", "<a::S as a::T>::run" },
		{ "_RINvC1a1fNtB2_1SE", "a::f::<a::S>" },
		{ "_RINvC1a1fB5_E", NULL }, // forward
		{ "_R", NULL },
		{ "_RNvC7mycrate", NULL },
		{ "_RNvC99999999999999999999a1f", NULL },
		{ "_RNvC1a1f_extra", NULL },
		{ "_RINvC1a1fL0_E", NULL }, // a lifetime that nobody bound
		{ "main", NULL },
	};

	CHECK_ALL(pd_demangle_rust, cases);
}

TEST(test_demangle__rust_legacy)
{
	static const struct wanted cases[] = {
		{ "_ZN3foo3bar17h0123456789abcdefE", "foo::bar" },
		{ "_ZN3foo3bar17h0123456789abcdefE.cold", "foo::bar" },
		{ "_ZN3foo3bar17h0123456789abcdefE.llvm.99", "foo::bar" },
		{ "_ZN20_$LT$T$u20$as$u20$U4main17h0123456789abcdefE", NULL },
		{ "_ZN21_$LT$T$u20$as$u20$U$GT$4main17h0123456789abcdefE", NULL },
		{ "_ZN23_$LT$T$u20$as$u20$U$GT$4main17h0123456789abcdefE", "<T as U>::main" },
		{ "_ZN4a..b17h0123456789abcdefE", "a::b" },
		{ "_ZN5$u7e$17h0123456789abcdefE", "~" },
		{ "_ZN5$u0a$17h0123456789abcdefE", "$u0a$" },
		{ "_ZN6$u263$17h0123456789abcdefE", "\xc9\xa3" },
		{ "_ZN3foo3bar17h0123456789abcdeFE", NULL },
		{ "_ZN3foo3barE", NULL },
		{ "_ZN17h0123456789abcdefE", NULL },
		{ "_ZN3foo17h0123456789abcdefEv", NULL },
		{ "_ZN99999999999999999999999foo", NULL },
		{ "_ZN3fo", NULL },
		{ "_ZN", NULL },
	};

	CHECK_ALL(pd_demangle_rust_legacy, cases);
}

TEST(test_demangle__strip)
{
	static const char *const cases[][2] = {
		{ "f()", "f" },
		{ "a::b::f(int, char const*) const", "a::b::f" },
		{ "void f<int>(int)", "f<int>" },
		{ "std::vector<int, std::allocator<int> >& a::f<int>(int) const &", "a::f<int>" },
		{ "(anonymous namespace)::f() [clone .isra.0]", "(anonymous namespace)::f" },
		{ "main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()" },
		{ "auto f(int)::{lambda(auto:1)#1}::operator()<int>(int) const",
		  "f(int)::{lambda(auto:1)#1}::operator()<int>" },
		{ "A::operator<(A const&) const", "A::operator<" },
		{ "A::operator->() const", "A::operator->" },
		{ "std::ostream& operator<< <char>(std::ostream&, char)", "operator<< <char>" },
		{ "bool a::operator==<int>(int)", "a::operator==<int>" },
		{ "A::operator unsigned long() const", "A::operator unsigned long" },
		{ "operator new(unsigned long)", "operator new" },
		{ "void (*f<int>(int))(char)", "f<int>" },
		{ "void (*(*f<int>(int))(char))(short)", "f<int>" },
		{ "void (*", "void (*" },
		{ "void (*)(char)", "void (*)(char)" },
		{ "A::operator int (*)(char)() const", "A::operator int (*)(char)" },
		{ "if_t<((sizeof (int))*(8))<=(64), int>::type a::f<int, int (A::*)(char) const>(int)",
		  "a::f<int, int (A::*)(char) const>" },
		{ "if_t<(sizeof (int))<(4)>::type f<int, (2)>(int)", "f<int, (2)>" },
		{ "if_t<((sizeof (int))>(4))>::type f<int>(int)", "f<int>" },
		{ "bool a::operator()<(A)1>(int) const", "a::operator()<(A)1>" },
		{ "decltype ((a)+(b)) f<int>(int)", "f<int>" },
		{ "f(int)::x", "f(int)::x" },
		{ "guard variable for f() const::x", "guard variable for f() const::x" },
		{ "vtable for A", "vtable for A" },
		{ "typeinfo for decltype(nullptr)", "typeinfo for decltype(nullptr)" },
		{ "f(((", "f(((" },
		{ ")))", ")))" },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pd_text text = { 0 };

		pd_demangle_cxx_strip(&text, cases[i][0], strlen(cases[i][0]));
		pd_text_char(&text, 0);
		CHECK_STR(text.data, cases[i][1]);
		free(text.data);
	}
}

// All special names of the ABI. What linkers see of functions in them is whole, so it is shown whole.
TEST(test_demangle__special)
{
	static const struct wanted cases[] = {
		{ "_ZTV1A", "vtable for A" },
		{ "_ZTT1A", "VTT for A" },
		{ "_ZTI1A", "typeinfo for A" },
		{ "_ZTIFviE", "typeinfo for void (int)" },
		{ "_ZTS1A", "typeinfo name for A" },
		{ "_ZTSFviE", "typeinfo name for void (int)" },
		{ "_ZTC1A0_1B", "construction vtable for B-in-A" },
		{ "_ZTVZ1fiE1A", "vtable for f(int)::A" },
		{ "_ZThn8_N1A1fEi", "non-virtual thunk to A::f(int)" },
		{ "_ZThn8_NK1A1fEi", "non-virtual thunk to A::f(int) const" },
		{ "_ZThn8_N1A1fEi.cold", "non-virtual thunk to A::f(int)" },
		{ "_ZThn8_N1AD1Ev", "non-virtual thunk to A::~A()" },
		{ "_ZTv0_n24_N1A1fEi", "virtual thunk to A::f(int)" },
		{ "_ZTch0_h8_N1A1fEi", "covariant return thunk to A::f(int)" },
		{ "_ZTcv0_n24_v0_n32_N1A1fEi", "covariant return thunk to A::f(int)" },
		{ "_ZTh8_N1A1fIiEEvT_", "non-virtual thunk to void A::f<int>(int)" },
		{ "_ZTH1x", "TLS init function for x" },
		{ "_ZTW1x", "TLS wrapper function for x" },
		{ "_ZTWN1A1xE", "TLS wrapper function for A::x" },
		{ "_ZGVZ1fiE1x", "guard variable for f(int)::x" },
		{ "_ZGVZNK1A1fEiE1x", "guard variable for A::f(int) const::x" },
		{ "_ZGR1x_", "reference temporary #0 for x" },
		{ "_ZGR1x0_", "reference temporary #0 for x" },
		{ "_ZGRZ1fiE1x_", "reference temporary #0 for f(int)::x" },
		{ "_ZGTtN1A1fEi", "transaction clone for A::f(int)" },
		{ "_ZGTnN1A1fEi", "non-transaction clone for A::f(int)" },
		{ "_ZGA1fi", "hidden alias for f(int)" },
		{ "_GLOBAL__I_a.cc", "global constructors keyed to a.cc" },
		{ "_GLOBAL__D__Z1fi", "global destructors keyed to f(int)" },
		{ "_GLOBAL__I", NULL },
		{ "_GLOBAL__sub_I_x", NULL },
		{ "_ZT", NULL },
		{ "_ZG", NULL },
		{ "_ZGR", NULL },
		{ "_ZGR_", NULL },
		{ "_Z.", NULL },
	};

	if (pd_demangler_cxx.demangle)
		CHECK_ALL(pd_demangle_cxx, cases);
	else
		printf("# no library for C++ names is built in\n");
}

TEST(test_demangle__suffix)
{
	static const struct wanted cases[] = {
		{ "_ZN3foo3barEv.isra.0.cold", "foo::bar" },
		{ "_ZN3foo3barEv.llvm.12925491317356441102", "foo::bar" },
		{ "_ZL3foo.rel", "foo" },
		{ "_Znwm@@GLIBCXX_3.4", "operator new" },
		{ "_ZZ1fiENKUlvE_clEv.constprop.0", "f(int)::{lambda()#1}::operator()" },
		{ "_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo" },
		{ "_ZN20_GLOBAL__N_a.cc_00003fooEv", "(anonymous namespace)::foo" },
	};

	if (pd_demangler_cxx.demangle)
		CHECK_ALL(pd_demangle_cxx, cases);
	else
		printf("# no library for C++ names is built in\n");
}

TEST(test_demangle__all)
{
	static const struct wanted cases[] = {
		{ "_RNvC7mycrate4main", "mycrate::main" },
		{ "_ZN3foo3bar17h0123456789abcdefE", "foo::bar" },
		{ "_ZN3foo3barEv", "foo::bar" },
		{ "_ZNK3foo3barIiEEvT_.cold", "foo::bar<int>" },
		{ "camlStdlib__List__map_45", "Stdlib.List.map_45" },
		{ "camlA__$2b$3E", "A.+>" },
		{ "camlA____b_", "A..b_" },
		{ "camlA$2", "A$2" },
		{ "camlA$zz$0a", "A$zz$0a" },
		{ "caml_start", NULL },
		{ "caml", NULL },
		{ "_Znot", NULL },
		{ "main", NULL },
		{ "", NULL },
	};
	static const struct wanted without[] = { { "_ZN3foo3barEv", NULL },
						 { "_ZN3foo3bar17h0123456789abcdefE", "foo::bar" } };

	if (pd_demangler_cxx.demangle) {
		CHECK_ALL(pd_demangle, cases);
	} else {
		printf("# no library for C++ names is built in\n");
		CHECK_ALL(pd_demangle, without);
	}
}

// Each tuple is twice the one before.
TEST(test_demangle__unfolds_without_end)
{
	char name[4096] = "_RINvC1a1f";
	struct pd_text text = { 0 };
	unsigned last = 0;

	for (unsigned i = 0; i < 30; i++) {
		unsigned at = (unsigned)strlen(name) - 2;

		// 62 digits: two are enough for the places here, counted from 0 as "_"
		static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
		char back[8] = "_";

		if (last > 62)
			snprintf(back, sizeof(back), "%c%c_", digits[(last - 1) / 62], digits[(last - 1) % 62]);
		else if (last)
			snprintf(back, sizeof(back), "%c_", digits[last - 1]);
		if (i)
			snprintf(name + strlen(name), sizeof(name) - strlen(name), "TB%sB%sE", back, back);
		else
			strcat(name, "ThhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhE");
		last = at;
		if (i == 2) {
			size_t length = strlen(name);

			name[length] = 'E';
			CHECK(pd_demangle_rust(&text, name, length + 1));
			name[length] = 0;
			CHECK(text.size > 7 * 4 * 64 / 2);
			text.size = 0;
		}
	}
	strcat(name, "E");
	CHECK(!pd_demangle_rust(&text, name, strlen(name)));
	CHECK(text.size == 0);
	free(text.data);
}

TEST(test_demangle__deep)
{
	enum {
		DEEP = 100000
	};
	struct pd_text text = { 0 };
	char *name = malloc(DEEP + 16);

	for (size_t i = 0; i < 3; i++) {
		memcpy(name, i == 2 ? "_Z1f" : "_RINvC1a1f", i == 2 ? 4 : 10);
		memset(name + (i == 2 ? 4 : 10), i ? 'P' : 'N', DEEP);
		CHECK(!pd_demangle(&text, name, DEEP + 4));
	}
	CHECK(text.size == 0);
	free(name);
	free(text.data);
}

// Behind "sr" the library of GCC 12 turns in circles at these; names after them are not held up, nor lost.
TEST(test_demangle__circles)
{
	static const struct wanted cases[] = {
		{ "_Z1fIiENSt9enable_ifIXsr1aIT_EE5valueEvE4typeEDn", "f<int>" },
		{ "_ZclDTsrclDv4_fDTD0rs", NULL },
		{ "_Z1fDTsrclD", NULL },
		{ "_Z1fDTsrclC", NULL },
		{ "_Z1fDTsr1aU", NULL },
		{ "_Z1fDTgssr1aDp", NULL },
		{ "_Z1fi", "f" },
	};

	if (pd_demangler_cxx.demangle)
		CHECK_ALL(pd_demangle_cxx, cases);
	else
		printf("# no library for C++ names is built in\n");
}

// Each part is the one before twice.
TEST(test_demangle__doubles)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	enum {
		DOUBLED = 60
	};
	char name[16 * DOUBLED + 32] = "_Z1f1aIiiE";
	struct pd_text text = { 0 };

	for (int i = 0; i < DOUBLED; i++) {
		char part[16];
		int number = 2 * i;

		if (number < 36)
			snprintf(part, sizeof(part), "S%c_", digits[number]);
		else
			snprintf(part, sizeof(part), "S%c%c_", digits[number / 36], digits[number % 36]);
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "1bI%s%sE", part, part);
	}
	CHECK(!pd_demangle_cxx(&text, name, strlen(name)));
	free(text.data);
}

static bool shortened(struct pd_text *text, const char *name, size_t length)
{
	size_t start = text->size;

	pd_text_put(text, name, length);
	pd_shorten_cxx(text, start);
	return true;
}

TEST(test_demangle__short)
{
#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
	static const struct wanted cases[] = {
		{ STRING, "std::string" },
		{ STRING "::_M_append", "std::string::_M_append" },
		{ "std::__1::basic_string<wchar_t, std::__1::char_traits<wchar_t>, std::__1::allocator<wchar_t> >::size",
		  "std::wstring::size" },
		{ "std::basic_string_view<char, std::char_traits<char> >::find", "std::string_view::find" },
		{ "std::basic_ostream<char, std::char_traits<char> >& std::operator<< <std::char_traits<char> >",
		  "std::ostream& std::operator<< <std::char_traits<char>>" },
		{ "std::operator< <char, std::char_traits<char>, std::allocator<char> >", "std::operator< <char>" },
		{ "std::vector<" STRING ", std::allocator<" STRING " > >::push_back",
		  "std::vector<std::string>::push_back" },
		{ "std::map<int, std::vector<long, std::allocator<long> >, std::less<int>, std::allocator<std::pair<int const, "
		  "std::vector<long, std::allocator<long> > > > >::operator[]",
		  "std::map<int, std::vector<long>>::operator[]" },
		{ "std::map<" STRING ", int, std::less<" STRING " >, std::allocator<std::pair<" STRING
		  " const, int> > >::find",
		  "std::map<std::string, int>::find" },
		{ "f<std::less<" STRING " > >", "f<std::less<std::string>>" },
		{ "std::unordered_map<int, a, std::hash<int>, std::equal_to<int>, std::allocator<std::pair<int const, a> > >::find",
		  "std::unordered_map<int, a>::find" },
		{ "std::unique_ptr<a::b, std::default_delete<a::b> >::~unique_ptr",
		  "std::unique_ptr<a::b>::~unique_ptr" },
		{ "std::filesystem::__cxx11::path::parent_path", "std::filesystem::path::parent_path" },
		// another order, another allocator, another library
		{ "std::set<int, std::greater<int>, std::allocator<int> >::find",
		  "std::set<int, std::greater<int>>::find" },
		{ "std::set<a, std::less<b>, std::allocator<a> >::find", "std::set<a, std::less<b>>::find" },
		{ "std::vector<int, my::allocator<int> >::begin", "std::vector<int, my::allocator<int>>::begin" },
		{ "std::pair<int, std::less<int> >::pair", "std::pair<int, std::less<int>>::pair" },
		{ "std::__1::tuple<a*, std::__1::default_delete<a*> >::swap",
		  "std::tuple<a*, std::default_delete<a*>>::swap" },
		{ "my::vector<int, std::allocator<int> >::begin", "my::vector<int, std::allocator<int>>::begin" },
		{ "(anonymous namespace)::f<std::vector<int, std::allocator<int> > >",
		  "(anonymous namespace)::f<std::vector<int>>" },
		{ "std::function<int (std::vector<int, std::allocator<int> > const&)>::operator()<a>",
		  "std::function<int (std::vector<int> const&)>::operator()<a>" },
		// signs of expressions and operators are no brackets
		{ "f<((1)>(2)), (3)<(4)>", "f<((1)>(2)), (3)<(4)>" },
		{ "a::operator><b<int> >", "a::operator><b<int>>" },
		{ "a::operator->", "a::operator->" },
		{ "a::operator<=><int>", "a::operator<=><int>" },
		// what is not understood
		{ "std::vector<int, std::allocator<int> ", "std::vector<int, std::allocator<int> " },
		{ "std::vector<int)", "std::vector<int)" },
		{ "plain", "plain" },
	};

	CHECK_ALL(shortened, cases);
#undef STRING
}

RUN(TEST_CASE(test_demangle__short), TEST_CASE(test_demangle__circles), TEST_CASE(test_demangle__doubles),
    TEST_CASE(test_demangle__rust), TEST_CASE(test_demangle__rust_legacy), TEST_CASE(test_demangle__strip),
    TEST_CASE(test_demangle__special), TEST_CASE(test_demangle__suffix), TEST_CASE(test_demangle__all),
    TEST_CASE(test_demangle__unfolds_without_end), TEST_CASE(test_demangle__deep))
