// SPDX-License-Identifier: Apache-2.0
// The unit-test harness: TEST(a_sentence) { CHECK(...); } registers itself; the program prints TAP.
// A failed CHECK returns from the test, so guards still run. One main() per program: tests/main.c.
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct test {
	const char *name;
	const char *file;
	void (*run)(void);
	struct test *next;
};

void test_register(struct test *t);
void test_fail(const char *file, int line, const char *what);
// Marks the running test as skipped; return afterwards.
void test_skip(const char *reason);

#define TEST(name_)                                                                                \
	static void test_##name_(void);                                                            \
	__attribute__((constructor)) static void register_##name_(void)                            \
	{                                                                                          \
		static struct test t = { #name_, __FILE__, test_##name_, NULL };                   \
		test_register(&t);                                                                 \
	}                                                                                          \
	static void test_##name_(void)

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			test_fail(__FILE__, __LINE__, #condition);                                 \
			return;                                                                    \
		}                                                                                  \
	} while (0)

// For functions that return a struct error *: fails with its message and frees it.
#define CHECK_OK(call)                                                                             \
	do {                                                                                       \
		struct error *check_err_ = (call);                                                 \
		if (check_err_) {                                                                  \
			test_fail(__FILE__, __LINE__, check_err_->message);                        \
			error_free(check_err_);                                                    \
			return;                                                                    \
		}                                                                                  \
	} while (0)

// The call must fail with this code.
#define CHECK_ERROR(code_, call)                                                                   \
	do {                                                                                       \
		struct error *check_err_ = (call);                                                 \
		bool check_ok_ = check_err_ && check_err_->code == (code_);                        \
		error_free(check_err_);                                                            \
		if (!check_ok_) {                                                                  \
			test_fail(__FILE__, __LINE__, #call " should fail with " #code_);          \
			return;                                                                    \
		}                                                                                  \
	} while (0)
