# SPDX-License-Identifier: MIT
# Where the file comes from, and what is no perf.data.
want=$(perfdata dump --json --type SAMPLE data/hot.data | cksum)
same()
{
	[ "$(bash -c "$1" | cksum)" = "$want" ] || echo "another result: $1"
}
same 'perfdata dump --json --type SAMPLE - <data/hot.data'
same 'perfdata dump --json --type SAMPLE -i - <data/hot.data'
same 'cat data/hot.data | perfdata dump --json --type SAMPLE -'
same 'cat data/hot.data | perfdata dump --json --type SAMPLE'
same 'cp data/hot.data perf.data && perfdata dump --json --type SAMPLE'
rm perf.data
want=$(perfdata dump --json data/hot-pipe.data | cksum)
same 'cat data/hot-pipe.data | perfdata dump --json'
same '{ head -c 100 && sleep 0.2 && cat; } <data/hot-pipe.data | perfdata dump --json'
same 'perfdata dump --json - <data/hot-pipe.data'
same 'mkfifo fifo && { cat data/hot-pipe.data >fifo & } && perfdata dump --json fifo'

: >empty.data
echo "this is no recording" >text.data
head -c 7 data/hot.data >short.data
head -c 60 data/hot.data >header.data
mkdir folder
for command in info dump check 'report --stats'; do
	try $command
	try $command missing.data
	try $command empty.data
	try $command text.data
	try $command short.data
	try $command header.data
	try $command folder
	try $command /dev/null
	shell "perfdata $command - </dev/null"
	shell "perfdata $command - <&-"
done
ln -s loop loop
try info loop
printf 'bad\033[31mname' >$'esc\033[31m.data'
try info $'esc\033[31m.data'
try repair -o x.data /dev/zero
