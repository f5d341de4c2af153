# SPDX-License-Identifier: MIT
for file in hot.data hot-pipe.data hot-dir hot-stat.data hot-sigkill.data; do
	try check data/$file
done
try check --json data/hot.data
try check --json data/hot-sigkill.data
try check --strict data/hot.data
try check --strict data/hot-sigkill.data
try check --quiet data/hot.data

head -c 5000 data/hot.data >cut.data
try check cut.data
try check --json cut.data
try check --quiet cut.data
try check --strict --quiet cut.data
