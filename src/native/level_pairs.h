// Columns of level codes taken two by two: a table that holds the sum of two levels' rows for each
// pair of levels, so that half as many rows are added up. It is made at each call, of tables so
// small that this takes microseconds; whether it is does not depend on the rows, so that a row has
// the same score among any others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "code_matrix.h"
#include "simd.h"

namespace naively {

class LevelPairs {
  public:
    // Whether the table is small.
    static bool pay(const CodeMatrix& matrix, int64_t classes) {
        constexpr int64_t most_cells = 1 << 13;
        int64_t rows = 0;
        for (int64_t j = 0; j < matrix.columns(); j += 2) {
            const int64_t first = choices(matrix, j), second = choices(matrix, j + 1);
            if (first > most_cells || second > most_cells) return false;
            rows += first << bits(second);
            if (rows > most_cells / classes) return false;
        }
        return matrix.columns() > 1;
    }

    // `table`, of shape (levels of all columns, classes), holds the rows that are added.
    LevelPairs(const CodeMatrix& matrix, const double* table, int64_t classes)
        : columns_(matrix.columns()), pairs_((columns_ + 1) / 2), last_(columns_),
          shift_(columns_, 0), first_(columns_, 0) {
        int64_t rows = 0;
        for (int64_t j = 0; j < columns_; ++j) last_[j] = choices(matrix, j) - 2;
        for (int64_t j = 0; j < columns_; j += 2) {
            first_[j] = rows;
            shift_[j] = bits(choices(matrix, j + 1));
            rows += choices(matrix, j) << shift_[j];
        }
        sums_.resize(rows * classes);
        for (int64_t j = 0; j < columns_; j += 2) {
            const double* levels = table + matrix.starts()[j] * classes;
            const double* others = table + matrix.starts()[j + 1] * classes;
            for (int64_t a = 0; a < choices(matrix, j); ++a)
                for (int64_t b = 0; b < choices(matrix, j + 1); ++b) {
                    double* sum = sums_.data() + (first_[j] + (a << shift_[j]) + b) * classes;
                    if (a <= last_[j]) std::copy_n(levels + a * classes, classes, sum);
                    if (j + 1 < columns_ && b <= last_[j + 1])
                        for (int64_t c = 0; c < classes; ++c) sum[c] += others[b * classes + c];
                }
        }
    }

    int64_t columns() const { return columns_; }
    int64_t pairs() const { return pairs_; }
    const double* sums() const { return sums_.data(); }

    // Find the rows of the sums that are those of a row's codes, (pairs,). `place`, (columns + 1,),
    // is room for what each code adds to them; its last is 0.
    template <class Isa, class Code>
    NAIVELY_INLINE inline void find(const Code* codes, int64_t stride, bool complete,
                                    int64_t* place, int64_t* rows) const {
        constexpr int lanes = Isa::lanes;
        using V = Vector<int64_t, lanes>;
        const int64_t *const last = last_.data(), *const shift = shift_.data(),
                      *const first = first_.data(), columns = columns_, pairs = pairs_;
        // What is negative if some code is out of range, or missing. A code past the last row reads
        // that row: the level never seen. One that is missing reads the row after it.
        V outside_any{}, missing_any{};
        int64_t j = 0;
        if (stride == 1)
            for (; j + lanes <= columns; j += lanes) {
                const V code = load_wide<lanes>(codes + j), limit = load_wide<lanes>(last + j);
                const V known = code < limit ? code : limit;
                const V level = code < 0 ? limit + 1 : known;
                const auto shifted = (Vector<std::uint64_t, lanes>)level
                                     << (Vector<std::uint64_t, lanes>)load_wide<lanes>(shift + j);
                const V at = (V)shifted + load_wide<lanes>(first + j);
                std::memcpy(place + j, &at, sizeof at);
                missing_any |= code;
                outside_any |= ~code & limit;
            }
        int64_t outside = 0, missing = 0;
        for (int lane = 0; lane < lanes; ++lane) {
            outside |= outside_any[lane];
            missing |= missing_any[lane];
        }
        for (; j < columns; ++j) {
            const int64_t code = codes[j * stride];
            const int64_t level = code < 0 ? last[j] + 1 : std::min(code, last[j]);
            // Unsigned, as a level of a column without levels is below 0 until that is an error.
            const std::uint64_t shifted = static_cast<std::uint64_t>(level) << shift[j];
            place[j] = static_cast<int64_t>(shifted) + first[j];
            missing |= code;
            outside |= ~code & last[j];
        }
        if (outside < 0) throw std::invalid_argument("a level code is out of range");
        if (complete && missing < 0) throw std::invalid_argument("a cell is missing");
        for (int64_t p = 0; p < pairs; ++p) rows[p] = place[2 * p] + place[2 * p + 1];
    }

  private:
    // The levels of a column, and that a cell is missing, which adds nothing; past the last column,
    // nothing else.
    static int64_t choices(const CodeMatrix& matrix, int64_t column) {
        if (column == matrix.columns()) return 1;
        return matrix.starts()[column + 1] - matrix.starts()[column] + 1;
    }

    // How many bits number so many choices.
    static int64_t bits(int64_t choices) {
        int64_t found = 0;
        while (int64_t{1} << found < choices) ++found;
        return found;
    }

    // Unaligned load of neighbours, widened.
    template <int lanes, class T>
    NAIVELY_INLINE static inline Vector<int64_t, lanes> load_wide(const T* from) {
        Vector<T, lanes> loaded;
        std::memcpy(&loaded, from, sizeof loaded);
        return __builtin_convertvector(loaded, Vector<int64_t, lanes>);
    }

    int64_t columns_, pairs_;
    // Of each column: its last level; by how much its levels are shifted, the first of a pair past
    // those of the second; and where the rows of a pair begin, which its first column adds.
    std::vector<int64_t> last_, shift_, first_;
    std::vector<double> sums_;
};

}  // namespace naively
