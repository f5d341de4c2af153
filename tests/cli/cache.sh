# SPDX-License-Identifier: MIT
# perf's cache of objects by build id: what is in it, and that nothing of it leads anywhere else.
export OBJECT="${BASH_SOURCE[0]%/*}/object.py" PERF_BUILDID_DIR=cache HOME=/nowhere
python3 "$OBJECT" bin/one 0123456789abcdef0123456789abcdef01234567 f=1200-1230
python3 "$OBJECT" bin/two 00112233445566778899aabbccddeeff f=1200-1230
copy hot.data

shell 'perfdata buildid-cache -v -a bin/one,bin/two 2>&1'
shell 'find cache -type f -o -type l | sort | sed "s|cache$PWD|cache/HERE|"; readlink cache/.build-id/01/* | sed "s|$PWD|/HERE|"'
shell 'perfdata buildid-cache -l | sed "s|$PWD|HERE|"'
shell 'perfdata buildid-cache -l --json | sed "s|$PWD|HERE|"'
shell 'cmp bin/one cache/.build-id/01/*/elf && perfdata buildid-cache -a bin/one && perfdata buildid-cache -l | wc -l'
# what cannot be added does not stop the others
shell 'echo text >text; cp bin/two three; perfdata buildid-cache -v -a text,nowhere,three 2>&1'
# another file of the same name is another object; purge takes both
shell 'python3 "$OBJECT" bin/one 1123456789abcdef0123456789abcdef01234567 f=1200-1230; perfdata buildid-cache -a bin/one; perfdata buildid-cache -l | wc -l'
try buildid-cache -v -p bin/one
shell 'perfdata buildid-cache -l | sed "s|$PWD|HERE|"; find cache | sed "s|cache$PWD|cache/HERE|" | grep -v /tmp | sort'
try buildid-cache -r bin/one
try buildid-cache -v -u bin/one
try buildid-cache -v -r bin/one
# links that lead out of it are not objects, and nothing is written through them
shell 'mkdir -p cache/.build-id/ff outside; ln -s ../../../outside cache/.build-id/ff/ee; ln -s ../../x/../../../ffdd cache/.build-id/ff/dd; perfdata buildid-cache -l | wc -l'
shell 'rm -r cache; mkdir cache; ln -s ../outside cache/.build-id; perfdata buildid-cache -a bin/two; find outside'
shell 'rm -r cache; perfdata buildid-cache -l; perfdata buildid-cache -P; test -e cache'
# of a recording
shell 'perfdata buildid-cache -M hot.data | head -3'
shell 'perfdata --buildid-dir other buildid-cache -a bin/two; perfdata --buildid-dir other buildid-cache -l | wc -l; ls'
try buildid-cache
shell 'PERF_BUILDID_DIR=bin/two/x perfdata buildid-cache -l'
shell 'PERF_BUILDID_DIR= HOME= perfdata buildid-cache -l'
