// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The kernel module as a file, by libkmod. Each struct module owns its libkmod objects.
 */
#include <errno.h>
#include <libkmod.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"
#include "tree.h"

static struct kmod_ctx *new_context(const char *root, const char *release)
{
	static const char *const folders[] = { "/etc/modprobe.d", "/run/modprobe.d",
					       "/usr/local/lib/modprobe.d", "/lib/modprobe.d" };
	enum { NR_FOLDERS = sizeof(folders) / sizeof(folders[0]) };
	char tree[PATH_MAX], *paths[NR_FOLDERS + 1] = { NULL };
	struct kmod_ctx *ctx = NULL;
	int i;

	for (i = 0; i < NR_FOLDERS; i++) {
		if (asprintf(&paths[i], "%s%s", root, folders[i]) < 0) {
			paths[i] = NULL;
			break;
		}
	}
	snprintf(tree, sizeof(tree), "%s/lib/modules/%s", root, release);
	if (i == NR_FOLDERS) /* without a root, where libkmod was built to look */
		ctx = kmod_new(tree, *root ? (const char *const *)paths : NULL);
	if (ctx)
		kmod_set_log_priority(ctx, -1); /* whoever called says what goes wrong */
	while (i--)
		free(paths[i]);
	return ctx;
}

int module_find(struct module *module, const char *root, const char *release)
{
	struct kmod_list *found = NULL;
	char tree[PATH_MAX];
	int ret;

	*module = (struct module){ 0 };
	snprintf(tree, sizeof(tree), "/lib/modules/%s/modules.dep.bin", release);
	if (!tree_has(root, tree))
		return -ENOENT;
	module->ctx = new_context(root, release);
	if (!module->ctx)
		return -ENOMEM;
	ret = kmod_module_new_from_lookup(module->ctx, "auxtrace", &found);
	if (ret < 0 || !found)
		return ret == -ENOSYS ? 0 : ret;
	module->mod = kmod_module_get_module(found);
	kmod_module_unref_list(found);
	if (!kmod_module_get_path(module->mod)) {
		kmod_module_unref(module->mod);
		module->mod = NULL;
		return 0;
	}
	if (kmod_module_get_info(module->mod, &module->info) < 0)
		module->info = NULL;
	return 0;
}

void module_free(struct module *module)
{
	kmod_module_info_free_list(module->info);
	if (module->mod)
		kmod_module_unref(module->mod);
	if (module->ctx)
		kmod_unref(module->ctx);
}

bool module_info(const struct module *module, const char *key, char *value, size_t size)
{
	struct kmod_list *entry;

	*value = '\0';
	kmod_list_foreach(entry, module->info)
	{
		if (!strcmp(kmod_module_info_get_key(entry), key)) {
			append(value, size, "%s", kmod_module_info_get_value(entry));
			return true;
		}
	}
	return false;
}

/* The kernel does not tell - from _ in names. */
static bool same_name(const char *a, const char *b, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char x = a[i] == '-' ? '_' : a[i], y = b[i] == '-' ? '_' : b[i];

		if (x != y)
			return false;
	}
	return true;
}

bool module_parameter(const struct module *module, const char *name, char *description, size_t size)
{
	struct kmod_list *entry;

	*description = '\0';
	kmod_list_foreach(entry, module->info)
	{
		const char *value = kmod_module_info_get_value(entry);
		size_t len = strcspn(value, ":");

		if (!strcmp(kmod_module_info_get_key(entry), "parm") && len == strlen(name) &&
		    same_name(value, name, len)) {
			append(description, size, "%s", value[len] ? value + len + 1 : "");
			return true;
		}
	}
	return false;
}

void module_parameters(const struct module *module, char *names, size_t size)
{
	struct kmod_list *entry;

	*names = '\0';
	kmod_list_foreach(entry, module->info)
	{
		const char *value = kmod_module_info_get_value(entry);
		size_t len = strcspn(value, ":");

		if (!strcmp(kmod_module_info_get_key(entry), "parm") &&
		    !strstr(value, ":read only"))
			append(names, size, "%s%.*s", *names ? " " : "", (int)len, value);
	}
}

static int source_version(const char *name, void *data)
{
	char *version = data;

	if (strncmp(name, "auxtrace-", 9))
		return 0;
	snprintf(version, 64, "%s", name + 9);
	return 1;
}

void module_missing(const char *root, const char *release, char *text, size_t size)
{
	char headers[PATH_MAX], version[64];

	*text = '\0';
	if (!tree_each(root, "/usr/src", source_version, version)) {
		append(text, size,
		       "the module auxtrace is not installed for kernel %s: install "
		       "auxtrace-dkms, or run make install in the sources",
		       release);
		return;
	}
	snprintf(headers, sizeof(headers), "/lib/modules/%s/build/Makefile", release);
	if (tree_has(root, headers))
		append(text, size,
		       "the module auxtrace is not built for kernel %s: run dkms install "
		       "auxtrace/%s -k %s",
		       release, version, release);
	else
		append(text, size,
		       "the module auxtrace is not built for kernel %s, whose headers are "
		       "missing: install them (linux-headers-%s), then run dkms install "
		       "auxtrace/%s -k %s",
		       release, release, version, release);
}
