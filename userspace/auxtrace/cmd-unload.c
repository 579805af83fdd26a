// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * auxtrace unload: unloads the kernel module, and says who is in the way.
 */
#include <errno.h>
#include <libkmod.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "tree.h"

#define TEXT_LEN 1024

static const struct option_info options[] = {
	{ 'n', "dry-run", NULL, "tell whether anything is in the way, and unload nothing" },
	{ 0 },
};

static int run_unload(const struct command *command, int argc, char **argv);

const struct command cmd_unload = {
	.name = "unload",
	.args = "",
	.summary = "Unload the kernel module",
	.details = "The module can be unloaded while no device is open. Who has one open is told,\n"
		   "other users' processes only to root.\n",
	.options = options,
	.run = run_unload,
};

static int busy(void)
{
	char openers[TEXT_LEN];

	if (tree_openers("", OPEN_DEVICE, openers, sizeof(openers)))
		return fail("the module is in use by %s: end that first", openers);
	return fail("the module is in use, by a process that cannot be seen from here (%s)",
		    geteuid() ? "as root more can be seen" : "in another container maybe");
}

static int remove_module(struct kmod_module *mod, bool dry_run)
{
	int ret;

	switch (kmod_module_get_initstate(mod)) {
	case KMOD_MODULE_LIVE:
		break;
	case KMOD_MODULE_COMING:
	case KMOD_MODULE_GOING:
		return fail("the module is on its way in or out: try again");
	default:
		puts("The module is not loaded.");
		return finish(EXIT_OK);
	}
	if (kmod_module_get_refcnt(mod) > 0)
		return busy();
	if (dry_run) {
		puts("Nothing is in the way.");
		return finish(EXIT_OK);
	}
	ret = kmod_module_remove_module(mod, 0);
	switch (-ret) {
	case 0:
	case ENOENT:
		return EXIT_OK;
	case EAGAIN:
	case EBUSY:
		return busy();
	case EPERM:
		return fail("cannot unload: %s",
			    geteuid() ? "only root may unload modules: use sudo"
				      : "root lacks CAP_SYS_MODULE here, as in a container, or "
					"modules are fixed (kernel.modules_disabled=1)");
	}
	return fail("cannot unload: %s", strerror(-ret));
}

static int run_unload(const struct command *command, int argc, char **argv)
{
	struct kmod_module *mod = NULL;
	struct kmod_ctx *ctx;
	bool dry_run = false;
	int ret;

	while (next_option(command, argc, argv, true) >= 0)
		dry_run = true;
	if (optind < argc)
		return usage_error(command, "'%s' is too much: there are no arguments",
				   argv[optind]);
	ctx = kmod_new(NULL, NULL);
	if (ctx)
		kmod_set_log_priority(ctx, -1); /* what goes wrong is told below */
	if (!ctx || kmod_module_new_from_name(ctx, "auxtrace", &mod) < 0)
		ret = fail("out of memory");
	else
		ret = remove_module(mod, dry_run);
	kmod_module_unref(mod);
	kmod_unref(ctx);
	return ret;
}
