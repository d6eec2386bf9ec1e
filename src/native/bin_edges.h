// The edges of all columns that a kernel is given, checked, as finders of bins.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "arrays.h"
#include "bin_finder.h"

namespace naively {

// `edges` holds those of one column after another, `first` where each column's begin; `rows` is how
// many numbers of each column there will be.
inline std::vector<BinFinder> read_edges(nb::handle edges, nb::handle first, int64_t columns,
                                         int64_t rows) {
    const Doubles all(edges, "edges", 1);
    const Integers starts(first, "first", 1);
    starts.require_shape({columns + 1});
    std::vector<BinFinder> finders;
    finders.reserve(columns);
    starts.visit([&](auto* start) {
        bool wrong = start[0] < 0 || start[columns] > all.shape(0);
        for (int64_t j = 0; j < columns; ++j) wrong |= start[j] > start[j + 1];
        if (wrong) throw std::invalid_argument("the first edges must not decrease");
        for (int64_t j = 0; j < columns; ++j)
            finders.emplace_back(all.data() + start[j], start[j + 1] - start[j], rows);
    });
    return finders;
}

}  // namespace naively
