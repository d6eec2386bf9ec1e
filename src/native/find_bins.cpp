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

nb::object find_bins(nb::handle values, nb::handle edges, nb::handle first) {
    const DenseMatrix x(values, "values");
    const int64_t rows = x.rows(), columns = x.columns();
    const std::vector<BinFinder> finders = read_edges(edges, first, columns, rows);
    Result<std::int32_t> codes("empty", rows, columns);
    run_rows(rows, 4 * columns, [&](auto, int64_t begin, int64_t end) NAIVELY_INLINE {
        ColumnPanel panel(x);
        std::vector<std::int32_t> found(panel.max_rows);
        for (int64_t row = begin; row < end; row += panel.max_rows) {
            const int64_t some = std::min(panel.max_rows, end - row);
            panel.visit(row, some, 0, columns, [&](int64_t column, const double* cells) NAIVELY_INLINE {
                finders[column].find(cells, some, found.data());
                std::int32_t* const into = codes.data() + row * columns + column;
                for (int64_t i = 0; i < some; ++i)
                    into[i * columns] = cells[i] == cells[i] ? found[i] : -1;
            });
        }
    });
    return codes.object();
}

}  // namespace

void bind_find_bins(nb::module_& m) {
    m.def("find_bins", &find_bins, nb::arg("values"), nb::arg("edges"), nb::arg("first"));
}

}  // namespace naively
