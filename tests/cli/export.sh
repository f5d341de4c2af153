# What export says, and where it writes; the formats themselves are read by tests/export.
copy hot.data
try export
try export --to nothing hot.data
shell 'perfdata export --to csv --no-symbols hot.data | head -n 3'
shell 'perfdata export --to jsonl --comm hot-child hot.data | head -n 1 | cut -c 1-100'
try export --to pprof -o cpu.pb.gz hot.data
shell 'head -c 4 cpu.pb.gz | od -An -tx1; rm cpu.pb.gz'
try export -q --to folded --no-symbols --tid 4402 --time 50%-100% hot.data
try export --to csv --comm nobody hot.data
try export --to speedscope -o hot.data hot.data
try export --to csv --where 'symbol == "x"' hot.data
try data
try data convert hot.data
try data convert --to-json out.json -i hot.data
shell 'perfdata export -q --to perf-json hot.data | cmp - out.json && head -n 3 out.json'
try data convert --to-json out.json hot.data
try data convert -q -f --to-json out.json hot.data
shell 'mkdir other; cp hot.data two.data; cp hot.data other/hot.data'
try export --to folded hot.data two.data
try export --to folded -o folder hot.data other/hot.data
try export -q --to speedscope --no-symbols -o folder hot.data nothing.data two.data
shell 'ls folder'
try export --to nothing -o elsewhere hot.data two.data
shell 'ls elsewhere'
# a folder of files, whose place nothing else may have
try export --to ctf hot.data
try export -q --to ctf -o trace hot.data
shell 'ls trace'
try export -q --to ctf -o trace hot.data
try export -q --to ctf -o none --comm nothing hot.data
try data convert --to-ctf samples -i hot.data
try data convert --to-ctf samples --to-json samples -i hot.data
shell 'ls'
