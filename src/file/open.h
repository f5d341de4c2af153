/* SPDX-License-Identifier: MIT */
/* The steps of opening a file, in their order. */
#ifndef PD_FILE_OPEN_H
#define PD_FILE_OPEN_H

#include "file/file.h"

enum {
	PD_PIPE_HEADER_SIZE = 16
};

// header.c: the header, up to where the sections are
enum pd_status pd_file_read_header(struct pd_file *file, struct pd_error *error);
// header.c: holds the data section against the size of the file, once that is known
void pd_file_check_data_section(struct pd_file *file);
// recover.c: what the header says wrongly, where pd_open_options.recover asks for it; each tells what it puts right
bool pd_file_recover_magic(struct pd_file *file);
uint64_t pd_file_recover_header_size(struct pd_file *file, uint64_t size);
void pd_file_recover_sections(struct pd_file *file);
// Whether this can be the header of a record: the type is known, and the size that of its smallest form or more.
static inline bool pd_is_record_head(const struct pd_record_head *head)
{
	const struct pd_layout *layout = pd_record_layout(head->type);

	return layout && head->size >= PD_RECORD_HEADER_SIZE + (size_t)layout->min_size;
}

// attrs.c: the events
enum pd_status pd_file_read_attrs(struct pd_file *file, struct pd_error *error);
// attrs.c: names of tracepoints in files from before EVENT_DESC
enum pd_status pd_file_read_event_types(struct pd_file *file, struct pd_error *error);
// parts.c: where records are; name is "data" in a directory, else empty
enum pd_status pd_file_add_main_part(struct pd_file *file, const char *name, struct pd_error *error);
// A directory of the system, or inside of the file's archive.
struct pd_folder {
	int fd;             // or -1
	const char *inside; // its name in the archive
};
enum pd_status pd_file_add_directory_parts(struct pd_file *file, const struct pd_folder *folder,
					   struct pd_error *error);

#endif
