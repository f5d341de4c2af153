# SPDX-License-Identifier: MIT
# Damaged files: everything that can be read is shown, and the exit code says that it is not all.
head -c 5000 data/hot.data >cut.data
head -c 3000 data/hot-pipe.data >cut-pipe.data
cp data/hot.data hole.data
dd if=/dev/zero of=hole.data bs=1 seek=2000 count=600 conv=notrunc status=none
cp data/hot.data feature.data
printf '\377\377\377\377' | dd of=feature.data bs=1 seek=9892 conv=notrunc status=none # HOSTNAME: size
printf '\377\377\377' | dd of=feature.data bs=1 seek=9288 conv=notrunc status=none     # VERSION: place

for file in cut.data cut-pipe.data hole.data feature.data; do
	touch -d '2026-01-02 03:04:05 UTC' $file
	try info $file
	try dump --stats $file
	try check $file
	try dump --stats --quiet $file
done
try dump --features --type COMM feature.data
shell 'perfdata dump --features --hex feature.data | head -n 12'
try dump --stats --verbose data/hot-sigkill.data
try dump --record 1 cut.data
try dump --record 100000 cut.data
shell 'perfdata dump --json hole.data | wc -l'

# a record that is shorter than its fields
cp data/hot.data short.data
place=$(perfdata dump --type MMAP2 data/hot.data | grep -o '^ *0x[0-9a-f]*' | head -n 1)
printf '\020\000' | dd of=short.data bs=1 seek=$((place + 6)) conv=notrunc status=none
shell 'perfdata report short.data 2>&1 >/dev/null | grep bad-record'
