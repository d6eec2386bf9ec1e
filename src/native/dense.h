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
template <class T>
void pack_block(const Matrix<T>& matrix, int64_t row, int64_t rows, int64_t column,
                int64_t columns, T* to, int64_t to_stride) {
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
        std::fill(to + i * to_stride + columns, to + (i + 1) * to_stride, T{0});
}

// A few columns of a block of rows, copied to where the cells of a column are neighbours.
template <class T>
class ColumnPanel {
  public:
    static constexpr int64_t max_columns = 8;  // a cache line of a row
    static constexpr int64_t max_rows = 1024;

    // `rows` is the most there will be at once.
    explicit ColumnPanel(const Matrix<T>& matrix, int64_t rows = max_rows)
        : turned_{matrix.data, matrix.columns, matrix.rows, matrix.column_stride,
                  matrix.row_stride},
          apart_(rows),
          cells_(max_columns * rows) {}

    void read(int64_t row, int64_t rows, int64_t column, int64_t columns) {
        if (turned_.row_stride == 1) {
            read_row_by_row(row, rows, column, columns);
        } else {
            pack_block(turned_, column, columns, row, rows, cells_.data(), apart_);
        }
    }
    const T* column(int64_t j) const { return cells_.data() + j * apart_; }

    // Calls visit(column, its cells) for each column of some rows.
    template <class Visit>
    NAIVELY_INLINE inline void visit_columns(int64_t row, int64_t rows, Visit&& visit) {
        for (int64_t first = 0; first < turned_.rows; first += max_columns) {
            const int64_t columns = std::min(max_columns, turned_.rows - first);
            read(row, rows, first, columns);
            for (int64_t j = 0; j < columns; ++j) visit(first + j, column(j));
        }
    }

  private:
    Matrix<T> turned_;
    int64_t apart_;  // the cells of neighbouring columns
    std::vector<T> cells_;

    // The cells of a row are neighbours, but the next row is far: it is fetched long before.
    void read_row_by_row(int64_t row, int64_t rows, int64_t column, int64_t columns) {
        constexpr int64_t ahead = 32;
        T* to = cells_.data();
        for (int64_t i = 0; i < rows; ++i, ++to) {
            __builtin_prefetch(reinterpret_cast<const void*>(turned_.address(column, row + i + ahead)));
            __builtin_prefetch(reinterpret_cast<const void*>(
                turned_.address(column + columns - 1, row + i + ahead)));
            const T* from = turned_.at(column, row + i);
            for (int64_t j = 0; j < columns; ++j) to[j * apart_] = from[j];
        }
    }
};

}  // namespace naively
