// A dense matrix of any strides, and blocks of it copied to where columns are neighbours.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simd.h"

namespace naively {

template <class T>
struct Matrix {
    const T* data;
    std::int64_t rows, columns, row_stride, column_stride;

    const T* at(std::int64_t row, std::int64_t column) const {
        return data + row * row_stride + column * column_stride;
    }
    // The same for a cell that may lie outside, to be prefetched only.
    std::uintptr_t address(std::int64_t row, std::int64_t column) const {
        const auto cells = static_cast<std::uintptr_t>(row * row_stride + column * column_stride);
        return reinterpret_cast<std::uintptr_t>(data) + cells * sizeof(T);
    }
};

// Copy a block to `to`, rows `to_stride` apart; columns from `columns` to `to_stride` become zero.
template <class T>
void pack_block(const Matrix<T>& matrix, std::int64_t row, std::int64_t rows, std::int64_t column,
                std::int64_t columns, T* to, std::int64_t to_stride) {
    constexpr std::int64_t neighbours = 8;  // columns at a time, so that written lines stay cached
    for (std::int64_t begin = 0; begin < columns; begin += neighbours) {
        const std::int64_t end = std::min(columns, begin + neighbours);
        for (std::int64_t j = begin; j < end; ++j) {
            const T* from = matrix.at(row, column + j);
            for (std::int64_t i = 0; i < rows; ++i)
                to[i * to_stride + j] = from[i * matrix.row_stride];
        }
    }
    for (std::int64_t i = 0; i < rows; ++i)
        std::fill(to + i * to_stride + columns, to + (i + 1) * to_stride, T{0});
}

}  // namespace naively
