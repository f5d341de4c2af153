# SPDX-License-Identifier: MIT
# Bundles: what is in them, that it is enough, and that they are tar files like any other.
copy hot.data
copy hot-dir
python3 "${BASH_SOURCE[0]%/*}/object.py" root/tmp/perfdata-demo/hot fcd032669b9f653ca421387acc9ab5b391364e98 inner=1200-1230 outer=1230-12a0
# nothing of this machine
alone='--symfs none --debug-path none --no-index'
export alone
report="report --no-children -g none -s dso,sym"

try $report $alone hot.data
try $report $alone --symfs root hot.data
try pack -q $alone --symfs root -o bundle.tar hot.data
shell 'tar tf bundle.tar; stat -c %s bundle.tar'
shell 'tar xOf bundle.tar perf.data | cmp - hot.data && echo the recording as it was'
shell 'tar xOf bundle.tar manifest.json | python3 -c "
import json, sys
manifest = json.load(sys.stdin)
print(manifest[\"form\"], manifest[\"version\"], manifest[\"objects_are\"], manifest[\"all_mapped\"])
for o in manifest[\"objects\"]:
    print(o[\"name\"], o[\"build_id\"], o[\"samples\"], \"missing\" if o[\"missing\"] else \"\")
    for f in o[\"files\"]:
        print(\"  \", f)"'
# without root, which is taken away
shell 'mv root gone'
try $report $alone bundle.tar
shell 'cat bundle.tar | perfdata report $alone --no-children -g none -s sym -i - | grep inner'
shell 'diff <(perfdata info - <hot.data) <(perfdata info - <bundle.tar)'
# unpacked it is a root, a cache and a recording
try unpack bundle.tar -o there
shell 'find there | sort; readlink there/tmp/perfdata-demo/hot'
shell 'cmp there/perf.data hot.data && stat -c "%a %y" there/perf.data'
shell 'perfdata report $alone --symfs there --no-children -g none -s sym there/perf.data | grep -E "inner|outer"'
shell 'perfdata report $alone --buildid-dir there --no-children -g none -s sym there/perf.data | grep -E "inner|outer"'
shell 'perfdata report $alone --archive bundle.tar --no-children -g none -s sym hot.data | grep -E "inner|outer"'
shell 'cp bundle.tar hot.data.tar; perfdata report $alone --no-children -g none -s sym hot.data | grep -E "inner|outer"; rm hot.data.tar'
# again, and from the bundle
shell 'mv gone root; perfdata pack $alone -q --symfs root -o - hot.data | cmp - bundle.tar && echo the same bytes'
shell 'perfdata pack $alone -q -o copy.tar bundle.tar && diff <(tar tvf bundle.tar | grep -v manifest) <(tar tvf copy.tar | grep -v manifest) && echo the same members'
# as they are
shell 'perfdata pack $alone -q --objects full --symfs root -o full.tar hot.data; tar xOf full.tar .build-id/fc/d032669b9f653ca421387acc9ab5b391364e98/elf | cmp - root/tmp/perfdata-demo/hot && echo the object as it was'
# a directory
shell 'perfdata pack $alone -q -o dir.tar hot-dir; tar tf dir.tar; diff <(perfdata dump hot-dir) <(perfdata dump dir.tar) && echo the same records'
# what is missing is told
shell 'perfdata pack $alone -o poor.tar hot.data 2>&1 | sed "s/\(not packed: [^:]*\):.*/\1/"'
# as perf archive
shell 'perfdata archive $alone -q --symfs root hot.data && tar tf hot.data.tar.zst | grep elf; rm hot.data.tar.zst'
