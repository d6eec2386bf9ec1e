// How many of its column's edges a number reaches, for many numbers of a column at once.
//
// Between the first edge and the last are buckets of equal width, and a table says how many edges
// lie in the buckets before each. A number need then be compared only with the edges of its own
// bucket: with one, mostly. Which bucket a number is in never decreases as it grows, rounding
// included, and edges are put into buckets like numbers; so what is found is exact. Where many
// edges share a bucket however narrow, each number is compared as a binary search does, with as
// many edges as any other: no branch depends on the numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "simd.h"

namespace naively {

using std::int64_t;

class BinFinder {
  public:
    // `rows` is how many numbers there will be: buckets do not pay for a few.
    BinFinder(const double* from, int64_t count, int64_t rows) : count_(count) {
        while ((int64_t{1} << steps_) <= count) ++steps_;
        // Filled up with NaN, which no number reaches: to one less than a power of two, for the
        // search; and with as many as are compared after the last.
        edges_.assign(std::max((int64_t{1} << steps_) - 1, count + most_compared),
                      std::numeric_limits<double>::quiet_NaN());
        std::copy_n(from, count, edges_.begin());
        for (int32_t buckets = 64; buckets <= 1024 && !compared_; buckets *= 4)
            if (rows > 4 * buckets) fill(buckets);
    }

    int64_t bins() const { return count_ + 1; }

    // Sets bins[0 .. rows). Of NaN it is 0.
    NAIVELY_INLINE inline void find(const double* x, int64_t rows, int32_t* bins) const {
        const double* edges = edges_.data();
        if (compared_ == 1) return find_in_buckets<1>(x, rows, bins);
        if (compared_ == 2) return find_in_buckets<2>(x, rows, bins);
        std::fill_n(bins, rows, 0);
        for (int64_t step = steps_; step > 0; --step) {
            const int32_t half = int32_t{1} << (step - 1);
            for (int64_t i = 0; i < rows; ++i)
                bins[i] += edges[bins[i] + half - 1] <= x[i] ? half : 0;
        }
    }

  private:
    using int32_t = std::int32_t;
    static constexpr int most_compared = 2;

    int64_t count_, steps_ = 0;
    std::vector<double> edges_;
    double low_ = 0.0, per_width_ = 0.0, last_ = 0.0;
    int compared_ = 0;               // how many edges a number is compared with; 0: all are searched
    std::vector<int32_t> before_;  // the edges in buckets before each

    NAIVELY_INLINE inline int32_t bucket_of(double x) const {
        double place = (x - low_) * per_width_;
        place = place > 0.0 ? place : 0.0;  // NaN too
        place = place < last_ ? place : last_;
        return static_cast<int32_t>(place);
    }

    // Looks at buckets, and compares numbers by them if few edges share one.
    void fill(int32_t buckets) {
        if (count_ < 4) return;  // a search is as quick
        low_ = edges_[0];
        last_ = buckets - 1;
        per_width_ = buckets / (edges_[count_ - 1] - low_);
        if (!(per_width_ > 0.0) || per_width_ > std::numeric_limits<double>::max()) return;
        std::vector<int32_t> in(buckets);
        for (int64_t e = 0; e < count_; ++e) ++in[bucket_of(edges_[e])];
        const int32_t most = *std::max_element(in.begin(), in.end());
        if (most > most_compared) return;
        compared_ = most;
        before_.resize(buckets);
        for (int32_t b = 1; b < buckets; ++b) before_[b] = before_[b - 1] + in[b - 1];
    }

    template <int compared>
    NAIVELY_INLINE inline void find_in_buckets(const double* x, int64_t rows, int32_t* bins) const {
        const double *edges = edges_.data(), low = low_, per_width = per_width_, last = last_;
        const int32_t* before = before_.data();
        for (int64_t i = 0; i < rows; ++i) {
            const double number = x[i];
            double place = (number - low) * per_width;
            place = place > 0.0 ? place : 0.0;
            place = place < last ? place : last;
            const int32_t first = before[static_cast<int32_t>(place)];
            int32_t reached = first;
            for (int e = 0; e < compared; ++e) reached += edges[first + e] <= number;
            bins[i] = reached;
        }
    }
};

}  // namespace naively
