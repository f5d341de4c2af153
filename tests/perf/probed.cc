// SPDX-License-Identifier: MIT
// What probe.py defines probes in: methods, references, templates, namespaces.
#include <cstdio>
#include <string>
#include <vector>

namespace shop {

struct Price {
	int whole;
	int parts;
};

class Basket {
public:
	explicit Basket(int first) : count_(first) {}
	int add(const Price &price, long times);
	static int convert(int number);
	virtual ~Basket() = default;

private:
	int count_;
	Price last_{};
	std::vector<Price> prices_;
};

__attribute__((noinline)) int Basket::convert(int number)
{
	return number * 3;
}

__attribute__((noinline)) int Basket::add(const Price &price, long times)
{
	int before = count_;

	last_ = price;
	prices_.push_back(price);
	count_ += static_cast<int>(times);
	return before + convert(price.whole);
}

template <typename T> __attribute__((noinline)) T largest(T a, T b)
{
	return a < b ? b : a;
}

} // namespace shop

__attribute__((noinline)) static int total(const std::string &name, int &sum)
{
	auto twice = [&sum](int number) { return sum += number * 2; };

	return twice(static_cast<int>(name.size())) + twice(1);
}

int main(int argc, char **argv)
{
	shop::Basket basket(argc);
	shop::Price price{ argc, 5 };
	int sum = basket.add(price, argc);

	printf("%d %f\n", shop::largest(sum, argc), shop::largest(1.5, argc * 1.0));
	return total(argv[0], sum) & 1;
}
