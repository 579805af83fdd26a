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
	done
	echo 0 >$faults/fail_page_alloc/min-order
	echo 0 >$faults/fail_usercopy/verbose
	echo 32 >$faults/fail_usercopy/stacktrace-depth
	echo 0 >$faults/fail_usercopy/require-end
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
	[[ $(field wrong) -eq 0 && $(field points) -ge $1 && $(field failed) -gt 0 ]]
}

still_works() {
	run -0 auxcheck --bytes 1M /dev/auxtrace1
	run -0 auxcheck --bytes 1M /dev/auxtrace0
}

@test "open" {
	run -0 failnth open /dev/auxtrace1
	swept 20
	still_works
	# What failed has given its memory back to the cap.
	echo 64K >/sys/module/auxtrace/parameters/max_total
	run -0 auxcheck --bytes 1M /dev/auxtrace0
}

@test "control calls, poll, epoll, read" {
	run -0 failnth use /dev/auxtrace1
	echo "$output"
	[[ $(field wrong) -eq 0 ]]
	still_works
}

@test "a setting" {
	run -0 failnth write $class/auxtrace1/config "$fast"
	swept 3
	run -0 failnth write $class/auxtrace1/buffer_size 64K
	swept 3
	run -0 failnth write /sys/module/auxtrace/parameters/max_total 1M
	swept 1
	still_works
}
