// SPDX-License-Identifier: GPL-2.0-only
/*
 * sharing - several processes read one open file description
 *
 * sharing READERS BYTES DEVICE: of the readers, one inherits the descriptor, one
 * makes a duplicate of it, one gets it through a socket, and so on. What their
 * reads delivered, in sizes of their own, goes to standard output in the order of
 * the stream: if bytes were delivered twice, or not at all, auxcheck sees it.
 *
 * sharing passed DEVICE: a description that is in a socket, and nowhere else.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "lib/random.h"
#include "lib/streams.h"

#define MAX_READERS 8
#define MAX_PIECES  65536
#define MAX_READ    (8 << 13)

/* Longer than anything takes that works. */
#define PATIENCE_S 120

/* What a reader got, in memory that it shares with the others. */
struct reader {
	size_t nr_pieces;
	size_t size[MAX_PIECES];
	size_t used;
	char data[];
};

/* Bytes that all have got together. */
static uint64_t *total;

/* A pipe at whose end the readers wait until all are there. */
static int gate[2];

static void *shared_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(memory != MAP_FAILED);
	return memory;
}

union control {
	char buffer[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static void send_descriptor(int socket, int fd)
{
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	union control control;
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(int));
	CHECK(sendmsg(socket, &message, 0) == 1);
}

static int receive_descriptor(int socket)
{
	char byte;
	struct iovec iov = { &byte, 1 };
	union control control;
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	int fd;

	CHECK(recvmsg(socket, &message, 0) == 1);
	CHECK(CMSG_FIRSTHDR(&message)->cmsg_type == SCM_RIGHTS);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
	return fd;
}

/* Reads whole words, as many at a time as comes to mind, until all have enough. */
static void read_share(struct reader *r, int fd, uint64_t seed, uint64_t wanted)
{
	while (__atomic_load_n(total, __ATOMIC_RELAXED) < wanted) {
		size_t size = 8 * random_size(&seed, 13);
		ssize_t n = read(fd, r->data + r->used, size);

		CHECK(n > 0 && n % 8 == 0 && r->nr_pieces < MAX_PIECES);
		r->size[r->nr_pieces++] = n;
		r->used += n;
		__atomic_fetch_add(total, n, __ATOMIC_RELAXED);
	}
}

/* Makes reader number @n, in a process of its own. */
static void start_reader(unsigned int n, struct reader *r, int fd, uint64_t wanted)
{
	int pair[2];
	int child;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		int own = fd;
		char byte;

		if (n % 3 == 1)
			own = dup(fd);
		if (n % 3 == 2)
			own = receive_descriptor(pair[1]);
		if (own != fd)
			close(fd);
		CHECK(own >= 0);
		close(gate[1]);
		CHECK(read(gate[0], &byte, 1) == 0);
		read_share(r, own, n, wanted);
		exit(0);
	}
	if (n % 3 == 2)
		send_descriptor(pair[0], fd);
	close(pair[0]);
	close(pair[1]);
}

static void save_all(struct reader **readers, unsigned int n)
{
	struct pieces pieces = { 0 };
	size_t least = SIZE_MAX;
	unsigned int i;

	for (i = 0; i < n; i++) {
		const struct reader *r = readers[i];
		const char *data = r->data;
		size_t j;

		for (j = 0; j < r->nr_pieces; j++) {
			add_piece(&pieces, data, r->size[j]);
			data += r->size[j];
		}
		least = r->nr_pieces < least ? r->nr_pieces : least;
	}
	sort_pieces(&pieces);
	save_pieces(STDOUT_FILENO, &pieces);
	fprintf(stderr, "bytes=%llu reads=%zu least=%zu\n", (unsigned long long)*total, pieces.n,
		least);
}

static void share(unsigned int n, uint64_t wanted, const char *device)
{
	/* Each overshoots what is wanted by less than one read. */
	size_t room = sizeof(struct reader) + wanted + MAX_READ;
	struct reader *readers[MAX_READERS];
	struct stream s = { .fd = open(device, O_RDONLY) };
	struct auxtrace_status status;
	unsigned int i;

	CHECK(s.fd >= 0);
	total = shared_memory(sizeof(*total));
	CHECK(!pipe(gate));
	for (i = 0; i < n; i++) {
		readers[i] = shared_memory(room);
		start_reader(i, readers[i], s.fd, wanted);
	}
	close(gate[1]);
	for (i = 0; i < n; i++) {
		int code;

		CHECK(wait(&code) > 0 && !code);
	}
	status = stream_status(&s);
	CHECK(status.bytes == *total && status.tail == *total);
	/* The description lives on: nothing that they did has closed the device. */
	CHECK(open(device, O_RDONLY) < 0 && errno == EBUSY);
	save_all(readers, n);
}

static void passed(const char *device)
{
	int fd = open(device, O_RDONLY);
	int pair[2];
	char byte;

	CHECK(fd >= 0 && !socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	send_descriptor(pair[0], fd);
	close(fd);
	CHECK(open(device, O_RDONLY) < 0 && errno == EBUSY);
	fd = receive_descriptor(pair[1]);
	CHECK(read(fd, &byte, 1) == 1 && byte == PATTERN_INDEX_FIRST);
	send_descriptor(pair[0], fd);
	close(fd);
	/* Nobody takes it any more. */
	close(pair[0]);
	close(pair[1]);
	CHECK(open(device, O_RDONLY) >= 0);
}

int main(int argc, char **argv)
{
	unsigned int readers = argc == 4 ? atoi(argv[1]) : 0;

	alarm(PATIENCE_S);
	if (readers && readers <= MAX_READERS) {
		share(readers, strtoull(argv[2], NULL, 0), argv[3]);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "passed")) {
		passed(argv[2]);
		return 0;
	}
	fputs("Usage: sharing READERS BYTES DEVICE | sharing passed DEVICE\n", stderr);
	return 2;
}
