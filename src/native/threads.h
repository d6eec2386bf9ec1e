// Rows split over threads: contiguous parts, one thread each, the first on the caller's own.
//
// Threads live for one call only: no pool, so nothing to go wrong after fork, and the only global
// state is the number of threads allowed. The caller of run_parts releases the GIL first.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

#include <nanobind/nanobind.h>

#include "simd.h"

namespace naively {

inline std::atomic<int>& thread_limit() {
    static std::atomic<int> limit{1};
    return limit;
}

// How many parts the work is worth: starting a thread costs as much as some 10^5 operations.
inline int count_parts(std::int64_t rows, double operations_per_row) {
    constexpr double operations_per_part = 250e3;
    const double affordable = static_cast<double>(rows) * operations_per_row / operations_per_part;
    const double limit = std::min<double>(thread_limit().load(), static_cast<double>(rows));
    return static_cast<int>(std::max(1.0, std::min(limit, affordable)));
}

// Call work(begin, end, part) for each part of the rows; the first exception is thrown again here.
template <class Work>
void run_parts(std::int64_t rows, int parts, const Work& work) {
    if (parts <= 1) {
        work(std::int64_t{0}, rows, 0);
        return;
    }
    std::vector<std::exception_ptr> failures(parts);
    const auto run = [&](int part) {
        try {
            work(rows * part / parts, rows * (part + 1) / parts, part);
        } catch (...) {
            failures[part] = std::current_exception();
        }
    };
    std::vector<std::thread> threads;
    threads.reserve(parts - 1);
    for (int part = 1; part < parts; ++part) {
        try {
            threads.emplace_back(run, part);
        } catch (const std::exception&) {
            run(part);  // no thread, or no memory for one, to be had: this one does the work
        }
    }
    run(0);
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
}

// Call work(isa, begin, end) for parts of the rows, by the best instruction set and without the GIL.
template <class Work>
void run_rows(std::int64_t rows, std::int64_t operations_per_row, const Work& work) {
    const nanobind::gil_scoped_release released;
    const int parts = count_parts(rows, static_cast<double>(operations_per_row));
    run_parts(rows, parts, [&](std::int64_t begin, std::int64_t end, int) {
        on_best_instruction_set([&](auto isa) NAIVELY_INLINE { work(isa, begin, end); });
    });
}

}  // namespace naively
