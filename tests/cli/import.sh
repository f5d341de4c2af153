# What import says; what is in the recordings is read by tests/export/quipper.py.
copy hot-group.data
try import
try import --from nothing x
try import --from quipper nothing.pb
try import --from quipper -o new.data nothing.pb
shell 'perfdata export -q --to quipper hot-group.data | head -c 300 | od -An -tx1 | head -n 3'
shell 'perfdata export -q --to quipper-text hot-group.data | head -n 12'
shell 'perfdata export -q --to quipper-text hot-group.data >text; perfdata import --from quipper-text -o new.data text; perfdata export -q --to quipper-text new.data | diff text - | cut -d: -f1'
shell 'perfdata import --from quipper -o - hot-group.data | wc -c'
shell 'head -n 9 text | perfdata import --from quipper-text -o other.data; ls'
shell 'echo "events { header { type: x } }" | perfdata import --from quipper-text -o other.data'
shell 'perfdata import --from quipper -o other.data </dev/null'
try export --to quipper --comm hot hot-group.data
shell 'printf "sh-12;main;work 5\nsh-12/13;main 1.5\nalone 7\n" | perfdata import --from folded -o folded.data; perfdata script -q folded.data'
shell 'echo "no number" | perfdata import --from folded -o other.data'
shell 'printf "two words 10/10 [000] 1.5: 250000 cycles:u: \n\t 401200 work(int, char)+0x20 (/bin/demo)\n\t 401100 main+0x10 (/bin/x (deleted))\n\n" | perfdata import --from perf-script -o script.data; perfdata script -q script.data'
shell 'echo "{}" | perfdata import --from speedscope -o other.data'
shell 'echo x | perfdata import --from pprof -o other.data'
