// tally_sparse of kernels/sparse.py: sums of the entries of a CSR matrix, by column and class, of
// which only those are stored that are not 0.
//
// Counted class by class: a vector of one class is filled from its rows, and what it holds is moved
// to the result, so that there is never a table of columns × classes.
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings.h"
#include "large_pages.h"
#include "sparse_table.h"
#include "table_sums.h"
#include "tally_rows.h"

namespace naively {
namespace {

inline bool is_zero(double cell) { return cell == 0.0; }
inline bool is_zero(const Sum& cell) { return cell.high == 0.0 && cell.low == 0.0; }

// The rows of each class, one class after the other, and where each class begins.
struct ByClass {
    std::vector<int64_t> begin, rows;

    ByClass(const std::int32_t* y, int64_t n, int64_t k)
        : begin(static_cast<size_t>(k) + 1), rows(static_cast<size_t>(n)) {
        for (int64_t row = 0; row < n; ++row) ++begin[y[row] + 1];
        for (int64_t c = 0; c < k; ++c) begin[c + 1] += begin[c];
        std::vector<int64_t> next(begin.begin(), begin.end() - 1);
        for (int64_t row = 0; row < n; ++row) rows[next[y[row]]++] = row;
    }
};

template <class Cell>
struct Counted {
    std::vector<std::int32_t> columns;  // class by class
    std::vector<Cell> cells;
    std::vector<size_t> ends;  // of each class
};

template <class Cell>
Counted<Cell> count_by_class(const WordMatrix& matrix, const std::int32_t* y, const double* w,
                             int64_t k, int64_t width) {
    const ByClass by_class(y, matrix.rows(), k);
    LargeVector<Cell> of_class(static_cast<size_t>(width));
    std::vector<std::int32_t> touched;
    Counted<Cell> counted;
    for (int64_t c = 0; c < k; ++c) {
        touched.clear();
        for (int64_t i = by_class.begin[c]; i < by_class.begin[c + 1]; ++i) {
            const int64_t row = by_class.rows[i], end = matrix.starts()[row + 1];
            for (int64_t e = matrix.starts()[row]; e < end; ++e) {
                const std::int32_t column = matrix.words()[e];
                Cell& cell = of_class[column];
                if (is_zero(cell)) touched.push_back(column);
                if (w != nullptr)
                    add_product(cell, matrix.times(e), w[row]);
                else
                    add(cell, matrix.times(e));
            }
        }
        for (const std::int32_t column : touched) {
            if (is_zero(of_class[column])) continue;  // a second time, or a sum of 0
            counted.columns.push_back(column);
            counted.cells.push_back(of_class[column]);
            of_class[column] = Cell{};
        }
        counted.ends.push_back(counted.columns.size());
    }
    return counted;
}

// The arrays first, classes, high and low (or None) of what was counted, by column.
template <class Cell>
nb::tuple by_column(const Counted<Cell>& counted, int64_t width) {
    const size_t n = counted.columns.size();
    const Result<int64_t> first("zeros", width + 1);
    const Result<std::int32_t> classes("empty", n);
    const Result<double> high("empty", n);
    std::optional<Result<double>> low;
    if constexpr (std::is_same_v<Cell, Sum>) low.emplace("empty", n);
    {
        const nb::gil_scoped_release released;
        for (const std::int32_t column : counted.columns) ++first.data()[column + 1];
        for (int64_t i = 0, before = 0; i < width; ++i)
            before += std::exchange(first.data()[i + 1], before);
        for (size_t c = 0, begin = 0; c < counted.ends.size(); begin = counted.ends[c++]) {
            for (size_t i = begin; i < counted.ends[c]; ++i) {
                const int64_t at = first.data()[counted.columns[i] + 1]++;
                classes.data()[at] = static_cast<std::int32_t>(c);
                if constexpr (std::is_same_v<Cell, Sum>)
                    finish(counted.cells[i], high.data()[at], low->data()[at]);
                else
                    high.data()[at] = counted.cells[i];
            }
        }
    }
    return nb::make_tuple(first.object(), classes.object(), high.object(),
                          low ? low->object() : nb::none());
}

nb::tuple tally_sparse(nb::handle indptr, nb::handle indices, nb::handle data, nb::handle y,
                       nb::handle w, int64_t k, int64_t width) {
    if (k < 0 || width < 0) throw std::invalid_argument("a shape is negative");
    const WordMatrix matrix(indptr, indices, data, width);
    const ClassIndices classes(y, matrix.rows(), k);
    const Weights weights(w, matrix.rows());
    const auto count_as = [&](auto zero) {
        Counted<decltype(zero)> counted;
        {
            const nb::gil_scoped_release released;
            counted = count_by_class<decltype(zero)>(matrix, classes.data(), weights.data(), k,
                                                     width);
        }
        return by_column(counted, width);
    };
    const Wholeness of_weights = look_at_weights(weights.data(), matrix.rows());
    Wholeness seen = of_weights;
    if (!data.is_none()) {
        seen.largest = 0.0;
        for (int64_t e = matrix.starts()[0]; e < matrix.starts()[matrix.rows()]; ++e)
            seen.look_at(matrix.times(e));
        seen.largest *= of_weights.largest;
    }
    return seen.sums_are_exact(matrix.entries()) ? count_as(double{}) : count_as(Sum{});
}

}  // namespace

void bind_tally_sparse(nb::module_& m) {
    m.def("tally_sparse", &tally_sparse, nb::arg("indptr"), nb::arg("indices"),
          nb::arg("data").none(), nb::arg("y"), nb::arg("w").none(), nb::arg("k"),
          nb::arg("width"));
}

}  // namespace naively
