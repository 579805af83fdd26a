# Full buffers: the driver stops, the reader makes room, and it goes on, on each CPU,
# as often as it happens.

load lib

teardown() {
	stop_busy
	unload_modules
}

# went_on CPU BUFFER-SIZE: that happened several times, and every byte is right.
went_on() {
	check_trace "$1"
	enough_traced $((4 * $2))
	all_counted "$1"
	decoders_resume
	no_silent_gap "$1"
	interrupts_came "$1"
}

# bats test_tags=short
@test "busy CPUs and a slow reader" {
	load_auxtrace buffer_size=256K
	record_busy -d 50000 -s 65536 /dev/auxtrace0 /dev/auxtrace1 \
		bash -c 'sleep 3; until_stat gaps_full 8 0 1'
	for cpu in 0 1; do
		went_on $cpu $((256 << 10))
		(( $(field gaps_full) >= 8 ))
		row auxtrace $cpu "slow reader"
	done
}

@test "busy CPUs, and a reader who only comes when a buffer is full" {
	load_auxtrace buffer_size=512K
	record_busy -w -s 65536 /dev/auxtrace0 /dev/auxtrace1 bash -c "until_stat bytes $((5 << 20)) 0 1"
	for cpu in 0 1; do
		went_on $cpu $((512 << 10))
		# It goes on with half of it.
		(( $(field gaps_full) >= $(field bytes) / (512 << 10) - 2 ))
		row auxtrace $cpu "read when full"
	done
}

@test "busy CPUs, the buffer in two halves" {
	load_auxtrace buffer_size=1M watermark=0
	record_busy /dev/auxtrace0 /dev/auxtrace1 bash -c "until_stat bytes $((8 << 20)) 0 1"
	for cpu in 0 1; do
		went_on $cpu $((1 << 20))
		# This stops at the end of each half, see the README's limits.
		[[ $pmu != intel_pt ]] || (( $(field gaps) >= $(field bytes) / (512 << 10) - 2 ))
		row auxtrace $cpu "two halves"
	done
}

# What perf makes of it is shown, and not judged.
@test "perf record -a beside it: what each has traced of the same time" {
	start_busy 0
	start_busy 1
	perf record -q -o "$BATS_TEST_TMPDIR/perf.data" -a -m,256K -e $event sleep 1
	load_auxtrace buffer_size=256K
	record_trace -w -s 65536 /dev/auxtrace0 /dev/auxtrace1 \
		bash -c 'sleep 1; until_stat gaps_full 8 0 1'
	stop_busy
	for cpu in 0 1; do
		run "${checker[@]}" "$BATS_TEST_TMPDIR/perf.data" $cpu
		echo "$output"
		perfs=$(field bytes)
		row "perf record" $cpu "buffer often full"
		went_on $cpu $((4 * 256 << 10))
		row auxtrace $cpu "buffer often full" "perf: ${perfs:-no} bytes"
	done
}
