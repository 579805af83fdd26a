# Load and unload, again and again; nothing stays behind.
# bats file_tags=long

load lib

teardown() { unload_modules; }

mean() { awk '{ for (i = 1; i <= NF; i++) sum += $i } END { printf "%d\n", sum / NF }' <<<"$*"; }

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
	first=$(mean "${available[@]:0:10}") last=$(mean "${available[@]:40}")
	slab_first=$(mean "${slab[@]:0:10}") slab_last=$(mean "${slab[@]:40}")
	echo "pages $first -> $last KiB, slab $slab_first -> $slab_last KiB"
	# Some hundred KiB are the kernel's own settling; loading anything does that.
	((first - last < 1024))
	((slab_last - slab_first < 512))
}

@test "opened and closed 2000 times, without a read: no growth of memory" {
	load_modules config="$fast" buffer_size=64K
	for ((i = 0; i < 1050; i++)); do
		: </dev/auxtrace0
		: </dev/auxtrace1
		((i != 50)) || read -r first _ < <(memory)
	done
	read -r last _ < <(memory)
	echo "pages $first -> $last KiB"
	# A page for every eighth open.
	((first - last < 1000))
	[[ $(stat_of 0 opens) -eq 1050 ]]
	state_is 0 closed
	# The cap's account is back at zero.
	echo 64K >/sys/module/auxtrace/parameters/max_total
	head -c 1 /dev/auxtrace0 >/dev/null
}
