/* SPDX-License-Identifier: MIT */
/*
 * Words that everybody may know: they come from the kernel, from perf or from the format, not from who recorded. A
 * word that is not here is taken for a name.
 */
#include "edit/scrub/scrub.h"

#include <ctype.h>
#include <string.h>

static bool among(const char *const *words, const char *word, size_t length)
{
	for (; *words; words++) {
		if (strlen(*words) == length && !memcmp(*words, word, length))
			return true;
	}
	return false;
}

static bool consists_of(const char *characters, const char *word, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (!word[i] || !strchr(characters, word[i]))
			return false;
	}
	return length > 0;
}

/* ---- events ---- */

static const char *const events[] = {
	"cycles", "cpu-cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-instructions",
	"branch-misses", "bus-cycles", "stalled-cycles-frontend", "idle-cycles-frontend", "stalled-cycles-backend",
	"idle-cycles-backend", "ref-cycles", "slots", "cpu-clock", "task-clock", "page-faults", "faults",
	"context-switches", "cs", "cpu-migrations", "migrations", "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy", "bpf-output", "cgroup-switches", "duration_time", "user_time", "system_time",
	"mem", "mem-loads", "mem-loads-aux", "mem-stores", "sw_incr", "ptwrite", "mwait", "pwre", "exstop", "pwrx",
	"cbr", "psb", "evt", "iflag", "vpa-dtl", "unknown-hardware", "unknown-software", "invalid-cache", "anon",
	"group", "rw",
	/* terms of a PMU */
	"event", "umask", "config", "config1", "config2", "config3", "period", "freq", "edge", "inv", "cmask", "any",
	"ldlat", "offcore_rsp", "frontend", "call-graph", "stack-size", "max-stack", "inherit", "no-inherit",
	"overwrite", "no-overwrite", "percore", "aux-output", "aux-sample-size", "metric-id", "tsc", "mtc",
	"mtc_period", "psb_period", "noretcomp", "pt", "branch", "fup_on_ptw", "ptw", "cyc", "cyc_thresh", "pwr_evt",
	"ts_enable", "pa_enable", "load_filter", "store_filter", "branch_filter", "jitter", "min_latency",
	"event_filter", "name", "fp", "dwarf", "lbr", "no", "yes", "l3missonly", "rand_en", "cnt_ctl", NULL
};

static const char *const caches[] = { "L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node", NULL };
static const char *const cache_operations[] = { "-loads",        "-stores",          "-prefetches", "-load-misses",
						"-store-misses", "-prefetch-misses", "-load",       "-store",
						"-prefetch",     "-load-refs",       NULL };

static bool is_cache_event(const char *word, size_t length)
{
	for (const char *const *cache = caches; *cache; cache++) {
		size_t size = strlen(*cache);

		if (length > size && !memcmp(word, *cache, size))
			return among(cache_operations, word + size, length - size);
	}
	return false;
}

/* "r1a8"; one digit must be none of a word. */
static bool is_raw_event(const char *word, size_t length)
{
	return length > 1 && length <= 17 && word[0] == 'r' && consists_of("0123456789abcdef", word + 1, length - 1) &&
	       strcspn(word + 1, "0123456789") < length - 1;
}

/* Larger ones may be addresses. */
static bool is_small_number(const char *word, size_t length)
{
	bool hex = length > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X');

	return hex ? length <= 2 + 7 && consists_of("0123456789abcdefABCDEF", word + 2, length - 2) :
		     length <= 9 && consists_of("0123456789", word, length);
}

bool pd_scrub_is_word_of_events(const char *word, size_t length)
{
	return among(events, word, length) || is_cache_event(word, length) || is_raw_event(word, length) ||
	       is_small_number(word, length) || pd_scrub_is_pmu(word, length) ||
	       (length <= 4 && consists_of("ukhGHpPSDIWebrwx", word, length));
}

/* Groups of tracepoints that the kernel itself has; what somebody adds with probes has other names. */
static const char *const systems[] = { "alarmtimer",
				       "amdgpu",
				       "asoc",
				       "avc",
				       "binder",
				       "block",
				       "bpf_test_run",
				       "bpf_trace",
				       "bridge",
				       "btrfs",
				       "cgroup",
				       "clk",
				       "cma",
				       "compaction",
				       "context_tracking",
				       "cpuhp",
				       "csd",
				       "damon",
				       "dev",
				       "devfreq",
				       "devlink",
				       "dma_fence",
				       "drm",
				       "error_report",
				       "exceptions",
				       "ext4",
				       "f2fs",
				       "fib",
				       "fib6",
				       "filelock",
				       "filemap",
				       "fs_dax",
				       "ftrace",
				       "gpio",
				       "gpu_scheduler",
				       "handshake",
				       "huge_memory",
				       "hwmon",
				       "hyperv",
				       "i2c",
				       "i915",
				       "initcall",
				       "intel_iommu",
				       "interconnect",
				       "io_uring",
				       "iocost",
				       "iomap",
				       "iommu",
				       "ipi",
				       "irq",
				       "irq_matrix",
				       "irq_vectors",
				       "iwlwifi",
				       "jbd2",
				       "kmem",
				       "ksm",
				       "kvm",
				       "kvmmmu",
				       "libata",
				       "lock",
				       "mac80211",
				       "maple_tree",
				       "mce",
				       "mctp",
				       "mdio",
				       "migrate",
				       "mmap",
				       "mmap_lock",
				       "mmc",
				       "module",
				       "mptcp",
				       "msr",
				       "napi",
				       "neigh",
				       "net",
				       "netfs",
				       "netlink",
				       "nfs",
				       "nfs4",
				       "nfsd",
				       "nmi",
				       "notifier",
				       "nvme",
				       "oom",
				       "osnoise",
				       "page_isolation",
				       "page_pool",
				       "pagemap",
				       "percpu",
				       "power",
				       "printk",
				       "pwm",
				       "qdisc",
				       "ras",
				       "raw_syscalls",
				       "rcu",
				       "regmap",
				       "regulator",
				       "resctrl",
				       "rpm",
				       "rseq",
				       "rtc",
				       "rv",
				       "sched",
				       "sched_ext",
				       "scsi",
				       "signal",
				       "skb",
				       "smbus",
				       "sock",
				       "sof",
				       "spi",
				       "sunrpc",
				       "swiotlb",
				       "sync_trace",
				       "syscalls",
				       "task",
				       "tcp",
				       "thermal",
				       "thermal_power_allocator",
				       "thp",
				       "timer",
				       "timer_migration",
				       "tlb",
				       "udp",
				       "ufs",
				       "v4l2",
				       "vb2",
				       "virtio_gpu",
				       "vmalloc",
				       "vmscan",
				       "vsyscall",
				       "watchdog",
				       "wbt",
				       "workqueue",
				       "writeback",
				       "x86_fpu",
				       "xdp",
				       "xen",
				       "xfs",
				       "xhci-hcd",
				       "zone",
				       NULL };

bool pd_scrub_is_tracepoint_system(const char *word, size_t length)
{
	return among(systems, word, length);
}

/* ---- PMUs ---- */

/* Some have a number or the name of a kind of core after it. */
static const char *const pmus[] = { "cpu",
				    "cpu_core",
				    "cpu_atom",
				    "cpum_cf",
				    "cpum_sf",
				    "cpum_cf_diag",
				    "software",
				    "tracepoint",
				    "breakpoint",
				    "uprobe",
				    "kprobe",
				    "msr",
				    "power",
				    "intel_pt",
				    "intel_bts",
				    "cs_etm",
				    "arm_spe",
				    "ibs_op",
				    "ibs_fetch",
				    "amd_l3",
				    "amd_df",
				    "amd_iommu",
				    "amd_umc",
				    "i915",
				    "xe",
				    "cstate_core",
				    "cstate_pkg",
				    "cstate_module",
				    "hisi_ptt",
				    "hv_24x7",
				    "hv_gpci",
				    "nest",
				    "trace_imc",
				    "core_imc",
				    "thread_imc",
				    "default_core",
				    "duration_time",
				    "tool",
				    "pai_crypto",
				    "pai_ext",
				    "vpa_dtl",
				    "vpa_pmu",
				    "armv6",
				    "armv7",
				    "armv8",
				    "armv9",
				    "arm_cmn",
				    "arm_dsu",
				    "arm_smmuv3_pmcg",
				    "riscv_sbi",
				    "uncore",
				    "rapl",
				    "hwmon",
				    "drm",
				    "iommu",
				    "dmar",
				    NULL };

static bool is_tail_of_pmu(const char *tail, size_t length)
{
	return consists_of("0123456789", tail, length) ||
	       (tail[0] == '_' && length <= 24 && consists_of("_0123456789abcdefghijklmnopqrstuvwxyz", tail, length));
}

bool pd_scrub_is_pmu(const char *word, size_t length)
{
	for (const char *const *pmu = pmus; *pmu; pmu++) {
		size_t size = strlen(*pmu);

		if (length >= size && !memcmp(word, *pmu, size) &&
		    (length == size || (strcmp(*pmu, "cpu") != 0 && is_tail_of_pmu(word + size, length - size))))
			return true;
	}
	return false;
}

/* ---- command lines ---- */

static const char *const arguments[] = { "perf",
					 "simpleperf",
					 "perfdata",
					 "record",
					 "stat",
					 "sched",
					 "mem",
					 "lock",
					 "kmem",
					 "kvm",
					 "trace",
					 "timechart",
					 "c2c",
					 "kwork",
					 "ftrace",
					 "inject",
					 "report",
					 "script",
					 "top",
					 "host",
					 "guest",
					 "latency",
					 "slab",
					 "page",
					 "contention",
					 "-a",
					 "-A",
					 "-b",
					 "-B",
					 "-c",
					 "-C",
					 "-d",
					 "-D",
					 "-e",
					 "-f",
					 "-F",
					 "-g",
					 "-G",
					 "-i",
					 "-I",
					 "-j",
					 "-k",
					 "-m",
					 "-M",
					 "-n",
					 "-N",
					 "-o",
					 "-p",
					 "-P",
					 "-q",
					 "-r",
					 "-R",
					 "-s",
					 "-S",
					 "-t",
					 "-T",
					 "-u",
					 "-v",
					 "-W",
					 "-x",
					 "-z",
					 "--",
					 "--affinity",
					 "--aio",
					 "--all-cgroups",
					 "--all-cpus",
					 "--all-kernel",
					 "--all-user",
					 "--app",
					 "--branch-any",
					 "--branch-filter",
					 "--buildid-all",
					 "--buildid-mmap",
					 "--call-graph",
					 "--cgroup",
					 "--clang-path",
					 "--clockid",
					 "--code-page-size",
					 "--control",
					 "--count",
					 "--cpu",
					 "--data",
					 "--data-page-size",
					 "--delay",
					 "--delta",
					 "--duration",
					 "--dry-run",
					 "--dump-symbols",
					 "--event",
					 "--exclude-perf",
					 "--exit-on-error",
					 "--filter",
					 "--for-each-cgroup",
					 "--freq",
					 "--group",
					 "--intr-regs",
					 "--interval-print",
					 "--kcore",
					 "--kernel-callchains",
					 "--latency",
					 "--log-fd",
					 "--max-size",
					 "--metrics",
					 "--mmap-flush",
					 "--mmap-pages",
					 "--namespaces",
					 "--no-bpf-event",
					 "--no-buffering",
					 "--no-buildid",
					 "--no-buildid-cache",
					 "--no-inherit",
					 "--no-samples",
					 "--num-thread-synthesize",
					 "--off-cpu",
					 "--output",
					 "--overwrite",
					 "--per-core",
					 "--per-die",
					 "--per-socket",
					 "--per-thread",
					 "--period",
					 "--phys-data",
					 "--pid",
					 "--post-unwind",
					 "--proc-map-timeout",
					 "--quiet",
					 "--raw-samples",
					 "--realtime",
					 "--record",
					 "--repeat",
					 "--running-time",
					 "--sample-cpu",
					 "--sample-identifier",
					 "--setup-filter",
					 "--slab",
					 "--snapshot",
					 "--stat",
					 "--strict-freq",
					 "--switch-events",
					 "--switch-max-files",
					 "--switch-output",
					 "--switch-output-event",
					 "--synth",
					 "--tail-synthesize",
					 "--threads",
					 "--tid",
					 "--timestamp",
					 "--timestamp-boundary",
					 "--timestamp-filename",
					 "--topdown",
					 "--trace-offcpu",
					 "--transaction",
					 "--uid",
					 "--user-callchains",
					 "--user-regs",
					 "--verbose",
					 "--vmlinux",
					 "--weight",
					 "mono",
					 "CLOCK_MONOTONIC",
					 "CLOCK_MONOTONIC_RAW",
					 "CLOCK_REALTIME",
					 "CLOCK_BOOTTIME",
					 "monotonic",
					 "any_call",
					 "any_ret",
					 "ind_call",
					 "ind_jmp",
					 "cond",
					 "call",
					 "save_type",
					 "user",
					 "kernel",
					 NULL };

bool pd_scrub_is_word_of_arguments(const char *word, size_t length)
{
	return among(arguments, word, length) || among(events, word, length) || is_cache_event(word, length);
}

/* ---- other words ---- */

static const char *const units[] = {
	"%",   "msec", "ms",      "ns",    "us",   "s",   "Joules", "MiB",           "KiB",  "Bytes",       "B",
	"C",   "W",    "M/sec",   "K/sec", "/sec", "GHz", "MHz",    "CPUs utilized", "Data", "Instruction", "Unified",
	"SMT", "CLS",  "CLUSTER", "MC",    "DIE",  "PKG", "NUMA",   "NODE",          "BOOK", "DRAWER",      NULL
};

bool pd_scrub_is_word_of_units(const char *word, size_t length)
{
	size_t digits = strspn(word, "0123456789");

	if (digits > length)
		digits = length;
	return among(units, word, length) || (digits && digits <= 6 && digits == length) ||
	       (digits && digits <= 6 && consists_of("KMGTiB", word + digits, length - digits));
}

static const char *const architectures[] = { "x86_64",     "i386",    "i486",  "i586",    "i686",        "aarch64",
					     "aarch64_be", "arm64",   "arm",   "armv6l",  "armv7l",      "armv7b",
					     "armv8l",     "ppc",     "ppc64", "ppc64le", "s390",        "s390x",
					     "riscv32",    "riscv64", "mips",  "mips64",  "loongarch32", "loongarch64",
					     "sparc",      "sparc64", "csky",  "alpha",   "parisc",      "parisc64",
					     "sh4",        "xtensa",  "x86",   NULL };

bool pd_scrub_is_architecture(const char *word, size_t length)
{
	return among(architectures, word, length);
}

/* Keys of simpleperf. */
static const char *const meta_keys[] = { "simpleperf_version",
					 "system_wide_collection",
					 "trace_offcpu",
					 "app_type",
					 "clockid",
					 "timestamp",
					 "event_type_info",
					 "kernel_symbols_available",
					 "dump_symbols",
					 "android_version",
					 "android_sdk_version",
					 "android_build_type",
					 "product_props",
					 "app_package_name",
					 "kernel_version",
					 "recording_process",
					 "add_meta_info",
					 NULL };

bool pd_scrub_is_meta_key(const char *word, size_t length)
{
	return among(meta_keys, word, length);
}

/* What stands where a path would: no file. */
static const char *const markers[] = { "[kernel.kallsyms]",
				       "[kernel.kallsyms]_text",
				       "[kernel.kallsyms]_stext",
				       "[guest.kernel.kallsyms]",
				       "[guest.kernel.kallsyms]_text",
				       "[guest.kernel.kallsyms]_stext",
				       "[kernel.vmlinux]",
				       "[kernel]",
				       "[guest.kernel]",
				       "[hypervisor]",
				       "[unknown]",
				       "[vdso]",
				       "[vdso32]",
				       "[vdsox32]",
				       "[vvar]",
				       "[vvar_vclock]",
				       "[vsyscall]",
				       "[vectors]",
				       "[sigpage]",
				       "[uprobes]",
				       "[heap]",
				       "[stack]",
				       "[anon]",
				       "[aio]",
				       "[bpf]",
				       "//anon",
				       "//toolong",
				       "//enomem",
				       "/dev/zero",
				       "/anon_hugepage",
				       "bpf_prog",
				       "bpf_trampoline",
				       "bpf_dispatcher",
				       "ftrace_trampoline",
				       "kprobe_insn_page",
				       "kprobe_optinsn_page",
				       "bpf_image",
				       NULL };

bool pd_scrub_is_marker(const char *text, size_t length)
{
	return among(markers, text, length);
}

/* What scrub itself writes around names, and what the format has in front of tracing data. */
static const char *const others[] = { "(deleted)",
				      "anon_inode:",
				      "/memfd:",
				      "[stack:",
				      "[anon:",
				      ".service",
				      ".scope",
				      ".slice",
				      ".mount",
				      ".debug",
				      "[guest.kernel.kallsyms.",
				      "bpf_prog_",
				      "bpf_trampoline_",
				      "bpf_dispatcher_",
				      "tracing",
				      "header_page",
				      "header_event",
				      "field:unsigned short common_type;",
				      "field:unsigned char common_flags;",
				      "field:unsigned char common_preempt_count;",
				      "field:int common_pid;",
				      "field:int hidden;",
				      "print fmt:",
				      "format:",
				      "offset:",
				      "size:",
				      "signed:",
				      "name:",
				      "field: u64 timestamp;",
				      "field: local_t commit;",
				      "field: int overwrite;",
				      "field: char data;",
				      "# compressed entry header",
				      "time_delta",
				      "type_len",
				      "true",
				      "false",
				      NULL };

const char *pd_scrub_public_text(size_t index)
{
	static const char *const *const lists[] = { events, caches,        cache_operations, systems, pmus,  arguments,
						    units,  architectures, meta_keys,        markers, others };

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		size_t count = 0;

		while (lists[i][count])
			count++;
		if (index < count)
			return lists[i][index];
		index -= count;
	}
	return NULL;
}
