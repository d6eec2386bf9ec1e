// The bins and kernels of events/histogram.py, of all rows and of what is left without each:
// `_binned` and `_by_others` of its class Histogram are the same in NumPy.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "simd.h"
#include "threads.h"

namespace naively {
namespace {

// Numbers of BinRules of events/histogram.py, which holds them alone, in its order.
struct Rules {
    double in_bin, fewest, most, slack, few_others, in_shared, silverman, gain, spare, half,
        negligible, widths[3];
};

double ratio(double part, double whole) {
    const double p = part / whole;
    return std::isnan(p) ? 1.0 : p;
}

// The options of a histogram: the number of bins is negative where it follows from the rows, and
// the width where it follows from the counts; alpha is NaN where m is given. `real` is whether
// pretend rows are left out.
struct Options {
    double bins, width, m, alpha, real;
    Rules rules;

    explicit Options(nb::handle given) {
        const Doubles numbers(given, "options", 1);
        numbers.require_shape({sizeof(Options) / sizeof(double)});
        std::memcpy(this, numbers.data(), sizeof(Options));
    }
    bool has_alpha() const { return !std::isnan(alpha); }
};

// A Gaussian kernel of some width over bins, and counts that it has smoothed.
struct Smoothed {
    int64_t bins = 0;
    double width = -1.0;
    // The kernel at all distances from -bins + 1 to bins - 1, so that each loop is of neighbours;
    // one over what it gives of a bin to all; and the counts, class after class.
    std::vector<double> near, own, count;

    // Smooth counts, (bins, classes). For most rows the kernel is that of the row before.
    NAIVELY_INLINE void smooth(const double* counts, int64_t of_bins, int64_t k, double of_width) {
        if (of_bins != bins || of_width != width) {
            bins = of_bins;
            width = of_width;
            near.assign(2 * bins - 1, 0.0);
            near[bins - 1] = 1.0;
            for (int64_t d = 1; d < bins && width > 0.0; ++d) {
                const double distance = static_cast<double>(d) / width;
                near[bins - 1 + d] = near[bins - 1 - d] = std::exp(-0.5 * distance * distance);
            }
            own.resize(bins);
            double sum = std::accumulate(near.begin() + bins - 1, near.end(), 0.0);
            for (int64_t from = 0; from < bins; ++from) {
                if (from > 0) sum += near[bins - 1 - from] - near[2 * bins - 1 - from];
                own[from] = 1.0 / std::max(sum, 1e-300);
            }
        }
        count.assign(bins * k, 0.0);
        for (int64_t from = 0; from < bins; ++from) {
            const double* nearness = &near[bins - 1 - from];
            for (int64_t c = 0; c < k; ++c) {
                const double each = counts[from * k + c] * own[from];
                if (each == 0.0) continue;
                double* smooth = &count[c * bins];
                for (int64_t to = 0; to < bins; ++to) smooth[to] += nearness[to] * each;
            }
        }
    }
};

// The bins of a column, their counts, and the counts smoothed by a kernel.
class Bins {
  public:
    explicit Bins(int64_t classes) : k_(classes) {}
    double width() const { return smoothed_[best_].width; }

    void start(int64_t bins) {
        count_.swap(before_);
        rows_.swap(rows_before_);
        bins_ = bins;
        count_.assign(static_cast<std::size_t>(bins * k_), 0.0);
        rows_.assign(static_cast<std::size_t>(k_), 0.0);
    }
    NAIVELY_INLINE void add(int64_t bin, const double* count) {
        for (int64_t c = 0; c < k_; ++c) {
            count_[bin * k_ + c] += std::max(count[c], 0.0);
            rows_[c] += std::max(count[c], 0.0);
        }
    }

    // Smooth the counts by the width that is set, or by the rule, or what saves much of the log
    // loss. Without either of two neighbours of one class they are often the same.
    NAIVELY_INLINE void smooth(const Options& options) {
        if (count_ == before_ && rows_ == rows_before_) return;
        const Rules& rules = options.rules;
        const bool sought = options.width < 0.0;
        total_ = std::accumulate(rows_.begin(), rows_.end(), 0.0);
        const double rule = rules.silverman * static_cast<double>(bins_) *
                            std::pow(std::max(total_, 1.0), -0.2);
        const double first = sought ? rule : options.width;
        const double widths[] = {first, rules.widths[0], rules.widths[1], rules.widths[2]};
        double by_rule = 0.0, least = INFINITY;
        best_ = 0;
        for (int i = 0; i < (sought ? 4 : 1); ++i) {
            smoothed_[i].smooth(count_.data(), bins_, k_, widths[i]);
            const double found = sought ? loss(smoothed_[i], options) : 0.0;
            if (i == 0 || std::isnan(found)) by_rule = found;  // then nobody knows what is saved
            if (i > 0 && found < least) least = found, best_ = i;
        }
        if (!(by_rule - least > rules.gain)) best_ = 0;
    }

    // The log probabilities of a bin, by smoothed counts.
    void log_probabilities(int64_t bin, const Options& options, double* found) const {
        const std::vector<double>& smooth = smoothed_[best_].count;
        double pretend = 0.0, m = 0.0;
        if (options.real == 0.0 && options.has_alpha()) {
            pretend = options.alpha;
            m = options.alpha * static_cast<double>(bins_);
        } else if (options.real == 0.0) {
            const double all = std::accumulate(smooth.begin(), smooth.end(), 0.0) +
                               options.rules.spare * static_cast<double>(bins_);
            double here = options.rules.spare;
            for (int64_t c = 0; c < k_; ++c) here += smooth[c * bins_ + bin];
            m = options.m;
            pretend = m * here / std::max(all, 1e-300);
        }
        for (int64_t c = 0; c < k_; ++c)
            found[c] = std::log(ratio(smooth[c * bins_ + bin] + pretend, rows_[c] + m));
    }

  private:
    // The leave-one-out log loss, summed over the rows. Loops are of bins: vectors divide them.
    NAIVELY_INLINE double loss(const Smoothed& of, const Options& options) {
        const int64_t bins = bins_;
        const auto n = static_cast<double>(bins);
        const double m = options.has_alpha() ? options.alpha * n : options.m;
        const double spare = options.rules.spare, half = options.rules.half;
        const double others = std::max(total_ - 1.0, 0.0) + spare * n;
        pretend_.assign(static_cast<std::size_t>(bins), 0.0);
        joint_.assign(static_cast<std::size_t>(bins), 0.0);
        factor_.resize(of.count.size());
        double *__restrict pretend = pretend_.data(), *__restrict joint = joint_.data(),
               *__restrict factors = factor_.data();
        const double* own = of.own.data();
        for (int64_t c = 0; c < k_; ++c)
            for (int64_t bin = 0; bin < bins; ++bin) pretend[bin] += of.count[c * bins + bin];
        for (int64_t bin = 0; bin < bins; ++bin)
            pretend[bin] = options.has_alpha()
                               ? options.alpha
                               : m * (std::max(pretend[bin] - own[bin], 0.0) + spare) / others;
        for (int64_t c = 0; c < k_; ++c) {
            const double *smooth = &of.count[c * bins], rows = rows_[c];
            double* __restrict factor = factors + c * bins;
            for (int64_t bin = 0; bin < bins; ++bin) {
                factor[bin] = (rows + half) * ratio(smooth[bin] + pretend[bin], rows + m);
                joint[bin] += factor[bin];
            }
        }
        for (int64_t c = 0; c < k_; ++c) {
            const double *smooth = &of.count[c * bins], rest = std::max(rows_[c] - 1.0, 0.0);
            double* __restrict factor = factors + c * bins;
            for (int64_t bin = 0; bin < bins; ++bin) {
                const double left = std::max(smooth[bin] - own[bin], 0.0) + pretend[bin];
                const double right = (rest + half) * ratio(left, rest + m);
                factor[bin] = 1.0 + std::max(joint[bin] - factor[bin], 0.0) / right;
            }
        }
        // Of factors that are whole powers one logarithm is taken together: it takes most time.
        double sum = 0.0, product = 1.0;
        for (int64_t i = 0; i < bins * k_; ++i) {
            const double count = count_[i], factor = factors[i % k_ * bins + i / k_];
            if (count <= 0.0) continue;
            if (!(factor < 1e50) || !(count == 1.0 || count == 2.0 || count == 3.0)) {
                sum += count * std::log(factor);
                continue;
            }
            for (double times = 0.0; times < count; ++times) product *= factor;
            if (product > 1e100) {
                sum += std::log(product);
                product = 1.0;
            }
        }
        return sum + std::log(product);
    }

    int64_t k_, bins_ = 0;
    int best_ = 0;
    double total_ = 0.0;
    std::vector<double> count_, rows_, before_, rows_before_, pretend_, joint_, factor_;
    Smoothed smoothed_[4];
};

// The cells of a column, of which one row is left out.
class Column {
  public:
    explicit Column(int64_t classes) : k_(classes), bins_(classes) {}

    void start(const double* low, const double* high, const double* count, int64_t cells) {
        low_ = low;
        high_ = high;
        every_.resize(static_cast<std::size_t>(cells * k_));
        of_cell_.assign(static_cast<std::size_t>(cells), 0.0);
        for (int64_t i = 0; i < cells * k_; ++i) {
            every_[i] = std::max(count[i], 0.0);
            of_cell_[i / k_] += every_[i];
        }
    }

    NAIVELY_INLINE void leave_out(int64_t unit, int64_t right, double weight, double x,
                                  const Options& options, double* found) {
        left_ = every_;
        rows_ = of_cell_;
        double* own = &left_[unit * k_];
        own[right] -= weight;
        const bool gone = std::accumulate(own, own + k_, 0.0) <= options.rules.negligible;
        own[right] = std::max(own[right], 0.0);
        rows_[unit] = std::accumulate(own, own + k_, 0.0);
        if (gone) {
            left_.erase(left_.begin() + unit * k_, left_.begin() + (unit + 1) * k_);
            rows_.erase(rows_.begin() + unit);
        }
        if (rows_.empty()) {
            const bool pretends = options.real == 0.0 && !options.has_alpha() && options.m > 0.0;
            std::fill(found, found + k_, pretends ? -INFINITY : 0.0);
            return;
        }
        int64_t code = 0;
        const auto cell = [&](int64_t i) { return i + (gone && i >= unit); };
        cut_rows(left_.data(), options, [&](int64_t i) { code += edge(cell(i - 1), cell(i)) <= x; });
        bins_.log_probabilities(code, options, found);
    }

    // Leave nothing out: mark the cells with which bins begin, and return their kernel's width.
    NAIVELY_INLINE double cut(const double* count, int64_t cells, const Options& options, bool* begins) {
        if (cells == 0) return 0.0;
        rows_.assign(static_cast<std::size_t>(cells), 0.0);
        for (int64_t i = 0; i < cells; ++i)
            for (int64_t c = 0; c < k_; ++c) rows_[i] += std::max(count[i * k_ + c], 0.0);
        begins[0] = true;
        cut_rows(count, options, [&](int64_t i) { begins[i] = true; });
        return bins_.width();
    }

  private:
    // Cut the rows into bins, and smooth these. Each bin but the first calls work(its first cell).
    template <class Work>
    NAIVELY_INLINE void cut_rows(const double* count, const Options& options, const Work& work) {
        number(options);
        bins_.start(bin_.back() + 1);
        for (int64_t i = 0; i < static_cast<int64_t>(bin_.size()); ++i) {
            bins_.add(bin_[i], count + i * k_);
            if (i > 0 && bin_[i] != bin_[i - 1]) work(i);
        }
        bins_.smooth(options);
    }

    // The bins, which hold about equally many rows.
    NAIVELY_INLINE void number(const Options& options) {
        const Rules& rules = options.rules;
        const double slack = rules.slack, in_shared = rules.in_shared;
        const double total = std::accumulate(rows_.begin(), rows_.end(), 0.0);
        const auto cells = static_cast<int64_t>(rows_.size());
        const double by_rows = std::floor(total / rules.in_bin + slack);
        const double bins = options.bins > 0.0 ? options.bins
                                               : std::clamp(by_rows, rules.fewest, rules.most);
        const bool few = static_cast<double>(cells) <= bins;
        alone_.assign(static_cast<std::size_t>(cells), few);
        double whole = total, shared = bins, others = 0.0, left = bins;
        const auto stand_alone = [&](double size) {
            bool more = false;
            for (int64_t i = 0; i < cells; ++i)
                if (!alone_[i] && rows_[i] >= size) more = alone_[i] = true;
            return more;
        };
        const auto count_others = [&] {
            others = 0.0;
            left = bins;
            for (int64_t i = 0; i < cells; ++i)
                alone_[i] ? left -= 1.0 : others += rows_[i];
            left = std::max(left, 1.0);
        };
        if (!few) stand_alone(total * (1 - slack) / bins);
        count_others();
        const bool anew = !few && others < rules.few_others * total;
        while (anew && left > 1.0 &&
               stand_alone(std::max(others / left, in_shared) * (1 - slack)))
            count_others();
        if (anew) {
            whole = others;
            shared = std::clamp(std::floor(others / in_shared + slack), 1.0, left);
        }
        bin_.resize(static_cast<std::size_t>(cells));
        double before = 0.0, last = -1.0;
        int64_t bin = -1;
        for (int64_t i = 0; i < cells; ++i) {
            const double place = std::floor((whole > 0.0 ? before / whole : 0.0) * shared + slack);
            if (i == 0 || place != last || alone_[i] || alone_[i - 1]) ++bin;
            bin_[i] = bin;
            last = place;
            if (!(anew && alone_[i])) before += rows_[i];
        }
    }

    double edge(int64_t below, int64_t above) const {
        const double middle = high_[below] / 2 + low_[above] / 2;
        return middle > high_[below] ? middle : low_[above];
    }

    const double *low_ = nullptr, *high_ = nullptr;
    int64_t k_;
    Bins bins_;
    std::vector<int64_t> bin_;
    std::vector<double> every_, of_cell_, left_, rows_;  // with the row, and without it
    std::vector<std::uint8_t> alone_;
};

using Numbers = Input<Layout::contiguous, int64_t>;

// Where the cells of each column begin, and the last end.
const int64_t* begins_of(const Numbers& first, int64_t cells) {
    const int64_t *begin = first.data(), *end = begin + first.shape(0);
    if (begin == end || *begin < 0 || end[-1] > cells || !std::is_sorted(begin, end))
        throw std::invalid_argument("first must ascend within the cells");
    return begin;
}

// (cells with which bins begin, widths of the columns).
nb::object cut_bins(nb::handle first, nb::handle count, nb::handle options) {
    const Numbers firsts(first, "first", 1);
    const Doubles counts(count, "count", 2);
    const Options given(options);
    const int64_t columns = firsts.shape(0) - 1, cells = counts.shape(0), k = counts.shape(1);
    const int64_t* begin = begins_of(firsts, cells);
    const Result<bool> begins("zeros", cells);
    const Result<double> width("empty", columns);
    run_rows(columns, 5000, [&](auto, int64_t from, int64_t to) NAIVELY_INLINE {
        Column of(k);
        for (int64_t j = from; j < to; ++j) {
            const double* count = counts.data() + begin[j] * k;
            width.data()[j] = of.cut(count, begin[j + 1] - begin[j], given, begins.data() + begin[j]);
        }
    });
    return nb::make_tuple(begins.object(), width.object());
}

nb::object leave_out_bins(nb::handle first, nb::handle low, nb::handle high, nb::handle count,
                          nb::handle column, nb::handle unit, nb::handle right, nb::handle weight,
                          nb::handle x, nb::handle options) {
    const Numbers begins(first, "first", 1), columns(column, "column", 1), units(unit, "unit", 1),
        rights(right, "right", 1);
    const Doubles lows(low, "low", 1), highs(high, "high", 1), counts(count, "count", 2),
        weights(weight, "weight", 1), numbers(x, "x", 1);
    const Options given(options);
    const int64_t left = columns.shape(0), cells = lows.shape(0), k = counts.shape(1);
    highs.require_shape({cells});
    counts.require_shape({cells, k});
    for (const Numbers* of : {&units, &rights}) of->require_shape({left});
    for (const Doubles* of : {&weights, &numbers}) of->require_shape({left});
    const int64_t* begin = begins_of(begins, cells);
    for (int64_t i = 0; i < left; ++i) {
        const int64_t j = columns.data()[i];
        if (j < 0 || j + 1 >= begins.shape(0) || units.data()[i] < begin[j] ||
            units.data()[i] >= begin[j + 1] || rights.data()[i] < 0 || rights.data()[i] >= k)
            throw std::invalid_argument("a number is of no cell or class");
    }
    const Result<double> found("empty", left, k);
    run_rows(left, 5000, [&](auto, int64_t from, int64_t to) NAIVELY_INLINE {
        Column of(k);
        for (int64_t i = from, j = -1; i < to; ++i) {
            const int64_t at = begin[columns.data()[i]];
            if (columns.data()[i] != j) {
                j = columns.data()[i];
                of.start(lows.data() + at, highs.data() + at, counts.data() + at * k,
                         begin[j + 1] - at);
            }
            of.leave_out(units.data()[i] - at, rights.data()[i], weights.data()[i],
                         numbers.data()[i], given, found.data() + i * k);
        }
    });
    return found.object();
}

}  // namespace

void bind_leave_out_bins(nb::module_& m) {
    m.def("cut_bins", &cut_bins);
    m.def("leave_out_bins", &leave_out_bins);
}

}  // namespace naively
