# SPDX-License-Identifier: MIT
for file in hot.data hot-multi.data hot-group.data hot-trace.data hot-pipe.data hot-trace-pipe.data \
	hot-regs.data hot-records.data hot-stat.data hot-sigkill.data hot-dir; do
	try dump --stats data/$file
done
try dump --stats --json data/hot-multi.data
try dump --stats --type SAMPLE,COMM data/hot-multi.data

# The same counts that perf had, from the list beside the recordings.
while read -r file kind count; do
	[ "$file" != hot-zstd.data ] || continue
	perfdata dump --stats --json data/$file | python3 -c '
import json, sys
stats = json.load(sys.stdin)
file, kind, count = sys.argv[1:]
events = {event["name"] + ":SAMPLE": event["samples"] for event in stats["events"]}
found = stats["total"] if kind == "TOTAL" else events.get(kind, stats["types"].get(kind))
if found != int(count):
    print(file, kind, "perf", count, "perfdata", found)
' "$file" "$kind" "$count"
done <data/expected.txt
