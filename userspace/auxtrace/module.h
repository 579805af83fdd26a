/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel module as a file: where it is, for which kernel, signed by whom.
 */
#ifndef AUXTRACE_MODULE_H
#define AUXTRACE_MODULE_H

#include <stdbool.h>
#include <stddef.h>

struct kmod_ctx;
struct kmod_module;
struct kmod_list;

/*
 * struct module - the module "auxtrace" of one kernel, by module_find()
 * @mod: NULL if that kernel has none
 * @info: what modinfo shows; NULL if the file cannot be read
 */
struct module {
	struct kmod_ctx *ctx;
	struct kmod_module *mod;
	struct kmod_list *info;
};

/*
 * module_find() - look the module up as modprobe does
 * @root: see tree.h; modules and modprobe.d's folders are those below
 * @release: of which kernel
 *
 * Return: 0, also where there is no such module; -ENOENT if there is no module tree of
 * that kernel; another negative errno. To be freed by module_free() in each case.
 */
int module_find(struct module *module, const char *root, const char *release);
void module_free(struct module *module);

/*
 * module_info() - a value of modinfo's, such as "vermagic" or "signer"
 * @value: out: cut to @size; "" if there is none
 */
bool module_info(const struct module *module, const char *key, char *value, size_t size);

/*
 * module_parameter() - has the module such a parameter?
 * @description: out: "" if there is none
 */
bool module_parameter(const struct module *module, const char *name, char *description,
		      size_t size);

/* module_parameters() - the names of all that can be set, with a space between them */
void module_parameters(const struct module *module, char *names, size_t size);

/* module_missing() - what to do if there is no module for this kernel, as one line */
void module_missing(const char *root, const char *release, char *text, size_t size);

#endif /* AUXTRACE_MODULE_H */
