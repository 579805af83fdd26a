# The operations of a program that is known: PCs, data addresses, branch targets and
# operation types, from auxtrace's stream and from perf's.

load ../lib

setup() { load_auxtrace buffer_size=64M max_total=1G exclude_kernel=1; }

teardown() { unload_modules; }

# The last instruction but those of the exit is gone through once: nobody may see it.
all_seen() { (($(field program) > 2000 && $(field seen) >= $(field known) - 1)); }

# operations_in FILE: what its records of the program say, data addresses by their pages;
# without what is seldom, as the loop's end is. The rest comes some 200 times each.
operations_in() {
	"${checker[@]}" -l "$1" 1 | sed -E 's/(VA .*)...$/\1000/' | sort | uniq -c |
		awk '$1 > 9 { $1 = ""; print }'
}

# bats test_tags=short
@test "auxtrace's stream and perf's say the same of a known program" {
	record_trace /dev/auxtrace1 bash -c 'work 1 1000'
	check_trace 1
	[[ $(field gaps) -eq 0 && $(field kernel) -eq 0 && $(field targets) -gt 0 ]]
	all_seen
	ours=$output seen=$(field seen)

	# At the hardware's own interval, as auxtrace's period is.
	perf record -q -o "$traces/perf.data" -m,16M -c 1024 -e ${event}u bash -c 'work 1 1000'
	run -0 "${checker[@]}" "$traces/perf.data" 1
	echo "perf: $output"
	all_seen
	row "perf record" 1 "a known program"

	operations_in "$traces/1.trace" >"$traces/ours"
	operations_in "$traces/perf.data" >"$traces/theirs"
	cat "$traces/ours"
	for what in 'LD .. VA' 'ST .. VA' 'B .. TGT' OTHER; do grep -q "$what" "$traces/ours"; done
	diff "$traces/ours" "$traces/theirs"
	output=$ours
	row auxtrace 1 "a known program" "the same $seen operations, addresses, targets"
}

# As sperecords -l lists them, out of what perf dumps.
perfs_records() {
	perf report -D -i "$1" 2>/dev/null | awk '
		$1 != "." || length($2) != 9 { next }
		/ PC 0x/ {
			if (pc) print pc, op va target
			pc = value("PC 0x"); op = va = target = ""
		}
		/ (LD|ST|B|OTHER)( |$)/ { op = $5 " " $4 }
		/ VA 0x/ { va = " VA " value("VA 0x") }
		/ TGT 0x/ { target = " TGT " value("TGT 0x") }
		END { if (pc) print pc, op va target }
		function value(name) {
			sub(".* " name, "")
			return $1
		}'
}

# perf's decoder on perf's data tells that sperecords reads what perf reads.
@test "perf's own decoder has the same operations, addresses and targets" {
	data=$BATS_TEST_TMPDIR/perf.data
	perf record -q -o "$data" -m,16M -c 1024 -e ${event}u bash -c 'work 1 300'
	perfs_records "$data" | sort >"$data.theirs"
	for cpu in 0 1; do sperecords -l "$data" $cpu; done | sort >"$data.ours"
	wc -l "$data.ours" "$data.theirs"
	(($(grep -c VA "$data.ours") > 1000 && $(grep -c TGT "$data.ours") > 100))
	cmp "$data.ours" "$data.theirs"
}
