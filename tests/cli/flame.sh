# SPDX-License-Identifier: MIT
# No symbols: what a function is called depends on the machine.
for file in hot.data hot-multi.data hot-pipe.data hot-group.data hot-stat.data; do
	copy $file
	shell "perfdata folded --no-symbols $file | head -n 12"
done
try folded --no-symbols --by-pid hot.data
try folded --no-symbols --by-tid --kernel hot.data
try folded --no-symbols --no-comm-frame --reverse hot.data
try folded --no-symbols --weight period --event page-faults hot-multi.data
try folded --no-symbols --comm hot-thread hot-multi.data
try folded --no-symbols --time 0%-50% hot.data
shell 'perfdata folded --no-symbols hot-multi.data | sed "s/ [0-9]*$//" | LC_ALL=C sort -c && echo sorted'
shell 'for n in 1 2 4; do perfdata folded --no-symbols --threads $n hot-multi.data | cksum; done | uniq | wc -l'
try folded --no-symbols --comm nobody hot.data
try folded --weight time hot.data
try flame --format png hot.data
try flame --by day hot.data
try flame --percent-limit x hot.data
try flame --folded a b
try flame --folded missing.folded

# Folded stacks of others.
cat >stacks.folded <<'END'
# a remark
app;main;work 60
app;main;work;memcpy_[k] 20

app;main;<b>&"quoted" 15
app;[unknown] 5
END
try flame --folded stacks.folded --format svg --width 400
try flame --folded stacks.folded --format svg --width 400 --reverse --inverted --percent-limit 18 --title 'a < b'
shell 'perfdata flame --folded stacks.folded | page_text'
shell 'printf "a;b 1\nnothing\na;b x\n c\n" | perfdata flame --folded - --format svg | grep "<tspan"'
shell 'printf "a;b 1\nnothing\n" | perfdata flame --folded - -o a.html'
shell 'printf "m 3\nm.x;y 1\nm;x 2\nm;x.y;z 5\nm;x;y 4\n" >a.folded; perfdata flame --folded a.folded --format svg | grep -c "<rect class"'
shell 'printf "" | perfdata flame --folded - '

# What is made in parts is what one thread makes: nodes that parts share, stacks that all are the same, nodes left out.
shell 'seq 1 20000 | awk "{ printf \"m;%d;%d;%d;f%d %d\\n\", \$1 % 3, \$1 % 7, (\$1 * 7919) % 5000, \$1 % 2, \$1 % 5 }" >many.folded'
shell 'for n in 1 2 3 8; do perfdata flame --folded many.folded --threads $n | cksum; done | uniq | wc -l'
shell 'for n in 1 2 3 8; do perfdata flame --folded many.folded --threads $n --reverse --percent-limit 0.1 | cksum; done | uniq | wc -l'
shell 'for n in 1 2 8; do yes "m;a 1" | head -n 9000 | perfdata flame --folded - --threads $n --format svg | cksum; done | uniq | wc -l'

# A page has the samples of the file, and nothing of another host.
shell 'perfdata flame --no-symbols hot-multi.data | page_text'
shell 'perfdata flame --no-symbols hot.data | grep -o "https\?://[^\"]*" | sort -u'
shell 'perfdata flame --no-symbols --no-time --weight samples --by tid hot-multi.data | page_text'
shell 'perfdata flame --no-symbols --reverse hot.data | page_text | head -n 1; perfdata flame --no-symbols --reverse --inverted hot.data | page_text | head -n 1; perfdata flame --no-symbols --inverted hot.data | page_text | head -n 1'
# Stacks are the same from either end; a limit is that of the graph that is drawn.
shell 'cmp <(perfdata flame --no-symbols hot.data | page_text | tail -n +2) <(perfdata flame --no-symbols --reverse hot.data | page_text | tail -n +2) && echo equal'
shell 'printf "m;a;c 50\nm;b;c 40\nm;a;d 6\nm;e 4\n" >limit.folded; perfdata flame --percent-limit 45 --folded limit.folded | page_text; perfdata flame --reverse --percent-limit 45 --folded limit.folded | page_text'

# The file is there when it is whole, and no recording is replaced.
try flame --no-symbols -o graph.html hot.data
shell 'ls; head -c 15 graph.html'
try flame --no-symbols -o hot.data hot.data
try flame --no-symbols -o hot-multi.data hot.data
try flame --no-symbols -o none/graph.html hot.data
try flame --no-symbols --comm nobody -o empty.html hot.data
shell 'ls; cmp hot.data data/hot.data && cmp hot-multi.data data/hot-multi.data && echo as they were'
shell 'perfdata flame --no-symbols -o - hot.data | cmp - graph.html && echo equal'
shell 'perfdata flame --no-symbols -o /dev/stdout hot.data | cmp - graph.html && echo equal'

# Events have units of their own: graphs side by side, no limit over both; times add up.
shell 'perfdata flame --no-symbols --format svg hot-multi.data | grep -o "<title>.*</title>\|<tspan[^<]*\|width=\"[0-9.]*\"" | sed -n "4,\$p"'
shell 'perfdata flame --no-symbols --format svg --weight samples hot-multi.data | grep -o "<title>.*</title>" | sed -n 2,3p'
shell 'perfdata flame --no-symbols --format svg --event page-faults hot-multi.data | grep -o "<title>.*</title>" | sed -n 2,3p'
try flame --no-symbols --percent-limit 1 -o few.html hot-multi.data
shell 'perfdata flame --no-symbols --percent-limit 30 --weight samples hot-multi.data | page_text | grep -o "[0-9]* small frames omitted"'
shell 'perfdata text hot-multi.data | sed "s/page-faults/offcpu-time/" | perfdata assemble -o waits.data; perfdata evlist -i waits.data'
shell 'perfdata folded --no-symbols --event offcpu-time waits.data'
shell 'perfdata flame --no-symbols waits.data | page_text | grep "^[^ ]*: [0-9]"; perfdata flame --no-symbols waits.data | page_text | grep "^all events"'
shell 'perfdata flame --no-symbols --format svg waits.data | grep -o "<title>all.*</title>"'
# A frequency without periods: samples are all that is known.
shell 'perfdata text hot.data | sed "s/ period: [0-9]*,//; s/|period//; s/period|//" | perfdata assemble -o periodless.data; perfdata folded --no-symbols periodless.data'
