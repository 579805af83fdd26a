# The control flow of a program that is known, from auxtrace's stream and from perf's.

load ../lib

setup_file() { leave_cpu_1_alone; }

setup() {
	program=$(command -v branches)
	leaf=$(nm "$program" | awk '$3 == "leaf" { print $1 }')
	load_auxtrace buffer_size=64M max_total=1G exclude_kernel=1
}

teardown() { unload_modules; }

# flow FILE: decodes CPU 1's part of it; leaves the counts in $output.
flow() {
	run ptflow -v "$leaf" "$program" "$1" 1
	echo "$output"
	[[ $status -eq 0 && $(field truncated) -eq 0 ]]
}

# 109 visits to leaf() in each round: see branches.c. perf traces the task, as it goes to
# each CPU by itself when it traces CPUs.
# bats test_tags=short
@test "auxtrace's stream, perf's, and perf's own decoder have the same branches" {
	rounds=200
	record_trace /dev/auxtrace1 branches 1 $rounds
	check_trace 1
	[[ $(field gaps) -eq 0 ]]
	flow "$traces/1.trace"
	(( $(field visits) == 109 * rounds ))
	ours=$(field hash) transfers=$(field transfers)

	perf record -q -o "$traces/perf.data" -m,16M -e intel_pt//u branches 1 $rounds
	flow "$traces/perf.data"
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
