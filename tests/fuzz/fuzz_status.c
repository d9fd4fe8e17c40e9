// SPDX-License-Identifier: Apache-2.0
// Reads the input as /proc/PID/status.
#include <stdlib.h>

#include "target/proc.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proc_status status;
	auto_(error) err = proc_status_parse((struct str){ (const char *)data, size }, &status);
	if (err)
		return 0;
	if (status.pid <= 0 || status.tgid <= 0 || status.parent < 0 || status.ns_levels == 0 ||
	    !memchr(status.comm, '\0', sizeof(status.comm)))
		abort();
	return 0;
}
