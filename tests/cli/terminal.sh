# SPDX-License-Identifier: MIT
# A terminal gets no control characters, a file gets what was recorded.
python3 -c 'import pty; pty.openpty()' 2>/dev/null || { echo "no terminal to be had" && exit 77; }

sed 's/hot\x00/h\x1bt\x00/g' data/hot.data >odd.data
shell 'perfdata script -F comm odd.data | grep -c "h$(printf "\033")t"'
shell 'python3 -c "import pty; pty.spawn([\"perfdata\", \"script\", \"-F\", \"comm\", \"odd.data\"])" | sort | uniq -c | grep h | tr -d "\r"'
for options in "--csv" "-q -t ,"; do
	shell "python3 -c 'import pty; pty.spawn(\"perfdata report --no-symbols --no-children -g none -s comm $options odd.data\".split())' | grep h | tr -d '\r'"
done
for format in html svg; do
	shell "python3 -c 'import pty; pty.spawn(\"perfdata flame --no-symbols --format $format odd.data\".split())' | tr -d '\r'"
done
