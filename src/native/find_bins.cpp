// find_bins of kernels/cells.py: how many of its column's edges each number reaches.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "bindings.h"
#include "dense.h"
#include "threads.h"

namespace naively {
namespace {

// Each column's edges, filled up with NaN to one less than a power of two: every number takes the
// same steps, and is never at or above what was filled in.
struct PaddedEdges {
    int64_t steps;
    std::vector<double> edges;

    PaddedEdges(const double* from, int64_t count) : steps(0) {
        while ((int64_t{1} << steps) <= count) ++steps;
        edges.assign((int64_t{1} << steps) - 1, std::numeric_limits<double>::quiet_NaN());
        std::copy_n(from, count, edges.begin());
    }
};

template <class T>
NAIVELY_INLINE inline void find_rows(const Matrix<T>& matrix,
                                     const std::vector<PaddedEdges>& edges, int64_t begin,
                                     int64_t end, std::int32_t* codes) {
    ColumnPanel<T> panel(matrix);
    std::vector<std::int32_t> found(panel.max_rows);
    for (int64_t row = begin; row < end; row += panel.max_rows) {
        const int64_t rows = std::min(panel.max_rows, end - row);
        for (int64_t column = 0; column < matrix.columns; column += panel.max_columns) {
            const int64_t columns = std::min(panel.max_columns, matrix.columns - column);
            panel.read(row, rows, column, columns);
            for (int64_t j = 0; j < columns; ++j) {
                const T* x = panel.column(j);
                const double* edge = edges[column + j].edges.data();
                std::fill_n(found.begin(), rows, 0);
                for (int64_t step = edges[column + j].steps; step > 0; --step) {
                    const std::int32_t half = std::int32_t{1} << (step - 1);
                    for (int64_t i = 0; i < rows; ++i)
                        found[i] += edge[found[i] + half - 1] <= x[i] ? half : 0;
                }
                for (int64_t i = 0; i < rows; ++i)
                    codes[(row + i) * matrix.columns + column + j] = x[i] == x[i] ? found[i] : -1;
            }
        }
    }
}

nb::object find_bins(nb::handle values, nb::handle edges, nb::handle first) {
    const DenseMatrix x(values, "values");
    const Doubles all(edges, "edges", 1);
    const Integers starts(first, "first", 1);
    const int64_t rows = x.rows(), columns = x.columns();
    starts.require_shape({columns + 1});
    std::vector<PaddedEdges> padded;
    padded.reserve(columns);
    starts.visit([&](auto* start) {
        bool wrong = start[0] < 0 || start[columns] > all.shape(0);
        for (int64_t j = 0; j < columns; ++j) wrong |= start[j] > start[j + 1];
        if (wrong) throw std::invalid_argument("the first edges must not decrease");
        for (int64_t j = 0; j < columns; ++j)
            padded.emplace_back(all.data() + start[j], start[j + 1] - start[j]);
    });
    Result<std::int32_t> codes("empty", rows, columns);
    {
        nb::gil_scoped_release released;
        x.visit([&](const auto& matrix) {
            const int parts = count_parts(rows, 4.0 * static_cast<double>(columns));
            run_parts(rows, parts, [&](int64_t begin, int64_t end, int) {
                on_best_instruction_set([&](auto) NAIVELY_INLINE {
                    find_rows(matrix, padded, begin, end, codes.data());
                });
            });
        });
    }
    return codes.object();
}

}  // namespace

void bind_find_bins(nb::module_& m) {
    m.def("find_bins", &find_bins, nb::arg("values"), nb::arg("edges"), nb::arg("first"));
}

}  // namespace naively
