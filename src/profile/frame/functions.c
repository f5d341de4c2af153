/* SPDX-License-Identifier: MIT */
#include "profile/frame/functions.h"

#include "base/memory.h"
#include "base/threads.h"
#include "symbol/lookup.h"

// Of objects whose addresses are distinguished.
static const struct pd_dso_full by_address;

bool pd_functions_wanted(const struct pd_profile_options *options)
{
	return options->symbols && !(options->by & PD_BY_ADDRESS);
}

bool pd_functions_init(struct pd_functions *functions, const struct pd_profile_options *options,
		       const struct pd_state *state)
{
	size_t count = 0;

	*functions = (struct pd_functions){ .options = options, .state = state };
	pd_lock_init(&functions->lock);
	if (!pd_functions_wanted(options))
		return true;
	while (pd_state_object(state, count))
		count++;
	functions->dsos = pd_alloc((count + 1) * sizeof(*functions->dsos));
	return functions->dsos;
}

void pd_functions_know(struct pd_functions *functions, bool asked, struct pd_symbols *symbols, size_t first_dso)
{
	functions->asked = asked;
	functions->symbols = symbols;
	functions->first_dso = first_dso;
}

void pd_functions_fini(struct pd_functions *functions)
{
	pthread_mutex_destroy(&functions->lock);
	pd_free(functions->dsos);
}

// ---- with the lock held ----

void pd_functions_use(struct pd_functions *functions, struct pd_symbols *symbols)
{
	functions->asked = true;
	functions->symbols = symbols;
	// what has to be fetched is fetched where names are asked for
	if (functions->symbols && functions->symbols->fetch)
		functions->symbols = NULL;
	if (functions->symbols)
		functions->first_dso = functions->symbols->dso_count;
}

// Asks for the symbols when the first address is met: without samples nothing has to be opened.
static void ask(struct pd_functions *functions)
{
	if (!functions->asked)
		pd_functions_use(functions, functions->options->symbols(functions->options->self, functions->state));
}

// The dso of an object that is loaded now, if its functions can stand for their addresses.
static const struct pd_dso_full *load(struct pd_functions *functions, const struct pd_location *location)
{
	const struct pd_dso_full *dso;

	ask(functions);
	if (!functions->symbols)
		return &by_address;
	pd_lookup_open(functions->symbols, location);
	dso = pd_lookup_loaded(functions->symbols, location->object->index);
	return dso && !dso->jits ? dso : &by_address;
}

static const struct pd_dso_full *meet(struct pd_functions *functions, const struct pd_object *object,
				      const struct pd_code_address *address)
{
	const struct pd_dso_full **slot = &functions->dsos[object->index], *dso = &by_address;
	struct pd_location location;

	pthread_mutex_lock(&functions->lock);
	if (!*slot) {
		if (pd_state_locate(functions->state, address->pid, address->cpumode, address->when, address->addr,
				    &location))
			dso = load(functions, &location);
		__atomic_store_n(slot, dso, __ATOMIC_RELEASE);
	}
	dso = *slot;
	pthread_mutex_unlock(&functions->lock);
	return dso;
}

// Whether functions that are inlined there, or lines, distinguish addresses.
static bool depends_on_line(const struct pd_functions *functions, const struct pd_dso_full *dso)
{
	return (functions->options->by & PD_BY_LINE) && pd_lookup_has_lines(functions->symbols, dso);
}

static enum pd_named find(const struct pd_functions *functions, const struct pd_dso_full *dso, uint64_t addr,
			  uint64_t *number_out)
{
	if (!pd_lookup_number(functions->symbols, dso, addr, number_out))
		return PD_NAMED_NOT;
	return depends_on_line(functions, dso) ? PD_NAMED_ADDRESS : PD_NAMED_FUNCTION;
}

// More of a kernel's symbols may have to be loaded, and lines may have to be opened.
static enum pd_named find_alone(struct pd_functions *functions, const struct pd_dso_full *dso, uint64_t addr,
				uint64_t *number_out)
{
	enum pd_named named;

	pthread_mutex_lock(&functions->lock);
	named = find(functions, dso, addr, number_out);
	pthread_mutex_unlock(&functions->lock);
	return named;
}

static uint64_t addr_in(const struct pd_dso_full *dso, const struct pd_code_address *address,
			const struct pd_range *range)
{
	return pd_lookup_addr(dso, address->addr + range->to_offset, range->flags & PD_RANGE_BY_OFFSET, address->addr);
}

void pd_functions_prefetch(const struct pd_functions *functions, const struct pd_code_address *address,
			   const struct pd_range *range, unsigned stage)
{
	const struct pd_dso_full *dso = __atomic_load_n(&functions->dsos[range->object - 1], __ATOMIC_ACQUIRE);

	if (dso && dso != &by_address)
		pd_lookup_prefetch_number(dso, addr_in(dso, address, range), stage);
}

enum pd_named pd_functions_find(struct pd_functions *functions, const struct pd_object *object,
				const struct pd_code_address *address, const struct pd_range *range,
				uint64_t *number_out)
{
	const struct pd_dso_full *dso = __atomic_load_n(&functions->dsos[object->index], __ATOMIC_ACQUIRE);
	uint64_t addr;

	if (!dso)
		dso = meet(functions, object, address);
	if (dso == &by_address)
		return PD_NAMED_ADDRESS;
	addr = addr_in(dso, address, range);
	return dso->kernel || (functions->options->by & PD_BY_LINE) ? find_alone(functions, dso, addr, number_out) :
								      find(functions, dso, addr, number_out);
}
