// SPDX-License-Identifier: Apache-2.0
// Spends its time in the kernel: reads from /dev/zero.
#include <fcntl.h>

#include "target.h"

FUNCTION void read_zeroes(int fd)
{
	static char buffer[256 << 10];
	if (read(fd, buffer, sizeof(buffer)) != sizeof(buffer))
		_exit(1);
	NO_TAIL_CALL();
}

int main(void)
{
	int fd = open("/dev/zero", O_RDONLY);
	target_ready();
	for (;;)
		read_zeroes(fd);
}
