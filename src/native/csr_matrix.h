// A CSR matrix that a kernel is given, and the checks of its column indices, which are made as they
// are read: an index that is out of range is an error before it is used.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "arrays.h"
#include "simd.h"

namespace naively {

// indptr as int64, checked: rows follow one another and end inside the stored entries.
inline std::vector<int64_t> import_row_starts(const Integers& indptr, int64_t entries) {
    const int64_t size = indptr.shape(0);
    if (size < 1) throw std::invalid_argument("indptr is empty");
    std::vector<int64_t> starts(size);
    bool wrong = false;
    indptr.visit([&](auto* from) {
        int64_t before = 0;
        for (int64_t i = 0; i < size; ++i) {
            starts[i] = from[i];
            wrong |= starts[i] < before;
            before = starts[i];
        }
    });
    if (wrong || starts.back() > entries) throw std::invalid_argument("indptr is malformed");
    return starts;
}

NAIVELY_INLINE inline void check_columns(const int32_t* columns, int64_t count, int64_t width) {
    uint32_t largest = 0;  // negative is larger than any column
    for (int64_t e = 0; e < count; ++e)
        largest = std::max(largest, static_cast<uint32_t>(columns[e]));
    if (count && largest >= static_cast<std::uint64_t>(width))
        throw std::invalid_argument("a column index is out of range");
}

// Throws unless all values are finite: x - x is 0 then, and else NaN. Whole numbers always are.
template <class Isa, class Value>
NAIVELY_INLINE inline void check_values(const Value* values, int64_t count) {
    if constexpr (std::is_floating_point_v<Value>) {
        constexpr int lanes = Isa::lanes;
        Vector<double, lanes> differences{};  // their sum, 0 or NaN
        int64_t e = 0;
        for (; e + lanes <= count; e += lanes) {
            const Vector<double, lanes> x = load<lanes>(values + e);
            differences += x - x;
        }
        double sum = 0.0;
        for (int lane = 0; lane < lanes; ++lane) sum += differences[lane];
        for (; e < count; ++e) sum += static_cast<double>(values[e] - values[e]);
        if (sum != 0.0) throw std::invalid_argument("a cell is missing or infinite");
    }
}

// Rows of a CSR matrix that are checked together, before they are used.
constexpr int64_t checked_rows = 64;

// Tables larger than this are prefetched from.
constexpr int64_t cached_bytes = 1 << 18;

// A CSR matrix whose arrays are checked, but for the column indices.
class CsrMatrix {
  public:
    CsrMatrix(nb::handle indptr, nb::handle indices, nb::handle data)
        : indptr_(indptr, "indptr", 1), indices_(indices, "indices", 1), data_(data, "data", 1),
          starts_(import_row_starts(indptr_, std::min(indices_.shape(0), data_.shape(0)))) {
        indices_.visit([&](auto* from) {
            if constexpr (sizeof(*from) == sizeof(int32_t)) return void(columns_ = from);
            // Indices of 64 bits are rare, and copied. One that 32 bits do not hold is no column: -1.
            for (int64_t i = 0; i < indices_.shape(0); ++i)
                narrow_.push_back(from[i] >> 31 ? -1 : static_cast<int32_t>(from[i]));
            columns_ = narrow_.data();
        });
    }

    int64_t rows() const { return static_cast<int64_t>(starts_.size()) - 1; }
    int64_t entries() const { return starts_.back() - starts_.front(); }
    const int64_t* starts() const { return starts_.data(); }
    const int32_t* columns() const { return columns_; }

    // Call work(data) with the typed pointer.
    template <class Work>
    void visit(const Work& work) const { data_.visit(work); }

  private:
    Integers indptr_, indices_;
    std::vector<int32_t> narrow_;
    const int32_t* columns_ = nullptr;
    Input<Layout::contiguous, double, float, int64_t> data_;
    std::vector<int64_t> starts_;
};

}  // namespace naively
