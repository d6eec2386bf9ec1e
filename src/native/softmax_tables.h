// The rows that the kernels of kernels/search.py and kernels/search.py read, checked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <vector>

#include "arrays.h"
#include "softmax.h"

namespace naively {

class SoftmaxTables {
  public:
    using Singles = nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
    using Tables = nb::ndarray<const float, nb::ndim<4>, nb::c_contig, nb::device::cpu>;

    SoftmaxTables(const Singles& start_of, const Singles& shared_of, const Tables& own_of,
                  nb::handle codes_of, nb::handle row_weight_of)
        : code_(codes_of, "codes", 1),
          rows(code_.shape(0)),
          blocks((rows + block_rows - 1) / block_rows),
          columns(static_cast<int64_t>(start_of.shape(1))),
          functions(static_cast<int64_t>(shared_of.shape(1))),
          parts(static_cast<int64_t>(own_of.shape(2))),
          start(start_of.data()),
          shared(shared_of.data()),
          own(own_of.data()),
          codes(code_.data()) {
        const auto is = [](const auto& array, std::initializer_list<int64_t> shape) {
            std::size_t axis = 0;
            for (const int64_t size : shape)
                if (static_cast<int64_t>(array.shape(axis++)) != size) return false;
            return true;
        };
        if (!is(start_of, {blocks, columns, block_rows}) ||
            !is(shared_of, {blocks, functions, block_rows}) ||
            !is(own_of, {blocks, columns, parts, block_rows}))
            throw std::invalid_argument("the shape of a table is wrong");
        if (columns < 1) throw std::invalid_argument("there must be a class");
        const int64_t k = std::max<int64_t>(columns, 2);
        for (int64_t i = 0; i < rows; ++i)
            if (codes[i] < 0 || codes[i] >= k)
                throw std::invalid_argument("a class code is out of range");
        if (row_weight_of.is_none()) return;
        weighing_.emplace_back(row_weight_of, "row_weight", 1);
        weighing_[0].require_shape({rows});
        row_weight = weighing_[0].data();
    }

    // What is right for the rows of a block, and what they weigh.
    BlockOfRows rows_of(int64_t block) const {
        const int64_t first = block * block_rows;
        BlockOfRows of{std::min(block_rows, rows - first), codes + first, {}};
        for (int64_t i = 0; i < of.count; ++i)
            of.weight[i] = row_weight ? row_weight[first + i] : 1.0;
        return of;
    }

  private:
    const Input<Layout::contiguous, std::int32_t> code_;
    std::vector<Doubles> weighing_;

  public:
    const int64_t rows, blocks, columns, functions, parts;
    const float* start;          // (blocks, columns, 64)
    const float* shared;         // (blocks, functions, 64)
    const float* own;            // (blocks, columns, parts, 64)
    const std::int32_t* codes;   // (rows,)
    const double* row_weight{};  // (rows,), or null
};

}  // namespace naively
