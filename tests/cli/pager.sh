# SPDX-License-Identifier: MIT
# The pager: when there is one, which one it is, and what becomes of errors and signals.
python3 -c 'import pty; pty.openpty()' 2>/dev/null || { echo "no terminal to be had" && exit 77; }
export TERM=xterm
mkdir bin
here=$(dirname "$(readlink -f "$BASH_SOURCE")")
ln -s "$here/terminal.py" bin/terminal

# a pager that shows what it was given, in few lines
cat >bin/short <<'SH'
#!/bin/sh
echo "pager${1:+ $1}: LESS=$LESS"
sed -n '1p;$p'
echo "end of pager"
SH
cat >bin/first <<'SH'
#!/bin/sh
head -n 1
SH
chmod +x bin/*
export PATH="$PWD/bin:$PATH"

shell 'PAGER=short terminal perfdata dump data/hot.data'
shell 'PAGER=short terminal perfdata help'
# all of it fits on the screen
shell 'PAGER=short terminal perfdata version'
shell 'PAGER=short terminal --size 80x1000 perfdata dump data/hot.data | tail -n 1'
shell 'LINES=1000 PAGER=short terminal perfdata dump data/hot.data | tail -n 1'
shell 'PAGER=short terminal --size 80x1 perfdata version'
# not on a terminal
shell 'PAGER=short perfdata dump data/hot.data | tail -n 1'
shell 'PAGER=short TERM=dumb terminal perfdata dump data/hot.data | tail -n 1'

# which one
shell 'PERF_PAGER="short perf" PAGER=short terminal perfdata dump data/hot.data'
shell 'LESS=-i PAGER=short terminal perfdata dump data/hot.data | head -n 1'
for none in 'PAGER=' 'PAGER=cat' 'PERF_PAGER= PAGER=short' 'PAGER=no-such-pager' 'PAGER=/no/such/pager'; do
	shell "$none terminal perfdata dump data/hot.data | tail -n 1"
done
shell 'PAGER=short terminal perfdata --no-pager dump data/hot.data | tail -n 1'
shell 'PAGER=short terminal perfdata dump --no-pager data/hot.data | tail -n 1'
printf '[pager]\n\tdump = no\n\tinfo = short info\n\tevlist = true\n' >config
export PERF_CONFIG=config
shell 'PAGER=short terminal perfdata dump data/hot.data | tail -n 1'
shell 'PAGER=short terminal perfdata -p dump data/hot.data | tail -n 1'
shell 'PAGER=first terminal --size 80x4 perfdata info data/hot.data'
shell 'PAGER=short terminal --size 80x2 perfdata evlist -v data/hot.data'
unset PERF_CONFIG

# the exit status is the command's; messages go through the pager once it runs
shell 'PAGER=short terminal perfdata dump no-such-file'
shell 'PAGER=short terminal perfdata dump data/hot-sigkill.data | tail -n 1'
head -c 9000 data/hot.data >cut.data
shell 'PAGER=short terminal perfdata dump cut.data | tail -n 2'
# the user leaves the pager
i=0
while [ $i -lt 40 ]; do
	echo data/hot-regs.data
	i=$((i + 1))
done | xargs perfdata merge -q -o large.data 2>/dev/null
shell 'PAGER=first terminal perfdata dump --hex large.data'
# ^C ends the command when the pager has ended, which takes it as it likes
cat >bin/patient <<'SH'
#!/bin/sh
trap 'interrupted=1' INT
echo ready
while [ -z "$interrupted" ]; do
	sleep 0.02
done
cat >/dev/null
echo "end of pager"
SH
chmod +x bin/patient
shell 'PAGER=patient terminal --type "$(printf "\\003")" perfdata dump --hex large.data | tail -n 2'
