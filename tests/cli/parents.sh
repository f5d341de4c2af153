# SPDX-License-Identifier: MIT
# Samples by their callers, and by what happened before. What is chosen is compared with perf in tests/perf.
python3 "${BASH_SOURCE[0]%/*}/object.py" root/tmp/perfdata-demo/hot fcd032669b9f653ca421387acc9ab5b391364e98 inner=1200-1230 outer=1230-12a0
from='--symfs root --buildid-dir none --debug-path none --no-index data/hot.data'
shell "perfdata report -q --no-children -g none -s sym -p '^outer' $from"
shell "perfdata report -q --no-children -g none -s parent -x -p '^outer' $from"
shell "perfdata report --csv --no-children -g none -s parent $from"
shell "perfdata report -q --no-children -s sym --ignore-callees '^outer' $from | head -n 12"
shell "perfdata report -p '(' $from 2>&1 | grep -o 'option.*expression:'"
shell "perfdata report --ignore-callees '[' $from 2>&1 | grep -o 'option.*expression:'"
copy hot-multi.data
shell 'perfdata script -F event hot-multi.data | uniq -c'
for options in '--switch-on page-faults' '--switch-off page-faults' '--switch-on page-faults --switch-off cpu-clock' \
	'--switch-on page-faults --switch-off cpu-clock --show-on-off-events'; do
	shell "perfdata script -F event $options hot-multi.data | uniq -c"
	shell "perfdata report -q --no-children -g none -n -s comm $options hot-multi.data"
done
try report --switch-on none hot-multi.data
try script --switch-off none hot-multi.data
