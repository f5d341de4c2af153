# SPDX-License-Identifier: MIT
# All the ways to write the same options.
want=$(perfdata dump --json --type COMM --input data/hot.data | cksum)

same()
{
	[ "$(perfdata "$@" | cksum)" = "$want" ] || echo "another result: perfdata $*"
}

same dump --json --type=COMM --input=data/hot.data
same dump -j -t COMM -i data/hot.data
same dump -jtCOMM -idata/hot.data
same dump data/hot.data --json -t comm
same dump -t COMM data/hot.data -fj
same dump --json --type 3 -- data/hot.data
same dump --json --type 0x3 data/hot.data
same dump --no-json --json -t COMM data/hot.data
same dump --json -t COMM -i data/hot-zstd.data -i data/hot.data
same dump -qvj -t COMM data/hot.data

cp data/hot.data ./-x
same dump -jtCOMM -- -x
cp data/hot.data perf.data
same dump -jtCOMM
echo compared
