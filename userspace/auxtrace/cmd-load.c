// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * auxtrace load: loads the kernel module, by libkmod, and explains why not.
 */
#include <errno.h>
#include <fcntl.h>
#include <libkmod.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "module.h"
#include "tree.h"

#define TEXT_LEN 1024

enum {
	OPTION_ROOT = 256,
};

static const struct option_info options[] = {
	{ 'n', "dry-run", NULL, "check everything, show what would be loaded, load nothing" },
	{ 'v', "verbose", NULL, "show what is loaded, as insmod commands" },
	{ OPTION_ROOT, "root", "DIR", "take modules and modprobe.d below DIR; needs --dry-run" },
	{ 0 },
};

static int run_load(const struct command *command, int argc, char **argv);

const struct command cmd_load = {
	.name = "load",
	.args = "[NAME=VALUE...]",
	.summary = "Load the kernel module",
	.details = "NAME=VALUE are the module's parameters, such as pmu=intel_pt buffer_size=64M;\n"
		   "auxtrace(4) lists them. They come on top of the options in modprobe.d, whose\n"
		   "blacklist lines hold too. A module that is loaded already is left as it is.\n",
	.options = options,
	.run = run_load,
};

struct load {
	const char *root;
	bool dry_run;
	bool verbose;
	char release[128];
	char *parameters; /* with spaces between them; NULL: none */
	struct module module;
};

/* The parameters as one text, for the kernel. */
static int join_parameters(struct load *load, const struct command *command, char **argv)
{
	size_t size = 1;
	char **arg;

	for (arg = argv; *arg; arg++) {
		if (**arg == '=' || !strchr(*arg, '='))
			return usage_error(command, "'%s' is not of the form NAME=VALUE", *arg);
		if (strpbrk(*arg, " \t\n\""))
			return usage_error(command, "'%s': no white space and no quotes", *arg);
		size += strlen(*arg) + 1;
	}
	if (!*argv)
		return EXIT_OK;
	load->parameters = calloc(1, size);
	if (!load->parameters)
		return fail("out of memory");
	for (arg = argv; *arg; arg++) {
		if (arg != argv)
			strcat(load->parameters, " ");
		strcat(load->parameters, *arg);
	}
	return EXIT_OK;
}

/* The kernel ignores parameters that it does not know, with a line in its log. */
static int check_parameters(const struct load *load, char **argv)
{
	char name[64], description[TEXT_LEN], names[TEXT_LEN];

	for (; *argv; argv++) {
		size_t len = strcspn(*argv, "=");

		snprintf(name, sizeof(name), "%.*s", (int)len, *argv);
		if (!module_parameter(&load->module, name, description, sizeof(description))) {
			module_parameters(&load->module, names, sizeof(names));
			return fail("the module has no parameter '%s'; it has: %s", name, names);
		}
		if (!strncmp(description, "read only", 9))
			return fail("the parameter %s can only be read", name);
	}
	return EXIT_OK;
}

/* The same, for modprobe.d. */
static void check_configuration(const struct load *load)
{
	const char *configured = kmod_module_get_options(load->module.mod);
	char name[64], description[TEXT_LEN], path[PATH_MAX];

	while (configured && *configured) {
		size_t len = strcspn(configured, " ");

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(configured, "= "), configured);
		if (*name &&
		    !module_parameter(&load->module, name, description, sizeof(description))) {
			tree_modprobe_line(load->root, "options", "auxtrace", path, sizeof(path));
			warn("%s: the module has no parameter '%s', which the kernel will ignore",
			     path, name);
		}
		configured += len + strspn(configured + len, " ");
	}
}

static int deny_listed(const struct load *load)
{
	char path[PATH_MAX];

	if (tree_modprobe_line(load->root, "blacklist", "auxtrace", path, sizeof(path)))
		return fail("%s has 'blacklist auxtrace': remove that line, or disregard it by "
			    "modprobe auxtrace",
			    path);
	return fail("the kernel's command line denies the module (modprobe.blacklist=): disregard "
		    "that by modprobe auxtrace");
}

static void print_action(struct kmod_module *mod, bool install, const char *text)
{
	(void)mod;
	if (install)
		printf("install %s\n", text);
	else
		printf("insmod %s\n", text);
}

static void print_insmod(struct kmod_module *mod, bool install, const char *options_text)
{
	char text[TEXT_LEN] = "";
	const char *path = kmod_module_get_path(mod);

	if (!install)
		append(text, sizeof(text), "%s%s", path ? path : kmod_module_get_name(mod),
		       options_text && *options_text ? " " : "");
	append(text, sizeof(text), "%s", options_text ? options_text : "");
	print_action(mod, install, text);
}

static void no_print(struct kmod_module *mod, bool install, const char *options_text)
{
	(void)mod, (void)install, (void)options_text;
}

/*
 * The kernel's log from here on; -1 where it cannot be read.
 */
static int mark_log(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

static bool is_ours(const char *message)
{
	static const char *const starts[] = { "auxtrace: ", "auxtrace",	       "Loading of ",
					      "Lockdown: ", "Module auxtrace", "Unsigned module",
					      NULL };

	for (int i = 0; starts[i]; i++) {
		if (!strncmp(message, starts[i], strlen(starts[i])))
			return true;
	}
	return false;
}

/*
 * What the kernel has said of the module since mark_log(): the first line that is no
 * mere remark about taint. Lines behind it tell less of the cause.
 */
static void read_log(int fd, char *text, size_t size)
{
	char record[8192], *message;
	ssize_t n;

	*text = '\0';
	if (fd < 0)
		return;
	/* EPIPE: records were overwritten; the next read goes on behind. */
	while ((n = read(fd, record, sizeof(record) - 1)) > 0 || (n < 0 && errno == EPIPE)) {
		if (n < 0)
			continue;
		record[n] = '\0';
		message = strchr(record, ';');
		if (!message++)
			continue;
		message[strcspn(message, "\n")] = '\0';
		if (is_ours(message) && !strstr(message, "taint")) {
			append(text, size, "%s", message);
			break;
		}
	}
	close(fd);
}

static const char *explain_permission(const struct load *load)
{
	char text[128];

	if (geteuid())
		return "only root may load modules: use sudo";
	tree_read(load->root, "/proc/sys/kernel/modules_disabled", text, sizeof(text));
	if (!strcmp(text, "1"))
		return "this system loads no more modules until it reboots "
		       "(kernel.modules_disabled=1)";
	tree_read(load->root, "/sys/kernel/security/lockdown", text, sizeof(text));
	if (*text && !strstr(text, "[none]"))
		return "the kernel is locked down and takes signed modules alone: sign it with a "
		       "key that the machine trusts (mokutil --import /var/lib/dkms/mok.pub, "
		       "then reboot)";
	tree_read(load->root, "/proc/cmdline", text, sizeof(text));
	if (strstr(text, "module_blacklist="))
		return "the kernel's command line denies the module (module_blacklist=)";
	return "not permitted: root lacks CAP_SYS_MODULE here, as in a container; load it on the "
	       "host";
}

static const char *explain(const struct load *load, int error, char *text, size_t size)
{
	char magic[256];

	switch (error) {
	case EPERM:
	case EACCES:
		return explain_permission(load);
	case ENOENT:
		return "the module needs a symbol that this kernel lacks; it was built for another "
		       "one: build it again (dkms install --force)";
	case EKEYREJECTED:
	case ENOKEY:
	case EBADMSG:
	case ELIBBAD:
		return "the kernel refuses the module's signature: sign it with a key that the "
		       "machine trusts (mokutil --import /var/lib/dkms/mok.pub, then reboot and "
		       "enrol it)";
	case ENOEXEC:
		module_info(&load->module, "vermagic", magic, sizeof(magic));
		snprintf(text, size,
			 "the module was built for another kernel (%s): build it again (dkms "
			 "install --force)",
			 magic);
		return text;
	case ENODEV:
		return "no trace PMU to be had; auxtrace doctor tells more";
	case EINVAL:
		return "a parameter's value was refused";
	case EOPNOTSUPP:
		return "this kernel lacks something that the module needs, or the PMU cannot do "
		       "what the parameters ask";
	case ENOMEM:
		return "out of memory";
	case EBUSY:
		return "the module is on its way in or out: try again";
	}
	return strerror(error);
}

static int refused(const struct load *load, int error, int log)
{
	char text[TEXT_LEN], line[TEXT_LEN], path[PATH_MAX];

	if (kmod_module_get_install_commands(load->module.mod) &&
	    tree_modprobe_line(load->root, "install", "auxtrace", path, sizeof(path))) {
		close(log);
		return fail("the command of 'install auxtrace' in %s failed: remove that line",
			    path);
	}
	read_log(log, line, sizeof(line));
	/* Whether it is there with another version, or not at all. */
	if (strstr(line, "Unknown symbol"))
		error = ENOENT;
	if (*line)
		return fail("cannot load: %s; the kernel's log: %s",
			    explain(load, error, text, sizeof(text)), line);
	return fail("cannot load: %s; the kernel's log (dmesg) may tell more",
		    explain(load, error, text, sizeof(text)));
}

static bool is_loaded(const struct load *load)
{
	int state = kmod_module_get_initstate(load->module.mod);

	return !*load->root && (state == KMOD_MODULE_LIVE || state == KMOD_MODULE_COMING);
}

static int probe(const struct load *load)
{
	unsigned int flags = KMOD_PROBE_APPLY_BLACKLIST;
	int log = -1, ret;

	if (load->dry_run)
		flags |= KMOD_PROBE_DRY_RUN;
	/* By --root it is not this system that matters. */
	if (*load->root)
		flags |= KMOD_PROBE_IGNORE_LOADED;
	if (!load->dry_run)
		log = mark_log();
	ret = kmod_module_probe_insert_module(load->module.mod, flags, load->parameters, NULL, NULL,
					      load->verbose || load->dry_run ? print_insmod
									     : no_print);
	if (ret == KMOD_PROBE_APPLY_BLACKLIST) {
		if (log >= 0)
			close(log);
		return deny_listed(load);
	}
	if (ret < 0 && ret != -EEXIST)
		return refused(load, -ret, log);
	if (log >= 0)
		close(log);
	return finish(EXIT_OK);
}

static int find_and_load(struct load *load, char **parameters)
{
	char text[TEXT_LEN];
	int ret;

	tree_release(load->root, load->release, sizeof(load->release));
	ret = module_find(&load->module, load->root, load->release);
	if (ret == -ENOENT)
		return fail("there is no module tree %s/lib/modules/%s: install the modules of the "
			    "kernel that runs, or reboot into one that has them",
			    load->root, load->release);
	if (ret)
		return fail("cannot look up the module: %s", strerror(-ret));
	if (!load->module.mod) {
		module_missing(load->root, load->release, text, sizeof(text));
		return fail("%s", text);
	}
	if (!load->module.info)
		return fail("%s is damaged: build it again (dkms install --force)",
			    kmod_module_get_path(load->module.mod));
	ret = check_parameters(load, parameters);
	if (ret)
		return ret;
	if (is_loaded(load)) {
		if (load->parameters)
			return fail("the module is loaded already, with other parameters maybe: "
				    "run auxtrace unload first");
		puts("The module is loaded already.");
		return finish(EXIT_OK);
	}
	check_configuration(load);
	return probe(load);
}

static int run_load(const struct command *command, int argc, char **argv)
{
	struct load load = { .root = "" };
	int key, ret;

	while ((key = next_option(command, argc, argv, true)) >= 0) {
		switch (key) {
		case 'n':
			load.dry_run = true;
			break;
		case 'v':
			load.verbose = true;
			break;
		case OPTION_ROOT:
			load.root = optarg;
			break;
		}
	}
	if (*load.root && !load.dry_run)
		return usage_error(command, "--root needs --dry-run");
	ret = join_parameters(&load, command, argv + optind);
	if (!ret) {
		ret = find_and_load(&load, argv + optind);
		module_free(&load.module);
	}
	free(load.parameters);
	return ret;
}
