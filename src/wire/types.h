// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) OR Apache-2.0
// Fixed-width types that mean the same in a BPF program (which has no <stdint.h>) and elsewhere.
#pragma once

typedef unsigned char wu8;
typedef unsigned short wu16;
typedef unsigned int wu32;
typedef unsigned long long wu64;
typedef short ws16;
typedef int ws32;
typedef long long ws64;
