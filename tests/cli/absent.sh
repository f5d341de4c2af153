# SPDX-License-Identifier: MIT
# Commands and options of perf that are not here, with what to use instead.
try ftrace
try timechart --topology
try mem lists
try report --tui
touch bench
try bench
try stta
