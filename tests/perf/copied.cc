// SPDX-License-Identifier: MIT
/*
 * Exceptions whose stacks are copied while they are on their way: destructors that run in between; and functions that are
 * inlined into each other.
 * usage: exceptions MILLISECONDS [inlined]
 */
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

#define KEEP __attribute__((noinline, noclone))

volatile uint64_t sink;

KEEP static void spin()
{
	for (uint64_t i = 0; i < 300000; i++)
		sink = sink + i * i;
}

struct guard {
	KEEP ~guard()
	{
		spin();
		sink = sink + 1;
	}
};

KEEP static void thrower(int a)
{
	guard g;

	if (a >= 0)
		throw std::runtime_error("thrown");
	sink = sink + 2;
}

KEEP static void catcher(int a)
{
	try {
		thrower(a);
	} catch (const std::exception &) {
		spin();
		sink = sink + 3;
	}
}

template <typename Call> static inline __attribute__((always_inline)) void middle(Call call)
{
	call();
	sink = sink + 4;
}

static inline __attribute__((always_inline)) void wrapper(int a)
{
	middle([a] {
		spin();
		sink = sink + (uint64_t)a;
	});
}

KEEP static void outer(int a)
{
	wrapper(a);
	sink = sink + 5;
}

int main(int argc, char **argv)
{
	using clock = std::chrono::steady_clock;
	const auto end = clock::now() + std::chrono::milliseconds(argc > 1 ? atoi(argv[1]) : 200);

	while (clock::now() < end)
		argc > 2 ? outer(argc) : catcher(argc);
	return 0;
}
