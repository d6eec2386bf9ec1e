// A dense matrix of any strides, and blocks of it copied to where columns are neighbours.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "arrays.h"
#include "simd.h"

namespace naively {

template <class T>
struct Matrix {
    const T* data;
    int64_t rows, columns, row_stride, column_stride;

    const T* at(int64_t row, int64_t column) const {
        return data + row * row_stride + column * column_stride;
    }
    // The same for a cell that may lie outside, to be prefetched only.
    std::uintptr_t address(int64_t row, int64_t column) const {
        const auto cells = static_cast<std::uintptr_t>(row * row_stride + column * column_stride);
        return reinterpret_cast<std::uintptr_t>(data) + cells * sizeof(T);
    }
};

// A matrix of float64 or float32 that a kernel is given.
class DenseMatrix {
  public:
    DenseMatrix(nb::handle source, const char* name) : cells_(source, name, 2) {}

    int64_t rows() const { return cells_.shape(0); }
    int64_t columns() const { return cells_.shape(1); }

    // Calls work with the Matrix of the type that the cells are of.
    template <class Work>
    void visit(const Work& work) const {
        cells_.visit([&](auto* cells) {
            work(Matrix<std::remove_const_t<std::remove_pointer_t<decltype(cells)>>>{
                cells, rows(), columns(), cells_.stride(0), cells_.stride(1)});
        });
    }

  private:
    Input<Layout::any, double, float> cells_;
};

// Copy a block to `to`, rows `to_stride` apart; columns from `columns` to `to_stride` become zero.
template <class T, class To>
void pack_block(const Matrix<T>& matrix, int64_t row, int64_t rows, int64_t column,
                int64_t columns, To* to, int64_t to_stride) {
    constexpr int64_t neighbours = 8;  // columns at a time, so that written lines stay cached
    for (int64_t begin = 0; begin < columns; begin += neighbours) {
        const int64_t end = std::min(columns, begin + neighbours);
        for (int64_t j = begin; j < end; ++j) {
            const T* from = matrix.at(row, column + j);
            for (int64_t i = 0; i < rows; ++i)
                to[i * to_stride + j] = from[i * matrix.row_stride];
        }
    }
    for (int64_t i = 0; i < rows; ++i)
        std::fill(to + i * to_stride + columns, to + (i + 1) * to_stride, To{0});
}

// A few columns of a block of rows as float64, where the cells of a column are neighbours: copied, or
// where they lie. So what reads them is compiled once.
class ColumnPanel {
  public:
    static constexpr int64_t max_columns = 8;  // a cache line of a row
    static constexpr int64_t max_rows = 1024;

    // `rows` is the most there will be at once.
    explicit ColumnPanel(const DenseMatrix& matrix, int64_t rows = max_rows)
        : matrix_(matrix), rows_(rows), cells_(max_columns * rows) {}

    // Calls visit(column, its cells) for columns [first, end) of some rows.
    template <class Visit>
    NAIVELY_INLINE inline void visit(int64_t row, int64_t rows, int64_t first, int64_t end,
                                     Visit&& visit) {
        for (int64_t column = first; column < end; column += max_columns) {
            const int64_t columns = std::min(max_columns, end - column);
            read(row, rows, column, columns);
            for (int64_t j = 0; j < columns; ++j) visit(column + j, begin_ + j * apart_);
        }
    }

  private:
    const DenseMatrix& matrix_;
    int64_t rows_;
    std::vector<double> cells_;
    const double* begin_ = nullptr;
    int64_t apart_ = 0;  // the cells of neighbouring columns

    __attribute__((noinline)) void read(int64_t row, int64_t rows, int64_t column, int64_t columns) {
        begin_ = cells_.data();
        apart_ = rows_;
        matrix_.visit([&](const auto& of) {
            const auto* const from = of.at(row, column);
            if constexpr (std::is_same_v<decltype(from), const double* const>)
                if (of.row_stride == 1) {
                    begin_ = from;
                    apart_ = of.column_stride;
                    return;
                }
            if (of.column_stride == 1) return read_row_by_row(of, row, rows, column, columns);
            const std::decay_t<decltype(of)> turned{of.data, of.columns, of.rows, of.column_stride,
                                                    of.row_stride};
            pack_block(turned, column, columns, row, rows, cells_.data(), apart_);
        });
    }

    // The cells of a row are neighbours, but the next row is far: it is fetched long before.
    template <class T>
    void read_row_by_row(const Matrix<T>& of, int64_t row, int64_t rows, int64_t column,
                         int64_t columns) {
        constexpr int64_t ahead = 32;
        double* to = cells_.data();
        for (int64_t i = 0; i < rows; ++i, ++to) {
            for (const int64_t at : {column, column + columns - 1})
                __builtin_prefetch(reinterpret_cast<const void*>(of.address(row + i + ahead, at)));
            const T* from = of.at(row + i, column);
            for (int64_t j = 0; j < columns; ++j) to[j * apart_] = from[j];
        }
    }
};

}  // namespace naively
