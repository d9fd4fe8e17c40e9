// SPDX-License-Identifier: Apache-2.0
// The split of CPU time over what makes C++ names and stacks hard: a virtual call in a namespace
// (40 %), a template that calls a lambda (40 %), and exceptions thrown all the time (20 %).
#include <stdexcept>
#include <string>

#include "target.h"

namespace shop
{

struct Engine {
	virtual ~Engine() = default;
	virtual void run(uint64_t deadline) = 0;
};

struct SteamEngine final : Engine {
	FUNCTION void run(uint64_t deadline) override
	{
		stoke(deadline);
		NO_TAIL_CALL();
	}
	FUNCTION void stoke(uint64_t deadline)
	{
		burn_until(deadline);
	}
};

template <typename Key, int Ways> struct Table {
	template <typename Visitor> FUNCTION void visit(uint64_t deadline, Visitor visitor)
	{
		visitor(deadline);
		NO_TAIL_CALL();
	}
};

FUNCTION void scan(uint64_t deadline)
{
	Table<std::string, 4> table;
	auto probe = [](uint64_t until) __attribute__((noipa))
	{
		burn_until(until);
	};
	table.visit(deadline, probe);
	NO_TAIL_CALL();
}

namespace
{

FUNCTION void refuse(int order)
{
	if (order >= 0)
		throw std::runtime_error("refused");
}

FUNCTION void place(int order)
{
	refuse(order);
	NO_TAIL_CALL();
}

} // namespace

FUNCTION void fail_often(uint64_t deadline)
{
	for (int order = 0; cpu_clock() < deadline; order = (order + 1) & 0xffff) {
		try {
			place(order);
		} catch (const std::exception &) {
			NO_TAIL_CALL();
		}
	}
}

} // namespace shop

FUNCTION shop::Engine *new_engine()
{
	return new shop::SteamEngine;
}

int main()
{
	target_ready();
	shop::Engine *engine = new_engine();
	uint64_t deadline = cpu_clock();
	for (uint32_t round = 1;; round = round * 1103515245 + 12345) {
		uint64_t tenth = MS / 2 + (round >> 8) % MS;
		engine->run(deadline += 4 * tenth);
		shop::scan(deadline += 4 * tenth);
		shop::fail_often(deadline += 2 * tenth);
	}
}
