# SPDX-License-Identifier: MIT
# What report shows on a terminal: lines as long as it is wide, shares in colour, small rows folded.
python3 -c 'import pty; pty.openpty()' 2>/dev/null || { echo "no terminal to be had" && exit 77; }
export TERM=xterm PAGER=cat
mkdir bin
ln -s "$(dirname "$(readlink -f "$BASH_SOURCE")")/terminal.py" bin/terminal
export PATH="$PWD/bin:$PATH"
report='report -q --no-symbols -g none --event page-faults data/hot-multi.data'

shell "terminal --size 40x24 perfdata $report --no-children -s comm,dso,sym | cat -v"
shell "terminal --size 120x24 perfdata $report --no-children -s comm,dso,sym | cat -v"
# nothing of that in a pipe
shell "perfdata $report --no-children -s comm,dso,sym"
# the variable is what the user says of the terminal
shell "COLUMNS=20 terminal --size 40x24 perfdata $report --no-children -s comm,dso | cat -v"
shell "COLUMNS=20 perfdata $report --no-children -s comm,dso"
# the header of the file is shown in full
shell "COLUMNS=20 terminal perfdata report --header --no-symbols -g none data/hot-multi.data | grep -A1 -E '^# (cmdline|Overhead)'"

# colours
for how in 'NO_COLOR=1' 'NO_COLOR=' 'TERM=dumb'; do
	shell "$how terminal perfdata $report -s comm | cat -v | head -n 1"
done
for how in always never auto sometimes; do
	shell "NO_COLOR=1 terminal perfdata $report -s comm --color $how | cat -v | head -n 1"
	shell "perfdata --color=$how $report -s comm | cat -v | head -n 1"
done
for how in always never auto; do
	printf '[color]\n\tui = %s\n' $how >config
	shell "PERF_CONFIG=config perfdata $report -s comm | cat -v | head -n 1"
	shell "PERF_CONFIG=config terminal perfdata $report -s comm | cat -v | head -n 1"
done
shell "perfdata report -q --no-symbols --color=always -G -s comm --percent-limit 15 data/hot.data | cat -v | head -n 8"
shell "perfdata $report -s comm --color=always -t , | cat -v | head -n 1"
shell "perfdata $report -s comm --color=always --csv | cat -v | head -n 2"

# rows below a limit that the user gave are not counted
shell "terminal perfdata --color=never $report --no-children -s comm,dso,sym --percent-limit 0 | tail -n 4"
shell "terminal perfdata --color=never $report --no-children -s comm,dso,sym --percent-limit 10 | tail -n 4"

# letters of several bytes, and colours behind the edge
sed 's/hot-child/h\xc3\xb6t-chil/g' data/hot.data >odd.data
for columns in 15 14 13 5; do
	shell "COLUMNS=$columns terminal perfdata report -q --no-symbols --no-children -g none -s comm odd.data | head -n 1 | cat -v"
done
