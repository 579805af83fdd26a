# Load and unload, again and again; nothing stays behind.

load lib

teardown() { unload_modules; }

memory() {
	# Settle what is freed after a grace period, and drop what is only cached.
	sync
	echo 3 >/proc/sys/vm/drop_caches
	awk '$1 == "MemAvailable:" { a = $2 } $1 == "Slab:" { s = $2 } END { print a, s }' /proc/meminfo
}

@test "loaded, streamed, unloaded 50 times: no growth of memory" {
	local -a available=() slab=()
	for ((i = 0; i < 50; i++)); do
		load_modules config="$fast"
		auxcheck --bytes 2M /dev/auxtrace1 >/dev/null & pid=$!
		auxcheck --bytes 2M /dev/auxtrace0 >/dev/null
		wait "$pid"
		rmmod auxtrace
		rmmod auxtrace_sim
		read -r a s < <(memory)
		available+=("$a") slab+=("$s")
	done
	mean() { awk '{ for (i = 1; i <= NF; i++) sum += $i } END { printf "%d\n", sum / NF }' <<<"$*"; }
	first=$(mean "${available[@]:0:10}") last=$(mean "${available[@]:40}")
	slab_first=$(mean "${slab[@]:0:10}") slab_last=$(mean "${slab[@]:40}")
	echo "MemAvailable $first -> $last KiB, Slab $slab_first -> $slab_last KiB"
	# 40 leaks of a page each would be 160 KiB of slab or pages; of a buffer, 320 MiB.
	# The guest's own noise is some hundred KiB.
	((first - last < 4096))
	((slab_last - slab_first < 1024))
}

@test "opened and closed 200 times on both CPUs, without a read" {
	load_modules config="$fast" buffer_size=64K
	before=$(stat_of 0 opens)
	for ((i = 0; i < 100; i++)); do
		: </dev/auxtrace0
		: </dev/auxtrace1
	done
	[[ $(stat_of 0 opens) -eq $((before + 100)) ]]
	state_is 0 closed
	# All memory given back: a buffer of the cap's size is to be had.
	echo 64K >/sys/module/auxtrace/parameters/max_total
	head -c 1 /dev/auxtrace0 >/dev/null
}

@test "an idle module leaves an exclusive PMU to perf" {
	modprobe auxtrace_sim exclusive=1
	modprobe auxtrace
	perfaux --cpu 0 --pmu auxtrace_sim --bytes 100000 | cmp -n 8 - <(printf '\1\0\0\0\0\0\0\0')
	head -c 100 /dev/auxtrace0 >/dev/null
	perfaux --cpu 0 --pmu auxtrace_sim --bytes 100000 >/dev/null
}
