// What becomes of the joint log likelihoods of a few rows while they are still in the cache:
// kept, normalised over the classes, or reduced to the label. The same as finish_rows in
// kernels/reference.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "simd.h"

namespace naively {

enum class Finish { joint, log_posterior, posterior, label };

// How a name says that a table is to be of float32.
inline bool is_single(std::string_view name) {
    return name.size() > 2 && name.substr(name.size() - 2) == "32";
}

inline Finish parse_finish(std::string_view name) {
    if (name == "label") return Finish::label;
    if (is_single(name)) name.remove_suffix(2);
    if (name == "joint") return Finish::joint;
    if (name == "log_posterior") return Finish::log_posterior;
    if (name == "posterior") return Finish::posterior;
    throw std::invalid_argument(
        "finish is joint, log_posterior or posterior, each with or without 32, or label");
}

// exp(x) for x <= 0, within two units in the last place; 0 below -708. No branches, so that a
// loop over it becomes vector instructions. NaN stays NaN.
NAIVELY_INLINE inline double exp_nonpositive(double x) {
    constexpr double log2_e = 1.4426950408889634074;
    constexpr double ln2_high = 0x1.62e42fefa3800p-1;  // 42 bits: exact times any exponent
    constexpr double ln2_low = 0x1.ef35793c76730p-45;
    constexpr double rounder = 0x1.8p52;  // adding it rounds to an integer, left in the low bits
    const double clamped = x < -708.0 ? -708.0 : x;
    const double shifted = clamped * log2_e + rounder;
    const double exponent = shifted - rounder;
    const double r = (clamped - exponent * ln2_high) - exponent * ln2_low;
    double p = 1.0 / 6227020800;  // Taylor to r^13 / 13!: 4e-18 at |r| = ln(2) / 2
    p = p * r + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    std::uint64_t bits, scale_bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    scale_bits = (bits + 1023) << 52;
    double scale;
    std::memcpy(&scale, &scale_bits, sizeof scale);
    return x < -708.0 ? 0.0 : p * scale;
}

// Where the finished rows go. Two of the three are null.
struct Output {
    Finish finish;
    std::int64_t classes;
    const double* log_prior;  // (classes,): what a row gets that every class calls impossible
    double* table;            // (rows, classes), for all but labels
    float* single;            // the same, where it is to be of float32
    std::int32_t* labels;     // (rows,), for labels
};

// One thread's way to the output: write the joint of up to max_rows rows where rows_at says, then
// call finish.
class Finisher {
  public:
    static constexpr std::int64_t max_rows = 64;

    // `rows` is the most there will be, so that a single row does not pay for 64.
    Finisher(const Output& output, std::int64_t rows) : out_(output) {
        const std::int64_t cells = std::min(rows, max_rows) * out_.classes;
        if (!out_.table) scratch_.resize(cells);
        if (out_.finish == Finish::log_posterior) likelihood_.resize(cells);
    }

    double* rows_at(std::int64_t first) {
        return out_.table ? out_.table + first * out_.classes : scratch_.data();
    }

    NAIVELY_INLINE inline void finish(std::int64_t first, std::int64_t rows) {
        if (out_.finish != Finish::joint) normalise(first, rows);
        if (!out_.single) return;
        const double* finished = scratch_.data();
        float* single = out_.single + first * out_.classes;
        for (std::int64_t i = 0; i < rows * out_.classes; ++i)
            single[i] = static_cast<float>(finished[i]);
    }

  private:
    NAIVELY_INLINE inline void normalise(std::int64_t first, std::int64_t rows) {
        double* joint = rows_at(first);
        const std::int64_t k = out_.classes;
        for (std::int64_t i = 0; i < rows; ++i) {
            double* row = joint + i * k;
            std::int64_t largest = find_largest(row);
            if (row[largest] == -std::numeric_limits<double>::infinity()) {
                std::copy_n(out_.log_prior, k, row);
                largest = find_largest(row);
            }
            if (out_.labels) {
                out_.labels[first + i] = static_cast<std::int32_t>(largest);
            } else {
                const double shift = row[largest];
                for (std::int64_t c = 0; c < k; ++c) row[c] -= shift;
            }
        }
        if (out_.finish == Finish::posterior) {
            for (std::int64_t i = 0; i < rows * k; ++i) joint[i] = exp_nonpositive(joint[i]);
            for (std::int64_t i = 0; i < rows; ++i) {
                double* row = joint + i * k;
                const double evidence = sum(row);
                for (std::int64_t c = 0; c < k; ++c) row[c] /= evidence;
            }
        } else if (out_.finish == Finish::log_posterior) {
            double* likelihood = likelihood_.data();
            for (std::int64_t i = 0; i < rows * k; ++i) likelihood[i] = exp_nonpositive(joint[i]);
            for (std::int64_t i = 0; i < rows; ++i) {
                const double log_evidence = std::log(sum(likelihood + i * k));
                for (std::int64_t c = 0; c < k; ++c) joint[i * k + c] -= log_evidence;
            }
        }
    }

    NAIVELY_INLINE inline std::int64_t find_largest(const double* row) const {
        std::int64_t largest = 0;
        double value = row[0];
        for (std::int64_t c = 1; c < out_.classes; ++c) {
            if (row[c] > value) {
                value = row[c];
                largest = c;
            }
        }
        return largest;
    }

    NAIVELY_INLINE inline double sum(const double* row) const {
        double total = 0.0;
        for (std::int64_t c = 0; c < out_.classes; ++c) total += row[c];
        return total;
    }

    Output out_;
    std::vector<double> scratch_;     // the rows, where they are not finished in the table
    std::vector<double> likelihood_;  // of the log posterior
};

}  // namespace naively
