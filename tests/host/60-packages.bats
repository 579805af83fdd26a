# The Debian packages: they build, lintian has no errors, and each has what it should.

bats_require_minimum_version 1.5.0

setup_file() {
	top=$(readlink -f "$BATS_TEST_DIRNAME/../..")
	"$top/tests/packages" >"$BATS_FILE_TMPDIR/log" 2>&1 || {
		cat "$BATS_FILE_TMPDIR/log"
		return 1
	}
	packages=$top/build/packages
	export top packages
}

# deb NAME: its file
deb() { echo "$packages/${1}_"*.deb; }

contents() { dpkg-deb --fsys-tarfile "$(deb "$1")" | tar -t | sed -n 's#^\.##; /[^/]$/p' | sort; }

@test "lintian has no errors" {
	run lintian --fail-on error --info "$packages"/*.changes
	echo "$output"
	((status == 0))
}

@test "the tool's package: program, manual, completion, group, rule" {
	contents auxtrace >"$BATS_TEST_TMPDIR/list"
	for file in /usr/bin/auxtrace /usr/share/man/man1/auxtrace-load.1.gz \
		/usr/share/man/man4/auxtrace.4.gz /usr/share/bash-completion/completions/auxtrace \
		/usr/lib/sysusers.d/auxtrace.conf /usr/lib/udev/rules.d/60-auxtrace.rules \
		/usr/share/doc/auxtrace/examples/modprobe.conf \
		/usr/sbin/auxtraced '\(/usr\)\?/lib/systemd/system/auxtraced.service' \
		/usr/lib/tmpfiles.d/auxtraced.conf /etc/auxtrace/auxtraced.conf \
		/usr/share/man/man8/auxtraced.8.gz /usr/share/man/man5/auxtraced.conf.5.gz; do
		grep -qx "$file" "$BATS_TEST_TMPDIR/list"
	done
	run ! grep -E '/usr/src|/usr/include|\.(ko|so)' "$BATS_TEST_TMPDIR/list"
}

@test "the group is made by sysusers" {
	dpkg-deb -x "$(deb auxtrace)" "$BATS_TEST_TMPDIR/root"
	mkdir -p "$BATS_TEST_TMPDIR/root/etc"
	systemd-sysusers --root="$BATS_TEST_TMPDIR/root"
	grep -q '^auxtrace:' "$BATS_TEST_TMPDIR/root/etc/group"
	grep -q '^auxtraced:' "$BATS_TEST_TMPDIR/root/etc/passwd"
}

@test "the daemon is not started by installing, and its configuration is the administrator's" {
	dpkg-deb --info "$(deb auxtrace)" conffiles | grep -qx /etc/auxtrace/auxtraced.conf
	run -0 dpkg-deb --info "$(deb auxtrace)" postinst
	# What was enabled stays so; what runs is started anew by an upgrade.
	[[ $output == *"debian-installed 'auxtraced.service'"* && $output != *"_dh_action=start"* ]]
	[[ $output == *"deb-systemd-invoke try-restart 'auxtraced.service'"* ]]
	run ! grep -r 'deb-systemd-invoke stop' <(dpkg-deb --info "$(deb auxtrace)" preinst 2>&1)
	run -0 dpkg-deb --info "$(deb auxtrace)" prerm
	[[ $output == *"\"\$1\" = remove"*"deb-systemd-invoke stop auxtraced.service"* ]]
}

# purge PREPARATION COMMAND: the part of postrm that is our own, in a /var/lib of its own.
purge() {
	unshare --map-root-user --mount sh -ec "
		mount -t tmpfs none /var/lib
		cd /var/lib
		$1
		sh '$top/debian/auxtrace.postrm' purge
		$2"
}

@test "purging removes an empty directory of recordings; else it stays, and that is no error" {
	purge "" ""
	purge "mkdir auxtrace" "! test -e auxtrace"
	purge "mkdir auxtrace; touch auxtrace/file" "test -f auxtrace/file"
	purge "mkdir there; ln -s there auxtrace" "test -L auxtrace -a -d there"
	purge "mkdir auxtrace; mount -t tmpfs none auxtrace" "mountpoint -q auxtrace"
	purge "mkdir auxtrace; mount -t tmpfs none auxtrace; touch auxtrace/file" "test -f auxtrace/file"
}

@test "the module's package: DKMS builds what is in it" {
	contents auxtrace-dkms >"$BATS_TEST_TMPDIR/list"
	run ! grep -E 'sim|tests|userspace|\.(ko|o)$' "$BATS_TEST_TMPDIR/list"
	dpkg-deb -x "$(deb auxtrace-dkms)" "$BATS_TEST_TMPDIR/root"
	cd "$BATS_TEST_TMPDIR/root/usr/src/auxtrace-$(<"$top/VERSION")"
	# The same files as by make install-module.
	diff <(find . -type f | sort) <(cd "$top" && {
		git ls-files -co --exclude-standard module | grep -E '\.[ch]$|/Kbuild[^/]*$' | sed 's#^#./#'
		printf './%s\n' Kbuild VERSION dkms.conf
	} | sort)
	dpkg-deb --info "$(deb auxtrace-dkms)" postinst | grep -q "DKMS_VERSION=$(<"$top/VERSION")"
	dpkg-deb --field "$(deb auxtrace-dkms)" Depends | grep -qw dkms
	run ! bash -c "dpkg-deb --field $(deb libauxtrace0) Depends | grep -w dkms"
}

@test "the library's packages: a program is compiled with them, and runs" {
	local root=$BATS_TEST_TMPDIR/root flags
	dpkg-deb -x "$(deb libauxtrace0)" "$root"
	dpkg-deb -x "$(deb libauxtrace-dev)" "$root"
	cat >"$BATS_TEST_TMPDIR/program.c" <<-'END'
		#include <auxtrace.h>
		#include <linux/auxtrace.h>
		#include <stdio.h>

		int main(void)
		{
			return puts(auxtrace_open_error(-16)) < 0;
		}
	END
	export PKG_CONFIG_PATH=$(dirname "$(find "$root" -name libauxtrace.pc)")
	export PKG_CONFIG_SYSROOT_DIR=$root
	cd "$BATS_TEST_TMPDIR"
	flags=$(pkg-config --cflags --libs libauxtrace)
	# shellcheck disable=SC2086 # several words
	gcc -Wall -Werror -o shared program.c $flags
	LD_LIBRARY_PATH=$(dirname "$(find "$root" -name libauxtrace.so.0)") run -0 ./shared
	[[ -n $output ]]
	gcc -Wall -Werror -o static -I"$root/usr/include" program.c \
		"$(find "$root" -name libauxtrace.a)" -lzstd
	run -0 ./static
	run ! grep libauxtrace <(ldd ./static)
}

@test "the symbols file lists what the library exports" {
	cd "$packages/tree"
	run -0 dpkg-gensymbols -c4 -plibauxtrace0 -Pdebian/libauxtrace0 \
		-Idebian/libauxtrace0.symbols -O"$BATS_TEST_TMPDIR/symbols"
}

@test "debian/changelog and VERSION agree" {
	[[ $(dpkg-parsechangelog -l "$top/debian/changelog" -S Version) == "$(<"$top/VERSION")" ]]
}
