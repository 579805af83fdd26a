# Building and installing, as users and DKMS do it.

bats_require_minimum_version 1.5.0

setup() {
	top=$(readlink -f "$BATS_TEST_DIRNAME/../..")
	kdir=$("$top/tests/vm/kernel" headers)
	tree=$BATS_TEST_TMPDIR/tree
	mkdir "$tree"
	cd "$top"
	git ls-files -z -c -o --exclude-standard | xargs -0 cp --parents -t "$tree"
	cd "$tree"
}

both_modules() { [[ -f module/auxtrace.ko && -f tests/sim/auxtrace_sim.ko ]]; }

@test "make modules KDIR=... leaves the modules beside their sources; clean removes them" {
	run -0 make modules KDIR="$kdir"
	both_modules
	# .gitignore knows all that a build leaves, and clean removes it.
	git init -q .
	git add -A
	run -1 grep -E '\.(o|ko|mod|mod\.c|cmd)$|modules\.order|symvers' <(git ls-files)
	make clean
	run -0 git clean -ndX
	[[ -z $output ]]
}

@test "make -C KDIR M=... does the same" {
	run -0 make -C "$kdir" M="$tree" modules
	both_modules
}

@test "AUXTRACE_SIM=n leaves the simulated PMU out" {
	run -0 make modules KDIR="$kdir" AUXTRACE_SIM=n
	[[ -f module/auxtrace.ko && ! -f tests/sim/auxtrace_sim.ko ]]
}

@test "no kernel headers: make says what to do" {
	run -2 make modules KDIR=/nonexistent
	[[ $output == *"Install the headers"* && $output == *"KDIR="* ]]
}

@test "a provider that the kernel has not, or that there is not, is refused" {
	run ! make modules KDIR="$kdir" AUXTRACE_CONSUMER=native
	[[ $output == *"this kernel lacks perf_event_setup_aux"* ]]
	run ! make modules KDIR="$kdir" AUXTRACE_CONSUMER=both
	[[ $output == *"must be auto, native or compat"* ]]
}

# The headers of a kernel that has the API: this kernel's, with it declared and
# listed as exported.
make_native_headers() {
	cp -a "$(readlink -f "$kdir/../../..")" "$BATS_TEST_TMPDIR/kernel"
	native=$BATS_TEST_TMPDIR/kernel/${kdir#"$(readlink -f "$kdir/../../..")"/}
	local header
	header=$(find "$BATS_TEST_TMPDIR/kernel" -path '*common/include/linux/perf_event.h')
	grep -rlF "$(readlink -f "$kdir/../../..")" "$native" --include=Makefile |
		xargs -r sed -i "s#$(readlink -f "$kdir/../../..")#$BATS_TEST_TMPDIR/kernel#"
	sed -i '/^#endif \/\* _LINUX_PERF_EVENT_H \*\//i \
extern int perf_event_setup_aux(struct perf_event *event, int nr_pages, long watermark);\
extern void perf_event_release_aux(struct perf_event *event);\
extern unsigned long perf_event_aux_head(struct perf_event *event);\
extern int perf_event_aux_tail_set(struct perf_event *event, unsigned long tail);\
extern long perf_event_aux_copy(struct perf_event *event, unsigned long from, unsigned long to, void *buf);' \
		"$header"
	local f
	for f in setup_aux release_aux aux_head aux_tail_set aux_copy; do
		printf '0x12345678\tperf_event_%s\tvmlinux\tEXPORT_SYMBOL_GPL\t\n' $f
	done >>"$native/Module.symvers"
}

@test "a kernel that has the API gets the native provider, unless told otherwise" {
	make_native_headers
	run -0 make modules KDIR="$native" AUXTRACE_SIM=n
	echo "$output"
	nm module/auxtrace.ko | grep -qw 'U perf_event_setup_aux'
	run ! bash -c 'nm module/auxtrace.ko | grep -q auxtrace_compat'
	make clean
	run -0 make modules KDIR="$native" AUXTRACE_SIM=n AUXTRACE_CONSUMER=compat
	run ! bash -c 'nm module/auxtrace.ko | grep -qw "U perf_event_setup_aux"'
	nm module/auxtrace.ko | grep -qw auxtrace_compat_setup_aux
}

# Tells whether it was run, in place of the machine's.
watch_ldconfig() {
	mkdir bin
	printf '#!/bin/sh\ntouch %q\n' "$PWD/ldconfig-ran" >bin/ldconfig
	chmod +x bin/ldconfig
	PATH=$PWD/bin:$PATH
}

@test "make install and uninstall: DKMS builds and installs the module, and removes it" {
	watch_ldconfig
	release=$("$top/tests/vm/kernel" release)
	mkdir dkms-tree sources installed
	mkdir -p "installed/$release"
	run -0 make install SRCDIR="$tree/sources" PREFIX="$tree/prefix" \
		DKMS="dkms --dkmstree $tree/dkms-tree --sourcetree $tree/sources --installtree $tree/installed -k $release --kernelsourcedir $kdir --no-depmod --no-initrd"
	echo "$output"
	# As DKMS says of its cleaning.
	[[ $output != *"bad exit status"* ]]
	[[ -n $(find installed -name 'auxtrace.ko*') ]]
	[[ -z $(find installed dkms-tree -name 'auxtrace_sim*') ]]
	[[ -f prefix/include/linux/auxtrace.h && -x prefix/bin/auxtrace ]]
	# Without it programs below /usr/local do not find the library.
	[[ -e ldconfig-ran ]]
	run -0 make uninstall SRCDIR="$tree/sources" PREFIX="$tree/prefix" \
		DKMS="dkms --dkmstree $tree/dkms-tree --sourcetree $tree/sources --installtree $tree/installed --no-depmod"
	[[ -z $(find installed sources -name 'auxtrace*') ]]
	run -0 find prefix -mindepth 2
	[[ -z $output ]]
}

@test "make install DESTDIR=: user space alone, in its place below; uninstall leaves nothing but a changed configuration" {
	watch_ldconfig
	run -0 make install DESTDIR="$tree/stage" PREFIX=/usr DKMS=false
	[[ ! -e ldconfig-ran ]]
	[[ -f stage/usr/include/linux/auxtrace.h && -x stage/usr/bin/auxtrace ]]
	# The tests have a build of their own, configured for them.
	[[ ! -e build/userspace ]]
	local library
	library=$(find stage -name libauxtrace.so.0)
	LD_LIBRARY_PATH=$(dirname "$library") run -0 stage/usr/bin/auxtrace --version
	# Again, over one that the administrator wrote.
	local config=stage/etc/auxtrace/auxtraced.conf example
	example=stage/usr/share/doc/auxtrace/examples/auxtraced.conf
	cmp "$config" "$example"
	run -0 make install DESTDIR="$tree/stage" PREFIX=/usr DKMS=false
	[[ $output != *Kept* ]]
	echo "total_size = 0" >"$config"
	run -0 make install DESTDIR="$tree/stage" PREFIX=/usr DKMS=false
	[[ $(<"$config") == "total_size = 0" ]]
	[[ $output == *"Kept $tree/$config, which differs from the template, $tree/$example"* ]]
	cmp "$top/userspace/auxtraced/auxtraced.conf" "$example"
	run -0 make uninstall DESTDIR="$tree/stage" PREFIX=/usr DKMS=false
	[[ $output == *"kept $tree/$config, which differs from the template"* ]]
	run -0 find stage -type f
	[[ $output == "$config" && $(<"$config") == "total_size = 0" ]]
	rm "$config"
	run -0 make install DESTDIR="$tree/stage" PREFIX=/usr DKMS=false
	run -0 make uninstall DESTDIR="$tree/stage" PREFIX=/usr DKMS=false
	run -0 find stage -mindepth 1
	[[ -z $output ]]
}
