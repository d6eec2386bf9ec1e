// hash_rows of kernels/reference.py: a number for each row, by which equal rows are told.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "bindings.h"
#include "dense.h"
#include "threads.h"

namespace naively {
namespace {

constexpr std::uint64_t salt = 0x9E3779B97F4A7C15;

// Nothing for a missing cell. As -0 is 0, adding 0 comes before the bits are taken.
NAIVELY_INLINE inline std::uint64_t hash_of(double number) {
    const double plain = number + 0.0;
    std::uint64_t bits;
    std::memcpy(&bits, &plain, sizeof bits);
    const std::uint64_t there = -static_cast<std::uint64_t>(number == number);
    return (bits ^ (bits >> 32) ^ salt) & there;
}

NAIVELY_INLINE inline void hash_part(const DenseMatrix& x, const std::uint64_t* factors, int64_t begin,
                                     int64_t end, std::uint64_t* total) {
    bool by_row = false;
    x.visit([&](const auto& of) NAIVELY_INLINE {
        by_row = of.column_stride == 1;  // the cells of a row are neighbours
        for (int64_t row = begin; by_row && row < end; ++row) {
            std::uint64_t sum = 0;
            for (int64_t j = 0; j < of.columns; ++j)
                sum += hash_of(static_cast<double>(of.at(row, 0)[j])) * factors[j];
            total[row] = sum;
        }
    });
    if (by_row) return;
    ColumnPanel panel(x);
    for (int64_t row = begin; row < end; row += panel.max_rows) {
        const int64_t rows = std::min(panel.max_rows, end - row);
        panel.visit(row, rows, 0, x.columns(), [&](int64_t j, const double* cells) NAIVELY_INLINE {
            for (int64_t i = 0; i < rows; ++i) total[row + i] += hash_of(cells[i]) * factors[j];
        });
    }
}

nb::object hash_rows(nb::handle values, nb::handle factors) {
    const DenseMatrix x(values, "values");
    const Input<Layout::contiguous, std::uint64_t> by_column(factors, "factors", 1);
    by_column.require_shape({x.columns()});
    Result<std::uint64_t> total("zeros", x.rows());
    run_rows(x.rows(), 2 * x.columns(), [&](auto, int64_t begin, int64_t end) NAIVELY_INLINE {
        hash_part(x, by_column.data(), begin, end, total.data());
    });
    return total.object();
}

}  // namespace

void bind_hash_rows(nb::module_& m) {
    m.def("hash_rows", &hash_rows, nb::arg("values"), nb::arg("factors"));
}

}  // namespace naively
