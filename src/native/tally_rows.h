// What every tally kernel is told of the rows: their classes and their weights.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include "arrays.h"

namespace naively {

// y as int32, checked: every entry is a class.
class ClassIndices {
  public:
    ClassIndices(nb::handle source, int64_t rows, int64_t classes) : array_(source, "y", 1) {
        array_.require_shape({rows});
        if (classes > std::numeric_limits<std::int32_t>::max())
            throw std::invalid_argument("more classes than 32 bits can number");
        array_.visit([&](auto* y) { import(y, rows, classes); });
    }
    const std::int32_t* data() const { return data_; }

  private:
    template <class Index>
    void import(const Index* y, int64_t rows, int64_t classes) {
        const int64_t stride = array_.stride(0);
        bool outside = false;
        for (int64_t i = 0; i < rows; ++i) outside |= y[i * stride] < 0 || y[i * stride] >= classes;
        if (outside) throw std::invalid_argument("a class index is out of range");
        if constexpr (sizeof(Index) == sizeof(std::int32_t)) {
            data_ = y;
            if (stride == 1 || rows < 2) return;
        }
        copy_.resize(rows);
        for (int64_t i = 0; i < rows; ++i) copy_[i] = static_cast<std::int32_t>(y[i * stride]);
        data_ = copy_.data();
    }

    Input<Layout::any, int64_t, std::int32_t> array_;
    std::vector<std::int32_t> copy_;
    const std::int32_t* data_ = nullptr;
};

// Sample weights, or null where every row weighs one.
class Weights {
  public:
    Weights(nb::handle source, int64_t rows) {
        if (source.is_none()) return;
        array_.emplace(source, "w", 1);
        array_->require_shape({rows});
    }
    const double* data() const { return array_ ? array_->data() : nullptr; }

  private:
    std::optional<Doubles> array_;
};

}  // namespace naively
