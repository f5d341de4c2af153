# SPDX-License-Identifier: MIT
for file in hot.data hot-multi.data hot-group.data hot-trace.data hot-pipe.data hot-trace-pipe.data \
	hot-regs.data hot-records.data hot-stat.data hot-sigkill.data hot-dir; do
	try dump --stats data/$file
done
try dump --stats --json data/hot-multi.data
try dump --stats --type SAMPLE,COMM data/hot-multi.data

# The same counts that perf had, from the list beside the recordings: each recording is read once, and so is the list.
sed 's/ .*//' data/expected.txt | uniq | while read -r file; do
	[ "$file" = hot-zstd.data ] || echo "$file $(perfdata dump --stats --json "data/$file")"
done | python3 -c '
import json, sys
stats = {}
for line in sys.stdin:
    file, text = line.split(" ", 1)
    stats[file] = json.loads(text)
for line in open("data/expected.txt"):
    file, kind, count = line.split()
    if file == "hot-zstd.data":
        continue
    events = {event["name"] + ":SAMPLE": event["samples"] for event in stats[file]["events"]}
    found = stats[file]["total"] if kind == "TOTAL" else events.get(kind, stats[file]["types"].get(kind))
    if found != int(count):
        print(file, kind, "perf", count, "perfdata", found)
'
