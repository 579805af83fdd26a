// SPDX-License-Identifier: GPL-2.0-only
/*
 * perfaux - read a trace PMU the way perf does: perf_event_open() and mmap()
 *
 * The drained bytes go to standard output, and counts of what the kernel said
 * about them to standard error. The simulated trace PMU can be verified with it
 * (pipe into auxcheck), and it serves as the other user of a PMU in tests.
 */

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DATA_PAGES 16UL

/* No trace for so long: the event may have been stopped. */
#define IDLE_MS 50

enum {
	EXIT_GOOD = 0,
	EXIT_REFUSED = 1,
	EXIT_ERROR = 2,
	EXIT_BUSY = 3,
};

struct options {
	const char *pmu;
	int cpu; /* -1: this process */
	uint64_t config;
	uint64_t config1;
	uint64_t aux_size;
	uint64_t watermark;
	uint64_t bytes;
	double seconds;
	double idle; /* before the first drain */
	bool restart;
	bool overwrite;
};

struct counts {
	uint64_t bytes;
	uint64_t records;
	uint64_t truncated;
	uint64_t partial;
	uint64_t collision;
	uint64_t lost;
	uint64_t wakeups;
	uint64_t restarts;
};

struct session {
	int fd;
	struct perf_event_mmap_page *page;
	unsigned char *data;
	unsigned char *aux;
	uint64_t data_size;
	uint64_t aux_size;
	bool stopped; /* a record said so */
	struct counts n;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int fail(const char *what)
{
	int err = errno;

	fprintf(stderr, "perfaux: %s: %s\n", what, strerror(err));
	return err == EBUSY ? EXIT_BUSY : EXIT_REFUSED;
}

static int pmu_type(const char *pmu)
{
	char path[256];
	int type = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fscanf(f, "%d", &type) != 1)
		type = -1;
	fclose(f);
	return type;
}

/* An exit status. */
static int session_open(struct session *s, const struct options *o)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.config = o->config,
		.config1 = o->config1,
		.sample_period = 1,
		.disabled = 1,
		.watermark = 1,
		.aux_watermark = (uint32_t)o->watermark,
	};
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	int prot = PROT_READ | (o->overwrite ? 0 : PROT_WRITE);
	int type = pmu_type(o->pmu);
	void *map;

	if (type < 0) {
		fprintf(stderr, "perfaux: no PMU %s\n", o->pmu);
		return EXIT_ERROR;
	}
	attr.type = (uint32_t)type;
	/* With data pages for nothing but the AUX records. */
	attr.wakeup_watermark = (uint32_t)(DATA_PAGES * page_size / 2);

	s->fd = (int)syscall(SYS_perf_event_open, &attr, o->cpu < 0 ? 0 : -1, o->cpu, -1,
			     PERF_FLAG_FD_CLOEXEC);
	if (s->fd < 0)
		return fail("perf_event_open");

	s->data_size = DATA_PAGES * page_size;
	map = mmap(NULL, page_size + s->data_size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (map == MAP_FAILED)
		return fail("mmap of the ring buffer");
	s->page = map;
	s->data = (unsigned char *)map + page_size;

	s->aux_size = o->aux_size;
	s->page->aux_offset = page_size + s->data_size;
	s->page->aux_size = s->aux_size;
	map = mmap(NULL, s->aux_size, prot, MAP_SHARED, s->fd, (off_t)s->page->aux_offset);
	if (map == MAP_FAILED)
		return fail("mmap of the AUX buffer");
	s->aux = map;
	return EXIT_GOOD;
}

/* Copy out of the ring of records, at whose end they wrap. */
static void get_data(const struct session *s, uint64_t pos, void *to, size_t len)
{
	unsigned char *p = to;

	while (len--)
		*p++ = s->data[pos++ & (s->data_size - 1)];
}

static void read_records(struct session *s)
{
	uint64_t head = __atomic_load_n(&s->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = s->page->data_tail;

	while (tail < head) {
		struct perf_event_header header;
		struct {
			uint64_t offset;
			uint64_t size;
			uint64_t flags;
		} aux;
		uint64_t lost[2];

		get_data(s, tail, &header, sizeof(header));
		switch (header.type) {
		case PERF_RECORD_AUX:
			get_data(s, tail + sizeof(header), &aux, sizeof(aux));
			s->n.records++;
			s->n.truncated += !!(aux.flags & PERF_AUX_FLAG_TRUNCATED);
			s->n.partial += !!(aux.flags & PERF_AUX_FLAG_PARTIAL);
			s->n.collision += !!(aux.flags & PERF_AUX_FLAG_COLLISION);
			if (aux.flags & PERF_AUX_FLAG_TRUNCATED)
				s->stopped = true;
			break;
		case PERF_RECORD_LOST:
			get_data(s, tail + sizeof(header), lost, sizeof(lost));
			s->n.lost += lost[1];
			break;
		}
		tail += header.size;
	}

	__atomic_store_n(&s->page->data_tail, tail, __ATOMIC_RELEASE);
}

static bool write_all(const unsigned char *from, uint64_t len)
{
	while (len) {
		ssize_t n = write(STDOUT_FILENO, from, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			fail("standard output");
			return false;
		}
		from += n;
		len -= (uint64_t)n;
	}
	return true;
}

/* Drain what is there, up to a number of bytes in total; 0: no limit. */
static bool drain(struct session *s, uint64_t max, uint64_t *drained)
{
	uint64_t head = __atomic_load_n(&s->page->aux_head, __ATOMIC_ACQUIRE);
	uint64_t tail = s->page->aux_tail;
	uint64_t len = head - tail;

	if (max && len > max - s->n.bytes)
		len = max - s->n.bytes;

	*drained = len;
	s->n.bytes += len;
	while (len) {
		uint64_t off = tail & (s->aux_size - 1);
		uint64_t n = len < s->aux_size - off ? len : s->aux_size - off;

		if (!write_all(s->aux + off, n))
			return false;
		tail += n;
		len -= n;
		__atomic_store_n(&s->page->aux_tail, tail, __ATOMIC_SEQ_CST);
	}
	return true;
}

/* A task's event only runs while the task does. */
static void burn(double seconds)
{
	double end = now() + seconds;

	while (now() < end && !interrupted)
		;
}

static void wait_for_trace(struct session *s, const struct options *o)
{
	struct pollfd pfd = { .fd = s->fd, .events = POLLIN };

	if (o->cpu < 0) {
		double end = now() + IDLE_MS / 1e3;

		while (now() < end && !interrupted &&
		       __atomic_load_n(&s->page->aux_head, __ATOMIC_RELAXED) == s->page->aux_tail)
			;
	} else if (poll(&pfd, 1, IDLE_MS) > 0) {
		s->n.wakeups++;
	}
}

static int run(struct session *s, const struct options *o)
{
	double begin = now();
	uint64_t drained;

	if (ioctl(s->fd, PERF_EVENT_IOC_ENABLE, 0))
		return fail("enable");

	if (o->cpu < 0)
		burn(o->idle);
	else
		usleep((useconds_t)(o->idle * 1e6));

	while (!interrupted && now() - begin < o->seconds) {
		wait_for_trace(s, o);
		read_records(s);
		if (!drain(s, o->bytes, &drained))
			return EXIT_ERROR;
		if (o->bytes && s->n.bytes >= o->bytes)
			break;

		/* Kernels differ in whether they notice, so do both. */
		if (o->restart && (s->stopped || !drained)) {
			s->stopped = false;
			s->n.restarts++;
			if (ioctl(s->fd, PERF_EVENT_IOC_DISABLE, 0) ||
			    ioctl(s->fd, PERF_EVENT_IOC_ENABLE, 0))
				return fail("restart");
		}
	}

	/* That publishes the rest. */
	if (ioctl(s->fd, PERF_EVENT_IOC_DISABLE, 0))
		return fail("disable");
	read_records(s);
	if (!o->bytes && !drain(s, 0, &drained))
		return EXIT_ERROR;
	return EXIT_GOOD;
}

static void usage(FILE *to)
{
	fputs("Usage: perfaux [OPTION]... > FILE\n"
	      "Trace through perf's AUX buffer; write the trace to standard output.\n"
	      "\n"
	      "  --cpu N          trace a CPU\n"
	      "  --self           trace this process, which keeps busy (default)\n"
	      "  --pmu NAME       PMU (auxtrace_sim)\n"
	      "  --config N       the event's config\n"
	      "  --config1 N      the event's config1\n"
	      "  --aux-size N     bytes of the AUX buffer, a power of two (256K)\n"
	      "  --watermark N    bytes until a wake-up (half the buffer)\n"
	      "  --bytes N        stop after N bytes\n"
	      "  --seconds N      stop after N seconds (5)\n"
	      "  --idle N         drain nothing for the first N seconds\n"
	      "  --restart        disable and enable the event when it seems stopped\n"
	      "  --overwrite      ask for snapshot mode\n"
	      "  --help           show this\n"
	      "\n"
	      "Exit status: 0 all right, 1 the kernel refused, 2 trouble, 3 busy.\n",
	      to);
}

/* A number with an optional suffix K, M or G. */
static bool parse_size(const char *s, uint64_t *value)
{
	static const char units[] = "KMG";
	unsigned int shift = 0;
	const char *unit;
	char *end;

	if (*s < '0' || *s > '9')
		return false;

	errno = 0;
	*value = strtoull(s, &end, 0);
	if (errno)
		return false;

	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		shift = 10 * (unsigned int)(unit - units + 1);
		end++;
	}

	if (*end || *value > UINT64_MAX >> shift)
		return false;
	*value <<= shift;
	return true;
}

static bool parse_seconds(const char *s, double *value)
{
	char *end;

	*value = strtod(s, &end);
	return end != s && !*end && *value >= 0 && *value < 1e6;
}

static bool parse_options(int argc, char **argv, struct options *o)
{
	enum {
		AUX_SIZE = 1,
		BYTES,
		CONFIG,
		CONFIG1,
		CPU,
		HELP,
		IDLE,
		OVERWRITE,
		PMU,
		RESTART,
		SECONDS,
		SELF,
		WATERMARK
	};
	static const struct option table[] = {
		{ "aux-size", required_argument, NULL, AUX_SIZE },
		{ "bytes", required_argument, NULL, BYTES },
		{ "config", required_argument, NULL, CONFIG },
		{ "config1", required_argument, NULL, CONFIG1 },
		{ "cpu", required_argument, NULL, CPU },
		{ "help", no_argument, NULL, HELP },
		{ "idle", required_argument, NULL, IDLE },
		{ "overwrite", no_argument, NULL, OVERWRITE },
		{ "pmu", required_argument, NULL, PMU },
		{ "restart", no_argument, NULL, RESTART },
		{ "seconds", required_argument, NULL, SECONDS },
		{ "self", no_argument, NULL, SELF },
		{ "watermark", required_argument, NULL, WATERMARK },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t value;
	int c;

	while ((c = getopt_long(argc, argv, "", table, NULL)) != -1) {
		bool good = true;

		switch (c) {
		case AUX_SIZE:
			good = parse_size(optarg, &o->aux_size) && o->aux_size &&
			       !(o->aux_size & (o->aux_size - 1));
			break;
		case BYTES:
			good = parse_size(optarg, &o->bytes);
			break;
		case CONFIG:
			good = parse_size(optarg, &o->config);
			break;
		case CONFIG1:
			good = parse_size(optarg, &o->config1);
			break;
		case CPU:
			good = parse_size(optarg, &value) && value <= INT16_MAX;
			o->cpu = (int)value;
			break;
		case IDLE:
			good = parse_seconds(optarg, &o->idle);
			break;
		case OVERWRITE:
			o->overwrite = true;
			break;
		case PMU:
			o->pmu = optarg;
			break;
		case RESTART:
			o->restart = true;
			break;
		case SECONDS:
			good = parse_seconds(optarg, &o->seconds);
			break;
		case SELF:
			o->cpu = -1;
			break;
		case WATERMARK:
			good = parse_size(optarg, &o->watermark) && o->watermark <= UINT32_MAX;
			break;
		case HELP:
			usage(stdout);
			exit(EXIT_GOOD);
		default:
			return false;
		}

		if (!good) {
			fprintf(stderr, "perfaux: bad argument: %s\n", optarg);
			return false;
		}
	}

	return optind == argc;
}

int main(int argc, char **argv)
{
	struct options o = {
		.pmu = "auxtrace_sim",
		.cpu = -1,
		.aux_size = 256 << 10,
		.seconds = 5,
	};
	struct sigaction sa = { .sa_handler = on_signal };
	struct session s = { .fd = -1 };
	int ret;

	if (!parse_options(argc, argv, &o)) {
		usage(stderr);
		return EXIT_ERROR;
	}

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);

	ret = session_open(&s, &o);
	if (ret)
		return ret;

	ret = run(&s, &o);
	fprintf(stderr,
		"bytes=%" PRIu64 " records=%" PRIu64 " truncated=%" PRIu64 " partial=%" PRIu64
		" collision=%" PRIu64 " lost=%" PRIu64 " wakeups=%" PRIu64 " restarts=%" PRIu64
		"\n",
		s.n.bytes, s.n.records, s.n.truncated, s.n.partial, s.n.collision, s.n.lost,
		s.n.wakeups, s.n.restarts);
	return ret;
}
