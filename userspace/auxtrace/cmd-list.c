// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * auxtrace list: which PMUs write trace, which devices there are, who may open them.
 */
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "devices.h"
#include "json.h"
#include "tree.h"

#define CAP_SYS_ADMIN_BIT 21
#define CAP_PERFMON_BIT	  38

enum { OPTION_JSON = 256 };

static const struct option_info options[] = {
	{ OPTION_JSON, "json", NULL, "as JSON" },
	{ 0 },
};

static int run_list(const struct command *command, int argc, char **argv);

const struct command cmd_list = {
	.name = "list",
	.args = "",
	.summary = "List the PMUs that write trace, and the devices",
	.details =
		"A PMU is listed if it is known to have an AUX buffer, or if the module uses it.\n",
	.options = options,
	.run = run_list,
};

/* A device, as sysfs and its node tell. */
struct device {
	unsigned int cpu;
	char path[32];
	char pmu[64];
	char state[32];
	char who[160]; /* may open it */
	bool you;
};

struct pmu {
	char name[256];
	char type[16];
	char cpus[256];
	bool used;
};

struct found {
	struct device *devices;
	size_t nr_devices;
	struct pmu *pmus;
	size_t nr_pmus;
};

/* ---- PMUs ------------------------------------------------------------------------------ */

/* sysfs does not tell which PMUs have an AUX buffer. */
static bool is_known(const char *name)
{
	static const char *const prefixes[] = { "intel_pt", "intel_bts", "arm_spe_",
						"cs_etm",   "hisi_ptt",	 "auxtrace_sim" };
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	}
	return false;
}

static bool is_used(const struct found *found, const char *name)
{
	size_t i;

	for (i = 0; i < found->nr_devices; i++) {
		if (!strcmp(found->devices[i].pmu, name))
			return true;
	}
	return false;
}

/* The first line of a file of the PMU, "" if there is none. */
static void read_of_pmu(const char *pmu, const char *file, char *text, size_t size)
{
	char path[512];
	FILE *from;

	*text = '\0';
	snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/%s", sysfs() ?: "/sys", pmu,
		 file);
	from = fopen(path, "re");
	if (!from)
		return;
	if (!fgets(text, size, from))
		*text = '\0';
	text[strcspn(text, "\n")] = '\0';
	fclose(from);
}

static void add_pmu(struct found *found, const char *name)
{
	struct pmu *more = reallocarray(found->pmus, found->nr_pmus + 1, sizeof(*more)), *pmu;

	if (!more)
		return;
	found->pmus = more;
	pmu = &more[found->nr_pmus++];
	snprintf(pmu->name, sizeof(pmu->name), "%s", name);
	read_of_pmu(name, "type", pmu->type, sizeof(pmu->type));
	read_of_pmu(name, "cpumask", pmu->cpus, sizeof(pmu->cpus));
	if (!*pmu->cpus)
		read_of_pmu(name, "cpus", pmu->cpus, sizeof(pmu->cpus));
	pmu->used = is_used(found, name);
}

static int compare_pmus(const void *a, const void *b)
{
	return strcmp(((const struct pmu *)a)->name, ((const struct pmu *)b)->name);
}

static void find_pmus(struct found *found)
{
	struct dirent *entry;
	char path[256];
	DIR *folder;

	snprintf(path, sizeof(path), "%s/bus/event_source/devices", sysfs() ?: "/sys");
	folder = opendir(path);
	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		if (is_known(entry->d_name) || is_used(found, entry->d_name))
			add_pmu(found, entry->d_name);
	}
	closedir(folder);
	if (found->nr_pmus)
		qsort(found->pmus, found->nr_pmus, sizeof(*found->pmus), compare_pmus);
}

/* ---- Who may open them --------------------------------------------------------------------- */

static bool group_access(void)
{
	char path[256], text[8] = "";
	FILE *from;

	snprintf(path, sizeof(path), "%s/module/auxtrace/parameters/group_access",
		 sysfs() ?: "/sys");
	from = fopen(path, "re");
	if (!from)
		return false;
	if (!fgets(text, sizeof(text), from))
		*text = '\0';
	fclose(from);
	return *text == '1' || *text == 'Y';
}

/* Has this process CAP_PERFMON or CAP_SYS_ADMIN? */
static bool is_capable(void)
{
	FILE *from = fopen("/proc/self/status", "re");
	unsigned long long caps = 0;
	char line[128];

	if (!from)
		return false;
	while (fgets(line, sizeof(line), from)) {
		if (sscanf(line, "CapEff: %llx", &caps) == 1)
			break;
	}
	fclose(from);
	return caps >> CAP_SYS_ADMIN_BIT & 1 || caps >> CAP_PERFMON_BIT & 1;
}

/* Those whom the node's mode lets in. */
static void describe_mode(const struct stat *st, char *text, size_t size)
{
	struct passwd *owner = getpwuid(st->st_uid);
	struct group *group = getgrgid(st->st_gid);

	*text = '\0';
	if (st->st_mode & 0004) {
		append(text, size, "everybody");
		return;
	}
	if (st->st_uid && st->st_mode & 0400) {
		if (owner)
			append(text, size, "user %s, ", owner->pw_name);
		else
			append(text, size, "user %u, ", st->st_uid);
	}
	if (st->st_mode & 0040) {
		if (group)
			append(text, size, "group %s, ", group->gr_name);
		else
			append(text, size, "group %u, ", st->st_gid);
	}
	append(text, size, "root");
}

static void find_who(struct device *device)
{
	struct stat st;

	if (stat(device->path, &st) || !S_ISCHR(st.st_mode)) {
		snprintf(device->who, sizeof(device->who), "nobody: there is no node");
		return;
	}
	if (group_access())
		describe_mode(&st, device->who, sizeof(device->who));
	else
		snprintf(device->who, sizeof(device->who), "CAP_PERFMON");
	device->you = !access(device->path, R_OK) && (group_access() || is_capable());
}

/* ---- Devices -----------------------------------------------------------------------------------
 */

static int find_devices(struct found *found)
{
	unsigned int *cpus;
	size_t n, i;
	int ret = auxtrace_cpus_all(sysfs(), &cpus, &n);

	if (ret)
		return ret;
	found->devices = calloc(n, sizeof(*found->devices));
	if (!found->devices) {
		free(cpus);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++) {
		struct device *device = &found->devices[i];

		device->cpu = cpus[i];
		snprintf(device->path, sizeof(device->path), "/dev/auxtrace%u", cpus[i]);
		if (auxtrace_attribute_get(sysfs(), cpus[i], "pmu", device->pmu,
					   sizeof(device->pmu)) < 0)
			strcpy(device->pmu, "?");
		if (auxtrace_attribute_get(sysfs(), cpus[i], "state", device->state,
					   sizeof(device->state)) < 0)
			strcpy(device->state, "?");
		find_who(device);
	}
	found->nr_devices = n;
	free(cpus);
	return 0;
}

/* ---- Output
 * ---------------------------------------------------------------------------------------- */

static void print_text(const struct found *found)
{
	size_t i;

	printf("%-16s %5s  %-8s %s\n", "PMU", "TYPE", "USED", "CPUS");
	for (i = 0; i < found->nr_pmus; i++) {
		const struct pmu *pmu = &found->pmus[i];

		printf("%-16s %5s  %-8s %s\n", pmu->name, pmu->type, pmu->used ? "yes" : "no",
		       *pmu->cpus ? pmu->cpus : "all");
	}
	printf("\n%-16s %5s  %-16s %-8s %-4s %s\n", "DEVICE", "CPU", "PMU", "STATE", "YOU",
	       "MAY BE OPENED BY");
	for (i = 0; i < found->nr_devices; i++) {
		const struct device *device = &found->devices[i];

		printf("%-16s %5u  %-16s %-8s %-4s %s\n", device->path, device->cpu, device->pmu,
		       device->state, device->you ? "yes" : "no", device->who);
	}
}

static void print_json(const struct found *found)
{
	struct json json = { .to = stdout };
	size_t i;

	json_open(&json, NULL, '{');
	json_open(&json, "pmus", '[');
	for (i = 0; i < found->nr_pmus; i++) {
		const struct pmu *pmu = &found->pmus[i];

		json_open(&json, NULL, '{');
		json_string(&json, "name", pmu->name);
		json_number(&json, "type", strtoul(pmu->type, NULL, 10));
		json_bool(&json, "used", pmu->used);
		json_string(&json, "cpus", *pmu->cpus ? pmu->cpus : NULL);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_open(&json, "devices", '[');
	for (i = 0; i < found->nr_devices; i++) {
		const struct device *device = &found->devices[i];

		json_open(&json, NULL, '{');
		json_string(&json, "device", device->path);
		json_number(&json, "cpu", device->cpu);
		json_string(&json, "pmu", device->pmu);
		json_string(&json, "state", device->state);
		json_bool(&json, "you", device->you);
		json_string(&json, "may_open", device->who);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_close(&json, '}');
	json_end_line(&json);
}

static int run_list(const struct command *command, int argc, char **argv)
{
	struct found found = {};
	bool as_json = false;
	int option, ret;

	while ((option = next_option(command, argc, argv, true)) >= 0)
		as_json = option == OPTION_JSON;
	if (optind < argc)
		return usage_error(command, "'%s' is one argument too many", argv[optind]);

	ret = find_devices(&found);
	if (ret && ret != -ENODEV)
		return fail("cannot list the devices: %s", strerror(-ret));
	find_pmus(&found);
	if (as_json)
		print_json(&found);
	else
		print_text(&found);
	if (ret == -ENODEV)
		warn("there are no devices: the module is not loaded; see auxtrace load");
	free(found.devices);
	free(found.pmus);
	return finish(EXIT_OK);
}
