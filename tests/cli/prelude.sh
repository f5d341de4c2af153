# SPDX-License-Identifier: MIT
# Words for the tests; read before each of them.

# try ARGUMENT...: shows the command line, what it prints on either channel, and its exit code.
try()
{
	local rc=0

	printf '$ perfdata'
	printf ' %s' "$@"
	printf '\n'
	perfdata "$@" || rc=$?
	[ "$rc" = 0 ] || echo "exit $rc"
}

# shell 'COMMANDS': the same for a whole line of shell; the exit code is that of the last command.
shell()
{
	local rc=0

	printf '$ %s\n' "$1"
	bash -c "$1" || rc=$?
	[ "$rc" = 0 ] || echo "exit $rc"
}

# copy NAME: a recording in the working folder, with a time of its own.
copy()
{
	cp -r "data/$1" .
	find "$1" -exec touch -d '2026-01-02 03:04:05 UTC' {} +
}

# need LIBRARY: skips the test if the program was built without it.
need()
{
	perfdata version --build | grep -q "^$1 .* yes:" && return
	echo "built without $1"
	exit 77
}

# page_text [FILE]: what the page of a flame graph holds.
page_text()
{
	python3 "$tests/export/page_text.py" "$@"
}
tests=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
export tests
export -f page_text
