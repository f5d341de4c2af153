# SPDX-License-Identifier: MIT
# What is hidden, what is said about it, and what is refused.
for name in hot.data hot-records.data hot-regs.data hot-trace.data hot-pipe.data; do
	copy $name
done
printf '0123456789abcdef0123456789abcdef\n' >key
try scrub --key key --map map -o names.data --hide names hot-records.data
shell 'perfdata dump --json names.data | grep -E "COMM|MMAP2" | head -n 3'
shell 'perfdata info names.data | sed 1,3d'
shell 'sort map | head -n 40'
try scrub --verify hot-records.data names.data
try scrub --key key -o default.data hot-records.data -q
try script -F comm,tid,time,ip,dso default.data
try scrub --key key --hide all -o all.data hot-records.data
try script -F comm,tid,time,ip,dso all.data
shell 'perfdata info all.data | sed 1,3d'
try scrub --key key --hide all --json -o json.data hot-regs.data
try scrub -q --key key -o traced.data hot-trace.data
try dump --features traced.data

# The same key in another form, the same bytes; a random one, others.
shell 'PERFDATA_KEY=$(cat key) perfdata scrub -q --key env:PERFDATA_KEY --hide names -o again.data hot-records.data && cmp names.data again.data && echo the same'
shell 'perfdata scrub -q --hide names -o random.data hot-records.data && cmp -s names.data random.data || echo others'
shell 'perfdata scrub -q --key key -o - -i - <hot-pipe.data | perfdata report --no-symbols --sort comm,dso -g none --no-children -i - | tail -n 12'

# What may stay.
try scrub -q --key key --keep 'dso=libc.so*' --keep comm=hot-child -o kept.data hot.data
shell 'perfdata report --no-symbols --sort comm,dso -g none --no-children kept.data'
try scrub --verify hot.data kept.data
try scrub --verify --keep 'dso=libc.so*' --keep comm=hot-child hot.data kept.data
shell 'printf "# kept\nhot*\n" >words; perfdata scrub -q --key key --keep-names words -o kept.data hot.data; perfdata report --no-symbols --sort comm -g none --no-children kept.data'
try scrub -q --key key --keep-data regs,stack -o data.data hot-regs.data
shell 'perfdata dump --type SAMPLE data.data | head -n 22 | cut -c 1-100'
try scrub --verify hot-regs.data hot-regs.data
try scrub --verify --json hot-regs.data data.data

# What is refused.
try scrub hot.data
try scrub -o hot.data hot.data
try scrub --hide more -o x hot.data
try scrub --key hex:00 -o x hot.data
try scrub --key hex:0 -o x hot.data
try scrub --key env:NO_SUCH_NAME -o x hot.data
try scrub --key nowhere -o x hot.data
try scrub --keep dsos=x -o x hot.data
try scrub --keep-data all -o x hot.data
try scrub --verify hot.data
try scrub --verify --min-length 2 hot.data names.data
try scrub -o x hot.data hot-regs.data
try scrub -q --map x -o x hot.data
try scrub -q --map ./x -o x hot.data
shell 'perfdata check x; rm x'
shell 'perfdata scrub --json -o - hot.data | cat'
shell 'ls'
