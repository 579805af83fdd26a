# Owns Debian's kernel sources: fetches one of the suites in use, unpacks and patches
# it. Sourced, after vm/common.bash and vm/suites.bash.
# shellcheck shell=bash

# version_of PACKAGE: the newest that apt knows.
version_of() { apt-cache policy "$1" | awk '$1 == "Candidate:" { print $2 }'; }

# unpack_source PACKAGE VERSION DIR: there must be room beside DIR, which must not exist.
unpack_source() {
	local package=$1 version=$2 dir=$3
	say "downloading $package $version"
	(cd "${dir%/*}" && apt-get -q download "$package=$version" >&2)
	mkdir "$dir"
	# These headers are a fifth of it all.
	dpkg-deb --fsys-tarfile "${dir%/*}/$package"_*.deb |
		tar -xO "./usr/src/$package.tar.xz" |
		tar -xJ --strip-components=1 --exclude='*/drivers/gpu/drm/amd/*.h' -C "$dir"
	rm "${dir%/*}/$package"_*.deb
}

# patch_source DIR PATCH...: false, after saying which, if one does not fit.
patch_source() {
	local dir=$1 patch
	shift
	for patch; do
		patch -d "$dir" -p1 --forward --silent --no-backup-if-mismatch <"$patch" >&2 || {
			say "the source does not take ${patch##*/}"
			return 1
		}
	done
}
