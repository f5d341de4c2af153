# A viewer is what a script says it is; none is installed where nothing is in the way.
copy hot.data
shell 'mkdir bin; printf "#!/bin/sh\necho viewer \"\$@\"\n" >bin/pprof; chmod +x bin/pprof; ln -s "$(command -v perfdata)" bin/perfdata'
shell 'PATH=$PWD/bin perfdata open -q hot.data; PATH=/usr/bin:/bin ls'
shell 'PATH=$PWD/bin perfdata open -q --in speedscope --comm hot-child hot.data'
shell 'PATH=$PWD/bin perfdata open -q --in pprof --no-start -o x.pb.gz hot.data'
try open -q --in perfetto --no-start hot.data
try open -q --in firefox --no-start hot.data
try open --in nothing hot.data
try open -o - hot.data
try open -q --no-start --comm nobody hot.data
shell ls
