# Each allocation on each way fails once: whatever was asked for fails with ENOMEM and
# a line in the log, or does not mind; nothing is left behind, and the next try works.
# What leaked is found when the guest ends.

load ../guest/lib

faults=/sys/kernel/debug

# Allocations with a module's code among their callers, wherever it is loaded: other
# failures would be the kernel's own to deal with. Not those of user space's memory.
select_faults() {
	local each
	for each in failslab fail_page_alloc; do
		echo 0 >$faults/$each/verbose
		echo N >$faults/$each/ignore-gfp-wait
		echo 32 >$faults/$each/stacktrace-depth
		echo 0xffffffffa0000000 >$faults/$each/require-start
		echo 0xffffffffff000000 >$faults/$each/require-end
		echo 0 >$faults/$each/reject-start
		echo 0 >$faults/$each/reject-end
	done
	echo 0 >$faults/fail_page_alloc/min-order
	echo 0 >$faults/fail_usercopy/verbose
	echo 32 >$faults/fail_usercopy/stacktrace-depth
	echo 0 >$faults/fail_usercopy/require-end
}

# reject FUNCTION: no allocation that it is a caller of.
reject() {
	local start end
	read -r start end < <(awk -v name="$1" '
		$3 == name { start = $1 }
		start && $1 != start { print "0x" start, "0x" $1; exit }' /proc/kallsyms)
	echo "$start" >$faults/failslab/reject-start
	echo "$end" >$faults/failslab/reject-end
}

no_faults() {
	local each
	for each in failslab fail_page_alloc fail_usercopy; do
		echo 0 >$faults/$each/probability
	done
}

setup() {
	select_faults
	load_modules config="$fast" buffer_size=64K
}

teardown() {
	no_faults
	unload_modules
}

# swept LEAST: failnth has said that nothing was wrong, and of not too few points.
swept() {
	echo "$output"
	[[ $status -eq 0 && $(field wrong) -eq 0 && $(field points) -ge $1 && $(field failed) -gt 0 ]]
}

still_works() {
	run -0 auxcheck --bytes 1M /dev/auxtrace1
	run -0 auxcheck --bytes 1M /dev/auxtrace0
}

@test "open" {
	run failnth open /dev/auxtrace1
	swept 20
	still_works
	# What failed has given its memory back to the cap.
	echo 64K >/sys/module/auxtrace/parameters/max_total
	run -0 auxcheck --bytes 1M /dev/auxtrace0
}

@test "control calls, poll, epoll, read" {
	run failnth use /dev/auxtrace1
	swept 1
	still_works
}

@test "a setting" {
	run failnth write $class/auxtrace1/config "$fast"
	swept 3
	run failnth write $class/auxtrace1/buffer_size 64K
	swept 3
	run failnth write /sys/module/auxtrace/parameters/max_total 1M
	swept 1
	still_works
}

@test "load" {
	rmmod auxtrace
	local load=(load "/lib/modules/$(uname -r)/updates/auxtrace.ko" auxtrace
		"config=$fast buffer_size=64K max_total=1M")
	run failnth -m 20 "${load[@]}"
	swept 20
	# compat reads the kernel's BTF by the page, into some 640. For each the kernel's file
	# system allocates a buffer, and then there is the page: of these it was the first ones.
	echo 1 >$faults/fail_page_alloc/min-order
	reject kernfs_fop_read_iter
	run failnth "${load[@]}"
	swept 50
	modprobe auxtrace config="$fast" buffer_size=64K
	still_works
}

# hotplug_with_fault KIND SPACE: the CPU goes and comes back, and the first allocation
# beyond so much fails; true if there was one.
hotplug_with_fault() {
	echo 0 >/sys/devices/system/cpu/cpu1/online
	wait_until state_is 1 offline
	echo "$2" >$faults/"$1"/space
	echo 1 >$faults/"$1"/times
	echo 100 >$faults/"$1"/probability
	echo 1 >/sys/devices/system/cpu/cpu1/online
	wait_until state_is 1 running
	echo 0 >$faults/"$1"/probability
	[[ $(<$faults/"$1"/times) -eq 0 ]]
}

# Reads what there is of the device's open description, also after EIO, until told to
# stop.
read_on() {
	while [[ ! -e $BATS_TEST_TMPDIR/stop ]]; do
		cat <&"$fd" &
		echo $! >"$BATS_TEST_TMPDIR/pid"
		wait $! || sleep 0.1
	done 2>"$BATS_TEST_TMPDIR/errors"
}

# The stream is made anew in spite of a failure on the way, and goes on.
sweep_hotplug() {
	local space
	# Slow enough not to be full now and then.
	setting 1 config "$(sim_config $((1 << 20)) 4096)"
	exec {fd}</dev/auxtrace1
	read_on 3>&- | auxcheck --restarts - >"$BATS_TEST_TMPDIR/check" 2>&1 3>&- &
	reader=$!
	wait_until eval '(( $(stat_of 1 bytes) > 0 ))'
	for ((space = 0; space < $3; space += $2)); do
		hotplug_with_fault "$1" "$space" || break
	done
	echo "$1: up to a space of $space"
	# There was an end to it.
	((space > 0 && space < $3))
	before=$(stat_of 1 bytes)
	wait_until eval '(( $(stat_of 1 bytes) > before + 100000 ))'
	touch "$BATS_TEST_TMPDIR/stop"
	kill "$(<"$BATS_TEST_TMPDIR/pid")"
	wait_until eval '! kill -0 "$reader" 2>/dev/null'
	exec {fd}<&-
	sort "$BATS_TEST_TMPDIR/errors" | uniq -c
	cat "$BATS_TEST_TMPDIR/check"
	grep -q 'first_error=none' "$BATS_TEST_TMPDIR/check"
	[[ $(stat_of 1 gaps_hotplug) -gt 1 ]]
}

@test "CPU hotplug: slab" {
	sweep_hotplug failslab 128 10000
	still_works
}

@test "CPU hotplug: pages" {
	sweep_hotplug fail_page_alloc 1 200
	still_works
}
