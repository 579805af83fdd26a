# The tool on real devices: auxtrace list, status, record, dump.

load lib

setup() {
	load_modules config="$fast"
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	echo 1 >/sys/devices/system/cpu/cpu1/online
	unload_modules
	# The guest's disk is its memory.
	cd / && find "$BATS_TEST_TMPDIR" -mindepth 1 -delete
}

# verified FILE CPU: its trace is the pattern, to the last byte; $output is the summary.
verified() {
	auxtrace dump --raw -C "$2" "$1" >raw
	run -0 auxcheck raw
	echo "$output"
	[[ $(field bytes) -eq $(stat -c %s raw) ]]
}

# as_user COMMAND...: an ordinary user, in the group 12345.
as_user() {
	setpriv --reuid 12345 --regid 12345 --clear-groups --inh-caps=-all --bounding-set=-all "$@"
}

@test "record: two CPUs in a file, until a size; every byte, and what was lost" {
	run -0 --separate-stderr auxtrace record --size 24M --buffer-size 1M -o both
	echo "$stderr"
	[[ -z $output && ${stderr_lines[0]} =~ "of trace from 2 CPUs in " ]]
	verified both 0
	local bytes gaps told
	bytes=$(field bytes) gaps=$(field gaps)
	verified both 1
	bytes=$((bytes + $(field bytes))) gaps=$((gaps + $(field gaps)))
	[[ $bytes -ge $((24 << 20)) && $bytes -le $((40 << 20)) ]]
	[[ $bytes -eq $(($(stat_of 0 bytes) + $(stat_of 1 bytes))) ]]
	# Each gap is in a window, and in the summary.
	run -0 auxtrace dump both
	[[ $(grep -cE '^window.*  gap ' <<<"$output") -le $gaps ]]
	[[ ${lines[0]} == "file    version 1  created 20"* ]]
	[[ $output == *"stream  cpu 1  pmu auxtrace_sim  config 0x${fast#0x}"* ]]
	[[ $output == *"        kernel $(uname -r)"* && $output == *"        cpu.vendor "* ]]
	[[ $output == *"        pmu.format.rate "* && $output == *"  time_shift "* ]]
	! grep '^damage' <<<"$output"
	# (One more at the end of each CPU's, if there is no trace behind it.)
	told=$(sed -nE 's/.*: ([0-9]+) gaps, .*: \1 buffer full.*/\1/p' <<<"$stderr")
	[[ $told -ge $gaps && $told -le $((gaps + 2)) ]]
	# What was set for this is as it was.
	[[ $(<$class/auxtrace0/buffer_size) == "$((4 << 20))" ]]
	state_is 0 closed
}

@test "record: a file for each CPU, compressed, until a time" {
	setting 0 config "$(sim_config $((4 << 20)))"
	setting 1 config "$(sim_config $((4 << 20)))"
	mkdir out
	run -0 auxtrace record --time 2s --compress 1 -o out
	echo "$output"
	[[ -f out/auxtrace0.rec && -f out/auxtrace1.rec ]]
	[[ $(stat -c %a out/auxtrace0.rec) -eq 600 ]]
	verified out/auxtrace0.rec 0
	verified out/auxtrace1.rec 1
	! auxtrace dump out/*.rec | grep '^damage'
	# They are not overwritten unless that is asked for.
	run -1 --separate-stderr auxtrace record --time 1s -o out
	[[ ${#stderr_lines[@]} -eq 1 && $stderr == *"out/auxtrace0.rec is there already: --force"* ]]
	state_is 0 closed
	run -0 auxtrace record --force --quiet --size 1K -C 1 -o out
	[[ -z $output ]]
	verified out/auxtrace1.rec 1
}

@test "record: a command, whose exit code is that of the recording" {
	setting 0 config "$(sim_config $((1 << 20)))"
	run -7 auxtrace record -C 0 -o a -- bash -c 'sleep 1; exit 7'
	echo "$output"
	verified a 0
	[[ $(field bytes) -gt 0 ]]
	state_is 0 closed
	run -137 auxtrace record -f -C 0 -o a -- bash -c 'kill -KILL $$'
	# A recording that is there outlives a command that is not.
	cp a before
	run -127 auxtrace record -f -C 0 -o a -- ./nothing
	[[ $output == "auxtrace: cannot run ./nothing: No such file or directory" ]]
	run -127 auxtrace record -f -C 0 -o a -- nosuchcommand
	run -126 auxtrace record -f -C 0 -o a -- ./before
	[[ $output == "auxtrace: cannot run ./before: Permission denied" ]]
	cmp a before
	run -1 auxtrace record -C 0 -o new/
	[[ $output == "auxtrace: there is no directory new/: make it, or leave the '/' out" ]]
	# However short it is, there is trace.
	run -0 auxtrace record -f -C 0 -o a -- true
	verified a 0
	[[ $(field bytes) -gt 0 ]]
	# What it prints is not in the recording.
	auxtrace record -C 0 -o - -- echo text >b 2>messages
	grep text messages
	verified b 0
	# A limit ends it.
	run -143 auxtrace record -f -C 0 -o a --time 1s -- sleep 1000
	verified a 0
}

@test "record: Ctrl-C and SIGTERM end it with all that was traced" {
	local signal
	# So slow that there is never a watermark's worth, and no flush.
	setting 0 config "$(sim_config $((64 << 10)))"
	setting 0 flush_ms 0
	for signal in INT TERM; do
		# A shell starts what runs in the background deaf to SIGINT; env undoes it.
		env --default-signal=INT auxtrace record -f -C 0 -o a 2>messages & pid=$!
		wait_until state_is 0 running
		sleep 1
		kill -"$signal" "$pid"
		wait "$pid"
		cat messages
		grep -q 'no trace is missing' messages
		auxtrace dump a | tail -n 1 | grep '  last$'
		verified a 0
		[[ $(field bytes) -gt 1000 ]]
	done
}

# deaf_to NUMBER PID: no handler is there for that signal.
deaf_to() {
	local caught
	caught=$(awk '$1 == "SigCgt:" { print $2 }' "/proc/$2/status")
	! ((0x$caught >> ($1 - 1) & 1))
}

is_over() { [[ ! -e /proc/$1 || $(awk '{ print $3 }' "/proc/$1/stat") == Z ]]; }

# ends_with CODE PID: it ends, in time.
ends_with() {
	local code=0
	wait_until is_over "$2"
	wait "$2" || code=$?
	[[ $code -eq $1 ]]
}

@test "record: a reader that stalls: time and signals stop the trace, the second signal the program" {
	local first
	mkfifo pipe
	for first in time INT; do
		env --default-signal=INT auxtrace record -C 0 -o - $([[ $first != time ]] || echo --time 1s) \
			>pipe 2>messages & pid=$!
		exec {fd}<pipe
		wait_until state_is 0 full
		[[ $first == time ]] || kill -"$first" "$pid"
		wait_until state_is 0 stopped
		if [[ $first == time ]]; then
			kill -TERM "$pid"
			wait_until deaf_to 15 "$pid"
		fi
		kill -TERM "$pid"
		ends_with 143 "$pid"
		exec {fd}<&-
	done
	# One signal, and a reader that goes on: it has all.
	auxtrace record -C 0 -o - >pipe 2>messages & pid=$!
	exec {fd}<pipe
	wait_until state_is 0 full
	kill -TERM "$pid"
	wait_until state_is 0 stopped
	cat <&"$fd" >a
	exec {fd}<&-
	ends_with 0 "$pid"
	verified a 0
	[[ $(field bytes) -ge $((2 << 20)) ]]
}

@test "record: a command that ignores SIGTERM: the next signal ends the program" {
	mkfifo pipe
	auxtrace record -C 0 -s 1M -o - -- bash -c 'trap "" TERM; echo $$ >child; exec sleep 1000' \
		>pipe 2>messages & pid=$!
	# It does not end before the command is deaf, as there is not the room in the pipe.
	exec {fd}<pipe
	wait_until test -s child
	cat <&"$fd" >a & reader=$!
	exec {fd}<&-
	wait_until grep -q 'of trace from' messages
	wait_until deaf_to 15 "$pid"
	state_is 0 closed
	kill -TERM "$pid"
	ends_with 143 "$pid"
	kill -KILL "$(<child)"
	wait "$reader"
	verified a 0
}

@test "record: signals that are ignored stay so, the end of the command is noticed" {
	setting 0 config "$(sim_config $((1 << 20)))"
	env --ignore-signal=INT,HUP,CHLD auxtrace record -C 0 -o a -- \
		bash -c 'until [[ -e go ]]; do sleep 0.1; done; exit 7' & pid=$!
	wait_until state_is 0 running
	kill -INT "$pid"
	kill -HUP "$pid"
	touch go
	ends_with 7 "$pid"
	verified a 0
	# A file that is too large is an error, for the command it is SIGXFSZ.
	run -1 bash -c 'ulimit -f 100; exec auxtrace record -C 0 -q -o b'
	[[ ${#lines[@]} -eq 1 && $output == *"cannot write b: File too large; it is whole up to there" ]]
	verified b 0
	run -153 auxtrace record -C 0 -q -o c -- bash -c 'ulimit -f 1; exec head -c 9K /dev/zero >d'
}

@test "record: offline CPUs are left out, with a note" {
	echo 0 >/sys/devices/system/cpu/cpu1/online
	run -0 auxtrace record -s 1K -o a
	[[ $output == *"CPU 1 is offline: left out"* && $output == *"from 1 CPU in"* ]]
	verified a 0
	run -1 auxtrace record -s 1K -C 1 -o b
	[[ $output == *"none of these CPUs is online" && ! -e b ]]
}

@test "record: a CPU that goes and comes back" {
	setting 1 config "$(sim_config $((4 << 20)))"
	auxtrace record -C 1 -o a 2>messages & pid=$!
	wait_until state_is 1 running
	echo 0 >/sys/devices/system/cpu/cpu1/online
	wait_until state_is 1 offline
	echo 1 >/sys/devices/system/cpu/cpu1/online
	before=$(stat_of 1 bytes)
	wait_until eval '(($(stat_of 1 bytes) > before + 100000))'
	kill "$pid"
	wait "$pid"
	cat messages
	grep -q '1 CPU offline' messages
	auxtrace dump a | grep -E '^window.*  gap [^ ]+.*  hotplug'
	auxtrace dump -r a | auxcheck --restarts -
}

@test "record: -e sets the PMU's terms for the time of the recording" {
	[[ $(<$class/auxtrace0/config) == "$fast" ]]
	run -0 auxtrace record -s 64K -C 0 -e auxtrace_sim/rate=0x200000,chunk=4096/u -o a
	[[ $(<$class/auxtrace0/config) == "$fast" && $(<$class/auxtrace0/exclude_kernel) == 0 ]]
	run -0 auxtrace dump a
	[[ $output == *"  config $(sim_config $((2 << 20)) 4096) "*"  exclude_kernel  "* ]]
	verified a 0
	# What is wrong is told in one line, and nothing is done.
	run -2 auxtrace record -e auxtrace_sim/frob/ -o b
	[[ ${#lines[@]} -eq 1 && $output == *"auxtrace_sim has no term 'frob': there are "*rate* ]]
	run -1 auxtrace record -e software/config=1/ -o b
	[[ $output == *"CPU 0 has another PMU than software: "* ]]
	run -1 auxtrace record -b 4K -o b
	[[ $output == *"CPU 0 refuses the settings"* ]]
	run -1 auxtrace record -C 5 -o b
	[[ $output == *"CPU 5 has no device; auxtrace list "* ]]
	[[ ! -e b && $(<$class/auxtrace0/config) == "$fast" ]]
}

@test "record: a device in use is refused, or waited for" {
	exec {fd}</dev/auxtrace0
	run -1 auxtrace record -s 1K -o a
	[[ ${#lines[@]} -eq 1 && $output == "auxtrace: /dev/auxtrace0 is in use by "*"; --wait waits for it" ]]
	run -1 auxtrace record -s 1K -b 1M -o a
	[[ ${#lines[@]} -eq 1 && $output == "auxtrace: /dev/auxtrace0 is in use by "*"; --wait waits for it" ]]
	auxtrace record --wait -s 1K -b 1M -o a 2>messages {fd}<&- & pid=$!
	wait_until grep -q "in use: waiting" messages
	state_is 1 closed
	# Of devices in use the one that is meant is told, and no other.
	exec {other}</dev/auxtrace1
	run -1 auxtrace record -C 0 -s 1K -o b
	[[ $output == *"/dev/auxtrace0 is in use by "*" /dev/auxtrace0;"* ]]
	exec {other}<&-
	exec {fd}<&-
	wait "$pid"
	verified a 0
	# The wait can be broken off.
	exec {fd}</dev/auxtrace0
	auxtrace record --wait -s 1K -o b 2>messages {fd}<&- & pid=$!
	wait_until grep -q "in use: waiting" messages
	kill "$pid"
	run -1 bash -c "tail --pid=$pid -f /dev/null; grep 'broken off' messages && exit 1"
	[[ ! -e b ]]
	exec {fd}<&-
}

@test "record: a full disk ends it, and the file is whole" {
	mkdir small
	mount -t tmpfs -o size=1M none small
	run -1 auxtrace record -C 0 -b 64K -o small/a
	echo "$output"
	[[ $output == *"cannot write small/a: No space left on device; it is whole up to there"* ]]
	cp small/a .
	umount small
	verified a 0
	[[ $(field bytes) -gt $((500 << 10)) ]]
	run -0 auxtrace dump a
	! grep '^damage' <<<"$output"
}

@test "record: compressed: the summary knows what is in the file, and that it is not" {
	local size
	setting 0 config "$(sim_config $((1 << 20)))"
	# Less than what is compressed together.
	run -0 --separate-stderr auxtrace record -C 0 -s 100K -z 1 -o a
	echo "$stderr"
	size=$(stat -c %s a | awk '{ k = int($1 * 10 / 1024) / 10; printf "%gK", k < 10 ? k : int(k) }')
	[[ ${stderr_lines[0]} == *"; $size in a" ]]
	grep -q 'no trace is missing' <<<"$stderr"
	run -1 --separate-stderr bash -c 'ulimit -f 1; exec auxtrace record -C 0 -s 100K -z 1 -o b'
	echo "$stderr"
	[[ ${stderr_lines[0]} == *": 0 of trace "*", 0 windows; 0 in b" ]]
	[[ ${stderr_lines[1]} == *K" in "*" could not be written" && $stderr != *"missing"* ]]
	[[ ${stderr_lines[-1]} == "auxtrace: cannot write b: File too large; it is whole up to there" ]]
}

@test "permissions: a user needs CAP_PERFMON, or group_access and the group" {
	# Where an ordinary user gets at it.
	local tool=/run/tool/auxtrace
	install -d -m 777 /run/tool
	cp "$(readlink -f "$(command -v auxtrace)")" "$tool"
	cp "$(dirname "$(readlink -f "$(command -v auxtrace)")")/../lib/libauxtrace.so.0" /run/tool
	export LD_LIBRARY_PATH=/run/tool
	cd /run/tool
	run -1 as_user "$tool" record -s 1K -C 0 -o a
	[[ ${#lines[@]} -eq 1 && $output == *"permission denied: it takes CAP_PERFMON, or group_access=1"* ]]
	run -0 --separate-stderr as_user "$tool" list
	[[ $output == *"/dev/auxtrace0 "*" no   CAP_PERFMON"* ]]
	echo 1 >/sys/module/auxtrace/parameters/group_access
	chgrp 12345 /dev/auxtrace0
	chmod 640 /dev/auxtrace0
	run -0 as_user "$tool" list
	[[ $output == *"/dev/auxtrace0 "*" yes  group 12345, root"* ]]
	[[ $output == *"/dev/auxtrace1 "*" no   root"* ]]
	run -0 as_user "$tool" record -s 1K -C 0 -o a
	verified a 0
	run -1 as_user "$tool" record -s 1K -C 0 -b 1M -o b
	[[ ${#lines[@]} -eq 1 && $output == *"cannot change the settings of CPU 0: only root may"* ]]
	run -0 as_user "$tool" status
	[[ $output == *"    0 closed "* ]]
	# A name of 400 characters is cut.
	printf '%0400d:x:23456:\n' 0 | tr 0 g >>/etc/group
	chgrp 23456 /dev/auxtrace0
	run -0 as_user "$tool" list
	[[ ${#lines[@]} -eq 5 && $output == *"/dev/auxtrace0 "*" no   group gggg"*ggg...$'\n'"/dev/auxtrace1 "* ]]
}

@test "list and status, also while a device is open" {
	exec {fd}</dev/auxtrace1
	run -0 auxtrace list
	[[ $output == *"auxtrace_sim "*" yes "*"/dev/auxtrace1 "*" yes "* ]]
	run -0 auxtrace list --json
	python3 -c 'import json, sys; d = json.load(sys.stdin)
assert [x["cpu"] for x in d["devices"]] == [0, 1] and d["devices"][0]["you"] is True
assert {"auxtrace_sim"} <= {p["name"] for p in d["pmus"] if p["used"]}' <<<"$output"
	head -c 100000 <&$fd >/dev/null
	wait_until state_is 1 full
	run -0 auxtrace status -C 1
	[[ ${#lines[@]} -eq 2 && ${lines[1]} == "    1 full "*"4M "*auxtrace_sim ]]
	run -0 auxtrace status --json -n 2 -i 100ms
	[[ ${#lines[@]} -eq 2 ]]
	python3 -c 'import json, sys; d = json.loads(sys.stdin.read().splitlines()[1])["devices"]
assert d[1]["bytes"] >= 100000 and d[1]["state"] == "full" and "rate" in d[1]
assert d[1]["buffer_size"] == 4 << 20 and d[0]["state"] == "closed"' <<<"$output"
	exec {fd}<&-
}

@test "dump: a device, live" {
	setting 0 config "$(sim_config $((1 << 20)))"
	run -0 auxtrace dump -n 3 /dev/auxtrace0
	[[ $(grep -c ^window <<<"$output") -eq 3 && $output == *"stream  cpu 0  "* ]]
	env --default-signal=INT auxtrace dump -r /dev/auxtrace0 >raw & pid=$!
	wait_until eval '(($(stat -c %s raw) > 100000))'
	kill -INT "$pid"
	wait "$pid"
	run -0 auxcheck raw
	[[ $(field bytes) -gt 100000 ]]
	state_is 0 closed
	exec {fd}</dev/auxtrace0
	run -1 auxtrace dump /dev/auxtrace0
	[[ ${#lines[@]} -eq 1 && $output == *"in use"* ]]
	exec {fd}<&-
}
