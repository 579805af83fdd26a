// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Readers: take the records of a device or a recording apart, as their bytes come.
 *
 * Owns the buffer that items point into, and what is known of each CPU's stream. A record
 * is given when all of it is in the buffer, but a window that does not fit comes in parts.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "internal.h"

#define BUFFER_MIN     4096
#define BUFFER_MAX     (4ULL << 30)
#define BUFFER_DEFAULT (1 << 20)

/* What a header may say. The module's buffers have 2 GiB at most. */
#define MAX_CPU	   65535
#define MAX_HEADER 1024
#define MAX_WINDOW (2ULL << 30)

struct cpu {
	struct auxtrace_stream *stream; /* that was told in this file */
	uint64_t started;		/* of the last one */
	bool known;			/* what follows the last window: */
	bool parked;			/* likewise, if the stream turns out to go on */
	uint64_t seq;
	uint64_t offset;
};

struct auxtrace_reader {
	struct source *source;
	char *buffer;
	bool borrowed; /* it is the caller's memory, all there is */
	size_t room;
	size_t from; /* the first byte that was not given */
	size_t to;   /* behind the last that is there */
	bool ended;  /* the source's last word */
	uint64_t position;

	size_t given;	       /* bytes of the last item, to be let go */
	uint64_t unknown_left; /* of a record that is left out */
	bool searching;	       /* for where a record begins */
	uint64_t search_from;  /* position */
	bool in_window;	       /* parts of it were given: window ... */
	uint64_t window_left;  /* ... and these are to come, padding included */
	bool bad_padding;      /* of the window before */
	bool source_damaged;   /* told by source_damage() */
	struct cpu *cpus;
	size_t nr_cpus;
	struct auxtrace_item item;
	struct auxtrace_window window; /* item.window, if that has one */
};

/* What a piece of the parser says: an item is ready, or ... */
enum { MORE = 2, /* more bytes are needed */ AGAIN = 3 /* something was left out */ };

/* ---- Making one ----------------------------------------------------------- */

/* Takes @source over, also when it fails. */
static int new_reader(struct auxtrace_reader **out, struct source *source,
		      const struct auxtrace_reader_options *options)
{
	struct auxtrace_reader_options o;
	struct auxtrace_reader *r;
	int ret = -EINVAL;

	if (!take_options(&o, sizeof(o), options) || o.flags)
		goto fail;
	if (!o.buffer)
		o.buffer = BUFFER_DEFAULT;
	if (o.buffer < BUFFER_MIN || o.buffer > BUFFER_MAX || o.buffer > SIZE_MAX)
		goto fail;
	ret = -ENOMEM;
	r = calloc(1, sizeof(*r));
	if (!r)
		goto fail;
	r->room = o.buffer;
	r->buffer = malloc(r->room);
	if (!r->buffer) {
		free(r);
		goto fail;
	}
	r->source = source;
	*out = r;
	return 0;
fail:
	source_free(source);
	return ret;
}

EXPORT int auxtrace_reader_new(struct auxtrace_reader **reader, auxtrace_read_function *read,
			       void *context, const struct auxtrace_reader_options *options)
{
	struct source *source;
	int ret = source_new(&source, read, context);

	return ret ?: new_reader(reader, source, options);
}

EXPORT int auxtrace_reader_from_fd(struct auxtrace_reader **reader, int fd,
				   const struct auxtrace_reader_options *options)
{
	struct source *source;
	int ret = source_from_fd(&source, fd, false);

	return ret ?: new_reader(reader, source, options);
}

EXPORT int auxtrace_reader_from_device(struct auxtrace_reader **reader,
				       struct auxtrace_device *device,
				       const struct auxtrace_reader_options *options)
{
	struct source *source;
	int ret = source_from_fd(&source, auxtrace_device_fd(device), false);

	if (ret)
		return ret;
	source_is_plain(source);
	return new_reader(reader, source, options);
}

EXPORT int auxtrace_reader_open(struct auxtrace_reader **reader, const char *path,
				const struct auxtrace_reader_options *options)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct source *source;
	int ret;

	if (fd < 0)
		return -errno;
	ret = source_from_fd(&source, fd, true);
	if (ret) {
		close(fd);
		return ret;
	}
	return new_reader(reader, source, options);
}

EXPORT int auxtrace_reader_from_memory(struct auxtrace_reader **reader, const void *data,
				       size_t size, const struct auxtrace_reader_options *options)
{
	struct source *source;
	int ret = source_from_memory(&source, data, size);

	if (ret)
		return ret;
	ret = new_reader(reader, source, options);
	if (ret || source_starts_compressed(data, size))
		return ret;
	/* All is there: no need to copy it. */
	free((*reader)->buffer);
	(*reader)->buffer = (char *)data;
	(*reader)->borrowed = true;
	(*reader)->room = size;
	(*reader)->to = size;
	(*reader)->ended = true;
	return 0;
}

static void forget_streams(struct auxtrace_reader *r)
{
	size_t i;

	for (i = 0; i < r->nr_cpus; i++)
		auxtrace_stream_free(r->cpus[i].stream);
	free(r->cpus);
	r->cpus = NULL;
	r->nr_cpus = 0;
}

EXPORT void auxtrace_reader_free(struct auxtrace_reader *r)
{
	if (!r)
		return;
	forget_streams(r);
	source_free(r->source);
	if (!r->borrowed)
		free(r->buffer);
	free(r);
}

/* ---- The buffer ------------------------------------------------------------- */

static size_t have(const struct auxtrace_reader *r)
{
	return r->to - r->from;
}

static const char *data(const struct auxtrace_reader *r)
{
	return r->buffer + r->from;
}

static void let_go(struct auxtrace_reader *r, size_t n)
{
	r->from += n;
	r->position += n;
	if (r->from == r->to && !r->borrowed) {
		r->from = 0;
		r->to = 0;
	}
}

/* No more will ever fit behind what is there. */
static bool is_packed(const struct auxtrace_reader *r)
{
	return r->to == r->room;
}

/* Makes room for a record of @n bytes, that is not a large window. */
static int reserve(struct auxtrace_reader *r, size_t n)
{
	char *larger;

	if (r->borrowed || n <= r->room)
		return 0;
	larger = realloc(r->buffer, n);
	if (!larger)
		return -ENOMEM;
	r->buffer = larger;
	r->room = n;
	return 0;
}

/* Reads on. 0, also at the end, which sets @ended; or -errno. */
static int fill(struct auxtrace_reader *r)
{
	ssize_t n;

	if (is_packed(r)) {
		memmove(r->buffer, data(r), have(r));
		r->to -= r->from;
		r->from = 0;
	}
	n = source_read(r->source, r->buffer + r->to, r->room - r->to);
	if (n == SOURCE_DAMAGED) {
		r->source_damaged = true;
		return 0;
	}
	if (n < 0)
		return n;
	r->to += n;
	r->ended = !n;
	return 0;
}

/* ---- Items -------------------------------------------------------------------- */

static void begin_item(struct auxtrace_reader *r, unsigned int kind, size_t raw_size)
{
	r->item = (struct auxtrace_item){
		.kind = kind,
		.position = r->position,
		.raw = data(r),
		.raw_size = raw_size,
	};
	r->given = raw_size;
}

static int damage(struct auxtrace_reader *r, unsigned int what, uint64_t position, uint64_t bytes)
{
	r->item = (struct auxtrace_item){
		.kind = AUXTRACE_ITEM_DAMAGE,
		.damage = what,
		.position = position,
		.lost_bytes = bytes,
	};
	return 1;
}

static struct cpu *cpu_of(struct auxtrace_reader *r, unsigned int number)
{
	if (number >= r->nr_cpus) {
		size_t n = number + 1;
		struct cpu *more = reallocarray(r->cpus, n, sizeof(*more));

		if (!more)
			return NULL;
		memset(more + r->nr_cpus, 0, (n - r->nr_cpus) * sizeof(*more));
		r->cpus = more;
		r->nr_cpus = n;
	}
	return &r->cpus[number];
}

/* ---- Windows ---------------------------------------------------------------------- */

static void get_header(struct auxtrace_window *w, const void *from)
{
	memcpy(w, from, sizeof(*w));
	w->magic = le32toh(w->magic);
	w->header_size = le16toh(w->header_size);
	w->version = le16toh(w->version);
	w->flags = le32toh(w->flags);
	w->cpu = le32toh(w->cpu);
	w->seq = le64toh(w->seq);
	w->offset = le64toh(w->offset);
	w->size = le64toh(w->size);
	w->time = le64toh(w->time);
	w->gap_time = le64toh(w->gap_time);
	w->reserved = le64toh(w->reserved);
}

static bool is_header(const struct auxtrace_window *w)
{
	return w->magic == AUXTRACE_WINDOW_MAGIC && w->version == AUXTRACE_WINDOW_VERSION &&
	       w->header_size >= sizeof(*w) && w->header_size <= MAX_HEADER &&
	       !(w->header_size % AUXTRACE_WINDOW_ALIGN) && w->cpu <= MAX_CPU &&
	       w->size <= MAX_WINDOW && w->offset <= UINT64_MAX - w->size;
}

/* Does it continue its CPU's stream? If not, says what is missing, as far as it can be. */
static bool is_hole(const struct cpu *cpu, const struct auxtrace_window *w, uint64_t *windows,
		    uint64_t *bytes)
{
	*windows = w->seq > cpu->seq ? w->seq - cpu->seq : 0;
	*bytes = w->offset > cpu->offset ? w->offset - cpu->offset : 0;
	return cpu->known && (w->seq != cpu->seq || w->offset != cpu->offset);
}

static bool is_zero(const char *bytes, size_t n)
{
	while (n) {
		if (bytes[--n])
			return false;
	}
	return true;
}

/* Gives @raw_size bytes of a window: @skip bytes of header, payload, perhaps padding. */
static int give_part(struct auxtrace_reader *r, size_t raw_size, size_t skip, bool last)
{
	struct auxtrace_item *item = &r->item;
	uint64_t left = r->window.size - item->at;

	item->position = r->position;
	item->raw = data(r);
	item->raw_size = raw_size;
	item->payload = data(r) + skip;
	item->size = left < raw_size - skip ? left : raw_size - skip;
	item->last = last;
	r->given = raw_size;
	if (last)
		r->bad_padding =
			!is_zero(data(r) + skip + item->size, raw_size - skip - item->size);
	return 1;
}

/* The rest of a window that does not fit in the buffer. */
static int next_part(struct auxtrace_reader *r)
{
	struct auxtrace_item *item = &r->item;
	uint64_t payload_left;
	size_t n = have(r);

	if (n < r->window_left && (r->window_left <= r->room || !is_packed(r)))
		return MORE;
	item->at += item->size;
	payload_left = r->window.size - item->at;
	if (n >= r->window_left) {
		n = r->window_left;
		r->in_window = false;
	} else if (n > payload_left) {
		/* The padding comes as a whole, with the last part. */
		n = payload_left;
	}
	r->window_left -= n;
	return give_part(r, n, 0, !r->in_window);
}

static int next_window(struct auxtrace_reader *r)
{
	struct auxtrace_window w;
	uint64_t windows, bytes, total;
	struct cpu *cpu;
	bool fits;

	if (have(r) < sizeof(w))
		return MORE;
	get_header(&w, data(r));
	if (!is_header(&w)) {
		r->searching = true;
		r->search_from = r->position;
		return AGAIN;
	}
	total = w.header_size + align8(w.size);
	fits = have(r) >= total;
	if (!fits && (total <= r->room || !is_packed(r) || have(r) < 2 * MAX_HEADER || r->borrowed))
		return MORE;

	cpu = cpu_of(r, w.cpu);
	if (!cpu)
		return -ENOMEM;
	if (is_hole(cpu, &w, &windows, &bytes)) {
		cpu->known = false;
		damage(r, AUXTRACE_DAMAGE_HOLE, r->position, bytes);
		r->item.lost_windows = windows;
		r->item.cpu = w.cpu;
		r->window = w;
		r->item.window = &r->window;
		return 1;
	}
	cpu->known = true;
	cpu->seq = w.seq + 1;
	cpu->offset = w.offset + w.size;

	begin_item(r, AUXTRACE_ITEM_WINDOW, 0);
	r->window = w;
	r->item.window = &r->window;
	r->item.cpu = w.cpu;
	r->item.stream = cpu->stream;
	if (fits)
		return give_part(r, total, w.header_size, true);
	r->in_window = true;
	bytes = have(r);
	if (bytes > w.header_size + w.size)
		bytes = w.header_size + w.size;
	r->window_left = total - bytes;
	return give_part(r, bytes, w.header_size, false);
}

/* ---- Other records ------------------------------------------------------------------- */

static bool is_record(const struct auxtrace_record *record)
{
	uint64_t size = le64toh(record->size);

	return le32toh(record->magic) == AUXTRACE_RECORD_MAGIC && size >= sizeof(*record) &&
	       size <= AUXTRACE_RECORD_MAX && !(size % 8);
}

static int bad_record(struct auxtrace_reader *r, size_t size)
{
	damage(r, AUXTRACE_DAMAGE_RECORD, r->position, size);
	r->given = size;
	return 1;
}

static int take_file(struct auxtrace_reader *r, size_t size)
{
	struct auxtrace_file_record file;
	size_t i;

	if (size < sizeof(file))
		return bad_record(r, size);
	memcpy(&file, data(r), sizeof(file));
	if (le32toh(file.version) != AUXTRACE_RECORDING_VERSION)
		return bad_record(r, size);
	/* What the streams are has to be told anew, and then whether they go on. */
	for (i = 0; i < r->nr_cpus; i++) {
		struct cpu *cpu = &r->cpus[i];

		cpu->parked = cpu->known && cpu->stream;
		cpu->known = false;
		auxtrace_stream_free(cpu->stream);
		cpu->stream = NULL;
	}
	begin_item(r, AUXTRACE_ITEM_FILE, size);
	r->item.version = le32toh(file.version);
	r->item.created = le64toh(file.created);
	return 1;
}

static int take_stream(struct auxtrace_reader *r, size_t size)
{
	struct auxtrace_stream *stream;
	struct cpu *cpu;
	int ret = stream_record_read(&stream, data(r), size);

	if (ret == -EINVAL || (!ret && stream->cpu > MAX_CPU)) {
		if (!ret)
			auxtrace_stream_free(stream);
		return bad_record(r, size);
	}
	if (ret)
		return ret;
	cpu = cpu_of(r, stream->cpu);
	if (!cpu) {
		auxtrace_stream_free(stream);
		return -ENOMEM;
	}
	cpu->known = (cpu->known || cpu->parked) && cpu->started == stream->started;
	cpu->parked = false;
	auxtrace_stream_free(cpu->stream);
	cpu->stream = stream;
	cpu->started = stream->started;
	begin_item(r, AUXTRACE_ITEM_STREAM, size);
	r->item.stream = stream;
	r->item.cpu = stream->cpu;
	return 1;
}

static int take_lost(struct auxtrace_reader *r, size_t size)
{
	struct auxtrace_lost_record lost;
	struct cpu *cpu;

	if (size < sizeof(lost))
		return bad_record(r, size);
	memcpy(&lost, data(r), sizeof(lost));
	if (le32toh(lost.cpu) > MAX_CPU)
		return bad_record(r, size);
	cpu = cpu_of(r, le32toh(lost.cpu));
	if (!cpu)
		return -ENOMEM;
	cpu->seq += le64toh(lost.windows);
	cpu->offset += le64toh(lost.bytes);
	begin_item(r, AUXTRACE_ITEM_LOST, size);
	r->item.cpu = le32toh(lost.cpu);
	r->item.error = le32toh(lost.error);
	r->item.lost_windows = le64toh(lost.windows);
	r->item.lost_bytes = le64toh(lost.bytes);
	return 1;
}

static int next_record(struct auxtrace_reader *r)
{
	struct auxtrace_record record;
	size_t size;
	int ret;

	if (have(r) < sizeof(record))
		return MORE;
	memcpy(&record, data(r), sizeof(record));
	if (!is_record(&record)) {
		r->searching = true;
		r->search_from = r->position;
		return AGAIN;
	}
	size = le64toh(record.size);
	switch (le32toh(record.kind)) {
	case AUXTRACE_RECORD_FILE:
	case AUXTRACE_RECORD_STREAM:
	case AUXTRACE_RECORD_LOST:
		break;
	default:
		r->unknown_left = size;
		return AGAIN;
	}
	ret = reserve(r, size);
	if (ret)
		return ret;
	if (have(r) < size)
		return MORE;
	switch (le32toh(record.kind)) {
	case AUXTRACE_RECORD_FILE:
		return take_file(r, size);
	case AUXTRACE_RECORD_STREAM:
		return take_stream(r, size);
	default:
		return take_lost(r, size);
	}
}

static int leave_out_unknown(struct auxtrace_reader *r)
{
	size_t n = have(r) < r->unknown_left ? have(r) : r->unknown_left;

	let_go(r, n);
	r->unknown_left -= n;
	return r->unknown_left ? MORE : AGAIN;
}

/* ---- Damage ------------------------------------------------------------------------------ */

/* Could a record begin with these bytes? MORE if there are too few to say. */
static int looks_like_record(const char *at, size_t n)
{
	struct auxtrace_record record;
	struct auxtrace_window w;
	uint32_t magic;

	if (memcmp(at, "AUXW", n < 4 ? n : 4) && memcmp(at, "AUXR", n < 4 ? n : 4))
		return 0;
	if (n < sizeof(record))
		return MORE;
	memcpy(&record, at, sizeof(record));
	magic = le32toh(record.magic);
	if (magic == AUXTRACE_RECORD_MAGIC)
		return is_record(&record);
	if (n < sizeof(w))
		return MORE;
	get_header(&w, at);
	return is_header(&w);
}

/* Leaves bytes out up to where a record seems to begin. */
static int search(struct auxtrace_reader *r)
{
	/* Not where it was found to be none. */
	if (r->position == r->search_from)
		let_go(r, 1);
	while (have(r)) {
		const char *at = memchr(data(r), 'A', have(r));
		int ret;

		if (!at) {
			let_go(r, have(r));
			break;
		}
		let_go(r, at - data(r));
		ret = looks_like_record(data(r), have(r));
		if (ret == MORE && !r->ended)
			return MORE;
		if (ret == 1) {
			r->searching = false;
			return damage(r, AUXTRACE_DAMAGE_SKIPPED, r->search_from,
				      r->position - r->search_from);
		}
		let_go(r, 1);
	}
	return MORE;
}

/*
 * No more bytes come that belong to those that are there: at the source's end, and where
 * it is damaged. 1 and an item as long as there is something to tell.
 */
static int break_off(struct auxtrace_reader *r)
{
	uint64_t from = r->position;
	size_t n = have(r);

	let_go(r, n);
	if (r->searching) {
		r->searching = false;
		return damage(r, AUXTRACE_DAMAGE_SKIPPED, r->search_from,
			      r->position - r->search_from);
	}
	if (r->in_window) {
		r->in_window = false;
		return damage(r, AUXTRACE_DAMAGE_ABORTED, from,
			      r->window.size - r->item.at - r->item.size);
	}
	if (n || r->unknown_left) {
		r->unknown_left = 0;
		return damage(r, AUXTRACE_DAMAGE_CUT, from, n);
	}
	return 0;
}

static int tell_source_damage(struct auxtrace_reader *r)
{
	uint64_t bytes;
	bool cut;

	r->source_damaged = false;
	bytes = source_damage(r->source, &cut);
	return damage(r, cut ? AUXTRACE_DAMAGE_CUT : AUXTRACE_DAMAGE_COMPRESSED, r->position,
		      bytes);
}

/* ---- All of it ------------------------------------------------------------------------------ */

static int next_of_buffer(struct auxtrace_reader *r)
{
	uint32_t magic;

	if (r->searching)
		return search(r);
	if (r->in_window)
		return next_part(r);
	if (r->unknown_left)
		return leave_out_unknown(r);
	if (have(r) < sizeof(magic))
		return MORE;
	memcpy(&magic, data(r), sizeof(magic));
	if (le32toh(magic) == AUXTRACE_WINDOW_MAGIC)
		return next_window(r);
	if (le32toh(magic) == AUXTRACE_RECORD_MAGIC)
		return next_record(r);
	r->searching = true;
	r->search_from = r->position;
	return AGAIN;
}

static int next(struct auxtrace_reader *r)
{
	int ret;

	if (r->bad_padding) {
		r->bad_padding = false;
		return damage(r, AUXTRACE_DAMAGE_PADDING, r->position, 0);
	}
	for (;;) {
		ret = next_of_buffer(r);
		if (ret == AGAIN)
			continue;
		if (ret != MORE)
			return ret;
		if (r->source_damaged)
			return break_off(r) ?: tell_source_damage(r);
		if (r->ended) {
			ret = break_off(r);
			/* A device may be started again. */
			r->ended = r->borrowed;
			return ret;
		}
		ret = fill(r);
		if (ret)
			return ret;
	}
}

EXPORT int auxtrace_reader_next(struct auxtrace_reader *reader, const struct auxtrace_item **item)
{
	int ret;

	let_go(reader, reader->given);
	reader->given = 0;
	ret = next(reader);
	if (ret == 1)
		*item = &reader->item;
	return ret;
}

EXPORT const char *auxtrace_damage_text(unsigned int damage)
{
	switch (damage) {
	case AUXTRACE_DAMAGE_SKIPPED:
		return "bytes that are no record";
	case AUXTRACE_DAMAGE_CUT:
		return "cut within a record";
	case AUXTRACE_DAMAGE_HOLE:
		return "windows are missing";
	case AUXTRACE_DAMAGE_RECORD:
		return "a record that contradicts itself";
	case AUXTRACE_DAMAGE_PADDING:
		return "padding that is not 0";
	case AUXTRACE_DAMAGE_COMPRESSED:
		return "damaged compressed bytes";
	case AUXTRACE_DAMAGE_ABORTED:
		return "the rest of a window is missing";
	default:
		return "unknown damage";
	}
}
