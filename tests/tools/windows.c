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

#define MAX_READ (256 << 10)

struct parser {
	struct auxtrace_window header;
	size_t header_have;
	uint64_t payload_left;
	unsigned int pad_left;
	uint64_t windows;
	uint64_t bytes;
	uint64_t next_offset;
	uint64_t time;
	uint64_t gaps;
	uint64_t gap_time;
	uint64_t with_flag[16];
	uint64_t empty;
	bool first_in_read; /* the header began where its read did */
	bool verbose;
};

static void wrong(const struct parser *p, const char *what)
{
	fprintf(stderr, "windows: window %" PRIu64 ": %s\n", p->windows, what);
	exit(1);
}

static void check_header(struct parser *p)
{
	const struct auxtrace_window *h = &p->header;
	uint32_t causes = AUXTRACE_WINDOW_FULL | AUXTRACE_WINDOW_HOTPLUG | AUXTRACE_WINDOW_STOPPED;
	int bit;

	if (h->magic != AUXTRACE_WINDOW_MAGIC || memcmp(&h->magic, "AUXW", 4))
		wrong(p, "bad magic");
	if (h->header_size != 64 || sizeof(*h) != 64)
		wrong(p, "bad header size");
	if (h->version != AUXTRACE_WINDOW_VERSION || h->reserved)
		wrong(p, "bad version, or reserved bytes that are not 0");
	if (h->flags >> 9)
		wrong(p, "unknown flags");
	if (h->seq != p->windows)
		wrong(p, "a hole in seq");
	if (h->offset != p->next_offset)
		wrong(p, "a hole in offset");
	if (h->time < p->time)
		wrong(p, "time runs backwards");
	if (!(h->flags & AUXTRACE_WINDOW_GAP) && (h->gap_time || h->flags & causes))
		wrong(p, "a cause or a time without a gap");
	if (h->flags & AUXTRACE_WINDOW_GAP && !p->first_in_read)
		wrong(p, "a read crossed a gap");
	if (p->verbose)
		fprintf(stderr, "offset=%" PRIu64 " size=%" PRIu64 " flags=%#x\n",
			(uint64_t)h->offset, (uint64_t)h->size, h->flags);
	p->time = h->time;
	p->next_offset += h->size;
	p->windows++;
	p->empty += !h->size;
	p->gap_time += h->gap_time;
	for (bit = 0; bit < 9; bit++)
		p->with_flag[bit] += h->flags >> bit & 1;
}

/* Handles the first of the @n bytes at @data that belong together; says how many. */
static size_t parse_some(struct parser *p, const char *data, size_t n)
{
	size_t take, i;

	if (p->header_have < sizeof(p->header)) {
		take = sizeof(p->header) - p->header_have < n ? sizeof(p->header) - p->header_have
							      : n;
		memcpy((char *)&p->header + p->header_have, data, take);
		p->header_have += take;
		if (p->header_have == sizeof(p->header)) {
			check_header(p);
			p->payload_left = p->header.size;
			p->pad_left = -p->header.size % AUXTRACE_WINDOW_ALIGN;
		}
		return take;
	}
	if (p->payload_left) {
		take = p->payload_left < n ? p->payload_left : n;
		if (fwrite(data, 1, take, stdout) != take)
			exit(2);
		p->payload_left -= take;
		p->bytes += take;
		return take;
	}
	take = p->pad_left < n ? p->pad_left : n;
	for (i = 0; i < take; i++) {
		if (data[i])
			wrong(p, "padding that is not 0");
	}
	p->pad_left -= take;
	return take;
}

/* What one read gave. */
static void parse(struct parser *p, const char *data, size_t n)
{
	size_t at = 0;

	while (at < n) {
		if (p->header_have == sizeof(p->header) && !p->payload_left && !p->pad_left)
			p->header_have = 0;
		if (!p->header_have)
			p->first_in_read = at == 0;
		at += parse_some(p, data + at, n - at);
	}
}

int main(int argc, char **argv)
{
	uint64_t wanted = UINT64_MAX, seed = 1;
	struct parser p = { 0 };
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
			p.verbose = true;
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

		if (p.bytes >= wanted) {
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
		parse(&p, buffer, n);
	}
	if (fflush(stdout))
		return 2;
	if (wanted == UINT64_MAX &&
	    (p.payload_left || p.pad_left || p.header_have % sizeof(p.header)))
		wrong(&p, "cut off");
	fprintf(stderr,
		"windows=%" PRIu64 " bytes=%" PRIu64 " empty=%" PRIu64 " gap=%" PRIu64
		" full=%" PRIu64 " hotplug=%" PRIu64 " stopped=%" PRIu64 " truncated=%" PRIu64
		" partial=%" PRIu64 " collision=%" PRIu64 " flush=%" PRIu64 " last=%" PRIu64
		" gap_time=%" PRIu64 " time=%" PRIu64 "\n",
		p.windows, p.bytes, p.empty, p.with_flag[0], p.with_flag[1], p.with_flag[2],
		p.with_flag[3], p.with_flag[4], p.with_flag[5], p.with_flag[6], p.with_flag[7],
		p.with_flag[8], p.gap_time, p.time);
	return 0;
}
