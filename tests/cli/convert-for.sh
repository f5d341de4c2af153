# SPDX-License-Identifier: MIT
# Conversions for readers that know less: what they do not take is left out and reported, samples stay.
copy hot.data
# as a newer recorder would write it: a longer attr, a flag, a feature and a record that are new
shell 'perfdata text hot.data | sed -e "s/size: 128/size: 144/; s/|bpf_event$/|bpf_event|defer_callchain/" \
	-e "/^feature CMDLINE/i feature CLN_SIZE {bytes: 64}" \
	-e "0,/^SAMPLE/s/^SAMPLE/CALLCHAIN_DEFERRED misc: user, cookie: 1, callchain: [0x1], sample_id: {pid: 1, tid: 1, time_ns: 774.5}\n&/" |
	perfdata assemble -o new.data'
shell 'perfdata dump --header new.data | grep -E "size: 1|CLN_SIZE|defer"; perfdata dump --type CALLCHAIN_DEFERRED new.data | grep -c "^0x"'
try convert --for help
try convert --for perf-6.1 -o old.data new.data
shell 'perfdata dump --header old.data | grep -E "size: 1|CLN_SIZE|defer"; perfdata dump --type CALLCHAIN_DEFERRED old.data | grep -c "^0x"'
shell 'cmp <(perfdata script -G --ns -F comm,tid,time,event,period,ip hot.data) <(perfdata script -G --ns -F comm,tid,time,event,period,ip old.data) && echo the same samples'
shell 'perfdata evlist old.data; perfdata check old.data'
try convert --for perf-7.2 -o same.data new.data
shell 'perfdata convert -o plain.data new.data; cmp plain.data same.data && echo all is kept'
shell 'perfdata convert -q --for perf-6.1 --to pipe -o old.pipe new.data; perfdata convert -q --for perf-6.1 -o back.data old.pipe; perfdata script -F time,ip back.data | cmp - <(perfdata script -F time,ip old.data) && echo through a pipe'

# What a reader cannot inflate is inflated, what it cannot order is put in its order.
shell 'perfdata convert -z -o z.data hot.data; perfdata convert --for samply -o flat.data z.data; perfdata dump z.data | grep -o " COMPRESSED2*" | uniq; perfdata dump flat.data | grep -o " COMPRESSED2*" | uniq'
shell 'perfdata convert --compress2 -o z2.data hot.data; perfdata convert --for perf-6.1 -o z1.data z2.data; perfdata dump z2.data | grep -o " COMPRESSED2*" | uniq; perfdata dump z1.data | grep -o " COMPRESSED2*" | uniq'
shell 'perfdata convert --byte-order big -o big.data hot.data; perfdata convert --for quipper -o little.data big.data; perfdata dump --header little.data | head -n 1'

# An attr that says more than the reader knows loses it.
shell 'perfdata text hot.data | sed "s/size: 128/size: 144, config3: 0x5/" | perfdata assemble -o config.data; perfdata convert --for perf-5.10 -o x.data config.data; perfdata dump --header x.data | grep -E "size: 1|config3"; rm x.data'

# What a reader does not read is not written.
try convert --for samply --to pipe -o x.data hot.data
try convert --for quipper --byte-order big -o x.data hot.data
try convert --for quipper -z -o x.data hot.data
try convert --for perf-6.1 --compress2 -o x.data hot.data
try convert --for perf-5.10 --to dir -o x hot.data
try convert --for perf-0.1 -o x.data hot.data
shell 'ls x*'
