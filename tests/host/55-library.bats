# libauxtrace, and the tool's subcommands that need no device.

bats_require_minimum_version 1.5.0

setup_file() {
	top=$(readlink -f "$BATS_TEST_DIRNAME/../..")
	"$top/tests/build" --tools
	asan=$top/build/userspace-asan
	export top asan
	export PATH=$asan/auxtrace:$asan/lib/tests:$PATH
}

setup() { cd "$BATS_TEST_TMPDIR" || return; }

# one_line STDERR-PATTERN: that is all of it.
one_line() { [[ -z $output && ${#stderr_lines[@]} -eq 1 && $stderr == $1 ]]; }

@test "the library's unit tests" {
	run -0 meson test -C "$asan" --no-rebuild --print-errorlogs lib-reader lib-sysfs lib-writer
	echo "$output"
	[[ $output == *"Ok: "*3* ]]
}

@test "the library exports what auxtrace.h declares, and nothing else" {
	library=$(find "$top/build/userspace/lib" -maxdepth 1 -type f -name 'libauxtrace.so.0.*' -not -name '*.symbols')
	nm -D --defined-only "$library" | awk '$2 == "T" { print $3 }' | sed 's/@.*//' | sort >exported
	grep -oE '\bauxtrace_[a-z_]+\(' "$top/userspace/lib/auxtrace.h" | tr -d '(' | sort -u |
		grep -v auxtrace_read_function >declared
	diff exported declared
	readelf -d "$library" | grep -q 'SONAME.*\[libauxtrace.so.0\]'
}

@test "auxtrace.h compiles on its own, as C99 and as C++" {
	echo '#include <auxtrace.h>
	int main(void) { return AUXTRACE_LIBRARY_VERSION == 0; }' >header.c
	cp header.c header.cc
	local include=(-I"$top/userspace/lib" -I"$top/module/include/uapi")
	gcc -std=c99 -Wall -Wextra -Wpedantic -Werror "${include[@]}" -c header.c
	g++ -Wall -Wextra -Wpedantic -Werror "${include[@]}" -c header.cc
}

# print_layout UAPI: where the members of the library's structures are.
print_layout() {
	{
		printf '#include <stdio.h>\n#include <auxtrace.h>\nint main(void) {\n'
		gcc -E -P -I"$1" "$top/userspace/lib/auxtrace.h" |
			awk -v mine="$(grep -oE '^struct auxtrace_[a-z_]+ \{' "$top/userspace/lib/auxtrace.h")" '
			$1 == "struct" && $3 == "{" && index(mine, $2 " {") { name = $2 }
			/^}/ { name = "" }
			name && /;$/ {
				member = $NF
				gsub(/[*;]|\[.*/, "", member)
				printf "printf(\"%s.%s %%zu\\n\", offsetof(struct %s, %s));\n",
					name, member, name, member
			}'
		echo '}'
	} >layout.c
	gcc -w -I"$1" -I"$top/userspace/lib" -o layout layout.c && ./layout
}

@test "the library's structures stay as they are when the kernel's grow" {
	cp -r "$top/module/include/uapi" grown
	sed -i '/^struct auxtrace_[a-z]* {/,/^};/s/^};/	__u64 more[3];\n};/' grown/linux/auxtrace.h
	print_layout "$top/module/include/uapi" >before
	print_layout grown >after
	cat before
	grep -qF auxtrace_stream.started before
	grep -qF auxtrace_item.lost_windows before
	diff before after
}

# AUXTRACE_FUZZ_SECONDS makes it longer; the seeds are made up.
@test "any bytes: readers and writers keep their promises" {
	clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -DHAVE_ZSTD \
		-I"$top/module/include/uapi" -I"$top/userspace/lib" -o fuzz \
		"$top"/userspace/lib/tests/fuzz.c "$top"/userspace/lib/*.c -lzstd
	mkdir seeds
	make-recording --seeds seeds
	run -0 ./fuzz -max_total_time="${AUXTRACE_FUZZ_SECONDS:-5}" -timeout=60 -max_len=20001 seeds
	tail -n 5 <<<"$output"
	[[ $output == *"Done "* ]]
}

@test "dump: a recording as text" {
	make-recording good >good
	run -0 --separate-stderr auxtrace dump good
	[[ -z $stderr && $(grep -c ^window <<<"$output") -eq 200 ]]
	[[ ${lines[0]} == "file    version 1  created 1970-01-01T00:00:01Z" ]]
	[[ ${lines[1]} == "stream  cpu 0  pmu made  "* && ${lines[2]} == "        kernel 6.1.0" ]]
	[[ ${lines[-1]} == "window  cpu 1  seq 99  offset "*"  size "*"  time 0.000099000" ]]
	# The same by standard input, compressed, of one CPU, a few.
	[[ $(auxtrace dump - <good) == "$output" ]]
	[[ $(zstd -c good | auxtrace dump -) == "$output" ]]
	[[ $(make-recording compressed | auxtrace dump - | grep ^window) == "$(grep ^window <<<"$output")" ]]
	[[ $(auxtrace dump -C 1 good) == "$(grep -vE '^(window|stream)  cpu 0 ' <<<"$output" | sed 2d)" ]]
	run -0 auxtrace dump -C 1 -n 3 good
	[[ $(grep -c ^window <<<"$output") -eq 3 ]]
}

@test "dump: texts of a recording do nothing to the terminal" {
	make-recording rude >rude
	run -0 --separate-stderr auxtrace dump rude
	[[ ${#lines[@]} -eq 4 ]]
	[[ ${lines[1]} == "stream  cpu 0  pmu m?[m  "* && ${lines[2]} == "        k?]0;x ??2?" ]]
	LC_ALL=C run ! grep -aP '[\x00-\x09\x0b-\x1f\x7f-\x9f]' <<<"$output"
	# As JSON they are as they were, escaped.
	auxtrace dump --json rude >json
	LC_ALL=C run ! grep -aP '[\x00-\x09\x0b-\x1f\x7f-\x9f]' json
	python3 -c 'import json, sys
stream = [json.loads(line) for line in sys.stdin][1]
assert stream["pmu"] == "m\x1b[m"
assert stream["about"] == {"k\x1b]0;x": "\n\ufffd2\x9b"}' <json
}

@test "dump: --json is one object a line" {
	make-recording odd >odd
	run -3 --separate-stderr auxtrace dump --json odd
	[[ -z $stderr ]]
	python3 -c 'import json, sys
items = [json.loads(line) for line in sys.stdin]
kinds = [i["kind"] for i in items]
assert kinds == ["file", "stream", "window", "lost", "window", "damage", "window", "window", "window"], kinds
assert items[3] == {"kind": "lost", "cpu": 0, "windows": 2, "bytes": 200, "errno": 28}
assert items[5]["cpu"] == 0 and items[5]["windows"] == 1 and items[5]["bytes"] == 90
assert items[7]["size"] == 3 << 20 and items[7]["offset"] == 410
assert items[1]["about"] == {"kernel": "6.1.0"}' <<<"$output"
}

@test "dump: --raw and --hex give every byte" {
	make-recording odd >odd
	auxtrace dump --raw odd >raw 2>messages || [[ $? -eq 3 ]]
	[[ $(stat -c %s raw) -eq $((100 + 10 + 10 + (3 << 20) + 1)) ]]
	grep -q 'CPU 0: the recorder lost 200 bytes: No space left on device' messages
	grep -q 'windows are missing (90 bytes)' messages
	auxtrace dump --hex odd | grep -v '^[a-z]' | sed -n 's/^ *[0-9a-f]*  //p' | grep -v kernel |
		xxd -r -p | cmp - raw
	auxtrace dump --json --hex odd | python3 -c 'import json, sys
for i in map(json.loads, sys.stdin):
	sys.stdout.buffer.write(bytes.fromhex(i.get("payload", "")))' | cmp - raw
	make-recording good >good
	run -1 --separate-stderr auxtrace dump --raw good
	[[ $stderr == "auxtrace: good has the trace of CPU 0 and of CPU 1: choose one by -C" ]]
}

@test "dump: damage is told, and exits with 3" {
	make-recording garbage >garbage
	run -3 auxtrace dump garbage
	[[ $(grep -c ^window <<<"$output") -eq 201 ]]
	[[ $output == *"damage  at "*"  bytes 7  bytes that are no record"* ]]
	make-recording good >good
	local size
	for size in 1 31 33 301 5001 $(($(stat -c %s good) - 1)); do
		head -c "$size" good >cut
		run -3 auxtrace dump cut
		[[ ${lines[-1]} == "damage  at "*"  cut within a record" ]]
	done
	make-recording compressed >compressed
	head -c -1 compressed >cut
	run -3 auxtrace dump cut
	[[ $(grep -c ^window <<<"$output") -gt 150 && ${lines[-1]} == "damage "* ]]
}

@test "dump: what is no recording is told, with what to do" {
	make-recording good >good
	auxtrace dump --raw -C 0 good >raw
	local dump
	for dump in "dump raw" "dump --json raw" "dump --raw raw"; do
		run -3 --separate-stderr auxtrace $dump
		[[ ${stderr_lines[-1]} == "auxtrace: raw is no recording: if it is the raw trace"*"auxtrace record"* ]]
	done
	run -3 --separate-stderr auxtrace dump - </dev/null
	one_line "auxtrace: standard input is empty: there is no recording in it"
	: >empty
	run -3 --separate-stderr auxtrace dump good empty
	[[ $stderr == "auxtrace: empty is empty: there is no recording in it" && $output == *window* ]]
}

@test "dump: what is wrong is told in one line" {
	run -2 --separate-stderr auxtrace dump
	one_line "auxtrace: which recording?; see auxtrace dump --help"
	run -1 --separate-stderr auxtrace dump nothing
	one_line "auxtrace: cannot open nothing: No such file or directory"
	# Whatever its name.
	run -1 --separate-stderr auxtrace dump $'a\e[31m\n\302\233'
	one_line "auxtrace: cannot open a?[31m??: No such file or directory"
	run -1 --separate-stderr auxtrace dump .
	one_line "auxtrace: cannot read .: Is a directory"
	run -1 --separate-stderr auxtrace dump /dev/zero
	one_line "auxtrace: cannot open /dev/zero: not a device of auxtrace: *"
	run -2 --separate-stderr auxtrace dump -C 1- x
	one_line "auxtrace: '1-' is no list of CPUs such as 0-3,8; see auxtrace dump --help"
	run -2 --separate-stderr auxtrace dump --raw --json x
	one_line "auxtrace: --raw excludes --json and --hex; *"
	make-recording good >good
	run -1 bash -c 'auxtrace dump good >/dev/full'
	[[ $output == *"cannot write to standard output: No space left on device" ]]
}

@test "dump: signals that are ignored stay so; a file may get too large" {
	make-recording good >good
	mkfifo pipe
	env --ignore-signal=INT,TERM auxtrace dump pipe >shown &
	exec {writer}>pipe
	until [[ -n $(find /proc/$!/fd -lname '*/pipe') ]]; do sleep 0.1; done
	head -c 1000 good >&$writer
	kill -INT $!
	kill -TERM $!
	tail -c +1001 good >&$writer
	exec {writer}>&-
	wait $!
	auxtrace dump good | cmp - shown
	run -1 bash -c 'ulimit -f 1; auxtrace dump good >shown'
	[[ ${#lines[@]} -eq 1 && $output == *"cannot write to standard output: File too large" ]]
}

@test "list, status, record without the module" {
	local command
	export AUXTRACE_SYSFS=$PWD
	run -0 --separate-stderr auxtrace list
	[[ ${#stderr_lines[@]} -eq 1 && $stderr == *"the module is not loaded; see auxtrace load" ]]
	[[ $output == "PMU "*"DEVICE "* ]]
	for command in status record "record -C 0" "status -C 0-3"; do
		run -1 --separate-stderr auxtrace $command
		one_line "auxtrace: there are no devices: the module is not loaded; see auxtrace load"
	done
}

# device CPU STATE BYTES: as sysfs would show it.
device() {
	local dir=class/auxtrace/auxtrace$1
	mkdir -p "$dir"
	echo "$2" >"$dir/state"
	echo intel_pt >"$dir/pmu"
	echo 4194304 >"$dir/buffer_size"
	printf 'opens 1\nbytes %s\ngaps 3\ngaps_full 2\ngaps_driver 1\ngap_ns 1500000000\n' "$3" >"$dir/stats"
}

@test "list and status of a sysfs that is made up" {
	export AUXTRACE_SYSFS=$PWD
	device 0 running 10485760
	device 11 closed 0
	mkdir -p bus/event_source/devices/{intel_pt,cpu,arm_spe_0}
	echo 8 >bus/event_source/devices/intel_pt/type
	run -0 auxtrace list
	[[ ${lines[1]} == "arm_spe_0 "*" no "* && ${lines[2]} == "intel_pt "*" 8  yes "* ]]
	[[ ${lines[4]} == "/dev/auxtrace0 "*" intel_pt "*" running "*" no   nobody: there is no node" ]]
	[[ $output != *"cpu "* ]]
	run -0 auxtrace status
	[[ ${#lines[@]} -eq 3 && ${lines[1]} == "    0 running       4M     10M "*" 1.5s "*intel_pt ]]
	[[ ${lines[2]} == "   11 closed "* ]]
	run -0 auxtrace status -C 11 --count 3 --interval 1ms
	[[ $(grep -c '^   11 closed ' <<<"$output") -eq 3 && $output == *" RATE "* ]]
	run -0 auxtrace status --json
	python3 -c 'import json, sys
d = json.load(sys.stdin)["devices"]
assert d[0]["bytes"] == 10485760 and d[0]["gaps_full"] == 2 and d[1]["cpu"] == 11' <<<"$output"
	run -1 --separate-stderr auxtrace status -C 1
	one_line "auxtrace: CPU 1 has no device; auxtrace list shows those there are"
	# One that goes between two looks.
	(
		auxtrace status -n 2 -i 2s >two &
		until [[ -s two ]]; do sleep 0.1; done
		rm -r class/auxtrace/auxtrace11
		wait
	)
	tail -n 1 two | grep '^   11 gone$'
}

@test "record: what is wrong on the command line" {
	local options
	export AUXTRACE_SYSFS=$PWD
	mkdir -p bus/event_source/devices/pt/format
	echo config:10 >bus/event_source/devices/pt/format/tsc
	for options in "-C x" "-e pt/tsc" "-e pt/foo/" "-e pt/tsc=2/" "-e none/tsc/" "-b 3M" "-b x" \
		"-z 0" "-z 20" "-s 0" "-s 1.5G" "-t x" "-t 0"; do
		run -2 --separate-stderr auxtrace record $options
		one_line "auxtrace: *; see auxtrace record --help"
	done
	run -2 --separate-stderr auxtrace record -e pt/foo/
	one_line "auxtrace: pt has no term 'foo': there are tsc, *"
}
