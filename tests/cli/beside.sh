# SPDX-License-Identifier: MIT
# A directory of perf record --kcore: what stands beside the data is copied, and nothing else.
copy hot-dir
mkdir hot-dir/kcore_dir hot-dir/kcore_dir__7 hot-dir/kcore_dir/inner hot-dir/other
head -c 700000 /dev/zero | tr '\0' k >hot-dir/kcore_dir/kcore
echo '0 T _text' >hot-dir/kcore_dir/kallsyms
echo 'ext4' >hot-dir/kcore_dir__7/modules
ln -s /etc/passwd hot-dir/kcore_dir/link
mkfifo hot-dir/kcore_dir/fifo
ln -s kcore_dir hot-dir/kcore_dir_link
shell 'perfdata convert --to dir -o made hot-dir 2>&1 | sort'
shell 'find made | sort'
shell 'cmp hot-dir/kcore_dir/kcore made/kcore_dir/kcore && cmp hot-dir/kcore_dir__7/modules made/kcore_dir__7/modules && echo copied'
shell 'perfdata convert -o file.data hot-dir 2>&1 | sort'
# one that fails leaves nothing behind
shell '(trap "" XFSZ; ulimit -f 100; perfdata convert -q --to dir -o small hot-dir 2>&1 | head -n 1); ls'
