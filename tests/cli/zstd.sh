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
# Damage in the first one is told by whoever meets it, once.
cp hot-zstd.data broken.data
printf XXXX | dd of=broken.data bs=1 seek=$((offset + 8)) conv=notrunc status=none
for command in 'convert -o out.data' 'convert --sort -o out.data' 'inject -s -o out.data' 'dump --sort --stats --type SAMPLE'; do
	try $command broken.data
done
