// Sums of CSR entries and counts of level codes, by class: scattered into a (columns, classes)
// table. Whole numbers are added plainly, which is exact below 2^53; when something else turns up,
// the counting starts again in double-double.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <vector>

#include "arrays.h"
#include "double_double.h"
#include "kernels.h"
#include "sparse.h"
#include "threads.h"

namespace naively {
namespace {

struct Sum {
    double high, low;

    NAIVELY_INLINE inline void add(double value) { add_to_sum(high, low, value); }
    NAIVELY_INLINE inline void add_product(double value, double weight) {
        const double product = value * weight;
        add(product);
        low += __builtin_fma(value, weight, -product);
    }
    void merge(const Sum& other) { add_pair(high, low, other.high, other.low); }
};

// A sum of whole numbers.
struct Count {
    double value;

    NAIVELY_INLINE inline void add(double added) { value += added; }
    NAIVELY_INLINE inline void add_product(double added, double weight) { value += added * weight; }
    void merge(const Count& other) { value += other.value; }
};

constexpr double exact_limit = 0x1p53;

// Whether all are whole, and how large they get.
struct Wholeness {
    bool whole = true;
    double largest = 0.0;

    NAIVELY_INLINE inline void look_at(double value) {
        whole &= value == std::rint(value);
        largest = std::max(largest, std::fabs(value));
    }
    void merge(const Wholeness& other) {
        whole &= other.whole;
        largest = std::max(largest, other.largest);
    }
};

Wholeness look_at_weights(const double* w, int64_t rows) {
    Wholeness seen{true, w ? 0.0 : 1.0};
    if (w)
        for (int64_t i = 0; i < rows; ++i) seen.look_at(w[i]);
    return seen;
}

// Every thread needs a table of its own: not worth it unless there is more to count than to merge.
int count_table_parts(int64_t rows, int64_t additions, int64_t cells) {
    const double per_row = static_cast<double>(additions) / static_cast<double>(std::max<int64_t>(1, rows));
    const int worth = static_cast<int>(1 + std::min<int64_t>(additions / (4 * cells + 1), 1 << 20));
    return std::min(count_parts(rows, 2.0 * per_row), worth);
}

// Scatter with `add_rows(begin, end, table)` over threads; the sum of their tables.
template <class Cell, class AddRows>
std::vector<Cell> scatter(int64_t rows, int parts, int64_t cells, const AddRows& add_rows) {
    std::vector<std::vector<Cell>> tables(parts);
    for (std::vector<Cell>& table : tables) table.resize(cells);
    run_parts(rows, parts, [&](int64_t begin, int64_t end, int part) {
        add_rows(begin, end, tables[part].data());
    });
    for (int part = 1; part < parts; ++part)
        for (int64_t cell = 0; cell < cells; ++cell) tables[0][cell].merge(tables[part][cell]);
    return std::move(tables[0]);
}

nb::object make_pair(const std::vector<Count>& table, int64_t rows, int64_t columns) {
    Result<double> high("empty", rows, columns);
    for (size_t cell = 0; cell < table.size(); ++cell) high.data()[cell] = table[cell].value;
    return nb::make_tuple(high.object(), nb::none());
}

nb::object make_pair(const std::vector<Sum>& table, int64_t rows, int64_t columns) {
    Result<double> high("empty", rows, columns), low("empty", rows, columns);
    for (size_t cell = 0; cell < table.size(); ++cell) {
        high.data()[cell] = table[cell].high + table[cell].low;
        low.data()[cell] = table[cell].low - (high.data()[cell] - table[cell].high);
    }
    return nb::make_tuple(high.object(), low.object());
}

template <class Cell, class Index, class Value>
void add_csr_rows(const CsrMatrix& matrix, const Index* columns, const Value* values,
                  const std::int32_t* y, const double* w, int64_t k, int64_t width, int64_t begin,
                  int64_t end, Cell* table, Wholeness& seen) {
    constexpr int64_t ahead = 16;
    const int64_t* starts = matrix.starts();
    for (int64_t row = begin; row < end; ++row) {
        check_columns(columns + starts[row], starts[row + 1] - starts[row], width);
        Cell* of_class = table + y[row];
        for (int64_t e = starts[row]; e < starts[row + 1]; ++e) {
            const auto value = static_cast<double>(values[e]);
            if (value != value) continue;
            seen.look_at(value);
            if (w)
                of_class[columns[e] * k].add_product(value, w[row]);
            else
                of_class[columns[e] * k].add(value);
        }
    }
    (void)ahead;
}

}  // namespace

nb::object tally_csr(nb::handle indptr, nb::handle indices, nb::handle data, nb::handle y, nb::handle w,
                     int64_t k, int64_t width) {
    const CsrMatrix matrix(indptr, indices, data);
    const int64_t rows = matrix.rows(), cells = width * k;
    if (width < 0 || k < 0) throw nb::value_error("a shape is negative");
    const ClassIndices classes(y, rows, k);
    const Weights weights(w, rows);
    const int parts = count_table_parts(rows, matrix.entries(), cells);
    Wholeness seen = look_at_weights(weights.data(), rows);
    const double largest_weight = seen.largest;
    const auto count_as = [&](auto cell) {
        using Cell = decltype(cell);
        std::vector<Wholeness> seen_by(parts);
        std::vector<Cell> table;
        {
            nb::gil_scoped_release released;
            matrix.visit([&](auto* columns, auto* values) {
                std::atomic<int> next_part{0};
                table = scatter<Cell>(rows, parts, cells, [&](int64_t begin, int64_t end, Cell* to) {
                    add_csr_rows(matrix, columns, values, classes.data(), weights.data(), k, width,
                                 begin, end, to, seen_by[next_part++]);
                });
            });
        }
        for (const Wholeness& by : seen_by) seen.merge(by);
        return table;
    };
    if (seen.whole) {
        seen.largest = 0.0;
        const std::vector<Count> table = count_as(Count{});
        const double bound = seen.largest * largest_weight * static_cast<double>(matrix.entries());
        if (seen.whole && bound <= exact_limit) return make_pair(table, width, k);
    }
    return make_pair(count_as(Sum{}), width, k);
}

namespace {

template <class Cell, class Code>
void add_code_rows(const CodeMatrix& matrix, const Code* codes, const std::int32_t* y, const double* w,
                   int64_t k, int64_t begin, int64_t end, Cell* table) {
    const int64_t* starts = matrix.starts();
    const auto add_cell = [&](int64_t row, int64_t j) NAIVELY_INLINE {
        const int64_t code = codes[row * matrix.row_stride() + j * matrix.column_stride()];
        if (code < 0) return;
        if (code >= starts[j + 1] - starts[j]) throw std::invalid_argument("a level code is out of range");
        table[(starts[j] + code) * k + y[row]].add(w ? w[row] : 1.0);
    };
    for (int64_t row = begin; row < end; ++row)
        for (int64_t j = 0; j < matrix.columns(); ++j) add_cell(row, j);
}

}  // namespace

nb::object tally_codes(nb::handle codes, nb::handle first, nb::handle y, nb::handle w, int64_t k) {
    const CodeMatrix matrix(codes, first);
    const int64_t rows = matrix.rows(), cells = matrix.levels() * k;
    const ClassIndices classes(y, rows, k);
    const Weights weights(w, rows);
    const Wholeness seen = look_at_weights(weights.data(), rows);
    const int parts = count_table_parts(rows, rows * matrix.columns(), cells);
    const auto count_as = [&](auto cell) {
        using Cell = decltype(cell);
        std::vector<Cell> table;
        nb::gil_scoped_release released;
        matrix.visit([&](auto* code) {
            table = scatter<Cell>(rows, parts, cells, [&](int64_t begin, int64_t end, Cell* to) {
                add_code_rows(matrix, code, classes.data(), weights.data(), k, begin, end, to);
            });
        });
        return table;
    };
    if (seen.whole && seen.largest * static_cast<double>(rows) <= exact_limit)
        return make_pair(count_as(Count{}), matrix.levels(), k);
    return make_pair(count_as(Sum{}), matrix.levels(), k);
}

}  // namespace naively
