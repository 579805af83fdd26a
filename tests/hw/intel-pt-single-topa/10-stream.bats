# Intel PT whose tables have one output entry, as on the first CPUs with it: the perf core
# makes regions of high order, of which the hardware stops at each one's end, until the
# driver's interrupt handler gives it another. So there is a gap at each one's end.

load ../lib

teardown() {
	stop_busy
	unload_modules
}

# as_it_must_be CPU: every packet is right, also behind each gap, and all gaps are counted.
as_it_must_be() {
	check_trace "$1"
	all_counted "$1"
	decoders_resume
	enough_traced 1000000
	interrupts_came "$1"
	(($(field gaps) > 0))
}

@test "two CPUs, many times around the ring" {
	[[ $(<$pt/caps/topa_multiple_entries) -eq 0 ]]
	load_auxtrace buffer_size=1M watermark=256K
	record_trace /dev/auxtrace0 /dev/auxtrace1 bash -c '
		for ((i = 0; i < 20; i++)); do work $((i % 2)) 300; done'
	for cpu in 0 1; do
		as_it_must_be $cpu
		row auxtrace $cpu "one table entry, around the ring"
	done
}

@test "busy CPUs and a slow reader" {
	load_auxtrace buffer_size=256K
	record_busy -d 50000 -s 65536 /dev/auxtrace0 /dev/auxtrace1 \
		bash -c 'sleep 3; until_stat bytes 2000000 0 1; until_stat gaps 8 0 1'
	for cpu in 0 1; do
		as_it_must_be $cpu
		row auxtrace $cpu "one table entry, slow reader"
	done
}
