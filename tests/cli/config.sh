# SPDX-License-Identifier: MIT
# Keys of the configuration, printed and set.
unset PERF_CONFIG
export HOME=$PWD
try config -l
try config report.children=false 'pager.report=less -R'
shell 'cat .perfconfig'
shell 'printf "# mine\n[color]\n\tui = auto   # why\n" >.perfconfig; chmod 640 .perfconfig; perfdata config color.ui=always; cat .perfconfig; stat -c %a .perfconfig'
try config color.ui no.such
shell 'PERF_CONFIG=other perfdata config a.b=1 a.c="# x"; PERF_CONFIG=other perfdata config -l; PERF_CONFIG=other perfdata config --user'
# a link stays one
shell 'mkdir dir; mv .perfconfig dir/conf; ln -s dir/conf .perfconfig; perfdata config color.ui=never; readlink .perfconfig; cat dir/conf; ls -A dir'
try config word
try config =x
try config a.=1
try config -l a.b
shell 'echo "?" >>dir/conf; perfdata config color.ui=auto 2>&1 | sed "s|$PWD|HERE|"; cat dir/conf'
shell 'HOME= perfdata config a.b=1'
shell 'PERF_CONFIG=no/such/file perfdata config a.b=1 2>&1 | sed "s/\.[0-9]*:/.N:/"'
