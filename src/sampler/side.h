// SPDX-License-Identifier: Apache-2.0
// What all processes of the machine do, told by one event a CPU that samples nothing.
#pragma once

#include "sampler/perf_ring.h"

struct side;

struct error *side_open(struct side **ret) must_check;
void side_free(struct side *s);
GUARD_FREE(side)
// Adds the descriptors that become readable when much is waiting.
struct error *side_watch(struct side *s, int epoll_fd) must_check;
// Delivers all there is.
void side_drain(struct side *s, const struct sampler_hooks *hooks);
