# A stream lives through its CPU going away and coming back.

load lib

cpu1=/sys/devices/system/cpu/cpu1/online

setup() { load_modules config="$fast" buffer_size=256K; }

teardown() {
	echo 1 >"$cpu1"
	unload_modules
}

@test "what was there arrives, then the reader waits, then trace goes on" {
	exec {fd}</dev/auxtrace1
	wait_until state_is 1 full
	echo 0 >"$cpu1"
	wait_until state_is 1 offline
	# All that was in the buffer, and nothing behind it.
	dd bs=1M count=1 status=none <&$fd >"$BATS_TEST_TMPDIR/a"
	[[ $(stat -c %s "$BATS_TEST_TMPDIR/a") -ge $((256 * 1024 - 64)) ]]
	auxcheck --bytes 1M - <&$fd >"$BATS_TEST_TMPDIR/b" & pid=$!
	wait_until grep -q '^State:.S' "/proc/$pid/status"
	echo 1 >"$cpu1"
	wait "$pid"
	output=$(<"$BATS_TEST_TMPDIR/b")
	[[ $(field bytes) -eq $((1 << 20)) ]]
	run -0 auxcheck "$BATS_TEST_TMPDIR/a"
	exec {fd}<&-
	state_is 1 closed
}

@test "30 times while a fast reader reads" {
	auxcheck --restarts --random-size 11 /dev/auxtrace1 >"$BATS_TEST_TMPDIR/out" & pid=$!
	wait_until state_is 1 running
	for ((i = 0; i < 30; i++)); do
		echo 0 >"$cpu1"
		echo 1 >"$cpu1"
		before=$(stat_of 1 bytes)
		wait_until eval "(( \$(stat_of 1 bytes) > $before + 500000 ))"
		kill -0 "$pid"
	done
	[[ $(stat_of 1 gaps_hotplug) -eq 30 ]]
	kill -TERM "$pid"
	wait "$pid"
	output=$(<"$BATS_TEST_TMPDIR/out")
	echo "$output"; cat $class/auxtrace1/stats
	[[ $(field restarts) -eq 30 ]]
}

# As arm_spe_pmu does. An event that it meets running would put the head anywhere, and
# what was not read would be lost.
@test "a driver that resets its hardware when the CPU goes" {
	mark_log
	setting 1 config2 $((1 << 17))
	# Never full: the event runs.
	setting 1 config "$(sim_config $((1 << 20)) 4096)"
	auxcheck --restarts /dev/auxtrace1 >"$BATS_TEST_TMPDIR/out" & pid=$!
	for ((i = 0; i < 10; i++)); do
		before=$(stat_of 1 bytes)
		wait_until eval "(( \$(stat_of 1 bytes) > $before + 100000 ))"
		echo 0 >"$cpu1"
		echo 1 >"$cpu1"
		kill -0 "$pid"
	done
	kill -TERM "$pid"
	wait "$pid"
	output=$(<"$BATS_TEST_TMPDIR/out")
	echo "$output"
	[[ $(field first_error) == none ]]
	run ! logged 'has put the head where it cannot be'
}

@test "30 times while a poll waits for little" {
	setting 1 config "$slow"
	auxcheck --bytes 1M --restarts --poll /dev/auxtrace1 >"$BATS_TEST_TMPDIR/out" & pid=$!
	wait_until state_is 1 running
	for ((i = 0; i < 30; i++)); do
		echo 0 >"$cpu1"
		wait_until state_is 1 offline
		echo 1 >"$cpu1"
		wait_until state_is 1 running
	done
	before=$(stat_of 1 bytes)
	wait_until eval "(( \$(stat_of 1 bytes) > $before ))"
	[[ $(stat_of 1 gaps_hotplug) -eq 30 ]]
	kill -TERM "$pid"
	wait "$pid"
}

# uses_no_time COMMAND...: it reads CPU 1 while that is offline
uses_no_time() {
	local pid before
	"$@" & pid=$!
	wait_until state_is 1 running
	echo 0 >"$cpu1"
	wait_until state_is 1 offline
	wait_until grep -q '^State:.S' "/proc/$pid/status"
	# Hundredths of seconds, of which a busy loop takes whatever it can get.
	ticks() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }
	before=$(ticks)
	sleep 2
	echo "$*: $(($(ticks) - before)) ticks"
	(( $(ticks) - before < 5 ))
	state_is 1 offline
	echo 1 >"$cpu1"
	wait_until state_is 1 running
	kill "$pid"
	wait "$pid" || true
	wait_until state_is 1 closed
}

# auxtrace-poll asks for EPOLLPRI too, level-triggered: no read can take away the gap.
@test "a reader that waits for a CPU that is offline uses no time" {
	uses_no_time cat /dev/auxtrace1 >/dev/null
	uses_no_time auxtrace-poll -o "$BATS_TEST_TMPDIR" /dev/auxtrace1
}

@test "io_uring: a read of an O_NONBLOCK descriptor waits for the CPU to come back" {
	built uring
	uring offline /dev/auxtrace1 >"$BATS_TEST_TMPDIR/out" & pid=$!
	wait_until state_is 1 running
	echo 0 >"$cpu1"
	wait_until grep -q waits "$BATS_TEST_TMPDIR/out"
	echo 1 >"$cpu1"
	wait "$pid"
}

@test "closed while the CPU is offline, opened when it is back" {
	exec {fd}</dev/auxtrace1
	echo 0 >"$cpu1"
	exec {fd}<&-
	state_is 1 offline
	echo 1 >"$cpu1"
	run -0 auxcheck --bytes 1M /dev/auxtrace1
}
