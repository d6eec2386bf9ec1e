// score_rules of kernels/rules.py: what decision tables add to each row.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "threads.h"

namespace naively {
namespace {

void require_within(const int64_t* values, int64_t count, int64_t least, int64_t most,
                    const char* what) {
    for (int64_t i = 0; i < count; ++i)
        if (values[i] < least || values[i] > most) throw std::invalid_argument(what);
}

nb::object score_rules(nb::handle codes, nb::handle sides, nb::handle side_of, nb::handle column,
                       nb::handle first, nb::handle cells, nb::handle points) {
    const Input<Layout::contiguous, std::int32_t> code(codes, "codes", 2);
    const Input<Layout::contiguous, int64_t> side(sides, "sides", 1), begin(side_of, "side_of", 1),
        of_column(column, "column", 1), conditions(first, "first", 1), cell_of(cells, "cells", 1);
    const Doubles point(points, "points", 2);
    const int64_t columns = code.shape(0), rows = code.shape(1), k = point.shape(1);
    const int64_t count = begin.shape(0), rules = conditions.shape(0) - 1;
    of_column.require_shape({count});
    cell_of.require_shape({rules + 1});
    require_within(of_column.data(), count, 0, columns - 1, "a condition is of no column");
    require_within(begin.data(), count, 0, side.shape(0), "a condition has no bins");
    require_within(conditions.data(), rules + 1, 0, count, "a rule has no such condition");
    require_within(cell_of.data(), rules + 1, 0, point.shape(0), "a rule has no such cell");
    require_within(side.data(), side.shape(0), 0, point.shape(0), "a side is in no cell");
    std::vector<std::int32_t> most(static_cast<std::size_t>(columns), -1);
    for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = 0; i < rows; ++i) {
            const std::int32_t at = code.data()[j * rows + i];
            if (at < 0) throw std::invalid_argument("a code is out of range");
            most[j] = std::max(most[j], at);
        }
    for (int64_t c = 0; c < count; ++c)
        if (begin.data()[c] + most[of_column.data()[c]] >= side.shape(0))
            throw std::invalid_argument("a code is out of range");
    for (int64_t r = 0; r < rules; ++r) {
        int64_t last = cell_of.data()[r];
        for (int64_t c = conditions.data()[r]; c < conditions.data()[r + 1]; ++c) {
            const int64_t* of = side.data() + begin.data()[c];
            const std::int32_t bins = most[of_column.data()[c]] + 1;
            if (bins > 0) last += *std::max_element(of, of + bins);
        }
        if (last >= point.shape(0)) throw std::invalid_argument("a rule has too few cells");
    }
    const Result<double> added("zeros", rows, k);
    double* out = added.data();
    run_rows(rows, 4 * count, [&](auto, int64_t from, int64_t to) NAIVELY_INLINE {
        for (int64_t i = from; i < to; ++i)
            for (int64_t r = 0; r < rules; ++r) {
                int64_t cell = cell_of.data()[r];
                for (int64_t c = conditions.data()[r]; c < conditions.data()[r + 1]; ++c)
                    cell += side.data()[begin.data()[c] + code.data()[of_column.data()[c] * rows + i]];
                for (int64_t j = 0; j < k; ++j) out[i * k + j] += point.data()[cell * k + j];
            }
    });
    return added.object();
}

}  // namespace

void bind_score_rules(nb::module_& m) {
    m.def("score_rules", &score_rules, nb::arg("codes"), nb::arg("sides"), nb::arg("side_of"),
          nb::arg("column"), nb::arg("first"), nb::arg("cells"), nb::arg("points"));
}

}  // namespace naively
