// sum_sparse of kernels/sparse.py: the sum of sparse tables, or a difference, row by row.
//
// The cells of all tables are brought together by row; then those of each row are put in order of
// their classes and added up, and the rows close ranks. Nothing is held twice.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "double_double.h"
#include "growing_array.h"

namespace naively {
namespace {

// One of the tables.
class Part {
  public:
    explicit Part(nb::sequence part)
        : has_places_(!part[0].is_none()),
          places_(has_places_ ? part[0] : part[1], "places", 1), first_(part[1], "first", 1),
          classes_(part[2], "classes", 1), high_(part[3], "high", 1) {
        rows_ = first_.shape(0) - 1;
        classes_.require_shape({high_.shape(0)});
        if (!part[4].is_none()) {
            low_.emplace(part[4], "low", 1);
            low_->require_shape({high_.shape(0)});
        }
        if (rows_ < 0) throw std::invalid_argument("first is empty");
        if (has_places_ && places_.shape(0) != rows_)
            throw std::invalid_argument("each row has a place");
    }

    void check(int64_t rows, int64_t k) const {
        bool fits = first()[0] == 0 && first()[rows_] == cells();
        for (int64_t i = 0; i < rows_; ++i) fits &= first()[i] <= first()[i + 1];
        if (!fits) throw std::invalid_argument("first does not fit the cells");
        bool wrong = !has_places_ && rows_ > rows;
        for (int64_t i = 0; has_places_ && i < rows_; ++i) wrong |= place(i) < 0 || place(i) >= rows;
        if (wrong) throw std::invalid_argument("a row index is out of range");
        for (int64_t i = 0; i < cells(); ++i) wrong |= classes()[i] < 0 || classes()[i] >= k;
        if (wrong) throw std::invalid_argument("a class index is out of range");
    }

    int64_t rows() const { return rows_; }
    int64_t cells() const { return high_.shape(0); }
    int64_t place(int64_t row) const { return has_places_ ? places_.data()[row] : row; }
    const int64_t* first() const { return first_.data(); }
    const std::int32_t* classes() const { return classes_.data(); }
    const double* high() const { return high_.data(); }
    double low(int64_t cell) const { return low_ ? low_->data()[cell] : 0.0; }

  private:
    bool has_places_;
    Input<Layout::contiguous, int64_t> places_, first_;
    Input<Layout::contiguous, std::int32_t> classes_;
    Doubles high_;
    std::optional<Doubles> low_;
    int64_t rows_;
};

// Whether the sums of these numbers are floats: they are whole, and not too large.
bool add_exactly(const std::vector<Part>& parts) {
    constexpr double most = 0x1p53;  // up to which all whole numbers are doubles
    double size = 0.0;
    bool whole = true;
    for (const Part& part : parts)
        for (int64_t i = 0; i < part.cells(); ++i) {
            size += std::abs(part.high()[i]);
            whole &= part.high()[i] == std::nearbyint(part.high()[i]) && part.low(i) == 0.0;
        }
    return whole && size < most;
}

struct Cell {
    std::int32_t of_class;
    double high, low;
};

void sort_by_class(std::vector<Cell>& cells) {
    const auto before = [](const Cell& a, const Cell& b) { return a.of_class < b.of_class; };
    if (!std::is_sorted(cells.begin(), cells.end(), before))
        std::stable_sort(cells.begin(), cells.end(), before);
}

template <bool exact>
class Added {
  public:
    Added(const std::vector<Part>& parts, int64_t rows, bool difference, int64_t* first)
        : difference_(difference) {
        for (const Part& part : parts)
            for (int64_t i = 0; i < part.rows(); ++i)
                first[part.place(i) + 1] += part.first()[i + 1] - part.first()[i];
        for (int64_t row = 0; row < rows; ++row) first[row + 1] += first[row];
        const auto cells = static_cast<size_t>(first[rows]);
        classes_.room_for(cells);
        high_.room_for(cells);
        if (!exact) low_.room_for(cells);
        // After this first[row] is where the row ends.
        for (const Part& part : parts) {
            const double sign = difference && &part != &parts.front() ? -1.0 : 1.0;
            for (int64_t i = 0; i < part.rows(); ++i)
                for (int64_t cell = part.first()[i]; cell < part.first()[i + 1]; ++cell) {
                    const int64_t at = first[part.place(i)]++;
                    classes_.data()[at] = part.classes()[cell];
                    high_.data()[at] = sign * part.high()[cell];
                    if (!exact) low_.data()[at] = sign * part.low(cell);
                }
        }
        int64_t begin = 0, kept = 0;
        for (int64_t row = 0; row < rows; ++row) {
            const int64_t end = first[row];
            first[row] = kept;
            kept = add_row(begin, end, kept);
            begin = end;
        }
        first[rows] = kept;
        classes_.grow_by(static_cast<size_t>(kept));
        high_.grow_by(static_cast<size_t>(kept));
        if (!exact) low_.grow_by(static_cast<size_t>(kept));
    }

    // They need the GIL.
    nb::object classes() { return classes_.released(); }
    nb::object high() { return high_.released(); }
    nb::object low() { return low_.released(); }

  private:
    static constexpr double cancelled = 0x1p-80;  // of the numbers, in double_double.py too

    bool difference_;
    GrowingArray<std::int32_t> classes_;
    GrowingArray<double> high_, low_;
    std::vector<Cell> row_;

    // Adds up the cells of a row, and writes the sums from `kept` on, which is at most `begin`.
    int64_t add_row(int64_t begin, int64_t end, int64_t kept) {
        row_.clear();
        for (int64_t i = begin; i < end; ++i)
            row_.push_back({classes_.data()[i], high_.data()[i], exact ? 0.0 : low_.data()[i]});
        sort_by_class(row_);
        for (size_t i = 0; i < row_.size();) {
            Cell sum = row_[i];
            double size = std::abs(sum.high);
            for (++i; i < row_.size() && row_[i].of_class == sum.of_class; ++i) {
                size += std::abs(row_[i].high);
                if (exact)
                    sum.high += row_[i].high;
                else
                    add_pair(sum.high, sum.low, row_[i].high, row_[i].low);
            }
            if (sum.high == 0.0 && sum.low == 0.0) continue;
            if (difference_ && std::abs(sum.high) <= cancelled * size) continue;
            classes_.data()[kept] = sum.of_class;
            high_.data()[kept] = sum.high;
            if (!exact) low_.data()[kept] = sum.low;
            ++kept;
        }
        return kept;
    }
};

nb::tuple sum_sparse(nb::sequence tables, int64_t rows, int64_t k, bool difference) {
    std::vector<Part> parts;
    for (nb::handle table : tables) parts.emplace_back(nb::cast<nb::sequence>(table));
    if (difference && parts.size() != 2)
        throw std::invalid_argument("a difference is of two tables");
    if (rows < 0) throw std::invalid_argument("the number of rows is below 0");
    const Result<int64_t> first("zeros", rows + 1);
    const auto add = [&](auto is_exact) {
        constexpr bool exact = decltype(is_exact)::value;
        const auto added = [&] {
            const nb::gil_scoped_release released;
            return Added<exact>(parts, rows, difference, first.data());
        };
        Added<exact> sum = added();
        return nb::make_tuple(first.object(), sum.classes(), sum.high(),
                              exact ? nb::none() : sum.low());
    };
    bool exact;
    {
        const nb::gil_scoped_release released;
        for (const Part& part : parts) part.check(rows, k);
        exact = add_exactly(parts);
    }
    return exact ? add(std::true_type{}) : add(std::false_type{});
}

}  // namespace

void bind_sum_sparse(nb::module_& m) {
    m.def("sum_sparse", &sum_sparse, nb::arg("parts"), nb::arg("rows"), nb::arg("k"),
          nb::arg("difference") = false);
}

}  // namespace naively
