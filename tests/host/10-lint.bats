# Style and types: what a reviewer's tools would say.

bats_require_minimum_version 1.5.0

setup() { cd "$BATS_TEST_DIRNAME/../.." || return; }

kernel_sources() {
	find module tests/sim tests/kunit -name '*.[ch]' -not -name '*.mod.c' | sort
}

program_sources() { find tests/tools userspace -name '*.[ch]' | sort; }

# tests/hw/build compiles these, with the same warnings, where their library is.
hw_program_sources() { find tests/hw -name '*.[ch]' | sort; }

shell_scripts() {
	git ls-files -c -o --exclude-standard | while read -r file; do
		[[ ! -f $file || $file == *.bats || $file == */initramfs-init ]] ||
			! head -n 1 "$file" | grep -q '^#!/bin/bash' || echo "$file"
	done
	printf '%s\n' tests/vm/{common,arch}.bash tests/hw/lib.bash tests/guest/lib.bash userspace/completion/auxtrace
}

# sparse and gcc's extra warnings, on a copy of the sources.
@test "the modules build without a warning of gcc W=1 or sparse" {
	mkdir -p "$BATS_TEST_TMPDIR/tests"
	cp -r Kbuild VERSION module "$BATS_TEST_TMPDIR/"
	cp -r tests/sim "$BATS_TEST_TMPDIR/tests/"
	find "$BATS_TEST_TMPDIR" -name '*.o' -delete
	run -0 make -C "$(tests/vm/kernel headers)" M="$BATS_TEST_TMPDIR" W=1 C=2 modules
	echo "$output"
	[[ $output == *CHECK*auxtrace_sim.c* && $output == *CHECK*stream.c* ]]
	# Debian's headers come without the vmlinux that module BTF is made from.
	! grep -v '^Skipping BTF generation' <<<"$output" | grep -iE 'warning|error'
}

@test "what is marked as kernel-doc is" {
	run -0 "$(tests/vm/kernel headers)/scripts/kernel-doc" -v -none \
		$(kernel_sources | grep '^module/')
	echo "$output"
	[[ $output == *"Scanning doc for struct auxtrace_stream"* ]]
	# The last is said of all that has a text before its Context or its members.
	! grep -vE 'Scanning doc for|warning: contents before sections|^[0-9]+ warnings$' <<<"$output"
}

@test "checkpatch --strict has no errors, and no warnings but those explained here" {
	local ignored=(
		# Macros that make a table's row need its name as text and as a token.
		MACRO_ARG_REUSE MACRO_ARG_PRECEDENCE
		# Not to be had in a header for user space.
		BIT_MACRO
	)
	run -0 --separate-stderr tests/checkpatch --ignore "$(IFS=,; echo "${ignored[*]}")" \
		-f $(kernel_sources | grep -v /trace.h)
	echo "$output"
	[[ -z $output ]]
	# TRACE_EVENT() is laid out in a way of its own, throughout the kernel.
	ignored+=(OPEN_ENDED_LINE PARENTHESIS_ALIGNMENT)
	run -0 --separate-stderr tests/checkpatch --ignore "$(IFS=,; echo "${ignored[*]}")" \
		-f module/trace.h
	echo "$output"
	[[ -z $output ]]
}

@test "the kernel patches pass checkpatch --strict, changelog included" {
	# (By its standard input: a file that git knows it takes for a source.)
	find tests/kernel/patches -name '*.patch' >"$BATS_TEST_TMPDIR/patches"
	while read -r patch; do
		run -0 --separate-stderr tests/checkpatch - <"$patch"
		echo "$patch: $output"
		[[ -z $output ]]
	done <"$BATS_TEST_TMPDIR/patches"
	[[ -s $BATS_TEST_TMPDIR/patches ]]
}

@test "programs are formatted as .clang-format says" {
	run -0 clang-format --dry-run --Werror $(program_sources) $(hw_program_sources)
}

@test "programs build without a warning of gcc" {
	# (Not what meson builds: tests/build does, with -Werror.)
	for source in $(find tests/tools userspace/examples -name '*.[ch]' | sort); do
		[[ $source != *.c ]] ||
			gcc -O2 -std=gnu11 -Wall -Wextra -Werror -pthread -Imodule/include/uapi \
				-c -o "$BATS_TEST_TMPDIR/program.o" "$source"
	done
}

@test "<linux/auxtrace.h> compiles on its own, as C99 and as C++" {
	cd "$BATS_TEST_TMPDIR"
	echo '#include <linux/auxtrace.h>' >header.c
	cp header.c header.cc
	gcc -c -std=c99 -Wall -Wextra -Wpedantic -Werror \
		-I"$OLDPWD/module/include/uapi" header.c
	g++ -c -std=c++11 -Wall -Wextra -Wpedantic -Werror \
		-I"$OLDPWD/module/include/uapi" header.cc
}

@test "<linux/auxtrace.h>: a window's header is as programs know it" {
	cd "$BATS_TEST_TMPDIR"
	cat >window.c <<-'END'
		#include <stddef.h>
		#include <linux/auxtrace.h>
		#define AT(member, offset, bytes) \
			_Static_assert(offsetof(struct auxtrace_window, member) == offset, #member); \
			_Static_assert(sizeof(((struct auxtrace_window *)0)->member) == bytes, #member)
		AT(magic, 0, 4); AT(header_size, 4, 2); AT(version, 6, 2); AT(flags, 8, 4);
		AT(cpu, 12, 4); AT(seq, 16, 8); AT(offset, 24, 8); AT(size, 32, 8);
		AT(time, 40, 8); AT(gap_time, 48, 8); AT(reserved, 56, 8);
		_Static_assert(sizeof(struct auxtrace_window) == 64, "size");
	END
	gcc -c -std=gnu11 -I"$OLDPWD/module/include/uapi" window.c
}

@test "<linux/auxtrace.h> is the same to 32-bit and 64-bit programs" {
	cd "$BATS_TEST_TMPDIR"
	cat >layout.c <<-'END'
		#include <linux/auxtrace.h>
		struct auxtrace_window window;
		struct auxtrace_info info;
		struct auxtrace_status status;
		unsigned int calls[] = { AUXTRACE_IOC_INFO, AUXTRACE_IOC_STATUS, AUXTRACE_IOC_START,
			AUXTRACE_IOC_STOP, AUXTRACE_IOC_FLUSH, AUXTRACE_IOC_SET_FORMAT,
			AUXTRACE_IOC_SET_WAKE_BYTES };
	END
	for bits in 32 64; do
		gcc -c -g -m$bits -idirafter "/usr/include/$(gcc -print-multiarch)" \
			-I"$OLDPWD/module/include/uapi" -o $bits.o layout.c
		pahole -C auxtrace_window,auxtrace_info,auxtrace_status $bits.o >$bits
		objdump -s -j .data $bits.o | tail -n +3 >>$bits
	done
	diff 32 64
	[[ $(grep -c '/\* size: ' 32) -eq 3 && $(grep -c '^ 00' 32) -gt 0 ]]
	run ! grep -E 'hole|padding' 32
}

@test "shell scripts pass shellcheck" {
	run -0 shellcheck -x -P SCRIPTDIR $(shell_scripts)
}

@test "each file of tests has one" {
	local files
	mapfile -t files < <(git ls-files '*.bats')
	[[ ${#files[@]} -gt 30 ]]
	run grep -L '^@test' "${files[@]}"
	echo "$output"
	[[ ! $output ]]
}

@test "README tells of each statistic" {
	local name names
	names=$(sed -n 's/.*"\([a-z_]*\) %llu\\n".*/\1/p' module/sysfs.c)
	[[ $(wc -w <<<"$names") -gt 10 ]]
	for name in $names; do
		grep -q "^|.*\`$name\`.*|" README.md
	done
}

@test "dkms.conf and VERSION agree" {
	# shellcheck disable=SC1091
	(
		kernel_source_dir='' dkms_tree=''
		. ./dkms.conf
		[[ $PACKAGE_VERSION == "$(<VERSION)" ]]
	)
}

@test "make help names every target that people type" {
	run -0 make -s help
	for target in modules tools install uninstall demo check check-hw check-matrix soak lint clean; do
		[[ $output == *"  $target "* ]]
	done
}

@test "every source file says what it owns and under which licence" {
	for source in $(kernel_sources) $(program_sources) $(hw_program_sources); do
		head -n 1 "$source" | grep -q SPDX-License-Identifier
		head -n 4 "$source" | grep -qE '^/\*'
	done
}
