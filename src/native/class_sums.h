// Sums by column, counted class after class: the sums of one class stay in the cache where those of
// all classes would not. The rows are put in the order of their classes first. Each thread takes a
// run of them, so that it has whole classes to itself but for the first, which another may have
// begun and whose sums it keeps apart. In the end all are written to a table of (columns, classes).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "arrays.h"
#include "csr_matrix.h"
#include "large_pages.h"
#include "table_sums.h"
#include "threads.h"

namespace naively {

template <class Cell>
class ClassSums {
  public:
    // Whether it is worth the second table: where the first is large, and filled more than once.
    static bool pay(int64_t rows, int64_t classes, int64_t cells, int64_t entries) {
        return classes > 1 && cells * static_cast<int64_t>(sizeof(Cell)) > 4 * cached_bytes &&
               entries >= cells && rows <= std::numeric_limits<std::int32_t>::max();
    }

    // Row i is of class y[i] and has the entries starts[i] to starts[i + 1].
    ClassSums(const std::int32_t* y, const int64_t* starts, int64_t rows, int64_t classes,
              int64_t width, int parts)
        : width_(width), classes_(classes), first_(classes + 1), order_(rows),
          sums_(pages_.allocate(classes * width), Free{classes * width}), begins_(parts + 1),
          others_(parts) {
        for (int64_t i = 0; i < rows; ++i) ++first_[y[i] + 1];
        for (int64_t c = 0; c < classes; ++c) first_[c + 1] += first_[c];
        std::vector<int64_t> next(first_.begin(), first_.end() - 1);
        for (int64_t i = 0; i < rows; ++i) order_[next[y[i]]++] = static_cast<std::int32_t>(i);
        const int64_t entries = starts[rows] - starts[0];
        int64_t before = 0;
        int part = 1;
        for (int64_t i = 0; i < rows && part < parts; ++i) {
            if (before >= entries / parts * part) begins_[part++] = i;
            before += starts[order_[i] + 1] - starts[order_[i]];
        }
        for (; part <= parts; ++part) begins_[part] = rows;
    }

    // Call add(rows, count, sums, part) for the rows of each class, as often as there are threads
    // that have some; one that returns false ends its thread's work.
    template <class Add>
    void count(const Add& add) {
        const int parts = static_cast<int>(others_.size());
        run_parts(parts, parts, [&](int64_t part, int64_t, int) {
            const int64_t begin = begins_[part], end = begins_[part + 1];
            for (int64_t c = class_at(begin); c < classes_ && first_[c] < end; ++c) {
                const int64_t from = std::max(begin, first_[c]), to = std::min(end, first_[c + 1]);
                if (from >= to) continue;
                Cell* sums = sums_.get() + c * width_;
                if (first_[c] < begin) {
                    others_[part].of = c;
                    others_[part].sums.resize(width_);
                    sums = others_[part].sums.data();
                } else {
                    std::fill_n(sums, width_, Cell{});
                }
                if (!add(order_.data() + from, to - from, sums, static_cast<int>(part))) return;
            }
        });
    }

    // Write all sums to the table, which is all zero.
    void write(Cell* table) {
        const int parts = static_cast<int>(others_.size());
        run_parts(width_, parts, [&](int64_t begin, int64_t end, int) {
            for (const Others& others : others_)
                if (!others.sums.empty())
                    for (int64_t j = begin; j < end; ++j)
                        merge(sums_.get()[others.of * width_ + j], others.sums[j]);
            constexpr int64_t neighbours = 8;  // cells in a cache line
            for (int64_t first = begin; first < end; first += neighbours) {
                const int64_t last = std::min(end, first + neighbours);
                for (int64_t c = 0; c < classes_; ++c) {
                    if (first_[c] == first_[c + 1]) continue;  // no sums were made
                    const Cell* sums = sums_.get() + c * width_;
                    for (int64_t j = first; j < last; ++j) table[j * classes_ + c] = sums[j];
                }
            }
        });
    }

  private:
    struct Free {
        int64_t count;
        void operator()(Cell* memory) const { LargePages<Cell>{}.deallocate(memory, count); }
    };
    // The sums of the first class of a part, where another part has begun it.
    struct Others {
        int64_t of = 0;
        std::vector<Cell> sums;
    };

    int64_t class_at(int64_t place) const {
        return std::upper_bound(first_.begin(), first_.end(), place) - first_.begin() - 1;
    }

    int64_t width_, classes_;
    std::vector<int64_t> first_;  // of each class, its place in the order
    std::vector<std::int32_t> order_;
    LargePages<Cell> pages_;
    std::unique_ptr<Cell[], Free> sums_;  // [class][column]
    std::vector<int64_t> begins_;
    std::vector<Others> others_;
};

}  // namespace naively
