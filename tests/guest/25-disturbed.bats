# What comes between: perf that reschedules a CPU's events, flushes at the wrong
# moment, drivers that are hard to please. Each stop is a gap all the same, and
# nobody runs in circles.

load lib

teardown() {
	pkill -KILL -x fileops || true
	unload_modules
}

# counted CPU: each gap that auxcheck saw in the data, and no more than there were. (The
# simulator counts what came after the data as well, and stops without a byte between.)
counted() {
	cat "$class/auxtrace$1/stats" "$sim/stats/stops_per_cpu"
	(($(stat_of "$1" gaps) >= $(field gaps) && $(stat_of "$1" gaps) <= $(stops_of "$1")))
}

rescheduled() {
	local cpu=$1
	fileops reschedule "$cpu" "$(<"$sim/type")" 3>&- &
	run -0 auxcheck --bytes 24M --delay-us 500 --random-size 5 "/dev/auxtrace$cpu"
	echo "$output"
	[[ $(field gaps) -gt 100 ]]
	counted "$cpu"
}

@test "CPU 0: perf reschedules while a slow reader reads" {
	load_modules config="$fast" buffer_size=64K
	rescheduled 0
}

@test "CPU 1: perf reschedules while a slow reader reads" {
	load_modules config="$fast" buffer_size=64K
	rescheduled 1
}

@test "perf reschedules a full buffer of which less than half is read" {
	load_modules config="$fast" buffer_size=256K flush_ms=0
	for cpu in 0 1; do
		exec {fd}<"/dev/auxtrace$cpu"
		wait_until state_is $cpu full
		fileops reschedule $cpu "$(<"$sim/type")" 3>&- & pid=$!
		for ((i = 0; i < 30; i++)); do
			# Six times 20000 are less than half; the seventh makes it go on.
			dd bs=20000 count=1 status=none <&$fd
			sleep 0.01
		done >"$BATS_TEST_TMPDIR/trace"
		kill -KILL "$pid"
		wait_until state_is $cpu full
		dd bs=256K count=1 status=none <&$fd >>"$BATS_TEST_TMPDIR/trace"
		exec {fd}<&-
		run -0 auxcheck "$BATS_TEST_TMPDIR/trace"
		echo "$output"
		[[ $(field gaps) -gt 2 ]]
		counted $cpu
	done
}

@test "a driver that loses something all the time, and flushes all the time" {
	load_modules config="$(sim_config 2000000 4096)" config1=0x10000 buffer_size=8192 flush_ms=1
	for cpu in 0 1; do
		run -0 auxcheck --bytes 3M --random-size 3 --poll /dev/auxtrace$cpu
		echo "$output"
		[[ $(field gaps) -gt 100 ]]
		counted $cpu
	done
}

@test "a driver that wants more room than half of the buffer" {
	load_modules config="$(sim_config 2000000 1000)" config1=$((5000 << 32)) buffer_size=8192
	exec {fd}</dev/auxtrace1
	# It stops, is in vain started again, and then left alone: a few times a second.
	wait_until eval '(( $(stops_of 1) > 0 ))'
	sleep 1
	before=$(stops_of 1)
	sleep 2
	(( $(stops_of 1) - before <= 50 ))
	# A reader that takes all gets it going.
	run -0 auxcheck --bytes 100000 - <&$fd
	exec {fd}<&-
	run -0 auxcheck --bytes 100000 --poll --delay-us 2000 /dev/auxtrace0
}

@test "a device opened by root is read by an ordinary user, across CPU hotplug" {
	load_modules config="$fast" buffer_size=256K
	exec {fd}</dev/auxtrace1
	wait_until state_is 1 full
	echo 0 >/sys/devices/system/cpu/cpu1/online
	echo 1 >/sys/devices/system/cpu/cpu1/online
	setpriv --reuid 12345 --regid 12345 --clear-groups --inh-caps=-all \
		auxcheck --bytes 2M --restarts - <&$fd
	exec {fd}<&-
}

@test "a driver that can never start: EIO at open, again and again" {
	# It wants more room than the buffer has.
	load_modules config="$fast" config1=$((60000 << 32)) buffer_size=8192
	for ((i = 0; i < 20; i++)); do
		[[ $(fileops open ro /dev/auxtrace$((i % 2))) == EIO ]]
	done
	state_is 0 closed
	setting 0 config1 0
	run -0 auxcheck --bytes 1M /dev/auxtrace0
}
