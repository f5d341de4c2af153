# SPDX-License-Identifier: MIT
try dump --features data/hot.data
shell 'perfdata dump --features --hex data/hot-stat.data | head -n 24'
try dump --features --json data/hot.data
shell 'perfdata dump --features --json --hex data/hot.data | head -n 1'
shell 'perfdata dump --features data/hot-pipe.data | grep ^feature'
shell 'perfdata dump --features --header data/hot-trace-pipe.data | grep -v "^ "'
