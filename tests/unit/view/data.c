/* SPDX-License-Identifier: MIT */
/* A view with data for its page, and one without, which answers the same. */
#include <perfdata/viewer.h>

#include "../opened.h"

static struct opened o;
static struct pd_viewer *view;
static struct pd_viewer_answer answer;

static void open_view(bool no_data)
{
	const struct pd_viewer_options options = { .size = sizeof(options), .threads = 1, .no_data = no_data };
	struct image image = { 0 };

	image_file(&image, IMAGE_IP_TID_TIME_PERIOD, 0);
	for (uint64_t time_ns = 1000; time_ns <= 3000; time_ns += 1000)
		image_sample(&image, time_ns);
	image_file_end(&image);
	opened_open(&o, &image, 0);
	CHECK(pd_viewer_new(o.file, &options, &view, &o.error) == PD_OK);
}

static void close_view(void)
{
	pd_viewer_free(view);
	opened_close(&o);
}

static bool ask(const char *path, unsigned code)
{
	return pd_viewer_answer(view, path, NULL, 0, &answer, &o.error) == PD_OK && answer.code == code &&
	       answer.body.size;
}

TEST(test_data__given)
{
	open_view(false);
	CHECK(pd_viewer_samples_read(view) == 3 && pd_viewer_data(view).size > 100);
	CHECK(ask("data", 200) && answer.body.size == pd_viewer_data(view).size);
	CHECK(ask("script", 200));
	close_view();
}

TEST(test_data__none)
{
	static char script[4096];
	size_t size;

	open_view(false);
	CHECK(ask("script", 200) && answer.body.size < sizeof(script));
	size = answer.body.size;
	memcpy(script, answer.body.data, size);
	close_view();
	open_view(true);
	CHECK(pd_viewer_samples_read(view) == 0 && pd_viewer_data(view).size == 0);
	CHECK(ask("script", 200) && answer.body.size == size && memcmp(answer.body.data, script, size) == 0);
	CHECK(ask("data", 404)); // rather than a page with nothing in it
	CHECK(ask("script", 200));
	close_view();
}

RUN(TEST_CASE(test_data__given), TEST_CASE(test_data__none))
