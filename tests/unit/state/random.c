/* SPDX-License-Identifier: MIT */
/*
 * Random states beside a plain model: the model goes through all records again for each question, with a list
 * of mappings for each process. Records stand in the file in any order; many have the same time or none. In
 * every third file no record has a time, and the place in the file is all there is. In every fourth few
 * mappings are over each other, and those mostly of a parent and its child.
 */
#include "unit/test.h"
#include "unit/state/make.h"

enum {
	STATES = 4000,
	RECORDS = 60,
	QUESTIONS = 80,
	TIDS = 40,
	TIMES = 30,
	PAGES = 48
};

enum what {
	MAP,
	KERNEL_MAP,
	KSYMBOL,
	FORK,
	COMM,
	EXIT
};

struct op {
	enum what what;
	uint64_t time; // in the record
	uint64_t when; // it counts: 0 in a file without times
	uint32_t order;
	uint32_t pid, tid, ppid, ptid;
	uint64_t start, end;
	bool flag; // KSYMBOL: it goes; FORK, COMM: exec
	char text[16];
};

struct space {
	int maps[RECORDS];
	int count;
};

struct thread {
	bool known;
	uint32_t pid;
	const char *comm;
	struct space space, before;
};

struct model {
	struct thread threads[TIDS];
	struct space kernel, ksymbols;
};

static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 33) % below;
}

// ---- the model ----

static struct thread *thread_of(struct model *model, uint32_t pid, uint32_t tid)
{
	struct thread *thread = &model->threads[tid];

	if (!thread->known || thread->pid != pid)
		*thread = (struct thread){ .known = true, .pid = pid };
	return thread;
}

static void add(struct space *space, int op)
{
	space->maps[space->count++] = op;
}

static void do_fork(struct model *model, const struct op *op)
{
	struct thread parent = *thread_of(model, op->ppid, op->ptid), child = { .known = true, .pid = op->pid };

	child.comm = parent.comm;
	if (op->pid == op->tid && op->pid != op->ppid && !op->flag && op->time) {
		parent = *thread_of(model, op->ppid, op->ppid);
		child.space = parent.space;
	}
	model->threads[op->tid] = child;
	if (op->tid != op->pid)
		thread_of(model, op->pid, op->pid);
}

static void do_op(struct model *model, const struct op *ops, int index)
{
	const struct op *op = &ops[index];
	struct thread *leader;

	switch (op->what) {
	case MAP:
		if (op->end > op->start)
			add(&thread_of(model, op->pid, op->pid)->space, index);
		break;
	case KERNEL_MAP:
		if (op->end > op->start)
			add(&model->kernel, index);
		break;
	case KSYMBOL:
		if (op->end > op->start)
			add(&model->ksymbols, index);
		break;
	case FORK:
		do_fork(model, op);
		break;
	case COMM:
		thread_of(model, op->pid, op->tid)->comm = op->text;
		if (!op->flag)
			break;
		leader = thread_of(model, op->pid, op->pid);
		leader->before = leader->space;
		leader->space.count = 0;
		break;
	case EXIT:
		thread_of(model, op->pid, op->tid);
		break;
	}
}

static const char *top(const struct space *space, const struct op *ops, uint64_t addr)
{
	for (int i = space->count; i-- > 0;) {
		const struct op *op = &ops[space->maps[i]];

		if (addr >= op->start && addr < op->end)
			return op->what == KSYMBOL && op->flag ? NULL : op->text;
	}
	return NULL;
}

static const char *locate(const struct model *model, const struct op *ops, uint32_t pid, unsigned cpumode,
			  uint64_t addr)
{
	const char *text = NULL;

	if (cpumode != PD_CPUMODE_KERNEL) {
		text = top(&model->threads[pid].space, ops, addr);
		if (!text)
			text = top(&model->threads[pid].before, ops, addr);
	}
	if (!text && cpumode != PD_CPUMODE_USER) {
		text = top(&model->kernel, ops, addr);
		if (!text)
			text = top(&model->ksymbols, ops, addr);
	}
	return text;
}

// ---- the records ----

static struct op draw_op(uint32_t order, bool apart)
{
	struct op op = { .order = order, .time = draw(4) ? 1 + draw(TIMES) : 0 };
	uint32_t kinds = draw(20);

	op.what = kinds < 9  ? MAP :
		  kinds < 11 ? KERNEL_MAP :
		  kinds < 13 ? KSYMBOL :
		  kinds < 17 ? FORK :
		  kinds < 19 ? COMM :
			       EXIT;
	op.pid = 1 + draw(5) * 4;
	op.tid = op.pid + (draw(3) ? 0 : draw(5));
	op.ppid = draw(4) ? 1 + draw(5) * 4 : op.pid;
	op.ptid = op.ppid + (draw(3) ? 0 : draw(3));
	op.flag = !draw(3);
	op.start = draw(PAGES) * 4096;
	op.end = op.start + draw(8) * draw(3) * 4096;
	if (op.what == MAP && !draw(12))
		op.end = UINT64_MAX;
	if (apart) {
		op.start = (uint64_t)(order % 30) * 4096;
		op.end = op.start + 4096;
	}
	if (op.what == FORK && op.pid == op.ppid && !draw(2))
		op.tid = op.pid + 1 + draw(3);
	snprintf(op.text, sizeof(op.text), "/%u", order);
	return op;
}

static void write_op(struct made *made, const struct op *op)
{
	uint64_t len = op->end - op->start;

	switch (op->what) {
	case MAP:
		// one that goes round the end covers all that is left
		make_mmap(made, MAKE_USER, op->pid, op->start, op->end == UINT64_MAX ? UINT64_MAX : len, 0, op->text,
			  op->time);
		break;
	case KERNEL_MAP:
		make_mmap(made, MAKE_KERNEL, MAKE_NOBODY, op->start, len, 0, op->text, op->time);
		break;
	case KSYMBOL:
		make_ksymbol(made, op->start, (uint32_t)len, op->flag, op->text, op->time);
		break;
	case FORK:
		make_task(made, PD_RECORD_FORK, op->flag ? MAKE_EXEC : 0, op->pid, op->tid, op->ppid, op->ptid,
			  op->time);
		break;
	case COMM:
		make_comm(made, op->flag ? MAKE_EXEC : 0, op->pid, op->tid, op->text, op->time);
		break;
	case EXIT:
		make_exit(made, op->pid, op->tid, op->time);
		break;
	}
}

static int compare_ops(const void *a, const void *b)
{
	const struct op *x = a, *y = b;

	if (x->when != y->when)
		return x->when < y->when ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

// ---- questions ----

static uint64_t views_alike; // views that were asked for twice

/* The range around an address, with or without something there, has the same everywhere. */
static bool ask_range(const struct made *made, uint32_t pid, unsigned cpumode, struct pd_moment when, uint64_t addr,
		      const struct pd_location *location)
{
	uint64_t last = location->end - 1;
	uint64_t others[] = { location->begin, last, location->begin + draw(4096),
			      location->begin + draw((PAGES + 10) * 4096) };
	struct pd_location other;

	if (addr < location->begin || addr > last) {
		printf("# addr %llx is not in its own range\n", (unsigned long long)addr);
		return false;
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		uint64_t at = others[i] > last ? last : others[i];

		pd_state_locate(made->state, pid, cpumode, when, at, &other);
		if (other.mapping == location->mapping && other.ksymbol == location->ksymbol &&
		    other.before_exec == location->before_exec && other.begin == location->begin &&
		    other.end == location->end)
			continue;
		printf("# pid %u mode %u: %llx and %llx are not alike\n", pid, cpumode, (unsigned long long)addr,
		       (unsigned long long)at);
		return false;
	}
	return true;
}

static bool ask(const struct made *made, const struct op *ops, int count)
{
	struct pd_moment when = { made->untimed ? 0 : draw(TIMES + 2), draw(2) ? UINT64_MAX : draw(RECORDS) };
	uint32_t pid = draw(2) ? 1 + draw(5) * 4 : draw(TIDS - 1);
	unsigned cpumode = draw(3); // unknown, kernel, user
	uint64_t addr = draw(4) ? draw((PAGES + 10) * 4096) : (uint64_t)draw(PAGES) * 4096;
	struct model *model = calloc(1, sizeof(*model));
	struct pd_location location;
	const char *want, *got, *comm;
	bool same;

	if (!model)
		return false;
	model->threads[0] = (struct thread){ .known = true, .comm = "swapper" };
	for (int i = 0; i < count; i++) {
		if (ops[i].when < when.time_ns || (ops[i].when == when.time_ns && ops[i].order <= when.order))
			do_op(model, ops, i);
	}
	want = locate(model, ops, pid, cpumode, addr);
	got = pd_state_locate(made->state, pid, cpumode, when, addr, &location) ? location.object->path : NULL;
	same = want && got ? strcmp(want, got) == 0 : want == got;
	if (!ask_range(made, pid, cpumode, when, addr, &location))
		same = false;
	else if (!same)
		printf("# pid %u mode %u time %d order %d addr %llx: %s, wanted %s\n", pid, cpumode, (int)when.time_ns,
		       (int)when.order, (unsigned long long)addr, got ? got : "nothing", want ? want : "nothing");
	want = model->threads[pid].comm;
	comm = pd_state_comm(made->state, pid, when, NULL);
	if (want && comm ? strcmp(want, comm) != 0 : want != comm) {
		printf("# tid %u time %d: comm %s, wanted %s\n", pid, (int)when.time_ns, comm ? comm : "none",
		       want ? want : "none");
		same = false;
	}
	free(model);
	return same;
}

static bool is_before(struct pd_moment a, struct pd_moment b)
{
	return a.time_ns < b.time_ns || (a.time_ns == b.time_ns && a.order < b.order);
}

static const char *path_at(const struct made *made, uint32_t pid, unsigned cpumode, struct pd_moment when,
			   uint64_t addr)
{
	struct pd_location location;

	return pd_state_locate(made->state, pid, cpumode, when, addr, &location) ? location.object->path : "";
}

/* What a view says holds as long as it says, and equal maps mean equal answers. */
static bool ask_view(const struct made *made)
{
	struct pd_moment when[2];
	uint32_t tid = draw(TIDS - 1), pid = draw(2) ? tid : 1 + draw(5) * 4;
	unsigned cpumode = draw(3);
	uint64_t addr = draw((PAGES + 10) * 4096);
	struct pd_view view[2];
	const char *comm;
	bool within;

	for (int i = 0; i < 2; i++) {
		when[i] =
			(struct pd_moment){ made->untimed ? 0 : draw(TIMES + 2), draw(2) ? UINT64_MAX : draw(RECORDS) };
		pd_state_view(made->state, pid, tid, when[i], &view[i]);
		if (is_before(when[i], view[i].from) || !is_before(when[i], view[i].until))
			return false;
	}
	comm = pd_state_comm(made->state, tid, when[0], NULL);
	if (comm ? !view[0].comm || strcmp(comm, view[0].comm) != 0 : view[0].comm != NULL)
		return false;
	within = !is_before(when[1], view[0].from) && is_before(when[1], view[0].until);
	if (within && (view[0].maps != view[1].maps || view[0].comm != view[1].comm))
		return false;
	views_alike += within;
	return view[0].maps != view[1].maps ||
	       strcmp(path_at(made, pid, cpumode, when[0], addr), path_at(made, pid, cpumode, when[1], addr)) == 0;
}

static bool one_state(uint64_t seed)
{
	struct made made = seed % 3 ? make_begin() : make_begin_untimed();
	struct op ops[RECORDS];
	int count = 1 + (int)draw(RECORDS);
	bool good;

	for (int i = 0; i < count; i++) {
		ops[i] = draw_op((uint32_t)i, seed % 4 == 0);
		ops[i].when = made.untimed ? 0 : ops[i].time;
		write_op(&made, &ops[i]);
	}
	qsort(ops, (size_t)count, sizeof(ops[0]), compare_ops);
	good = make_state(&made, NULL);
	for (int i = 0; good && i < QUESTIONS; i++)
		good = ask(&made, ops, count) && ask_view(&made);
	if (!good)
		printf("# state %d\n", (int)seed);
	make_free(&made);
	return good;
}

TEST(test_state__random_states_are_as_the_model_says)
{
	for (uint64_t seed = 1; seed <= STATES; seed++) {
		random_state = seed * UINT64_C(0x9e3779b97f4a7c15);
		CHECK(one_state(seed));
	}
	CHECK(views_alike > STATES);
}

RUN(TEST_CASE(test_state__random_states_are_as_the_model_says))
