// A table of rows × classes of which most cells are 0, and the matrices that are multiplied with it.
// Of each row of the table only the cells that are not 0 are stored, by class.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "arrays.h"
#include "csr_matrix.h"
#include "large_pages.h"
#include "simd.h"

namespace naively {

class SparseTable {
  public:
    SparseTable(nb::handle first, nb::handle classes, nb::handle values, int64_t k)
        : first_(first, "first", 1), classes_(classes, "classes", 1), values_(values, "values", 1),
          k_(k) {
        classes_.require_shape({values_.shape(0)});
        rows_ = first_.shape(0) - 1;
        if (rows_ < 0) throw std::invalid_argument("first is empty");
    }

    int64_t rows() const { return rows_; }
    int64_t cells() const { return values_.shape(0); }
    const int64_t* first() const { return first_.data(); }
    const std::int32_t* classes() const { return classes_.data(); }
    const double* values() const { return values_.data(); }

    // Raises an error unless the cells of some rows are where they can be, of known classes.
    void check(int64_t begin, int64_t end) const {
        bool wrong = false;
        for (int64_t row = begin; row < end; ++row)
            wrong |= first()[row] < 0 || first()[row] > first()[row + 1] ||
                     first()[row + 1] > cells();
        if (wrong) throw std::invalid_argument("first does not fit the stored cells");
        for (int64_t i = first()[begin]; i < first()[end]; ++i)
            wrong |= static_cast<std::uint32_t>(classes()[i]) >= static_cast<std::uint64_t>(k_);
        if (wrong) throw std::invalid_argument("a class of a stored cell is out of range");
    }

  private:
    Input<Layout::contiguous, int64_t> first_;
    Input<Layout::contiguous, std::int32_t> classes_;
    Doubles values_;
    int64_t rows_, k_;
};

// Values of the cells of a table, whose rows are added to sums of each class. A row with a cell in
// half of the classes or more is quicker to add as a whole.
class AddedRows {
  public:
    AddedRows(const SparseTable& table, const double* values, int64_t k)
        : table_(table), values_(values), k_(k), places_(static_cast<size_t>(table.rows())) {
        for (int64_t row = 0; row < table.rows(); ++row) {
            const int64_t begin = table.first()[row], end = table.first()[row + 1];
            if (2 * (end - begin) < k || begin == end) {
                places_[row] = {begin, static_cast<std::int32_t>(end - begin)};
                continue;
            }
            places_[row] = {static_cast<int64_t>(whole_.size()), WHOLE};
            whole_.resize(whole_.size() + static_cast<size_t>(k));
            double* const cells = whole_.data() + places_[row].begin;
            for (int64_t i = begin; i < end; ++i) cells[table.classes()[i]] = values[i];
        }
    }

    void prefetch_place(int64_t row) const { __builtin_prefetch(&places_[row]); }
    void prefetch(int64_t row) const {
        const Place place = places_[row];
        if (place.size == WHOLE) {
            for (int64_t c = 0; c < std::min<int64_t>(k_, 32); c += 8)
                __builtin_prefetch(whole_.data() + place.begin + c);
        } else {
            __builtin_prefetch(table_.classes() + place.begin);
            __builtin_prefetch(values_ + place.begin);
        }
    }

    NAIVELY_INLINE inline void add(int64_t row, double x, double* sums) const {
        const Place place = places_[row];
        if (place.size == WHOLE) {
            const double* const cells = whole_.data() + place.begin;
            for (int64_t c = 0; c < k_; ++c) sums[c] += x * cells[c];
        } else {
            const std::int32_t* const classes = table_.classes() + place.begin;
            const double* const cells = values_ + place.begin;
            for (std::int32_t i = 0; i < place.size; ++i) sums[classes[i]] += x * cells[i];
        }
    }

  private:
    static constexpr std::int32_t WHOLE = -1;
    struct Place {
        int64_t begin;
        std::int32_t size;  // or WHOLE
    };
    const SparseTable& table_;
    const double* values_;
    int64_t k_;
    LargeVector<Place> places_;
    LargeVector<double> whole_;
};

// The words of texts: a CSR matrix, whose numbers are all 1 where there is no data.
class WordMatrix {
  public:
    WordMatrix(nb::handle indptr, nb::handle indices, nb::handle data, int64_t width)
        : indptr_(indptr, "indptr", 1), indices_(indices, "indices", 1) {
        if (!data.is_none()) {
            data_.emplace(data, "data", 1);
            data_->require_shape({indices_.shape(0)});
        }
        starts_ = import_row_starts(indptr_, indices_.shape(0));
        check_columns(indices_.data() + starts_.front(), entries(), width);
    }

    int64_t rows() const { return static_cast<int64_t>(starts_.size()) - 1; }
    int64_t entries() const { return starts_.back() - starts_.front(); }
    const int64_t* starts() const { return starts_.data(); }
    const std::int32_t* words() const { return indices_.data(); }
    double times(int64_t entry) const {
        const double x = data_ ? data_->data()[entry] : 1.0;
        return x == x ? x : 0.0;  // a missing number is not counted
    }

  private:
    Integers indptr_;
    Input<Layout::contiguous, std::int32_t> indices_;
    std::optional<Doubles> data_;
    std::vector<int64_t> starts_;
};

}  // namespace naively
