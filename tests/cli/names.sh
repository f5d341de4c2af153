# SPDX-License-Identifier: MIT
# C++ names: as perf has them where the output is for programs, short in flame graphs and where they are asked for.
python3 "${BASH_SOURCE[0]%/*}/object.py" root/tmp/perfdata-demo/hot fcd032669b9f653ca421387acc9ab5b391364e98 \
	_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm=1200-1230 \
	_ZNSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS5_EE9push_backEOS5_=1230-12a0
from='--symfs root --buildid-dir none --debug-path none --no-index data/hot.data'
perfdata folded $from | grep -q std:: || { echo 'built without a library for C++ names' && exit 77; }
for options in '' --short-names --no-demangle; do
	shell "perfdata folded $options $from | head -n 1"
done
shell "perfdata script -F ip,sym $from | grep -m 1 string"
shell "perfdata report --no-children -g none -s sym $from | grep -m 1 string"
shell "perfdata flame $from | page_text | grep -o ' std::[^(]*(hot): [a-z]*'"
shell "perfdata flame --no-short-names $from | page_text | grep -o 'char_traits' | wc -l"
python3 -c 'import pty; pty.openpty()' 2>/dev/null || exit 0
shell "COLUMNS=200 python3 -c 'import pty; pty.spawn(\"perfdata --no-pager report --no-children -g none -s sym $from\".split())' | grep -om 1 'std::.*append'"
