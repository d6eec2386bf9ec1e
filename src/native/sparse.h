// The rows of a CSR matrix, checked as they are read: an index that is out of range is an error
// before it is used.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "arrays.h"

namespace naively {

// indptr as int64, checked: rows follow one another and end inside the stored entries.
inline std::vector<int64_t> import_row_starts(const Array& indptr, int64_t entries) {
    const int64_t size = indptr.shape(0);
    if (size < 1) throw nb::value_error("indptr is empty");
    std::vector<int64_t> starts(size);
    bool wrong = false;
    visit_indices(indptr, [&](auto* from) {
        int64_t before = 0;
        for (int64_t i = 0; i < size; ++i) {
            starts[i] = from[i];
            wrong |= starts[i] < before;
            before = starts[i];
        }
    });
    if (wrong || starts.back() > entries) throw nb::value_error("indptr is malformed");
    return starts;
}

template <class Index>
NAIVELY_INLINE inline void check_columns(const Index* columns, int64_t count, int64_t width) {
    using Unsigned = std::make_unsigned_t<Index>;  // negative is larger than any column
    Unsigned largest = 0;
    for (int64_t e = 0; e < count; ++e)
        largest = std::max(largest, static_cast<Unsigned>(columns[e]));
    if (count && largest >= static_cast<std::uint64_t>(width))
        throw std::invalid_argument("a column index is out of range");
}

// Rows of a CSR matrix that are checked together, before they are used.
constexpr int64_t checked_rows = 64;

// Tables larger than this are prefetched from.
constexpr int64_t cached_bytes = 1 << 18;

// A CSR matrix whose arrays are checked, but for the column indices.
class CsrMatrix {
  public:
    CsrMatrix(nb::handle indptr, nb::handle indices, nb::handle data)
        : indptr_(indptr, 1, "indptr", {Type::int64, Type::int32}, true),
          indices_(indices, 1, "indices", {Type::int64, Type::int32}, true),
          data_(data, 1, "data", {Type::float64, Type::float32, Type::int64, Type::int32}, true),
          starts_(import_row_starts(indptr_, std::min(indices_.shape(0), data_.shape(0)))) {}

    int64_t rows() const { return static_cast<int64_t>(starts_.size()) - 1; }
    int64_t entries() const { return starts_.back() - starts_.front(); }
    const int64_t* starts() const { return starts_.data(); }
    int64_t end_of_entries() const { return starts_.back(); }

    // Call work(indices, data) with the typed pointers.
    template <class Work>
    void visit(const Work& work) const {
        visit_indices(indices_, [&](auto* indices) {
            switch (data_.type()) {
                case Type::float32: return work(indices, data_.data<float>());
                case Type::int64: return work(indices, data_.data<int64_t>());
                case Type::int32: return work(indices, data_.data<std::int32_t>());
                default: return work(indices, data_.data<double>());
            }
        });
    }

  private:
    Array indptr_, indices_, data_;
    std::vector<int64_t> starts_;
};

// Level codes of any strides with the table row where each column's levels begin.
class CodeMatrix {
  public:
    CodeMatrix(nb::handle codes, nb::handle first)
        : codes_(codes, 2, "codes", {Type::int64, Type::int32, Type::int16, Type::int8}),
          first_(first, 1, "first", {Type::int64, Type::int32}, true) {
        first_.require_shape({columns() + 1});
        visit_indices(first_, [&](auto* from) { starts_.assign(from, from + columns() + 1); });
        if (starts_[0] < 0 || !std::is_sorted(starts_.begin(), starts_.end()))
            throw nb::value_error("the first levels must not decrease");
    }

    int64_t rows() const { return codes_.shape(0); }
    int64_t columns() const { return codes_.shape(1); }
    int64_t row_stride() const { return codes_.stride(0); }
    int64_t column_stride() const { return codes_.stride(1); }
    int64_t levels() const { return starts_.back(); }
    const int64_t* starts() const { return starts_.data(); }

    template <class Work>
    void visit(const Work& work) const {
        switch (codes_.type()) {
            case Type::int32: return work(codes_.data<std::int32_t>());
            case Type::int16: return work(codes_.data<std::int16_t>());
            case Type::int8: return work(codes_.data<std::int8_t>());
            default: return work(codes_.data<int64_t>());
        }
    }

  private:
    Array codes_, first_;
    std::vector<int64_t> starts_;
};

}  // namespace naively
