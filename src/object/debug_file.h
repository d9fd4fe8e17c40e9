// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/object.h"

// The file that holds what several debug files share, as .gnu_debugaltlink of `debug` names it;
// NULL if there is none. The caller frees it.
struct object *debug_file_open_shared(struct object *debug);
