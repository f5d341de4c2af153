# SPDX-License-Identifier: MIT
# The structs of explain --c are those of the header: a compiler compares sizes and members.
command -v cc >/dev/null || { echo "no C compiler" && exit 77; }
headers=$(dirname "$(realpath data)")/../include
[ -e "$headers/perfdata/perfdata.h" ] || { echo "no headers" && exit 77; }

# Each struct once, under another name, and an assertion for each member.
perfdata explain --c | awk '
	/^struct pd_.* \{$/ {
		name = substr($2, 4)
		seen = name in done
		done[name] = 1
		if (!seen) {
			print "struct my_" name " {"
			checks = checks "_Static_assert(sizeof(struct my_" name ") == sizeof(struct pd_" name "), \"\");\n"
			count++
		}
		inside = 1
		next
	}
	inside && !seen { print }
	inside && /^\t/ && !seen {
		sub(/;.*/, "")
		sub(/.*[ *]/, "")
		members++
		checks = checks "_Static_assert(offsetof(struct my_" name ", " $0 ") == offsetof(struct pd_" name ", " $0 "), \"\");\n"
	}
	/^\};$/ { inside = 0 }
	END {
		print checks
		print "int structs = " (count > 100 && members > 400) ";"
	}' >structs.inc
printf '#include <perfdata/perfdata.h>\n#include <stddef.h>\n#include "structs.inc"\n' >structs.c
cc -std=c11 -I"$headers" -fsyntax-only structs.c && echo "they fit"
grep 'int structs' structs.inc
