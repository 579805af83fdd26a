// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * auxtrace doctor: looks at all that has to be as it should for a recording, and says
 * what to do where it is not.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "command.h"
#include "json.h"
#include "module.h"
#include "text.h"
#include "tree.h"
#include "units.h"

#define TEXT_LEN   1024
#define PMUS	   "/sys/bus/event_source/devices"
#define CLASS	   "/sys/class/auxtrace"
#define PARAMETERS "/sys/module/auxtrace/parameters"

#define CAP_SYS_ADMIN_BIT 21
#define CAP_PERFMON_BIT	  38

enum {
	OPTION_JSON = 256,
	OPTION_ROOT,
};

static const struct option_info options[] = {
	{ OPTION_JSON, "json", NULL, "one JSON object instead of text" },
	{ OPTION_ROOT, "root", "DIR", "look at the copy of a system below DIR" },
	{ 0 },
};

static int run_doctor(const struct command *command, int argc, char **argv);

const struct command cmd_doctor = {
	.name = "doctor",
	.args = "",
	.summary = "Check what recording needs, and say what to do",
	.details =
		"Each line is a check: ok, note (good to know), or problem, with what to do about\n"
		"it below. Exit code: 0: no problem; 1: a problem stands in the way of recording.\n"
		"Changes nothing and opens no device. As root it sees more.\n",
	.options = options,
	.run = run_doctor,
};

enum verdict {
	NOTHING, /* the check does not apply here */
	OK,
	NOTE,
	PROBLEM,
};

/*
 * struct finding - what a check found
 * @verdict: NOTHING: not shown
 * @text: what is so
 * @advice: what to do; may be empty
 */
struct finding {
	enum verdict verdict;
	char text[TEXT_LEN];
	char advice[TEXT_LEN];
};

enum architecture {
	OTHER_CPU,
	INTEL,
	OTHER_X86,
	ARM,
};

/*
 * struct patient - what several checks look at, gathered before the first
 * @pmus: the trace PMUs that there are, with ", " between
 * @devices: how many devices there are
 */
struct patient {
	const char *root;
	char release[128];
	char cpuinfo[16384]; /* of the first CPUs */
	char config[256];    /* the file with the kernel's configuration; "": none */
	enum architecture architecture;
	bool has_pt_flag;
	bool virtual;
	char pmus[256];
	bool loaded;
	unsigned int devices;
	struct module module;
	int module_error;
};

static enum verdict found(struct finding *finding, enum verdict verdict, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static enum verdict found(struct finding *finding, enum verdict verdict, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(finding->text, sizeof(finding->text), format, args);
	va_end(args);
	finding->verdict = verdict;
	return verdict;
}

static void advise(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void advise(struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(finding->advice, sizeof(finding->advice), format, args);
	va_end(args);
}

/* The value behind "KEY :" in /proc/cpuinfo, of the first CPU. */
static bool cpuinfo_value(const struct patient *patient, const char *key, char *value, size_t size)
{
	const char *line = patient->cpuinfo;
	size_t len = strlen(key);

	*value = '\0';
	while (line && *line) {
		const char *behind = line + len;

		if (!strncmp(line, key, len) && *(behind += strspn(behind, "\t ")) == ':') {
			line = behind + 1 + strspn(behind + 1, " \t");
			append(value, size, "%.*s", (int)strcspn(line, "\n"), line);
			return true;
		}
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	return false;
}

static bool has_flag(const struct patient *patient, const char *flag)
{
	char flags[4096], *save, *word;

	cpuinfo_value(patient, "flags", flags, sizeof(flags));
	for (word = strtok_r(flags, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (!strcmp(word, flag))
			return true;
	}
	return false;
}

static bool has_pmu(const struct patient *patient, const char *name)
{
	size_t len = strlen(name);
	const char *at = patient->pmus;

	while ((at = strstr(at, name))) {
		if ((at == patient->pmus || at[-1] == ' ') && (!at[len] || at[len] == ','))
			return true;
		at += len;
	}
	return false;
}

static void add_pmu(struct patient *patient, const char *name)
{
	if (*name && !has_pmu(patient, name))
		append(patient->pmus, sizeof(patient->pmus), "%s%s", *patient->pmus ? ", " : "",
		       name);
}

/* The PMUs with an AUX buffer that are of use here; sysfs does not tell them apart. */
static int visit_pmu(const char *name, void *data)
{
	struct patient *patient = data;

	if (!strcmp(name, "intel_pt") || !strncmp(name, "arm_spe_", 8) ||
	    !strcmp(name, "auxtrace_sim"))
		add_pmu(patient, name);
	return 0;
}

static int visit_device(const char *name, void *data)
{
	struct patient *patient = data;
	char path[128], pmu[64];

	if (strncmp(name, "auxtrace", 8))
		return 0;
	patient->devices++;
	/* The module knows more PMUs than are known here. */
	snprintf(path, sizeof(path), CLASS "/%.40s/pmu", name);
	if (tree_read(patient->root, path, pmu, sizeof(pmu)))
		add_pmu(patient, pmu);
	return 0;
}

static void find_config(struct patient *patient)
{
	char candidates[3][sizeof(patient->config)] = { "", "", "/proc/config.gz" };

	snprintf(candidates[0], sizeof(candidates[0]), "/boot/config-%s", patient->release);
	snprintf(candidates[1], sizeof(candidates[1]), "/lib/modules/%s/config", patient->release);
	for (int i = 0; i < 3 && !*patient->config; i++) {
		if (tree_has(patient->root, candidates[i]))
			strcpy(patient->config, candidates[i]);
	}
}

static void examine(struct patient *patient)
{
	char value[256];

	tree_release(patient->root, patient->release, sizeof(patient->release));
	tree_read(patient->root, "/proc/cpuinfo", patient->cpuinfo, sizeof(patient->cpuinfo));
	if (cpuinfo_value(patient, "vendor_id", value, sizeof(value)))
		patient->architecture = strcmp(value, "GenuineIntel") ? OTHER_X86 : INTEL;
	else if (cpuinfo_value(patient, "CPU implementer", value, sizeof(value)))
		patient->architecture = ARM;
	patient->has_pt_flag = has_flag(patient, "intel_pt");
	patient->virtual = has_flag(patient, "hypervisor") ||
			   tree_has(patient->root, "/sys/hypervisor/type") ||
			   tree_has(patient->root, "/proc/device-tree/hypervisor");
	find_config(patient);
	tree_each(patient->root, PMUS, visit_pmu, patient);
	patient->loaded = tree_has(patient->root, "/sys/module/auxtrace");
	tree_each(patient->root, CLASS, visit_device, patient);
	patient->module_error = module_find(&patient->module, patient->root, patient->release);
}

static enum verdict check_kernel(const struct patient *patient, struct finding *finding)
{
	unsigned int version, patch;

	if (sscanf(patient->release, "%u.%u", &version, &patch) != 2)
		return found(finding, NOTE, "the kernel's release is unknown: /proc does not tell");
	if (version < 6 || (version == 6 && patch < 1)) {
		advise(finding, "boot a kernel of 6.1 or newer");
		return found(finding, PROBLEM, "Linux %s is too old", patient->release);
	}
	return found(finding, OK, "Linux %s", patient->release);
}

static enum verdict check_cpu(const struct patient *patient, struct finding *finding)
{
	char name[256];

	if (!cpuinfo_value(patient, "model name", name, sizeof(name)))
		strcpy(name, patient->architecture == ARM ? "Arm" : "unknown CPU");
	switch (patient->architecture) {
	case INTEL:
		if (patient->has_pt_flag)
			return found(finding, OK, "%s, which has Intel PT", name);
		if (patient->virtual)
			return found(finding, NOTE, "%s, which shows no Intel PT to this VM", name);
		return found(finding, NOTE, "%s, which has no Intel PT (Broadwell and newer have)",
			     name);
	case ARM:
		return found(finding, OK, "%s; whether it has SPE the PMUs tell", name);
	case OTHER_X86:
		return found(finding, NOTE, "%s, which has no hardware trace that Linux can record",
			     name);
	case OTHER_CPU:
		break;
	}
	return found(finding, NOTE, "%s: neither Intel nor Arm", name);
}

static enum verdict check_virtual(const struct patient *patient, struct finding *finding)
{
	char product[128];

	if (!patient->virtual)
		return NOTHING;
	if (!tree_read(patient->root, "/sys/class/dmi/id/product_name", product, sizeof(product)))
		strcpy(product, "unknown kind");
	if (*patient->pmus)
		return found(finding, OK, "a virtual machine (%s), which has a trace PMU", product);
	if (patient->architecture == INTEL)
		advise(finding, "use the machine itself; or KVM with pt_mode=1 of kvm_intel on the "
				"host and a CPU model that passes intel_pt on");
	else
		advise(finding, "use the machine itself");
	return found(finding, NOTE, "a virtual machine (%s), and few of them pass trace on",
		     product);
}

static enum verdict no_pmu(const struct patient *patient, struct finding *finding)
{
	if (patient->architecture == ARM)
		advise(finding, "load its driver (modprobe arm_spe_pmu), boot with kpti=off, and "
				"see that the firmware tells of SPE (dmesg | grep -i spe)");
	else if (patient->has_pt_flag)
		advise(finding, "see why the kernel's driver refused: dmesg | grep -i 'intel_pt\\|"
				"perf'; firmware that uses Intel PT itself is one cause");
	else
		advise(finding, "use a machine that has Intel PT or Arm SPE; to try auxtrace "
				"without, load the simulator auxtrace_sim (see the README)");
	return found(finding, PROBLEM, "there is no trace PMU (intel_pt, arm_spe_*) in " PMUS);
}

static enum verdict check_pmu(const struct patient *patient, struct finding *finding)
{
	if (!*patient->pmus)
		return no_pmu(patient, finding);
	return found(finding, OK, "%s", patient->pmus);
}

/* kpti=off where /proc/cmdline has it; on arm64 alone it matters. */
static enum verdict check_kpti(const struct patient *patient, struct finding *finding)
{
	char text[4096];

	if (patient->architecture != ARM)
		return NOTHING;
	tree_read(patient->root, "/proc/cmdline", text, sizeof(text));
	if (strstr(text, "kpti=off") || strstr(text, "kpti=0") || strstr(text, "kpti=n"))
		return found(finding, OK, "off");
	tree_read(patient->root, "/sys/devices/system/cpu/vulnerabilities/meltdown", text,
		  sizeof(text));
	if (!strstr(text, "PTI"))
		return found(finding, OK, "not in use (%s)", *text ? text : "the kernel is silent");
	advise(finding, "add kpti=off to the kernel's command line, and reboot");
	return found(finding, *patient->pmus ? NOTE : PROBLEM,
		     "kernel page table isolation is on, and keeps SPE off");
}

/* gzopen() reads what is not compressed as it is. */
static bool config_has(const struct patient *patient, const char *option, char *value)
{
	char path[PATH_MAX], line[512];
	size_t len = strlen(option);
	bool there = false;
	gzFile file;

	strcpy(value, "n");
	snprintf(path, sizeof(path), "%s%s", patient->root, patient->config);
	file = gzopen(path, "re");
	if (!file)
		return false;
	while (gzgets(file, line, sizeof(line))) {
		there = true;
		if (!strncmp(line, option, len) && line[len] == '=')
			snprintf(value, 8, "%.*s", (int)strcspn(line + len + 1, "\n"),
				 line + len + 1);
	}
	gzclose(file);
	return there;
}

static enum verdict check_config(const struct patient *patient, struct finding *finding)
{
	static const char *const needed[] = { "CONFIG_PERF_EVENTS", "CONFIG_MODULES",
					      "CONFIG_KPROBES", "CONFIG_DEBUG_INFO_BTF" };
	char missing[256] = "", value[8], consumer[32];
	/* A kernel that has the kernel-consumer API needs the first two alone. */
	bool native =
		tree_read(patient->root, PARAMETERS "/consumer", consumer, sizeof(consumer)) &&
		!strcmp(consumer, "native");

	if (!*patient->config)
		return found(finding, NOTE,
			     "the kernel's configuration is not to be found (/boot/config-%s, "
			     "/proc/config.gz)",
			     patient->release);
	for (int i = 0; i < (native ? 2 : 4); i++) {
		if (!config_has(patient, needed[i], value))
			return found(finding, NOTE, "%s cannot be read", patient->config);
		if (*value != 'y')
			append(missing, sizeof(missing), " %s", needed[i]);
	}
	if (patient->architecture == ARM) {
		config_has(patient, "CONFIG_ARM_SPE_PMU", value);
		if (*value == 'n')
			append(missing, sizeof(missing), " CONFIG_ARM_SPE_PMU");
	}
	if (!*missing)
		return found(finding, OK, "%s has what is needed", patient->config);
	advise(finding, "use a kernel that has it; Debian's have");
	return found(finding, PROBLEM, "the kernel was built without%s", missing);
}

static enum verdict check_btf(const struct patient *patient, struct finding *finding)
{
	if (patient->loaded)
		return NOTHING;
	if (tree_has(patient->root, "/sys/kernel/btf/vmlinux"))
		return NOTHING;
	advise(finding, "use a kernel with CONFIG_DEBUG_INFO_BTF, or one with perf's "
			"kernel-consumer AUX API");
	return found(finding, NOTE,
		     "no /sys/kernel/btf/vmlinux, which the module needs on most kernels");
}

static enum verdict check_module(const struct patient *patient, struct finding *finding)
{
	char text[TEXT_LEN], magic[256], consumer[32] = "", path[PATH_MAX];

	if (patient->loaded) {
		tree_read(patient->root, PARAMETERS "/consumer", consumer, sizeof(consumer));
		return found(finding, OK, "loaded, %u devices, provider %s", patient->devices,
			     consumer);
	}
	if (patient->module_error == -ENOENT) {
		advise(finding, "install the modules of the kernel that runs, or reboot into one "
				"that has them");
		return found(finding, PROBLEM, "there is no module tree /lib/modules/%s",
			     patient->release);
	}
	if (!patient->module.mod) {
		module_missing(patient->root, patient->release, text, sizeof(text));
		advise(finding, "%s", text);
		return found(finding, PROBLEM, "not there for this kernel");
	}
	if (!patient->module.info) {
		advise(finding, "build it again: dkms install --force");
		return found(finding, PROBLEM, "the file is damaged");
	}
	module_info(&patient->module, "vermagic", magic, sizeof(magic));
	magic[strcspn(magic, " ")] = '\0';
	if (strcmp(magic, patient->release)) {
		advise(finding, "build it again: dkms install --force");
		return found(finding, PROBLEM, "built for kernel %s", magic);
	}
	if (tree_modprobe_line(patient->root, "blacklist", "auxtrace", path, sizeof(path))) {
		advise(finding, "remove that line, then: auxtrace load");
		return found(finding, PROBLEM, "%s has 'blacklist auxtrace'", path);
	}
	advise(finding, "auxtrace load");
	return found(finding, PROBLEM, "built, but not loaded");
}

/* Secure Boot: the variable's fifth byte, behind its attributes. */
static bool secure_boot(const char *root)
{
	static const char name[] =
		"/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
	char path[PATH_MAX], text[5] = "";
	bool on;
	int fd;

	snprintf(path, sizeof(path), "%s%s", root, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	on = read(fd, text, sizeof(text)) == sizeof(text) && text[4] == 1;
	close(fd);
	return on;
}

static enum verdict check_signature(const struct patient *patient, struct finding *finding)
{
	char signer[256], enforced[8], lockdown[128];
	bool must;

	if (!patient->module.info)
		return NOTHING;
	tree_read(patient->root, "/sys/module/module/parameters/sig_enforce", enforced,
		  sizeof(enforced));
	tree_read(patient->root, "/sys/kernel/security/lockdown", lockdown, sizeof(lockdown));
	must = *enforced == 'Y' || (*lockdown && !strstr(lockdown, "[none]"));
	if (module_info(&patient->module, "signer", signer, sizeof(signer)))
		return found(finding, OK, "signed by %s", signer);
	if (!must && !secure_boot(patient->root))
		return found(finding, OK, "unsigned, and this kernel takes unsigned modules");
	if (patient->loaded)
		return found(finding, NOTE, "the file is unsigned, though the module is loaded");
	advise(finding, "let DKMS sign it: mokutil --import /var/lib/dkms/mok.pub, reboot and "
			"enrol it, then dkms install --force");
	return found(finding, must ? PROBLEM : NOTE, "unsigned, and %s",
		     must ? "this kernel takes signed modules alone"
			  : "with Secure Boot most kernels take signed modules alone");
}

static enum verdict check_lockdown(const struct patient *patient, struct finding *finding)
{
	char text[128];

	if (!tree_read(patient->root, "/sys/kernel/security/lockdown", text, sizeof(text)))
		return found(finding, OK, "this kernel has none, or does not show it");
	if (strstr(text, "[confidentiality]")) {
		advise(finding, "boot without lockdown=confidentiality: integrity lets auxtrace "
				"work");
		return found(finding, PROBLEM, "confidentiality: no device can be opened");
	}
	if (strstr(text, "[integrity]"))
		return found(finding, OK, "integrity: modules must be signed");
	return found(finding, OK, "none");
}

/* Who runs the tool, as /proc/self/status tells; of groups there may be tens of thousands. */
struct user {
	unsigned int uid;
	gid_t *groups;
	size_t nr_groups;
	bool perfmon;
};

static void add_group(struct user *user, gid_t gid)
{
	gid_t *more = reallocarray(user->groups, user->nr_groups + 1, sizeof(*more));

	if (!more)
		return;
	user->groups = more;
	more[user->nr_groups++] = gid;
}

static void take_status_line(struct user *user, const char *line)
{
	uint64_t capabilities;
	unsigned int gid;
	char *end;

	if (sscanf(line, "Uid: %*u %u", &user->uid) == 1)
		return;
	if (sscanf(line, "Gid: %*u %u", &gid) == 1)
		add_group(user, gid);
	if (sscanf(line, "CapEff: %" SCNx64, &capabilities) == 1)
		user->perfmon = capabilities >> CAP_PERFMON_BIT & 1 ||
				capabilities >> CAP_SYS_ADMIN_BIT & 1;
	if (strncmp(line, "Groups:", 7))
		return;
	for (line += 7; gid = strtoul(line, &end, 10), end != line; line = end)
		add_group(user, gid);
}

static void find_user(const struct patient *patient, struct user *user)
{
	char path[PATH_MAX], *line = NULL;
	size_t room = 0;
	FILE *file;

	*user = (struct user){ .uid = UINT_MAX };
	snprintf(path, sizeof(path), "%s/proc/self/status", patient->root);
	file = fopen(path, "re");
	if (!file)
		return;
	while (getline(&line, &room, file) > 0)
		take_status_line(user, line);
	free(line);
	fclose(file);
}

static bool in_group(const struct user *user, gid_t gid)
{
	size_t i;

	for (i = 0; i < user->nr_groups; i++) {
		if (user->groups[i] == gid)
			return true;
	}
	return false;
}

static void group_name(const char *root, gid_t gid, char *name, size_t size)
{
	char path[PATH_MAX];
	struct group *group;
	FILE *file;

	snprintf(name, size, "%u", gid);
	snprintf(path, sizeof(path), "%s/etc/group", root);
	file = fopen(path, "re");
	if (!file)
		return;
	while ((group = fgetgrent(file))) {
		if (group->gr_gid == gid) {
			snprintf(name, size, "%s", group->gr_name);
			break;
		}
	}
	fclose(file);
}

static int first_device(const char *name, void *data)
{
	if (strncmp(name, "auxtrace", 8))
		return 0;
	snprintf(data, 64, "/dev/%.50s", name);
	return 1;
}

static enum verdict by_node(const struct patient *patient, const struct user *user,
			    const struct stat *node, const char *device, struct finding *finding)
{
	char group[64];

	if (user->uid == node->st_uid && node->st_mode & 0400)
		return found(finding, OK, "you own %s", device);
	if (in_group(user, node->st_gid) && node->st_mode & 0040)
		return found(finding, OK, "your group may open %s", device);
	if (node->st_mode & 0004)
		return found(finding, NOTE, "everybody may open %s", device);
	group_name(patient->root, node->st_gid, group, sizeof(group));
	if (node->st_mode & 0040 && node->st_gid)
		advise(finding, "join the group: sudo usermod -aG %s $USER, then log in again",
		       group);
	else
		advise(finding, "use sudo; or give the devices to a group by a udev rule: see "
				"auxtrace(4)");
	return found(finding, PROBLEM, "you may not open %s (mode %04o, group %s)", device,
		     node->st_mode & 07777, group);
}

static enum verdict access_of(const struct patient *patient, const struct user *user,
			      struct finding *finding)
{
	char device[64], path[PATH_MAX], group_access[8];
	struct stat node;

	if (!patient->loaded || !tree_each(patient->root, CLASS, first_device, device)) {
		if (user->perfmon)
			return NOTHING;
		return found(finding, NOTE,
			     "to load the module, and by default to record, takes "
			     "root");
	}
	snprintf(path, sizeof(path), "%s%s", patient->root, device);
	if (stat(path, &node)) {
		advise(finding, "see that udev runs, or in a container pass the device in");
		return found(finding, PROBLEM, "%s is not there", device);
	}
	if (!*patient->root && !S_ISCHR(node.st_mode)) {
		advise(finding, "remove that file, then: auxtrace unload; auxtrace load");
		return found(finding, PROBLEM, "%s is a plain file, no device", device);
	}
	if (!user->uid && user->perfmon)
		return found(finding, OK, "root may open the devices");
	tree_read(patient->root, PARAMETERS "/group_access", group_access, sizeof(group_access));
	if (!user->perfmon && *group_access != 'Y') {
		advise(finding, "use sudo; or let the devices' group open them: echo 1 | sudo "
				"tee " PARAMETERS "/group_access");
		return found(finding, PROBLEM, "you lack CAP_PERFMON, and group_access is off");
	}
	return by_node(patient, user, &node, device, finding);
}

static enum verdict check_access(const struct patient *patient, struct finding *finding)
{
	struct user user;
	enum verdict verdict;

	find_user(patient, &user);
	verdict = access_of(patient, &user, finding);
	free(user.groups);
	return verdict;
}

static enum verdict check_openers(const struct patient *patient, struct finding *finding)
{
	char text[512];

	if (!tree_openers(patient->root, OPEN_DEVICE, text, sizeof(text)))
		return NOTHING;
	advise(finding, "a device has one reader at a time: end these to read it yourself");
	return found(finding, NOTE, "in use: %s", text);
}

static enum verdict check_perf(const struct patient *patient, struct finding *finding)
{
	char text[512];

	if (!tree_openers(patient->root, OPEN_PERF, text, sizeof(text)))
		return NOTHING;
	if (has_pmu(patient, "intel_pt"))
		advise(finding, "if opening a device fails with EBUSY: Intel PT has one user at a "
				"time, and one of these may be it");
	return found(finding, NOTE, "perf events are open: %s", text);
}

/* Before Skylake, PT is off while the CPU is in VMX operation. */
static enum verdict check_vmx(const struct patient *patient, struct finding *finding)
{
	static const char *const exclusive[] = { "61", "71", "79", "86" };
	char model[16], family[16], mode[8];

	if (patient->architecture != INTEL || !tree_has(patient->root, "/sys/module/kvm_intel"))
		return NOTHING;
	cpuinfo_value(patient, "cpu family", family, sizeof(family));
	cpuinfo_value(patient, "model", model, sizeof(model));
	for (size_t i = 0; i < sizeof(exclusive) / sizeof(exclusive[0]); i++) {
		if (!strcmp(family, "6") && !strcmp(model, exclusive[i])) {
			advise(finding, "end virtual machines on the CPUs that you record");
			return found(finding, NOTE,
				     "this CPU (Broadwell) traces nothing while KVM uses it");
		}
	}
	tree_read(patient->root, "/sys/module/kvm_intel/parameters/pt_mode", mode, sizeof(mode));
	if (!strcmp(mode, "1"))
		return found(finding, NOTE,
			     "kvm_intel has pt_mode=1: the trace stops while guests run");
	return NOTHING;
}

static enum verdict check_cpus(const struct patient *patient, struct finding *finding)
{
	char present[256], online[256];

	tree_read(patient->root, "/sys/devices/system/cpu/present", present, sizeof(present));
	tree_read(patient->root, "/sys/devices/system/cpu/online", online, sizeof(online));
	if (!*present || !*online)
		return NOTHING;
	if (strcmp(present, online))
		return found(finding, NOTE,
			     "%s are online, of %s: others have no trace until they are", online,
			     present);
	return found(finding, OK, "all online (%s)", online);
}

/* What the devices say together: which are in error, how much memory they would take. */
struct states {
	const struct patient *patient;
	char names[256];
	uint64_t buffers;
};

static int visit_state(const char *name, void *data)
{
	struct states *states = data;
	char path[128], value[64];
	uint64_t size = 0;

	snprintf(path, sizeof(path), CLASS "/%.40s/state", name);
	tree_read(states->patient->root, path, value, sizeof(value));
	if (!strcmp(value, "error"))
		append(states->names, sizeof(states->names), " %s", name);
	snprintf(path, sizeof(path), CLASS "/%.40s/buffer_size", name);
	tree_read(states->patient->root, path, value, sizeof(value));
	parse_number(value, &size);
	states->buffers += size;
	return 0;
}

static enum verdict check_devices(const struct patient *patient, struct finding *finding)
{
	struct states states = { .patient = patient };
	char text[64], need[UNITS_LEN], cap[UNITS_LEN];
	uint64_t total = 0;

	if (!patient->loaded)
		return NOTHING;
	tree_each(patient->root, CLASS, visit_state, &states);
	if (*states.names) {
		advise(finding, "see the kernel's log (dmesg), then close and open them again");
		return found(finding, PROBLEM, "in error, the PMU refuses to run:%s", states.names);
	}
	tree_read(patient->root, PARAMETERS "/max_total", text, sizeof(text));
	parse_number(text, &total);
	format_size(need, states.buffers);
	format_size(cap, total);
	if (total && states.buffers > total) {
		advise(finding,
		       "record fewer CPUs, take a smaller buffer_size, or raise " PARAMETERS
		       "/max_total");
		return found(finding, NOTE,
			     "the buffers of all devices together (%s) are over max_total (%s)",
			     need, cap);
	}
	return found(finding, OK, "buffers of all together %s, max_total %s", need, cap);
}

/* In the order in which one thing needs the other. */
static const struct {
	const char *name;
	enum verdict (*check)(const struct patient *patient, struct finding *finding);
} checks[] = {
	{ "kernel", check_kernel },	{ "config", check_config },
	{ "btf", check_btf },		{ "cpu", check_cpu },
	{ "vm", check_virtual },	{ "kpti", check_kpti },
	{ "pmu", check_pmu },		{ "vmx", check_vmx },
	{ "lockdown", check_lockdown }, { "signature", check_signature },
	{ "module", check_module },	{ "cpus", check_cpus },
	{ "devices", check_devices },	{ "access", check_access },
	{ "readers", check_openers },	{ "perf", check_perf },
};

static const char *const verdict_names[] = { [OK] = "ok", [NOTE] = "note", [PROBLEM] = "problem" };

static void print_finding(const char *name, const struct finding *finding)
{
	static const char *const colors[] = {
		[OK] = "\033[32m", [NOTE] = "\033[33m", [PROBLEM] = "\033[31m"
	};
	bool color = may_color(stdout);

	printf("%s%-8s%s %-10s ", color ? colors[finding->verdict] : "",
	       verdict_names[finding->verdict], color ? "\033[0m" : "", name);
	text_print(stdout, finding->text);
	if (*finding->advice) {
		printf("\n%-8s %-10s > ", "", "");
		text_print(stdout, finding->advice);
	}
	putchar('\n');
}

static void write_finding(struct json *json, const char *name, const struct finding *finding)
{
	json_open(json, NULL, '{');
	json_string(json, "check", name);
	json_string(json, "verdict", verdict_names[finding->verdict]);
	json_string(json, "text", finding->text);
	json_string(json, "advice", *finding->advice ? finding->advice : NULL);
	json_close(json, '}');
}

/* Returns the number of problems. */
static unsigned int check_all(const struct patient *patient, bool as_json)
{
	struct json json = { .to = stdout };
	unsigned int count[PROBLEM + 1] = { 0 };

	if (as_json) {
		json_open(&json, NULL, '{');
		json_open(&json, "checks", '[');
	}
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		struct finding finding = { 0 };

		checks[i].check(patient, &finding);
		count[finding.verdict]++;
		if (!finding.verdict)
			continue;
		if (as_json)
			write_finding(&json, checks[i].name, &finding);
		else
			print_finding(checks[i].name, &finding);
	}
	if (as_json) {
		json_close(&json, ']');
		json_number(&json, "problems", count[PROBLEM]);
		json_number(&json, "notes", count[NOTE]);
		json_close(&json, '}');
		json_end_line(&json);
	} else {
		printf("\nproblems: %u, notes: %u\n", count[PROBLEM], count[NOTE]);
	}
	return count[PROBLEM];
}

static int run_doctor(const struct command *command, int argc, char **argv)
{
	static struct patient patient;
	bool as_json = false;
	unsigned int problems;
	int key;

	patient.root = "";
	while ((key = next_option(command, argc, argv, true)) >= 0) {
		if (key == OPTION_JSON)
			as_json = true;
		else
			patient.root = optarg;
	}
	if (optind < argc)
		return usage_error(command, "'%s' is too much: there are no arguments",
				   argv[optind]);
	if (*patient.root && !tree_has(patient.root, "/proc"))
		return fail("%s is no copy of a system: it has no proc folder", patient.root);
	examine(&patient);
	problems = check_all(&patient, as_json);
	module_free(&patient.module);
	return finish(problems ? EXIT_FAILED : EXIT_OK);
}
