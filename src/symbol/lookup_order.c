/* SPDX-License-Identifier: MIT */
/* Objects that several threads load come in any order; here they get the numbers that one thread would have given. */
#include "symbol/lookup.h"

#include <string.h>

#define NOT_NOTED UINT32_MAX

bool pd_lookup_order_begin(struct pd_lookup_order *order, struct pd_symbols *symbols, size_t first)
{
	*order = (struct pd_lookup_order){
		.symbols = symbols,
		.count = symbols->dso_count,
		.first = first < symbols->dso_count ? first : symbols->dso_count,
	};
	order->next = order->first;
	order->numbers = pd_realloc(NULL, (order->count + 1) * sizeof(*order->numbers));
	if (order->numbers)
		memset(order->numbers, 0xff, (order->count + 1) * sizeof(*order->numbers));
	return order->numbers;
}

bool pd_lookup_order_note(struct pd_lookup_order *order, size_t object)
{
	const struct pd_dso_full *dso = pd_lookup_loaded(order->symbols, object);

	if (!dso)
		return false;
	// what was loaded since the beginning comes after all others
	if (dso->dso.index >= order->first && dso->dso.index < order->count &&
	    order->numbers[dso->dso.index] == NOT_NOTED)
		order->numbers[dso->dso.index] = (uint32_t)order->next++;
	return true;
}

static void renumber(const struct pd_lookup_order *order, struct pd_index *index)
{
	for (size_t i = 0; i < index->capacity; i++) {
		struct pd_index_slot *slot = &index->slots[i];
		size_t number = (size_t)slot->number_plus_1 - 1;

		if (slot->number_plus_1 && number >= order->first && number < order->count)
			slot->number_plus_1 = order->numbers[number] + 1;
	}
}

// Each goes to its place, and what was there is next.
static void move(const struct pd_lookup_order *order)
{
	struct pd_dso_full **dsos = order->symbols->dsos;

	for (size_t i = order->first; i < order->count; i++) {
		while (order->numbers[dsos[i]->dso.index] != i) {
			struct pd_dso_full *moved = dsos[i];
			size_t to = order->numbers[moved->dso.index];

			dsos[i] = dsos[to];
			dsos[to] = moved;
		}
	}
	for (size_t i = order->first; i < order->count; i++)
		dsos[i]->dso.index = i;
}

void pd_lookup_order_end(struct pd_lookup_order *order)
{
	for (size_t i = order->first; i < order->count; i++)
		if (order->numbers[i] == NOT_NOTED)
			order->numbers[i] = (uint32_t)order->next++;
	renumber(order, &order->symbols->by_name);
	renumber(order, &order->symbols->by_pid);
	move(order);
	pd_free(order->numbers);
	order->numbers = NULL;
}
