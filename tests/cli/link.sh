# SPDX-License-Identifier: MIT
# Results go where a link leads; the link stays.
copy hot.data
mkdir there
for name in page made text; do
	echo old >there/$name
	ln -s there/$name $name
done
shell 'perfdata flame -o page hot.data && head -c 15 there/page; echo'
shell 'perfdata convert -q -o made hot.data && perfdata check made'
shell 'perfdata text -o text hot.data; head -n 1 there/text'
# standard output by its name, when it is a file
ln -s /proc/self/fd/1 standard
shell 'perfdata flame -o standard hot.data >shown; head -c 15 shown; echo'
shell 'perfdata convert -q -o standard hot.data >shown; perfdata check shown'
# an input stays what it is, by any name
ln -s hot.data input
shell 'perfdata convert -o input hot.data'
shell 'perfdata flame -o input hot.data'
shell 'find . -type l | sort'
shell 'ls there'
