// SPDX-License-Identifier: GPL-2.0-only
/*
 * windows - take a framed stream apart, and check its frames
 *
 * Reads a device (which it sets to the framed format) or a file, with reads of
 * random sizes, writes the payload to standard output, and prints one line on
 * standard error: what the headers said; before it, with -v, a line for each
 * window. With -e a device is stopped after the bytes that were asked for, and read
 * to its end. Exits with 1 if a header is not as it must be.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/auxtrace.h>

#include "lib/frames.h"

#define MAX_READ (256 << 10)

static void check(const struct frames *f, const char *wrong)
{
	if (!wrong)
		return;
	fprintf(stderr, "windows: window %" PRIu64 ": %s\n", f->windows, wrong);
	exit(1);
}

static const char *print_window(struct frames *f)
{
	fprintf(stderr, "offset=%" PRIu64 " size=%" PRIu64 " flags=%#x\n",
		(uint64_t)f->header.offset, (uint64_t)f->header.size, f->header.flags);
	return NULL;
}

static const char *write_payload(struct frames *f, const char *data, size_t n)
{
	(void)f;
	if (fwrite(data, 1, n, stdout) != n)
		exit(2);
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t wanted = UINT64_MAX, seed = 1;
	struct frames f = { .on_payload = write_payload };
	static char buffer[MAX_READ];
	bool to_end = false;
	struct stat st;
	int fd, option;

	while ((option = getopt(argc, argv, "b:es:v")) != -1) {
		if (option == 'b')
			wanted = strtoull(optarg, NULL, 0);
		else if (option == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (option == 'e')
			to_end = true;
		else if (option == 'v')
			f.on_window = print_window;
		else
			return 2;
	}
	if (optind + 1 != argc) {
		fputs("Usage: windows [-b BYTES] [-e] [-s SEED] [-v] DEVICE|FILE|-\n", stderr);
		return 2;
	}
	fd = strcmp(argv[optind], "-") ? open(argv[optind], O_RDONLY) : STDIN_FILENO;
	if (fd < 0 || fstat(fd, &st)) {
		perror(argv[optind]);
		return 2;
	}
	if (S_ISCHR(st.st_mode)) {
		uint32_t format = AUXTRACE_FORMAT_FRAMED;

		if (ioctl(fd, AUXTRACE_IOC_SET_FORMAT, &format)) {
			perror("SET_FORMAT");
			return 2;
		}
	}

	for (;;) {
		ssize_t n;

		if (f.bytes >= wanted) {
			if (!to_end)
				break;
			if (ioctl(fd, AUXTRACE_IOC_STOP)) {
				perror("STOP");
				return 2;
			}
			wanted = UINT64_MAX;
		}
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		/* One in four is tiny, so that headers and padding are split. */
		n = read(fd, buffer,
			 seed >> 62 ? 1 + (seed >> 33) % MAX_READ : 1 + (seed >> 33) % 50);
		if (n < 0) {
			perror("read");
			return 2;
		}
		if (!n)
			break;
		check(&f, frames_parse(&f, buffer, n));
	}
	if (fflush(stdout))
		return 2;
	if (wanted == UINT64_MAX && !frames_at_boundary(&f))
		check(&f, "cut off");
	fprintf(stderr,
		"windows=%" PRIu64 " bytes=%" PRIu64 " empty=%" PRIu64 " gap=%" PRIu64
		" full=%" PRIu64 " hotplug=%" PRIu64 " stopped=%" PRIu64 " truncated=%" PRIu64
		" partial=%" PRIu64 " collision=%" PRIu64 " flush=%" PRIu64 " last=%" PRIu64
		" gap_time=%" PRIu64 " time=%" PRIu64 "\n",
		f.windows, f.bytes, f.empty, f.with_flag[0], f.with_flag[1], f.with_flag[2],
		f.with_flag[3], f.with_flag[4], f.with_flag[5], f.with_flag[6], f.with_flag[7],
		f.with_flag[8], f.gap_time, (uint64_t)f.header.time);
	return 0;
}
