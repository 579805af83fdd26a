# The control flow of a program that is known, from auxtrace's stream and from perf's.

load ../lib

setup() {
	leave_alone 1
	program=$(command -v branches)
	leaf=$(nm "$program" | awk '$3 == "leaf" { print $1 }')
	load_auxtrace buffer_size=64M max_total=1G exclude_kernel=1
}

teardown() {
	stop_busy
	unload_modules
}

# flow FILE [CPU]: decodes CPU 1's part of it, or that CPU's; leaves the counts in $output.
flow() {
	run ptflow -v "$leaf" "$program" "$1" "${2-1}"
	echo "$output"
	[[ $status -eq 0 ]]
}

# 109 visits to leaf() in each round: see branches.c. perf traces the task, as it goes to
# each CPU by itself when it traces CPUs.
# bats test_tags=short
@test "auxtrace's stream, perf's, and perf's own decoder have the same branches" {
	rounds=200
	record_trace /dev/auxtrace1 branches 1 $rounds
	check_trace 1
	flow "$traces/1.trace"
	[[ $(field gaps) -eq 0 && $(field truncated) -eq 0 ]]
	(( $(field visits) == 109 * rounds ))
	ours=$(field hash) transfers=$(field transfers)

	perf record -q -o "$traces/perf.data" -m,16M -e intel_pt//u branches 1 $rounds
	flow "$traces/perf.data"
	[[ $(field truncated) -eq 0 ]]
	(( $(field visits) == 109 * rounds ))
	[[ $(field hash) == "$ours" ]]

	ptflow -l "$program" "$traces/1.trace" 1 >"$traces/ours"
	# Without what comes from the kernel or goes there, and what was on CPU 0.
	perf script -i "$traces/perf.data" -C 1 --itrace=b -F ip,addr |
		awk '{ gsub(/=>/, "") } $1 !~ /^0+$/ && $2 !~ /^0+$/ { print $1, $2 }' >"$traces/theirs"
	wc -l "$traces/ours" "$traces/theirs"
	cmp "$traces/ours" "$traces/theirs"
	check_trace 1
	row auxtrace 1 "a known program" "the same $transfers branches"
}

# Timer interrupts, flushes, wraps of the ring and full buffers come in between: what is
# there is decoded all the same, from the first PSB behind each gap on.
@test "what has gaps decodes to the program's branches, on each CPU" {
	unload_modules
	load_auxtrace buffer_size=256K exclude_kernel=1
	for cpu in 1 0; do
		leave_alone $cpu
		start_busy $cpu
		record_trace -w -d 20000 -s 65536 -f 10 /dev/auxtrace$cpu bash -c "
			until_stat bytes $((1 << 20)) $cpu
			until_stat gaps_full 4 $cpu"
		stop_busy
		check_trace $cpu
		enough_traced $((1 << 20))
		all_counted $cpu
		interrupts_came $cpu
		[[ $(field gaps_full) -ge 4 && $(field ip_kernel) -eq 0 ]]
		gaps=$(field gaps)
		flow "$traces/$cpu.trace" $cpu
		decoders_resume
		[[ $(field gaps) -eq $gaps && $(field visits) -gt 10000 ]]
		transfers=$(field transfers)
		check_trace $cpu
		row auxtrace $cpu "a known program, with gaps" "$transfers branches decoded"
	done
}
