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
