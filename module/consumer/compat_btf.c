// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the kernel's own type information (BTF) and answers three questions:
 * where is a member of a struct and what type has it, how large is a struct,
 * and what is a function's prototype. It knows nothing about perf.
 *
 * Owns the copy of the BTF between auxtrace_btf_load() and auxtrace_btf_free(),
 * both called by the one thread that loads the module: no lock.
 *
 * Types are described in C's order, without const and volatile, integers by
 * sign and bytes whatever they are called: "struct perf_buffer *", "refcount_t",
 * "s4", "u8", "void **", "u8 (struct x *, s4)", "void *[0]" (a flexible array).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/btf.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/stdarg.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "consumer/compat_btf.h"

/* Where the kernel shows its BTF (Documentation/ABI/testing/sysfs-kernel-btf). */
#define BTF_PATH	"/sys/kernel/btf/vmlinux"

/* More than any type nests in practice; stops on a cycle. */
#define BTF_MAX_DEPTH	16

/**
 * struct auxtrace_btf - the kernel's BTF, indexed
 * @data:	the file as read; vfree()
 * @strings:	names, NUL-terminated, within @data
 * @strings_len: bytes at @strings
 * @types:	where each type stands, by its ID; [0] is void and NULL
 * @nr_types:	entries in @types
 */
struct auxtrace_btf {
	void *data;
	const char *strings;
	u32 strings_len;
	const struct btf_type **types;
	u32 nr_types;
};

/* Bytes that follow a struct btf_type of this kind, or a negative errno. */
static int trailing_bytes(const struct btf_type *t)
{
	u32 vlen = btf_type_vlen(t);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
		return sizeof(u32);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return vlen * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return vlen * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return vlen * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return vlen * sizeof(struct btf_param);
	case BTF_KIND_VAR:
		return sizeof(struct btf_var);
	case BTF_KIND_DATASEC:
		return vlen * sizeof(struct btf_var_secinfo);
	case BTF_KIND_DECL_TAG:
		return sizeof(struct btf_decl_tag);
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	default:
		return -EINVAL;
	}
}

/*
 * Walks the type section twice: to count (@types NULL), then to fill @types.
 * Returns the number of types with void, or a negative errno.
 */
static int index_types(const void *start, u32 len, const struct btf_type **types)
{
	const void *end = start + len;
	int n = 1;

	while (start < end) {
		const struct btf_type *t = start;
		int more;

		if (end - start < sizeof(*t))
			return -EINVAL;
		more = trailing_bytes(t);
		if (more < 0 || end - start < sizeof(*t) + more)
			return -EINVAL;
		if (types)
			types[n] = t;
		n++;
		start += sizeof(*t) + more;
	}
	return n;
}

/* Of the header; newer ones have more, of which nothing is needed here. */
#define MIN_HDR_LEN	offsetofend(struct btf_header, str_len)

static int parse(struct auxtrace_btf *btf, size_t size)
{
	const struct btf_header *hdr = btf->data;
	const void *types;
	int n;

	if (size < MIN_HDR_LEN || hdr->magic != BTF_MAGIC ||
	    hdr->hdr_len < MIN_HDR_LEN || hdr->hdr_len > size)
		return -EINVAL;
	size -= hdr->hdr_len;
	if (hdr->type_off > size || hdr->type_len > size - hdr->type_off ||
	    hdr->str_off > size || hdr->str_len > size - hdr->str_off)
		return -EINVAL;

	btf->strings = btf->data + hdr->hdr_len + hdr->str_off;
	btf->strings_len = hdr->str_len;
	if (!hdr->str_len || btf->strings[hdr->str_len - 1])
		return -EINVAL;

	types = btf->data + hdr->hdr_len + hdr->type_off;
	n = index_types(types, hdr->type_len, NULL);
	if (n < 0)
		return n;
	btf->types = kvcalloc(n, sizeof(*btf->types), GFP_KERNEL | __GFP_NOWARN);
	if (!btf->types)
		return -ENOMEM;
	btf->nr_types = n;
	index_types(types, hdr->type_len, btf->types);
	return 0;
}

/*
 * Reads the file whole. (Not by kernel_read_file(): that is for what the kernel
 * itself takes in, and security modules warn of other uses.)
 */
static ssize_t read_btf(struct auxtrace_btf *btf)
{
	struct file *file = filp_open(BTF_PATH, O_RDONLY, 0);
	loff_t pos = 0;
	ssize_t ret;
	loff_t size;

	if (IS_ERR(file))
		return PTR_ERR(file);

	size = i_size_read(file_inode(file));
	if (size <= 0 || size > INT_MAX) {
		ret = -EINVAL;
		goto close;
	}
	btf->data = __vmalloc(size, GFP_KERNEL | __GFP_NOWARN);
	if (!btf->data) {
		ret = -ENOMEM;
		goto close;
	}
	do {
		ret = kernel_read(file, btf->data + pos, size - pos, &pos);
	} while (ret > 0 && pos < size);
	if (ret >= 0)
		ret = pos;
close:
	fput(file);
	return ret;
}

/**
 * auxtrace_btf_load() - read and index the kernel's BTF
 *
 * Context: may sleep; reads a file of some megabytes.
 * Return: the BTF, for auxtrace_btf_free(), or an ERR_PTR(): what the file
 * system said, -EINVAL when it is not BTF as known here, -ENOMEM.
 */
struct auxtrace_btf *auxtrace_btf_load(void)
{
	struct auxtrace_btf *btf;
	ssize_t size;
	int ret;

	btf = kzalloc(sizeof(*btf), GFP_KERNEL);
	if (!btf)
		return ERR_PTR(-ENOMEM);

	size = read_btf(btf);
	ret = size < 0 ? size : parse(btf, size);
	if (ret) {
		auxtrace_btf_free(btf);
		return ERR_PTR(ret);
	}
	return btf;
}

/**
 * auxtrace_btf_free() - give back what auxtrace_btf_load() returned
 * @btf: the BTF
 *
 * Context: may sleep.
 */
void auxtrace_btf_free(struct auxtrace_btf *btf)
{
	kvfree(btf->types);
	vfree(btf->data);
	kfree(btf);
}

static const struct btf_type *type_by_id(const struct auxtrace_btf *btf, u32 id)
{
	return id < btf->nr_types ? btf->types[id] : NULL;
}

static const char *name_at(const struct auxtrace_btf *btf, u32 offset)
{
	return offset < btf->strings_len ? btf->strings + offset : "";
}

static u32 find(const struct auxtrace_btf *btf, u32 kind, const char *name,
		unsigned int nth)
{
	u32 id;

	for (id = 1; id < btf->nr_types; id++) {
		const struct btf_type *t = btf->types[id];

		if (BTF_INFO_KIND(t->info) == kind &&
		    !strcmp(name_at(btf, t->name_off), name) && !nth--)
			return id;
	}
	return 0;
}

/* Is @id an integer, under whatever names and qualifiers? */
static bool is_integer(const struct auxtrace_btf *btf, u32 id)
{
	unsigned int depth;

	for (depth = 0; depth < BTF_MAX_DEPTH; depth++) {
		const struct btf_type *t = type_by_id(btf, id);

		if (!t)
			return false;
		switch (BTF_INFO_KIND(t->info)) {
		case BTF_KIND_INT:
			return true;
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
			id = t->type;
			break;
		default:
			return false;
		}
	}
	return false;
}

static void describe(const struct auxtrace_btf *btf, u32 id, char *buf,
		     size_t len, unsigned int depth);

static __printf(3, 4) void append(char *buf, size_t len, const char *fmt, ...)
{
	size_t end = strlen(buf);
	va_list args;

	va_start(args, fmt);
	vscnprintf(buf + end, len - end, fmt, args);
	va_end(args);
}

static void describe_function(const struct auxtrace_btf *btf,
			      const struct btf_type *t, char *buf, size_t len,
			      unsigned int depth)
{
	const struct btf_param *param = (const void *)(t + 1);
	u32 i, vlen = btf_type_vlen(t);

	describe(btf, t->type, buf, len, depth);
	append(buf, len, " (");
	for (i = 0; i < vlen; i++) {
		if (i)
			append(buf, len, ", ");
		describe(btf, param[i].type, buf, len, depth);
	}
	append(buf, len, ")");
}

/* Appends a description of type @id to the string in @buf of @len bytes. */
static void describe(const struct auxtrace_btf *btf, u32 id, char *buf,
		     size_t len, unsigned int depth)
{
	const struct btf_type *t = type_by_id(btf, id);
	const struct btf_array *array;
	size_t end;

	if (!id) {
		append(buf, len, "void");
		return;
	}
	if (!t || depth == BTF_MAX_DEPTH) {
		append(buf, len, "?");
		return;
	}

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
		append(buf, len, "%c%u",
		       BTF_INT_ENCODING(*(const u32 *)(t + 1)) & BTF_INT_SIGNED ?
		       's' : 'u', t->size);
		break;
	case BTF_KIND_PTR:
		describe(btf, t->type, buf, len, depth + 1);
		end = strlen(buf);
		append(buf, len, "%s*", end && buf[end - 1] == '*' ? "" : " ");
		break;
	case BTF_KIND_TYPEDEF:
		if (is_integer(btf, t->type))
			describe(btf, t->type, buf, len, depth + 1);
		else
			append(buf, len, "%s", name_at(btf, t->name_off));
		break;
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		describe(btf, t->type, buf, len, depth + 1);
		break;
	case BTF_KIND_STRUCT:
		append(buf, len, "struct %s", name_at(btf, t->name_off));
		break;
	case BTF_KIND_FWD:
		append(buf, len, "%s %s", btf_type_kflag(t) ? "union" : "struct",
		       name_at(btf, t->name_off));
		break;
	case BTF_KIND_ARRAY:
		array = (const void *)(t + 1);
		describe(btf, array->type, buf, len, depth + 1);
		append(buf, len, "[%u]", array->nelems);
		break;
	case BTF_KIND_FUNC_PROTO:
		describe_function(btf, t, buf, len, depth + 1);
		break;
	default:
		append(buf, len, "?");
	}
}

/* Bytes that an object of type @id takes; 0 if that is not known here. */
static u32 type_size(const struct auxtrace_btf *btf, u32 id)
{
	unsigned int depth;
	u32 n = 1;

	for (depth = 0; depth < BTF_MAX_DEPTH; depth++) {
		const struct btf_type *t = type_by_id(btf, id);
		const struct btf_array *array;

		if (!t)
			return 0;
		switch (BTF_INFO_KIND(t->info)) {
		case BTF_KIND_PTR:
			return n * sizeof(void *);
		case BTF_KIND_ARRAY:
			array = (const void *)(t + 1);
			n *= array->nelems;
			id = array->type;
			break;
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_RESTRICT:
		case BTF_KIND_TYPE_TAG:
			id = t->type;
			break;
		case BTF_KIND_INT:
		case BTF_KIND_ENUM:
		case BTF_KIND_ENUM64:
		case BTF_KIND_FLOAT:
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION:
			return n * t->size;
		default:
			return 0;
		}
	}
	return 0;
}

static u32 member_bits(const struct btf_type *t, const struct btf_member *m)
{
	return btf_type_kflag(t) ? BTF_MEMBER_BIT_OFFSET(m->offset) : m->offset;
}

/* Bytes from the start of struct @t to the end of its member @m. */
static u32 member_end(const struct auxtrace_btf *btf, const struct btf_type *t,
		      const struct btf_member *m)
{
	u32 bits = member_bits(t, m);
	u32 field = btf_type_kflag(t) ? BTF_MEMBER_BITFIELD_SIZE(m->offset) : 0;

	return field ? DIV_ROUND_UP(bits + field, BITS_PER_BYTE) :
		       bits / BITS_PER_BYTE + type_size(btf, m->type);
}

/* Is the @i-th member of struct @t between its neighbours? */
static bool in_its_place(const struct auxtrace_btf *btf, const struct btf_type *t, u32 i)
{
	const struct btf_member *m = (const void *)(t + 1);
	u32 begin = member_bits(t, &m[i]) / BITS_PER_BYTE;
	u32 end = member_end(btf, t, &m[i]);
	u32 next = i + 1 < btf_type_vlen(t) ? member_bits(t, &m[i + 1]) / BITS_PER_BYTE :
					      t->size;

	return (!i || begin >= member_end(btf, t, &m[i - 1])) && begin <= end && end <= next;
}

/**
 * auxtrace_btf_member() - find a member of a struct
 * @btf:	from auxtrace_btf_load()
 * @tag:	the struct's tag
 * @member:	the member's name; not within anonymous members
 * @offset:	out: bytes from the start of the struct
 * @type:	out: the type's description (see the head of this file)
 * @len:	bytes at @type; a longer description is cut
 *
 * Return: 0, -ENOENT if there is no such struct or member, -EINVAL for a
 * bit-field, -ERANGE if it is not between its neighbours.
 */
int auxtrace_btf_member(const struct auxtrace_btf *btf, const char *tag,
			const char *member, u32 *offset, char *type, size_t len)
{
	const struct btf_type *t = type_by_id(btf, find(btf, BTF_KIND_STRUCT, tag, 0));
	const struct btf_member *m;
	u32 i, bits;

	if (!t)
		return -ENOENT;
	m = (const void *)(t + 1);
	for (i = 0; i < btf_type_vlen(t); i++, m++) {
		if (strcmp(name_at(btf, m->name_off), member))
			continue;
		if (btf_type_kflag(t) && BTF_MEMBER_BITFIELD_SIZE(m->offset))
			return -EINVAL;
		bits = member_bits(t, m);
		if (bits % BITS_PER_BYTE)
			return -EINVAL;
		if (!in_its_place(btf, t, i))
			return -ERANGE;
		*offset = bits / BITS_PER_BYTE;
		*type = '\0';
		describe(btf, m->type, type, len, 0);
		return 0;
	}
	return -ENOENT;
}

/**
 * auxtrace_btf_struct_size() - size of a struct
 * @btf:	from auxtrace_btf_load()
 * @tag:	the struct's tag
 *
 * Return: bytes, or -ENOENT.
 */
int auxtrace_btf_struct_size(const struct auxtrace_btf *btf, const char *tag)
{
	const struct btf_type *t = type_by_id(btf, find(btf, BTF_KIND_STRUCT, tag, 0));

	return t ? t->size : -ENOENT;
}

/**
 * auxtrace_btf_function() - describe a function's prototype
 * @btf:	from auxtrace_btf_load()
 * @name:	the function's name
 * @nth:	which one of that name, from 0: different static functions may
 *		share a name
 * @type:	out: the description (see the head of this file)
 * @len:	bytes at @type; a longer description is cut
 *
 * Return: 0, or -ENOENT.
 */
int auxtrace_btf_function(const struct auxtrace_btf *btf, const char *name,
			  unsigned int nth, char *type, size_t len)
{
	const struct btf_type *t = type_by_id(btf, find(btf, BTF_KIND_FUNC, name, nth));

	if (!t)
		return -ENOENT;
	*type = '\0';
	describe(btf, t->type, type, len, 0);
	return 0;
}
