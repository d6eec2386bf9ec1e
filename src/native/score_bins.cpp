// score_bins of kernels/reference.py: start + the table's row of the bin of each number.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "bin_edges.h"
#include "bindings.h"
#include "dense.h"
#include "score_rows.h"
#include "table_rows.h"
#include "threads.h"

namespace naively {
namespace {

template <class Isa>
NAIVELY_INLINE inline void score_binned_rows(Isa, const DenseMatrix& matrix,
                                             const std::vector<BinFinder>& finders,
                                             const std::vector<int64_t>& starts,
                                             const double* table, const Scores& scores,
                                             int64_t begin, int64_t end) {
    const int64_t columns = matrix.columns(), most = std::min(Finisher::max_rows, end - begin);
    ColumnPanel panel(matrix, most);
    std::vector<std::int32_t> bins(most);
    std::vector<int64_t> level(most * columns), present(most);
    int64_t block = begin;
    const auto find = [&](int64_t first_row, int64_t rows) NAIVELY_INLINE {
        block = first_row;
        std::fill_n(present.begin(), rows, int64_t{0});
        panel.visit(first_row, rows, 0, columns, [&](int64_t column, const double* x) NAIVELY_INLINE {
            finders[column].find(x, rows, bins.data());
            for (int64_t i = 0; i < rows; ++i) {
                level[i * columns + present[i]] = starts[column] + bins[i];
                present[i] += x[i] == x[i];  // what is missing is written over
            }
        });
    };
    const auto score = [&](int64_t row, double* joint) NAIVELY_INLINE {
        const int64_t i = row - block;
        add_table_rows<Isa, false>(
            table, scores.classes(),
            TableRows<int64_t>{level.data() + i * columns, nullptr, present[i], 0}, joint);
    };
    score_rows(scores, begin, end, find, score);
}

nb::object score_bins(nb::handle values, nb::handle edges, nb::handle first, nb::handle table,
                      nb::handle start, const char* finish, nb::handle log_prior) {
    const DenseMatrix x(values, "values");
    const Doubles rows(table, "table", 2);
    const std::vector<BinFinder> finders = read_edges(edges, first, x.columns(), x.rows());
    std::vector<int64_t> starts{0};  // of each column's bins, one more than its edges
    for (const BinFinder& finder : finders) starts.push_back(starts.back() + finder.bins());
    if (starts.back() > rows.shape(0)) throw std::invalid_argument("the table has too few rows");
    const Scores scores(x.rows(), rows.shape(1), start, finish, log_prior);
    const int64_t operations = 1 + x.columns() * (rows.shape(1) + 8);
    run_rows(x.rows(), operations, [&](auto isa, int64_t begin, int64_t end) NAIVELY_INLINE {
        score_binned_rows(isa, x, finders, starts, rows.data(), scores, begin, end);
    });
    return scores.object();
}

}  // namespace

void bind_score_bins(nb::module_& m) {
    m.def("score_bins", &score_bins, nb::arg("values"), nb::arg("edges"), nb::arg("first"),
          nb::arg("table"), nb::arg("start"), nb::arg("finish"), nb::arg("log_prior"));
}

}  // namespace naively
