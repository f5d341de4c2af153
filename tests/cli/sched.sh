# SPDX-License-Identifier: MIT
# What sched says; its text is compared with that of perf in tests/perf.
copy hot.data
try sched
try sched latency hot.data
try sched timehist hot.data
try sched timehist -s -w hot.data
try sched timehist nothing.data
