# Load and unload, again and again; nothing stays behind.
# bats file_tags=long

load lib

teardown() { unload_modules; }

rounds() { if debug_kernel; then echo $(($1 / 10)); else echo "$1"; fi; }

mean() { awk '{ for (i = 1; i <= NF; i++) sum += $i } END { printf "%d\n", sum / NF }' <<<"$*"; }

@test "loaded, streamed, unloaded 50 times: no growth of memory" {
	local -a available=() slab=()
	local loads
	loads=$(rounds 50)
	for ((i = 0; i < loads; i++)); do
		load_modules config="$fast"
		auxcheck --bytes 2M /dev/auxtrace1 >/dev/null & pid=$!
		auxcheck --bytes 2M /dev/auxtrace0 >/dev/null
		wait "$pid"
		rmmod auxtrace
		rmmod auxtrace_sim
		read -r a s < <(memory)
		available+=("$a") slab+=("$s")
	done
	first=$(mean "${available[@]:0:loads/5}") last=$(mean "${available[@]:loads*4/5}")
	slab_first=$(mean "${slab[@]:0:loads/5}") slab_last=$(mean "${slab[@]:loads*4/5}")
	echo "pages $first -> $last KiB, slab $slab_first -> $slab_last KiB"
	! debug_kernel || return 0
	# Some hundred KiB are the kernel's own settling; loading anything does that.
	((first - last < 1024))
	((slab_last - slab_first < 512))
}

@test "opened and closed 2000 times, without a read: no growth of memory" {
	local opens
	opens=$(rounds 1050)
	load_modules config="$fast" buffer_size=64K
	for ((i = 0; i < opens; i++)); do
		: </dev/auxtrace0
		: </dev/auxtrace1
		((i != 50)) || read -r first _ < <(memory)
	done
	read -r last _ < <(memory)
	echo "pages $first -> $last KiB"
	# A page for every eighth open.
	debug_kernel || ((first - last < 1000))
	[[ $(stat_of 0 opens) -eq opens ]]
	state_is 0 closed
	# The cap's account is back at zero.
	echo 64K >/sys/module/auxtrace/parameters/max_total
	head -c 1 /dev/auxtrace0 >/dev/null
}
