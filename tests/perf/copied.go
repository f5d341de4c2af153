// SPDX-License-Identifier: MIT

// Goroutines whose stacks are copied: one calls functions and closures, the others wait.
// usage: go MILLISECONDS
package main

import (
	"os"
	"sort"
	"strconv"
	"sync"
	"time"
)

var sink uint64

//go:noinline
func spin() {
	for i := uint64(0); i < 300000; i++ {
		sink += i * i
	}
}

//go:noinline
func inner(a uint64) uint64 {
	spin()
	return a + sink
}

//go:noinline
func recursive(depth uint64) uint64 {
	var room [64]uint64
	room[depth%64] = depth
	if depth == 0 {
		return inner(1) + room[depth%64]
	}
	return recursive(depth-1) + room[(depth+1)%64]
}

//go:noinline
func sorted() int {
	items := []int{5, 3}
	sort.Slice(items, func(i, j int) bool { inner(1); return items[i] < items[j] })
	return items[0]
}

func main() {
	limit, _ := strconv.Atoi(os.Args[1])
	end := time.Now().Add(time.Duration(limit) * time.Millisecond)
	var wait sync.WaitGroup
	wait.Add(1)
	go func() {
		defer wait.Done()
		for time.Now().Before(end) {
			recursive(6)
			sorted()
		}
	}()
	wait.Wait()
}
