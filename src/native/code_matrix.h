// A matrix of level codes that a kernel is given.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "arrays.h"

namespace naively {

// Level codes of any strides with the table row where each column's levels begin.
class CodeMatrix {
  public:
    CodeMatrix(nb::handle codes, nb::handle first)
        : codes_(codes, "codes", 2), first_(first, "first", 1) {
        first_.require_shape({columns() + 1});
        first_.visit([&](auto* from) { starts_.assign(from, from + columns() + 1); });
        if (starts_[0] < 0 || !std::is_sorted(starts_.begin(), starts_.end()))
            throw std::invalid_argument("the first levels must not decrease");
    }

    int64_t rows() const { return codes_.shape(0); }
    int64_t columns() const { return codes_.shape(1); }
    int64_t row_stride() const { return codes_.stride(0); }
    int64_t column_stride() const { return codes_.stride(1); }
    int64_t levels() const { return starts_.back(); }
    const int64_t* starts() const { return starts_.data(); }

    template <class Work>
    void visit(const Work& work) const {
        codes_.visit(work);
    }

  private:
    Input<Layout::any, int64_t, std::int32_t, std::int16_t, std::int8_t> codes_;
    Integers first_;
    std::vector<int64_t> starts_;
};

}  // namespace naively
