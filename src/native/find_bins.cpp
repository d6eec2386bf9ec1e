// find_bins of kernels/reference.py: how many of its column's edges each number reaches.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "bin_edges.h"
#include "bindings.h"
#include "dense.h"
#include "threads.h"

namespace naively {
namespace {

template <class T>
NAIVELY_INLINE inline void find_rows(const Matrix<T>& matrix,
                                     const std::vector<BinFinder>& finders, int64_t begin,
                                     int64_t end, std::int32_t* codes) {
    ColumnPanel<T> panel(matrix);
    std::vector<std::int32_t> found(panel.max_rows);
    for (int64_t row = begin; row < end; row += panel.max_rows) {
        const int64_t rows = std::min(panel.max_rows, end - row);
        panel.visit_columns(row, rows, [&](int64_t column, const T* x) NAIVELY_INLINE {
            finders[column].find(x, rows, found.data());
            for (int64_t i = 0; i < rows; ++i)
                codes[(row + i) * matrix.columns + column] = x[i] == x[i] ? found[i] : -1;
        });
    }
}

nb::object find_bins(nb::handle values, nb::handle edges, nb::handle first) {
    const DenseMatrix x(values, "values");
    const int64_t rows = x.rows(), columns = x.columns();
    const std::vector<BinFinder> finders = read_edges(edges, first, columns, rows);
    Result<std::int32_t> codes("empty", rows, columns);
    x.visit([&](const auto& matrix) {
        run_rows(rows, 4 * columns, [&](auto, int64_t begin, int64_t end) NAIVELY_INLINE {
            find_rows(matrix, finders, begin, end, codes.data());
        });
    });
    return codes.object();
}

}  // namespace

void bind_find_bins(nb::module_& m) {
    m.def("find_bins", &find_bins, nb::arg("values"), nb::arg("edges"), nb::arg("first"));
}

}  // namespace naively
