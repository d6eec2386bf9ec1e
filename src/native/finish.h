// What becomes of the joint log likelihoods of a few rows while they are still in the cache:
// kept, normalised over the classes, or reduced to the label. The same as finish_rows in
// kernels/reference.py.
//
// Of few classes the rows are turned first, so that the rows of a class are neighbours: a class
// after the other is compared, raised and summed for all rows at once, in vectors and without
// branches. Each row's numbers are added in the same order either way, and round alike.
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

// exp(x) for x <= 0, within two units in the last place, of several numbers; 0 below -708. NaN
// stays NaN.
template <class Isa, int lanes>
NAIVELY_INLINE inline Vector<double, lanes> exp_nonpositive(const Vector<double, lanes>& x) {
    using V = Vector<double, lanes>;
    using Bits = Vector<std::uint64_t, lanes>;
    constexpr double taylor[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                 1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                 1.0 / 120,        1.0 / 24,        1.0 / 6,        0.5,
                                 1.0,              1.0};  // to r^13 / 13!: 4e-18 at ln(2) / 2
    const V log2_e = broadcast<lanes>(1.4426950408889634074);
    const V ln2_high = broadcast<lanes>(0x1.62e42fefa3800p-1);  // 42 bits: exact times any exponent
    const V ln2_low = broadcast<lanes>(0x1.ef35793c76730p-45);
    const V rounder = broadcast<lanes>(0x1.8p52);  // adding it leaves an integer in the low bits
    const V least = broadcast<lanes>(-708.0), zero{};
    const V clamped = x < least ? least : x;
    const V shifted = clamped * log2_e + rounder;
    const V exponent = shifted - rounder;
    const V r = (clamped - exponent * ln2_high) - exponent * ln2_low;
    V p = broadcast<lanes>(taylor[0]);
    NAIVELY_UNROLL
    for (int i = 1; i < 14; ++i) p = multiply_add<Isa, lanes>(p, r, broadcast<lanes>(taylor[i]));
    Bits bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + std::uint64_t{1023}) << 52;
    V scale;
    std::memcpy(&scale, &bits, sizeof scale);
    return x < least ? zero : p * scale;
}

// The same of each of `count` numbers; `to` may be `from`.
template <class Isa>
NAIVELY_INLINE inline void exp_nonpositive(const double* from, std::int64_t count, double* to) {
    constexpr int lanes = Isa::lanes;
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
        store<lanes>(to + i, exp_nonpositive<Isa, lanes>(load<lanes>(from + i)));
    if (i == count) return;
    double rest[lanes] = {};
    std::copy_n(from + i, count - i, rest);
    store<lanes>(rest, exp_nonpositive<Isa, lanes>(load<lanes>(rest)));
    std::copy_n(rest, count - i, to + i);
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
    Finisher(const Output& output, std::int64_t rows)
        : out_(output), turns_(rows >= least_turned && out_.classes <= most_turned) {
        const std::int64_t most = std::min(rows, max_rows) * out_.classes;
        if (!out_.table) scratch_.resize(most);
        if (out_.finish == Finish::log_posterior && !turns_) likelihood_.resize(most);
        if (out_.finish != Finish::joint && turns_) turned_.resize(max_rows * out_.classes);
    }

    double* rows_at(std::int64_t first) {
        return out_.table ? out_.table + first * out_.classes : scratch_.data();
    }

    void finish(std::int64_t first, std::int64_t rows) {
        if (out_.finish != Finish::joint)
            on_best_instruction_set(
                [&](auto isa) NAIVELY_INLINE { this->finish_as<decltype(isa)>(first, rows); });
        if (!out_.single) return;
        const double* finished = scratch_.data();
        float* single = out_.single + first * out_.classes;
        for (std::int64_t i = 0; i < rows * out_.classes; ++i)
            single[i] = static_cast<float>(finished[i]);
    }

  private:
    template <class Isa>
    NAIVELY_INLINE inline void finish_as(std::int64_t first, std::int64_t rows) {
        double* joint = rows_at(first);
        if (turns_ && rows >= least_turned) {
            finish_turned<Isa>(first, rows, joint);
            return;
        }
        const std::int64_t k = out_.classes;
        for (std::int64_t i = 0; i < rows; ++i) {
            double* row = joint + i * k;
            std::int64_t largest = find_largest(row);
            if (row[largest] == impossible) {
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
            exp_nonpositive<Isa>(joint, rows * k, joint);
            for (std::int64_t i = 0; i < rows; ++i) {
                double* row = joint + i * k;
                const double evidence = sum(row);
                for (std::int64_t c = 0; c < k; ++c) row[c] /= evidence;
            }
        } else if (out_.finish == Finish::log_posterior) {
            if (likelihood_.empty()) likelihood_.resize(max_rows * k);
            double* likelihood = likelihood_.data();
            exp_nonpositive<Isa>(joint, rows * k, likelihood);
            for (std::int64_t i = 0; i < rows; ++i) {
                const double log_evidence = std::log(sum(likelihood + i * k));
                for (std::int64_t c = 0; c < k; ++c) joint[i * k + c] -= log_evidence;
            }
        }
    }

    static constexpr double impossible = -std::numeric_limits<double>::infinity();
    static constexpr std::int64_t least_turned = 8;   // rows: fewer fill no vectors
    static constexpr std::int64_t most_turned = 128;  // classes: of more, rows fill vectors too

    // The rows turned: [class][row]. All max_rows lanes are worked on, whatever is in the last.
    template <class Isa>
    NAIVELY_INLINE inline void finish_turned(std::int64_t first, std::int64_t rows,
                                             double* joint) {
        const std::int64_t k = out_.classes;
        double* const turned = turned_.data();
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t c = 0; c < k; ++c) turned[c * max_rows + i] = joint[i * k + c];
        double largest[max_rows], label[max_rows];
        find_largest_turned<Isa>(turned, largest, label);
        bool any = false;
        for (std::int64_t i = 0; i < rows; ++i) any |= largest[i] == impossible;
        if (any) {
            for (std::int64_t i = 0; i < rows; ++i)
                if (largest[i] == impossible)
                    for (std::int64_t c = 0; c < k; ++c)
                        turned[c * max_rows + i] = out_.log_prior[c];
            find_largest_turned<Isa>(turned, largest, label);
        }
        if (out_.labels) {
            for (std::int64_t i = 0; i < rows; ++i)
                out_.labels[first + i] = static_cast<std::int32_t>(label[i]);
            return;
        }
        if (out_.finish == Finish::log_posterior)
            normalise_turned<Isa, true>(turned, largest, rows);
        else
            normalise_turned<Isa, false>(turned, largest, rows);
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t c = 0; c < k; ++c) joint[i * k + c] = turned[c * max_rows + i];
    }

    // The posteriors of rows that are turned, or their logarithms.
    template <class Isa, bool logs>
    NAIVELY_INLINE inline void normalise_turned(double* turned, const double* largest,
                                                std::int64_t rows) const {
        constexpr int lanes = Isa::lanes;
        using V = Vector<double, lanes>;
        const std::int64_t k = out_.classes;
        double evidence[max_rows];
        for (std::int64_t i = 0; i < max_rows; i += lanes) {
            V total{};
            const V shift = load<lanes>(largest + i);
            for (std::int64_t c = 0; c < k; ++c) {
                double* values = turned + c * max_rows + i;
                const V below = load<lanes>(values) - shift;
                const V likelihood = exp_nonpositive<Isa, lanes>(below);
                total += likelihood;
                if constexpr (logs)
                    store<lanes>(values, below);
                else
                    store<lanes>(values, likelihood);
            }
            store<lanes>(evidence + i, total);
        }
        if constexpr (logs)
            for (std::int64_t i = 0; i < rows; ++i) evidence[i] = std::log(evidence[i]);
        for (std::int64_t i = 0; i < max_rows; i += lanes) {
            const V total = load<lanes>(evidence + i);
            for (std::int64_t c = 0; c < k; ++c) {
                double* values = turned + c * max_rows + i;
                if constexpr (logs)
                    store<lanes>(values, load<lanes>(values) - total);
                else
                    store<lanes>(values, load<lanes>(values) / total);
            }
        }
    }

    // The largest of each row, and the number of its first class.
    template <class Isa>
    NAIVELY_INLINE inline void find_largest_turned(const double* turned, double* largest,
                                                   double* label) const {
        constexpr int lanes = Isa::lanes;
        using V = Vector<double, lanes>;
        for (std::int64_t i = 0; i < max_rows; i += lanes) {
            V most = load<lanes>(turned + i), first{};
            for (std::int64_t c = 1; c < out_.classes; ++c) {
                const V value = load<lanes>(turned + c * max_rows + i);
                const auto more = value > most;
                first = more ? broadcast<lanes>(static_cast<double>(c)) : first;
                most = more ? value : most;
            }
            store<lanes>(largest + i, most);
            store<lanes>(label + i, first);
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
    bool turns_;
    std::vector<double> scratch_;     // the rows, where they are not finished in the table
    std::vector<double> likelihood_;  // of the log posterior
    std::vector<double> turned_;
};

}  // namespace naively
