# SPDX-License-Identifier: MIT

# Lists and times that are none.
for time in '' x 3-4 2,1 10 10%/0 '10%/11' '50%-40%' '-5%' '200%' 1.2.3 2024-13-01 2024-02-30T25:00 12:60 '1,2 x' \
	99999999999999999999; do
	try script --time "$time" data/hot.data
done
try script --cpu '' data/hot.data
try script --cpu 0-x data/hot.data
try script --cpu 3-1 data/hot.data
try script --cpu 65536 data/hot.data
try script --pid 1,x data/hot.data
try script --tid '' data/hot.data
try script --comms file://none data/hot.data
try script --event none data/hot.data
try script --cpu 0 data/hot.data
try filter --cpu 0 -o kept.data data/hot-pipe.data
try script --time 12:00 data/hot.data

# Every sample is in one part of the time.
count()
{
	shell "perfdata script -F time $* | wc -l"
}
count data/hot-records.data
count --time 25%/1 data/hot-records.data
count --time 25%/2,25%/3 data/hot-records.data
count --time "'75%-100%'" data/hot-records.data
count --time "'0%-25% 25%-50%,50%-75% 75%-100%'" data/hot-records.data
count --time 100% data/hot-records.data

# The wall clock, as it is here and in UTC.
shell 'perfdata info data/hot-records.data | grep -i "time\|clock"'
count --time 2026-11-21 data/hot-records.data
count --time 2026-11-20 data/hot-records.data
count --time "'2026-11-21 19:26:11.41,19:26:11.42'" data/hot-records.data
count --time 2026-11-21T19:26:11.41Z, data/hot-records.data
count --time ,19:26:11.415 data/hot-records.data
shell 'export TZ=UTC-5; perfdata script -F time --time "2026-11-22 00:26:11.41,00:26:11.42" data/hot-records.data | wc -l'
shell 'export TZ=UTC-5; perfdata script -F time --time "19:26:11.41Z,19:26:11.42Z" data/hot-records.data | wc -l'

# Threads and events.
printf 'hot\nhot-child\n' >names
count -c hot data/hot.data
count --comm hot-child data/hot.data
count -c hot --comm hot-child data/hot.data
count --comms file://names data/hot.data
count --comms hot-thread,file://names data/hot.data
count data/hot-multi.data
count --event cpu-clock data/hot-multi.data
count --event "'page*'" data/hot-multi.data
count --event cpu-clock,page-faults data/hot-multi.data
count --event 'sched:*' data/hot-trace.data
count --event 'sched' data/hot-trace.data
