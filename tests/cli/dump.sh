# SPDX-License-Identifier: MIT
try dump --type COMM,FINISHED_INIT data/hot.data
try dump --type COMM --json data/hot.data
try dump --type 3,0x44 -t EXIT data/hot.data
try dump --record 0 data/hot.data
try dump --record 100000 data/hot.data
try dump --offset 264 data/hot.data
try dump --offset 0x108 --hex data/hot.data
try dump --offset 265 data/hot.data
try dump --offset 0x108 --hex --json data/hot.data
try dump --type CALLCHAIN_DEFERRED data/hot.data
try dump --type COM data/hot.data
try dump --type nothing data/hot.data
try dump --type 4294967296 data/hot.data
try dump --type ATTR data/hot-pipe.data
shell 'perfdata dump --type TRACING_DATA --hex data/hot-trace-pipe.data | head -n 8'
try dump --header data/hot.data
try dump --header --json data/hot.data
try dump --header --json data/hot-pipe.data
try dump --header --type COMM data/hot.data
try dump --features --stats data/hot.data

echo "every record is one line of JSON, with its number"
for file in hot.data hot-pipe.data hot-dir hot-stat.data; do
	perfdata dump --json data/$file | python3 -c '
import json, sys
records = [json.loads(line) for line in sys.stdin]
print(sys.argv[1], len(records), [r["index"] for r in records] == list(range(len(records))))
' $file
done
