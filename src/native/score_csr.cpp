// score_csr of kernels/reference.py: start + x·slope for the rows of a CSR matrix.
#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "bindings.h"
#include "csr_matrix.h"
#include "overflow.h"
#include "score_rows.h"
#include "table_rows.h"
#include "threads.h"

namespace naively {
namespace {

// Adds entries to a row's scores, as doubles and without those that add nothing: NaN, and zeros,
// even where the table says -inf.
template <class Value>
class EntryAdder {
  public:
    EntryAdder(const int32_t* columns, const Value* values, const double* table, int64_t width,
               int64_t classes, int64_t end, bool complete)
        : columns_(columns), values_(values), table_(table), width_(width), classes_(classes),
          end_(width * classes * static_cast<int64_t>(sizeof(double)) > cached_bytes ? end : 0),
          complete_(complete) {}

    // Look at entries before they are added. While these are added, as many that come next are
    // prefetched, if they fit into the cache.
    template <class Isa>
    NAIVELY_INLINE inline void prepare(int64_t begin, int64_t end) {
        next_ = end - begin <= cached_entries ? end - begin : 0;
        check_columns(columns_ + begin, end - begin, width_);
        if (complete_) check_values<Isa>(values_ + begin, end - begin);
        if constexpr (std::is_same_v<Value, double>) as_they_are_ = all_count<Isa>(begin, end);
    }

    template <class Isa>
    NAIVELY_INLINE inline void add(int64_t begin, int64_t end, double* joint) {
        if (next_ > 0) {
            prefetch_range(columns_ + begin, next_, end - begin);
            prefetch_range(values_ + begin, next_, end - begin);
        }
        if constexpr (std::is_same_v<Value, double>) {
            const Rows rows{columns_ + begin, values_ + begin, end - begin, end_ - begin};
            if (as_they_are_) return add_table_rows<Isa, true>(table_, classes_, rows, joint);
        }
        for (; begin < end; begin += chunk) {
            const int64_t count = std::min(chunk, end - begin);
            int64_t kept = 0;
            for (int64_t e = begin; e < begin + count; ++e) {
                const auto value = static_cast<double>(values_[e]);
                column_[kept] = columns_[e];
                value_[kept] = value;
                kept += value < 0.0 || value > 0.0;
            }
            const Rows rows{column_.data(), value_.data(), kept, 0};
            add_table_rows<Isa, true>(table_, classes_, rows, joint);
        }
    }

    // Add entries again whose sums have overflown.
    NAIVELY_INLINE inline void add_clipped(int64_t begin, int64_t end, const double* start,
                                        double* joint) const {
        std::vector<double> sums(classes_);
        for (int64_t e = begin; e < end; ++e) {
            const auto value = static_cast<double>(values_[e]);
            if (!(value < 0.0 || value > 0.0)) continue;
            const double* slope = table_ + columns_[e] * classes_;
            for (int64_t c = 0; c < classes_; ++c) sums[c] += clipped_product(value, slope[c]);
        }
        for (int64_t c = 0; c < classes_; ++c) joint[c] = start[c] + sums[c];
    }

  private:
    using Rows = TableRows<int32_t>;
    static constexpr int64_t chunk = 512, cached_entries = 1 << 15;

    // Whether none of these entries adds nothing.
    template <class Isa>
    NAIVELY_INLINE inline bool all_count(int64_t begin, int64_t end) const {
        constexpr int lanes = Isa::lanes;
        const Vector<double, lanes> zero{};
        auto counts = zero == zero;
        int64_t e = begin;
        for (; e + lanes <= end; e += lanes) {
            const Vector<double, lanes> x = load<lanes>(values_ + e);
            counts &= (x < zero) | (x > zero);
        }
        bool all = true;
        for (int lane = 0; lane < lanes; ++lane) all &= counts[lane] != 0;
        for (; e < end; ++e) {
            const auto x = static_cast<double>(values_[e]);
            all &= x < 0.0 || x > 0.0;
        }
        return all;
    }

    const int32_t* columns_;
    const Value* values_;
    const double* table_;
    int64_t width_, classes_, end_, next_ = 0;
    bool complete_, as_they_are_ = false;
    std::array<double, chunk> value_;
    std::array<int32_t, chunk> column_;
};

nb::object score_csr(nb::handle indptr, nb::handle indices, nb::handle data, nb::handle slope,
                     nb::handle start, const char* finish, nb::handle log_prior, bool complete) {
    const CsrMatrix matrix(indptr, indices, data);
    const Doubles table(slope, "slope", 2);
    const int64_t width = table.shape(0), k = table.shape(1);
    const Scores scores(matrix.rows(), k, start, finish, log_prior);
    const int64_t n = matrix.rows(), operations = 1 + matrix.entries() * k / std::max<int64_t>(1, n);
    const int64_t* starts = matrix.starts();
    matrix.visit([&](auto* values) {
        run_rows(n, operations, [&](auto isa, int64_t begin, int64_t end) NAIVELY_INLINE {
            EntryAdder adder(matrix.columns(), values, table.data(), width, k, starts[n], complete);
            score_rows(
                scores, begin, end,
                [&](int64_t first, int64_t count) NAIVELY_INLINE {
                    adder.template prepare<decltype(isa)>(starts[first], starts[first + count]);
                },
                [&](int64_t row, double* joint) NAIVELY_INLINE {
                    const int64_t entry = starts[row], last = starts[row + 1];
                    adder.template add<decltype(isa)>(entry, last, joint);
                    if (overflown(joint, scores.start(row), k))
                        adder.add_clipped(entry, last, scores.start(row), joint);
                });
        });
    });
    return scores.object();
}

}  // namespace

void bind_score_csr(nb::module_& m) {
    m.def("score_csr", &score_csr, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"),
          nb::arg("slope"), nb::arg("start"), nb::arg("finish"), nb::arg("log_prior"),
          nb::arg("complete") = false);
}

}  // namespace naively
