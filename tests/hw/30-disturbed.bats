# What comes between: flushes, STOP and START, CPU hotplug, readers that are killed,
# unloading.

load lib

cpu1=/sys/devices/system/cpu/cpu1/online

setup() { load_auxtrace buffer_size=16M watermark=512K; }

teardown() {
	stop_busy
	echo 1 >$cpu1
	unload_modules
}

@test "flushes of busy CPUs are no gaps" {
	record_busy -f 15 /dev/auxtrace0 /dev/auxtrace1 bash -c "until_stat bytes $((1 << 20)) 0 1"
	for cpu in 0 1; do
		check_trace $cpu
		enough_traced $((1 << 20))
		all_counted $cpu
		decoders_resume
		[[ $(stat_of $cpu flushes) -ge 15 && $(field gaps_driver) -eq 0 ]]
		row auxtrace $cpu "$(stat_of $cpu flushes) flushes"
	done
}

@test "a reader that waits for little, flushed every millisecond" {
	unload_modules
	load_auxtrace buffer_size=16M watermark=64K flush_ms=1
	record_trace /dev/auxtrace1 bash -c 'for ((i = 0; i < 10; i++)); do work 1 1; sleep 0.05; done'
	check_trace 1
	enough_traced 5000
	all_counted 1
	[[ $(stat_of 1 flushes) -gt 20 && $(field gaps) -eq 0 ]]
	row auxtrace 1 "$(stat_of 1 flushes) flushes"
}

@test "STOP and START" {
	record_busy -r 15 /dev/auxtrace0 /dev/auxtrace1 true
	for cpu in 0 1; do
		check_trace $cpu
		all_counted $cpu
		enough_traced 500000
		[[ $(field gaps_stopped) -eq 15 && $(field gaps_driver) -eq 0 ]]
		decoders_resume
		row auxtrace $cpu "STOP and START"
	done
}

@test "CPU hotplug" {
	record_trace /dev/auxtrace0 /dev/auxtrace1 bash -c "
		for ((i = 0; i < 6; i++)); do
			work 0 300
			work 1 300
			echo 0 >$cpu1
			echo 1 >$cpu1
		done
		work 1 300"
	for cpu in 0 1; do
		check_trace $cpu
		all_counted $cpu
		enough_traced 500000
		[[ $(field gaps_hotplug) -eq $((cpu * 6)) ]]
		decoders_resume
		row auxtrace $cpu "hotplug of CPU 1"
	done
}

# Slow ones, so that there is little to check.
@test "readers are killed on busy CPUs, and the module is unloaded at once, 3 times" {
	traces=$BATS_TEST_TMPDIR
	for ((i = 0; i < 3; i++)); do
		start_busy 0
		start_busy 1
		record -o "$traces" -d 100000 -s 16384 /dev/auxtrace0 /dev/auxtrace1 \
			setpriv --pdeathsig KILL sleep 1000 3>&- &
		for cpu in 0 1; do
			wait_until stat_above $cpu bytes 200000
		done
		run ! rmmod auxtrace
		kill -KILL $!
		wait $! || true
		rmmod auxtrace
		stop_busy
		for cpu in 0 1; do
			run -0 "${checker[@]}" -k "$traces/$cpu.trace" $cpu
			enough_traced 100000
		done
		load_auxtrace buffer_size=1M watermark=64K
	done
}
