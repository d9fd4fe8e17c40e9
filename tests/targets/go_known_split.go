// SPDX-License-Identifier: Apache-2.0

// The split of CPU time in Go: a method behind an interface (50 %), a closure (30 %) and a plain
// function (20 %), all on one goroutine that stays on its thread.
package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

const clockThreadCPUTime = 3

var sink uint64

func cpuClock() uint64 {
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPUTime, uintptr(unsafe.Pointer(&t)), 0)
	return uint64(t.Sec)*1_000_000_000 + uint64(t.Nsec)
}

//go:noinline
func spin() {
	x := uint64(88172645463325252)
	for i := 0; i < 8000; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	sink += x
}

type Dish interface{ Cook(deadline uint64) }

type Soup struct{}

//go:noinline
func (Soup) Cook(deadline uint64) { boil(deadline) }

//go:noinline
func boil(deadline uint64) {
	for cpuClock() < deadline {
		spin()
	}
}

//go:noinline
func eachOrder(deadline uint64, serve func(uint64)) { serve(deadline) }

//go:noinline
func lunch(deadline uint64) {
	eachOrder(deadline, func(until uint64) {
		for cpuClock() < until {
			spin()
		}
	})
}

//go:noinline
func wash(deadline uint64) {
	for cpuClock() < deadline {
		spin()
	}
}

func main() {
	runtime.LockOSThread()
	time.AfterFunc(150*time.Second, func() { os.Exit(1) })
	fmt.Println("ready")
	var dish Dish = Soup{}
	deadline := cpuClock()
	for round := uint32(1); ; round = round*1103515245 + 12345 {
		tenth := 500_000 + uint64(round>>8)%1_000_000
		deadline += 5 * tenth
		dish.Cook(deadline)
		deadline += 3 * tenth
		lunch(deadline)
		deadline += 2 * tenth
		wash(deadline)
	}
}
