# What diff prints and refuses. No objects are opened: what stands beside the tests differs from machine to machine.
copy hot.data
copy hot-group.data
copy hot-multi.data
try diff --no-symbols hot.data hot.data
try diff --no-symbols -s comm,dso hot.data hot-multi.data
try diff --no-symbols -s comm -p -F hot.data hot-multi.data hot-group.data
try diff --no-symbols -s comm -c ratio -o 2 -q hot.data hot-multi.data hot-group.data
try diff --no-symbols -s comm -c wdiff:1,2 -t , hot.data hot-multi.data
try diff --no-symbols -b -s dso hot-multi.data hot.data
try diff --no-symbols -C hot -s comm,dso hot.data hot.data
try diff --significance --no-symbols -s comm hot.data hot-multi.data
try diff --significance --variation 0 --no-symbols -s comm -q hot.data hot-multi.data
try diff --no-symbols -s comm hot.data,hot.data hot-multi.data,hot-multi.data
try diff --significance --no-symbols hot.data hot.data
try diff --variation much hot.data hot.data
try diff --per run --no-symbols -s comm hot.data hot-multi.data
try diff --per 10,20 --no-symbols -s comm -q hot.data hot-multi.data
try diff --per wall --markdown --no-symbols -s comm -q hot.data hot-multi.data
try diff --per requests --no-symbols hot.data hot-multi.data
try diff --per 0 hot.data hot.data
shell 'perfdata diff --json -q --no-symbols -s comm hot.data hot-multi.data | grep -oE "\"(comm|rating|tested|warnings)\":(\"[a-z-]*\"|[0-9]*)"'
try diff --markdown --no-symbols -s comm,dso hot.data hot-multi.data
try diff -q --no-symbols -s comm --fail-on 'self > 2% and maybe' hot.data hot-multi.data
try diff -q --no-symbols -s comm --fail-on 'change > 2% and significant' hot.data hot-multi.data
try diff -q --no-symbols -s comm --fail-on 'growth > 2 or real' hot.data hot-multi.data
printf '# known\nhot-th* <= 200%%\nhot <= 1%%\n' > accepted
try diff -q --no-symbols -s comm --fail-on 'change > 1%' --accept accepted hot.data hot-multi.data
try diff -q --no-symbols -s comm --fail-on 'change > 1%' --accept accepted --junit hot.data hot-multi.data
echo 'hot <= much' > accepted
try diff -q --no-symbols -s comm --fail-on 'change > 1%' --accept accepted hot.data hot-multi.data
try diff --junit hot.data hot.data
try diff --json --markdown hot.data hot.data
try profile save --no-symbols -s comm hot.data,hot-multi.data
try profile save --no-symbols -s comm -o base.profile hot.data
try diff --no-symbols -s comm base.profile hot-multi.data
try diff --no-symbols -s dso base.profile hot-multi.data
head -n 3 base.profile > cut.profile
try diff --no-symbols cut.profile hot.data
try profile load base.profile
cp hot.data with,comma.data
try diff -q --no-symbols -s comm with,comma.data hot.data
mv hot.data perf.data.old
mv hot-multi.data perf.data
try diff --no-symbols -s comm
try diff --no-symbols -s comm hot-group.data
try diff -c speed perf.data perf.data
try diff -c wdiff:1 perf.data perf.data
try diff -o 2 perf.data perf.data
try diff -t . perf.data perf.data
try diff -i perf.data
try diff perf.data missing
try diff -s nothing perf.data perf.data
try record --runs 0 -- true
try record --runs 2 -o - -- true
try record --runs 2 -- true --vs
cd data
try folded --no-symbols --event cpu-clock --by-pid --diff hot.data hot.data
try folded --no-symbols --diff hot.data --normalize hot-multi.data
try folded --diff missing hot.data
try folded --normalize hot.data
