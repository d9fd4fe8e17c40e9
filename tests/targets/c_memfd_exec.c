// SPDX-License-Identifier: Apache-2.0
// Copies a program into memory and runs it from there: it is in no file system.
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv, char **env)
{
	if (argc < 2)
		return 2;
	int program = open(argv[1], O_RDONLY | O_CLOEXEC);
	int memory = memfd_create("from-memory", MFD_CLOEXEC);
	struct stat status;
	if (program < 0 || memory < 0 || fstat(program, &status) != 0)
		return 1;
	if (sendfile(memory, program, NULL, (size_t)status.st_size) != status.st_size)
		return 1;
	fexecve(memory, argv + 1, env);
	perror("fexecve");
	return 1;
}
