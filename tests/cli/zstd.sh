# SPDX-License-Identifier: MIT
# Compressed records, and files that are compressed as a whole.
need zstd
copy hot-zstd.data
try info hot-zstd.data
try dump --stats hot-zstd.data
shell 'perfdata dump --type COMM hot-zstd.data'
offset=$(perfdata dump --json --type COMPRESSED hot-zstd.data | head -n 1 |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["offset"])')
echo "records in the first compressed record: $(
	perfdata dump --json --offset "$offset" hot-zstd.data | wc -l
)"
try check hot-zstd.data
