// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds what the compat provider needs of the perf core, and refuses rather
 * than guess: each function must be in the kernel's BTF with the prototype that
 * is called here, each member of struct perf_buffer must be there with the type
 * that is used here, and a buffer made and freed as a trial must look as the
 * layout says.
 *
 * Owns the static calls and the layout. Both are written by the thread that
 * loads the module, before anything reads them: no lock.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/printk.h>

#include "consumer/compat_btf.h"
#include "consumer/compat_core.h"
#include "consumer/consumer.h"

DEFINE_STATIC_CALL_NULL(auxtrace_rb_alloc, rb_alloc);
DEFINE_STATIC_CALL_NULL(auxtrace_rb_alloc_aux, rb_alloc_aux);
DEFINE_STATIC_CALL_NULL(auxtrace_rb_free_aux, rb_free_aux);
DEFINE_STATIC_CALL_NULL(auxtrace_ring_buffer_get, ring_buffer_get);
DEFINE_STATIC_CALL_NULL(auxtrace_ring_buffer_put, ring_buffer_put);

struct auxtrace_perf_buffer_layout auxtrace_rb_layout;

/* Room for the longest description that is compared, and some more. */
#define TYPE_LEN	160

/**
 * struct wanted_member - a member that must be there
 * @name:	its name
 * @types:	the type it must have; two, where kernels differ in a way that
 *		does not matter here
 * @offset:	where to store its offset
 */
struct wanted_member {
	const char *name;
	const char *types[2];
	u32 *offset;
};

static const struct wanted_member wanted_members[] = {
	{ "refcount", { "refcount_t" }, &auxtrace_rb_layout.refcount },
	{ "event_lock", { "spinlock_t" }, &auxtrace_rb_layout.event_lock },
	{ "event_list", { "struct list_head" }, &auxtrace_rb_layout.event_list },
	{ "aux_pgoff", { "u8" }, &auxtrace_rb_layout.aux_pgoff },
	{ "aux_nr_pages", { "s4" }, &auxtrace_rb_layout.aux_nr_pages },
	{ "aux_mmap_count", { "atomic_t", "refcount_t" },
	  &auxtrace_rb_layout.aux_mmap_count },
	{ "aux_refcount", { "refcount_t" }, &auxtrace_rb_layout.aux_refcount },
	{ "aux_pages", { "void **" }, &auxtrace_rb_layout.aux_pages },
	{ "user_page", { "struct perf_event_mmap_page *" },
	  &auxtrace_rb_layout.user_page },
	{ "data_pages", { "void *[0]" }, &auxtrace_rb_layout.data_pages },
};

/*
 * Types of which objects are used in place: the headers that this module was
 * built with must know them in the size that the running kernel has.
 */
static const struct {
	const char *tag;
	size_t size;
} wanted_structs[] = {
	{ "spinlock", sizeof(struct spinlock) },
	{ "refcount_struct", sizeof(refcount_t) },
	{ "perf_event", sizeof(struct perf_event) },
	{ "perf_event_mmap_page", sizeof(struct perf_event_mmap_page) },
};

/* Members of struct perf_event that the headers and the kernel must agree on. */
static const struct {
	const char *name;
	size_t offset;
} wanted_event_members[] = {
	{ "rb", offsetof(struct perf_event, rb) },
	{ "rb_entry", offsetof(struct perf_event, rb_entry) },
	{ "mmap_mutex", offsetof(struct perf_event, mmap_mutex) },
	{ "rcu_batches", offsetof(struct perf_event, rcu_batches) },
	{ "rcu_pending", offsetof(struct perf_event, rcu_pending) },
	{ "owner", offsetof(struct perf_event, owner) },
	{ "parent", offsetof(struct perf_event, parent) },
	{ "waitq", offsetof(struct perf_event, waitq) },
	{ "lost_samples", offsetof(struct perf_event, lost_samples) },
};

static int verify_structs(const struct auxtrace_btf *btf)
{
	char type[TYPE_LEN];
	u32 offset;
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(wanted_structs); i++) {
		ret = auxtrace_btf_struct_size(btf, wanted_structs[i].tag);
		if (ret != wanted_structs[i].size) {
			pr_err("compat: struct %s has %d bytes in this kernel, %zu in the headers of the build\n",
			       wanted_structs[i].tag, ret, wanted_structs[i].size);
			return -EOPNOTSUPP;
		}
	}

	for (i = 0; i < ARRAY_SIZE(wanted_event_members); i++) {
		ret = auxtrace_btf_member(btf, "perf_event",
					  wanted_event_members[i].name, &offset,
					  type, sizeof(type));
		if (ret || offset != wanted_event_members[i].offset) {
			pr_err("compat: struct perf_event: member %s is not where the headers of the build have it\n",
			       wanted_event_members[i].name);
			return -EOPNOTSUPP;
		}
	}
	return 0;
}

static int find_members(const struct auxtrace_btf *btf)
{
	int i, size = auxtrace_btf_struct_size(btf, "perf_buffer");
	char type[TYPE_LEN];

	if (size < 0) {
		pr_err("compat: this kernel's BTF has no struct perf_buffer\n");
		return -EOPNOTSUPP;
	}

	for (i = 0; i < ARRAY_SIZE(wanted_members); i++) {
		const struct wanted_member *want = &wanted_members[i];
		int ret = auxtrace_btf_member(btf, "perf_buffer", want->name,
					      want->offset, type, sizeof(type));

		if (ret == -ERANGE) {
			pr_err("compat: struct perf_buffer: member %s overlaps another in this kernel's BTF\n",
			       want->name);
			return -EOPNOTSUPP;
		}
		if (ret) {
			pr_err("compat: struct perf_buffer has no member %s in this kernel\n",
			       want->name);
			return -EOPNOTSUPP;
		}
		if (strcmp(type, want->types[0]) &&
		    (!want->types[1] || strcmp(type, want->types[1]))) {
			pr_err("compat: struct perf_buffer: member %s is a '%s' in this kernel, not a '%s'\n",
			       want->name, type, want->types[0]);
			return -EOPNOTSUPP;
		}
		/* A flexible array can begin right behind the rest. */
		if (*want->offset > size) {
			pr_err("compat: struct perf_buffer: member %s is outside of it\n",
			       want->name);
			return -EOPNOTSUPP;
		}
	}
	return 0;
}

/*
 * The address of @name, for a direct call. Where the function begins with a
 * landing pad it can be the instruction behind it. A kprobe that is registered
 * disabled is resolved and checked but never armed: no text changes.
 */
static void *find_address(const char *name)
{
	struct kprobe kp = {
		.symbol_name = name,
		.flags = KPROBE_FLAG_DISABLED,
	};
	void *address;
	int ret;

	ret = register_kprobe(&kp);
	if (ret)
		return ERR_PTR(ret);
	address = kp.addr;
	unregister_kprobe(&kp);
	return address;
}

/*
 * The address of the function @name if every function of that name in the BTF
 * has the prototype @prototype, else -EOPNOTSUPP after a line in the log, or -ENOMEM.
 */
static void *find_function(const struct auxtrace_btf *btf, const char *name,
			   const char *prototype)
{
	char type[TYPE_LEN];
	unsigned int nth;
	void *address;

	for (nth = 0; !auxtrace_btf_function(btf, name, nth, type, sizeof(type)); nth++) {
		if (strcmp(type, prototype)) {
			pr_err("compat: %s() is '%s' in this kernel, not '%s'\n",
			       name, type, prototype);
			return ERR_PTR(-EOPNOTSUPP);
		}
	}
	if (!nth) {
		pr_err("compat: this kernel's BTF has no function %s()\n", name);
		return ERR_PTR(-EOPNOTSUPP);
	}

	address = find_address(name);
	if (IS_ERR(address) && PTR_ERR(address) != -ENOMEM) {
		pr_err("compat: cannot find %s() in this kernel (kprobe: error %ld)\n",
		       name, PTR_ERR(address));
		return ERR_PTR(-EOPNOTSUPP);
	}
	return address;
}

/* Resolves @function and patches it into the static call auxtrace_<function>. */
#define bind_call(btf, function, prototype) ({				\
	void *address = find_function(btf, #function, prototype);	\
									\
	if (!IS_ERR(address))						\
		static_call_update(auxtrace_##function,			\
				   (typeof(function) *)address);	\
	PTR_ERR_OR_ZERO(address);					\
})

static int find_functions(const struct auxtrace_btf *btf)
{
	int ret;

	ret = bind_call(btf, rb_alloc,
			"struct perf_buffer * (s4, s8, s4, s4)");
	if (ret)
		return ret;
	ret = bind_call(btf, rb_alloc_aux,
			"s4 (struct perf_buffer *, struct perf_event *, u8, s4, s8, s4)");
	if (ret)
		return ret;
	ret = bind_call(btf, rb_free_aux, "void (struct perf_buffer *)");
	if (ret)
		return ret;
	ret = bind_call(btf, ring_buffer_get,
			"struct perf_buffer * (struct perf_event *)");
	if (ret)
		return ret;
	return bind_call(btf, ring_buffer_put, "void (struct perf_buffer *)");
}

static bool is_a_page(void *page)
{
	return virt_addr_valid(page) && PAGE_ALIGNED(page);
}

/* Makes a buffer, as set-up will, and compares it to the layout. */
static int try_buffer(void)
{
	struct perf_buffer *rb = static_call(auxtrace_rb_alloc)(1, 0, -1,
								RING_BUFFER_WRITABLE);
	const char *wrong = NULL;

	if (!rb)
		return -ENOMEM;

	if (refcount_read(rb_refcount(rb)) != 1)
		wrong = "refcount";
	else if (!list_empty(rb_event_list(rb)))
		wrong = "event_list";
	else if (*rb_aux_pgoff(rb))
		wrong = "aux_pgoff";
	else if (rb_aux_nr_pages(rb))
		wrong = "aux_nr_pages";
	else if (atomic_read(rb_aux_mmap_count(rb)))
		wrong = "aux_mmap_count";
	else if (refcount_read(rb_aux_refcount(rb)))
		wrong = "aux_refcount";
	else if (rb_aux_pages(rb))
		wrong = "aux_pages";
	else if (!is_a_page(rb_user_page(rb)))
		wrong = "user_page";
	else if (!is_a_page(rb_data_page(rb)))
		wrong = "data_pages";

	if (wrong) {
		/* Not freed: what is there is not what this code knows. */
		pr_err("compat: a new struct perf_buffer has an unexpected %s\n",
		       wrong);
		return -EOPNOTSUPP;
	}
	static_call(auxtrace_ring_buffer_put)(rb);
	return 0;
}

/**
 * auxtrace_compat_core_init() - find and verify what compat uses
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP after a line in the log that names what is missing or
 * different; -ENOMEM.
 */
int auxtrace_compat_core_init(void)
{
	struct auxtrace_btf *btf = auxtrace_btf_load();
	int ret;

	if (IS_ERR(btf)) {
		if (PTR_ERR(btf) == -ENOMEM)
			return -ENOMEM;
		pr_err("compat: cannot read the kernel's BTF, /sys/kernel/btf/vmlinux (error %ld); a kernel with CONFIG_DEBUG_INFO_BTF is needed\n",
		       PTR_ERR(btf));
		return -EOPNOTSUPP;
	}

	ret = verify_structs(btf);
	if (!ret)
		ret = find_members(btf);
	if (!ret)
		ret = find_functions(btf);
	auxtrace_btf_free(btf);
	if (!ret)
		ret = try_buffer();
	return ret;
}
