// SPDX-License-Identifier: MIT
/*
 * A program to be recorded: names that the C++ compiler makes.
 */
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#define KEEP __attribute__((noinline))

volatile uint64_t sink;

namespace deep
{
namespace
{
KEEP void hidden(int n)
{
	for (int i = 0; i < n; i++)
		sink += i;
}
}

template <class T, class U = std::vector<T>> struct Box {
	T value{};
	KEEP T add(const std::pair<T, U> &from, int n)
	{
		for (int i = 0; i < n; i++)
			value += i + from.first;
		return value;
	}
	KEEP Box &operator+=(int n)
	{
		hidden(n);
		return *this;
	}
	KEEP ~Box()
	{
		hidden(1000000);
	}
};
}

static KEEP std::string words(std::string text, const char *(*choose)(int))
{
	for (int i = 0; i < 300000; i++)
		sink += text[i % text.size()] + *choose(i);
	return text;
}

static KEEP const char *choose(int i)
{
	return i % 2 ? "a" : "b";
}

/* The calls are so short that half of the samples are in the thunks. */
struct Left {
	volatile long left;
	virtual void go(int n) = 0;
};

struct Right {
	volatile long right;
	virtual void go(int n) = 0;
	virtual void go(const char *text) const = 0;
};

struct Both : Left, Right {
	KEEP void go(int) override
	{
	}
	KEEP void go(const char *) const override
	{
	}
};

struct Virtual : virtual Left, virtual Right {
	KEEP void go(int) override
	{
	}
	KEEP void go(const char *) const override
	{
	}
};

static KEEP void call(Right *right)
{
	for (int i = 0; i < 3000000; i++) {
		right->go(i);
		right->go("text");
	}
}

/* The function that it returns is in the middle of its readable name. */
template <class T> KEEP void (*chosen(T from))(int)
{
	for (int i = 0; i < 3000000; i++)
		sink += from;
	return deep::hidden;
}

int main()
{
	Both both;
	Virtual shared;
	deep::Box<double> numbers;
	deep::Box<long, std::string> others;
	auto twice = [](int n) KEEP {
		for (int i = 0; i < 2 * n; i++)
			sink += i;
	};

	for (int i = 0; i < 8; i++) {
		numbers.add({}, 1000000);
		others.add({}, 1000000);
		numbers += 1000000;
		twice(1000000);
		words("some text", choose);
		call(&both);
		call(&shared);
		chosen(2L)(1000000);
	}
	return sink == 1;
}
