// SPDX-License-Identifier: Apache-2.0
#include "cli/machine.h"

#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/colon_file.h"
#include "cli/doctor.h"
#include "tests/test.h"

TEST(a_value_is_found_by_its_whole_name)
{
	struct str text = STR("Name:\tcat\nNoColon\n:empty\nCapEff:\t00000000a80425fb\n"
			      "Seccomp_filters:\t3\nSeccomp:\t2  \nLast:");
	struct str value;
	uint64_t number;
	CHECK(colon_value(text, "Name", &value) && str_eq(value, STR("cat")));
	CHECK(colon_number(text, "CapEff", 16, &number) && number == 0xa80425fb);
	CHECK(colon_number(text, "Seccomp", 10, &number) && number == 2);
	CHECK(colon_value(text, "Last", &value) && value.len == 0);
	CHECK(!colon_value(text, "Sec", &value) && !colon_value(text, "NoColon", &value));
	CHECK(!colon_number(text, "Name", 10, &number));
	CHECK(!colon_value(STR(""), "Name", &value));
}

TEST(capabilities_of_old_are_those_of_today)
{
	struct machine admin = { .capabilities = UINT64_C(1) << CAP_SYS_ADMIN };
	CHECK(machine_can(&admin, CAP_BPF) && machine_can(&admin, CAP_PERFMON));
	CHECK(machine_can(&admin, CAP_SYS_ADMIN) && !machine_can(&admin, CAP_SYS_PTRACE));
	struct machine bpf = { .capabilities = UINT64_C(1) << CAP_BPF };
	CHECK(machine_can(&bpf, CAP_BPF) && !machine_can(&bpf, CAP_PERFMON));
}

TEST(kernels_are_compared_by_number)
{
	struct machine m = { .release = { 5, 9 } };
	CHECK(machine_kernel_is(&m, 5, 9) && machine_kernel_is(&m, 4, 20));
	CHECK(!machine_kernel_is(&m, 5, 10) && !machine_kernel_is(&m, 6, 0));
}

TEST(a_sysctl_may_be_negative_but_not_text)
{
	static const struct {
		const char *text;
		bool good;
		int64_t value;
	} cases[] = {
		{ "2\n", true, 2 },
		{ "-1\n", true, -1 },
		{ "516", true, 516 },
		{ "", false, 0 },
		{ "-\n", false, 0 },
		{ "two\n", false, 0 },
		{ "9223372036854775808\n", false, 0 },
	};
	char path[] = "/tmp/wick-sysctl-XXXXXX";
	autoclose int fd = mkstemp(path);
	CHECK(fd >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int64_t value = 0;
		CHECK(ftruncate(fd, 0) == 0);
		CHECK(pwrite(fd, cases[i].text, strlen(cases[i].text), 0) >= 0);
		CHECK(machine_sysctl(path, &value) == cases[i].good && value == cases[i].value);
	}
	unlink(path);
	CHECK(!machine_sysctl(path, &(int64_t){ 0 }));
}

// What each check says must be whole, whatever the machine is like.
static bool findings_are_complete(const struct machine *m)
{
	for (size_t i = 0; i < check_count; i++) {
		auto_fini(finding) f = { 0 };
		checks[i].run(m, &f);
		if (f.found.len == 0 || f.found.failed)
			return false;
		bool explained = f.cost.len != 0 && f.change.len != 0;
		if (explained != (f.state != FINDING_OK))
			return false;
	}
	return true;
}

TEST(every_finding_that_is_not_ok_says_what_it_costs_and_what_changes_it)
{
	struct machine nothing = { .seccomp = 2,
				   .no_new_privileges = true,
				   .own_pid_namespace = true };
	snprintf(nothing.kernel.machine, sizeof(nothing.kernel.machine), "riscv64");
	nothing.bpf = error_new(ERROR_DENIED, "bpf: not permitted");
	nothing.perf_own = error_hint(error_new(ERROR_DENIED, "perf: not permitted"), "be root");
	nothing.perf_all = error_new(ERROR_DENIED, "perf: not permitted");
	bool complete = findings_are_complete(&nothing);
	machine_fini(&nothing);
	CHECK(complete);

	struct machine everything = { .capabilities = UINT64_MAX, .release = { 6, 1 } };
	snprintf(everything.kernel.machine, sizeof(everything.kernel.machine), "x86_64");
	CHECK(findings_are_complete(&everything));
}

TEST(the_machine_that_runs_the_tests_is_read)
{
	auto_fini(machine) m = { 0 };
	machine_init(&m);
	CHECK(m.release[0] >= 4 && m.kernel.machine[0] != '\0');
	CHECK(m.root == (geteuid() == 0));
	CHECK(findings_are_complete(&m));
}
