# SPDX-License-Identifier: MIT
try version
shell 'perfdata version --build | sed "s/^\([a-z0-9]*\) .*\(yes\|no\):/\1:/; s/^compiler .*/compiler/"'
