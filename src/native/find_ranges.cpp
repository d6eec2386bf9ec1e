// find_ranges of kernels/reference.py: the least and the largest whole number of each column.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "simd.h"
#include "threads.h"

namespace naively {
namespace {

template <class Code>
struct Ranges {
    explicit Ranges(int64_t columns)
        : low(columns, std::numeric_limits<Code>::max()),
          high(columns, std::numeric_limits<Code>::min()) {}

    NAIVELY_INLINE inline void widen(int64_t j, Code least, Code largest) {
        low[j] = std::min(low[j], least);
        high[j] = std::max(high[j], largest);
    }

    std::vector<Code> low, high;
};

template <class Code>
NAIVELY_INLINE inline void look_at_rows(const Code* codes, int64_t columns, int64_t row_stride,
                                        int64_t column_stride, int64_t begin, int64_t end,
                                        Ranges<Code>& ranges) {
    if (column_stride == 1) {
        Code* __restrict low = ranges.low.data();
        Code* __restrict high = ranges.high.data();
        for (int64_t row = begin; row < end; ++row) {
            const Code* cells = codes + row * row_stride;
            for (int64_t j = 0; j < columns; ++j) {
                low[j] = low[j] < cells[j] ? low[j] : cells[j];
                high[j] = high[j] > cells[j] ? high[j] : cells[j];
            }
        }
        return;
    }
    for (int64_t j = 0; j < columns; ++j) {
        const Code* cells = codes + j * column_stride;
        Code low = ranges.low[j], high = ranges.high[j];
        for (int64_t row = begin; row < end; ++row) {
            low = std::min(low, cells[row * row_stride]);
            high = std::max(high, cells[row * row_stride]);
        }
        ranges.widen(j, low, high);
    }
}

nb::object find_ranges(nb::handle matrix) {
    const Input<Layout::any, int64_t, std::int32_t> codes(matrix, "matrix", 2);
    const int64_t rows = codes.shape(0), columns = codes.shape(1);
    if (!rows) throw std::invalid_argument("there are no rows");
    const Result<int64_t> low("empty", columns), high("empty", columns);
    {
        nb::gil_scoped_release released;
        codes.visit([&](auto* data) {
            using Code = std::remove_const_t<std::remove_pointer_t<decltype(data)>>;
            const int parts = count_parts(rows, static_cast<double>(columns));
            std::vector<Ranges<Code>> found(parts, Ranges<Code>(columns));
            run_parts(rows, parts, [&](int64_t begin, int64_t end, int part) {
                on_best_instruction_set([&](auto) NAIVELY_INLINE {
                    look_at_rows(data, columns, codes.stride(0), codes.stride(1), begin, end,
                                 found[part]);
                });
            });
            for (const Ranges<Code>& other : found)
                for (int64_t j = 0; j < columns; ++j) found[0].widen(j, other.low[j], other.high[j]);
            std::copy(found[0].low.begin(), found[0].low.end(), low.data());
            std::copy(found[0].high.begin(), found[0].high.end(), high.data());
        });
    }
    return nb::make_tuple(low.object(), high.object());
}

}  // namespace

void bind_find_ranges(nb::module_& m) {
    m.def("find_ranges", &find_ranges, nb::arg("matrix"));
}

}  // namespace naively
