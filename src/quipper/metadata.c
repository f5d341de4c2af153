/* SPDX-License-Identifier: MIT */
#include "quipper/metadata.h"

const struct pd_quipper_feature pd_quipper_features[PD_QUIPPER_FEATURES] = {
	{ PD_FEATURE_CPU_TOPOLOGY, 11, false, 0, PD_QUIPPER_PerfCPUTopologyMetadata },
	{ PD_FEATURE_NUMA_TOPOLOGY, 12, true, offsetof(struct pd_numa_topology, nodes),
	  PD_QUIPPER_PerfNodeTopologyMetadata },
	{ PD_FEATURE_PMU_MAPPINGS, 15, true, offsetof(struct pd_pmu_mappings, pmus),
	  PD_QUIPPER_PerfPMUMappingsMetadata },
	{ PD_FEATURE_GROUP_DESC, 16, true, offsetof(struct pd_group_desc, groups), PD_QUIPPER_PerfGroupDescMetadata },
	{ PD_FEATURE_HYBRID_TOPOLOGY, 17, true, offsetof(struct pd_hybrid_topology, pmus),
	  PD_QUIPPER_PerfHybridTopologyMetadata },
};

const struct pd_quipper_string pd_quipper_strings[PD_QUIPPER_STRINGS] = {
	{ PD_FEATURE_HOSTNAME, 1 }, { PD_FEATURE_OSRELEASE, 2 }, { PD_FEATURE_VERSION, 3 },
	{ PD_FEATURE_ARCH, 4 },     { PD_FEATURE_CPUDESC, 5 },   { PD_FEATURE_CPUID, 6 },
};
