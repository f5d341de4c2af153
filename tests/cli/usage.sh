# SPDX-License-Identifier: MIT
# Command lines that are wrong, and those that ask for help.
shell 'perfdata 2>/dev/null'
shell 'perfdata 2>&1 >/dev/null | head -n 3'
try --help
try -h
try --version
try frobnicate
try inf
try dmup
touch a.data
try a.data
try dump --jsn data/hot.data
try dump --verylongnameofanoptionthatnobodyhasandnobodywillever data/hot.data
try dump --xyzzy
try dump -Z
try dump --record
try dump -n
try dump --record=many data/hot.data
try dump --record=0x data/hot.data
try dump --record=18446744073709551616 data/hot.data
try dump --json=yes data/hot.data
try dump --no-record data/hot.data
try dump data/hot.data data/hot-pipe.data
try dump -i data/hot.data data/hot-pipe.data
try version what
try unpack a.tar b.tar c.tar
try unpack -i a.tar b.tar -o c
try unpack a.tar
try unpack -o c
try explain --c --json MMAP
