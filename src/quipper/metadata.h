/* SPDX-License-Identifier: MIT */
/* Which header features PerfDataProto has fields for. */
#ifndef PD_QUIPPER_METADATA_H
#define PD_QUIPPER_METADATA_H

#include "quipper/encode.h"

// A feature whose struct, or each item of whose list, is a message.
struct pd_quipper_feature {
	unsigned feature;
	uint8_t number; // of PerfDataProto
	bool is_list;
	uint16_t list; // offset
	enum pd_quipper_message_id message;
};
// A feature that is one string.
struct pd_quipper_string {
	unsigned feature;
	uint8_t number; // of StringMetadata
};

enum {
	PD_QUIPPER_FEATURES = 5,
	PD_QUIPPER_STRINGS = 6,
	PD_QUIPPER_TOKEN = 7, // of StringMetadata
	PD_QUIPPER_WHOLE = 8
};
extern const struct pd_quipper_feature pd_quipper_features[PD_QUIPPER_FEATURES];
extern const struct pd_quipper_string pd_quipper_strings[PD_QUIPPER_STRINGS];

#endif
