// SPDX-License-Identifier: Apache-2.0
#pragma once

// Opens a file for reading as a process with another root directory would: symbolic links, also
// absolute ones, do not leave that root. `root` is "" for our own. Never waits, even for a pipe.
// -1 with errno on failure.
int rooted_open(const char *root, const char *path);
