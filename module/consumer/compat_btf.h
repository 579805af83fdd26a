/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef AUXTRACE_COMPAT_BTF_H
#define AUXTRACE_COMPAT_BTF_H

#include <linux/types.h>

struct auxtrace_btf;

struct auxtrace_btf *auxtrace_btf_load(void);
void auxtrace_btf_free(struct auxtrace_btf *btf);
int auxtrace_btf_member(const struct auxtrace_btf *btf, const char *tag,
			const char *member, u32 *offset, char *type, size_t len);
int auxtrace_btf_struct_size(const struct auxtrace_btf *btf, const char *tag);
int auxtrace_btf_function(const struct auxtrace_btf *btf, const char *name,
			  unsigned int nth, char *type, size_t len);

#endif
