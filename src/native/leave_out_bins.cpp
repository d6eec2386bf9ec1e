// What events/histogram.py says of numbers without their own rows, by bins and kernels that are
// derived anew without each: `_by_others` of its class Histogram is the same in NumPy.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "threads.h"

namespace naively {
namespace {

// Numbers of BinRules of events/histogram.py, which holds them alone, in its order.
struct Rules {
    double in_bin, fewest, most, slack, few_others, in_shared, silverman, gain, spare, half,
        negligible;
    double widths[3];
};

double ratio(double part, double whole) {
    const double p = part / whole;
    return std::isnan(p) ? 1.0 : p;
}

// The options of a histogram.
struct Options {
    int64_t bins;  // 0 where they follow from the rows
    double width;  // negative where it follows from the counts
    double m;
    double alpha;  // NaN where m is given
    bool real;     // whether pretend rows are left out
    Rules rules;

    bool has_alpha() const { return !std::isnan(alpha); }
};

// The bins of a column, their counts, and the counts smoothed by a kernel.
class Bins {
  public:
    explicit Bins(int64_t classes) : k_(classes) {}

    void start(int64_t bins) {
        bins_ = bins;
        count_.assign(static_cast<std::size_t>(bins * k_), 0.0);
        rows_.assign(static_cast<std::size_t>(k_), 0.0);
    }
    void add(int64_t bin, const double* count) {
        for (int64_t c = 0; c < k_; ++c) {
            count_[bin * k_ + c] += count[c];
            rows_[c] += count[c];
        }
    }

    // The width that is set, or by the rule, or what saves much of the log loss.
    double width(const Options& options) {
        if (options.width >= 0.0) return options.width;
        total_ = 0.0;
        for (const double rows : rows_) total_ += rows;
        const double rule = options.rules.silverman * static_cast<double>(bins_) *
                            std::pow(std::max(total_, 1.0), -0.2);
        smooth(rule);
        const double by_rule = loss(options);
        double best = rule, least = INFINITY;
        for (const double other : options.rules.widths) {
            smooth(other);
            const double of_other = loss(options);
            if (std::isnan(of_other)) return rule;  // of which nobody knows what it saves
            if (of_other < least) {
                least = of_other;
                best = other;
            }
        }
        return by_rule - least > options.rules.gain ? best : rule;
    }

    void smooth(double width) {
        // The kernel at all distances from -bins + 1 to bins - 1, so that each loop is of neighbours.
        const auto bins = static_cast<std::size_t>(bins_);
        near_.assign(2 * bins - 1, 0.0);
        near_[bins - 1] = 1.0;
        for (std::size_t d = 1; d < bins && width > 0.0; ++d) {
            const double distance = static_cast<double>(d) / width;
            near_[bins - 1 + d] = near_[bins - 1 - d] = std::exp(-0.5 * distance * distance);
        }
        smooth_.assign(bins * static_cast<std::size_t>(k_), 0.0);
        own_.resize(bins);
        double sum = std::accumulate(near_.begin() + bins_ - 1, near_.end(), 0.0);
        for (int64_t from = 0; from < bins_; ++from) {
            const double* near = &near_[bins - 1 - from];
            if (from > 0) sum += near_[bins - 1 - from] - near_[2 * bins - 1 - from];
            own_[from] = 1.0 / std::max(sum, 1e-300);
            for (int64_t c = 0; c < k_; ++c) {
                const double each = count_[from * k_ + c] * own_[from];
                if (each == 0.0) continue;
                double* smooth = &smooth_[c * bins_];
                for (int64_t to = 0; to < bins_; ++to) smooth[to] += near[to] * each;
            }
        }
    }

    // The log probabilities of a bin, by smoothed counts.
    void log_probabilities(int64_t bin, const Options& options, double* found) const {
        double pretend = 0.0, m = 0.0;
        if (!options.real && options.has_alpha()) {
            pretend = options.alpha;
            m = options.alpha * static_cast<double>(bins_);
        } else if (!options.real) {
            double all = 0.0;
            for (const double each : smooth_) all += each;
            all += options.rules.spare * static_cast<double>(bins_);
            double here = options.rules.spare;
            for (int64_t c = 0; c < k_; ++c) here += smooth_[c * bins_ + bin];
            m = options.m;
            pretend = m * here / std::max(all, 1e-300);
        }
        for (int64_t c = 0; c < k_; ++c)
            found[c] = std::log(ratio(smooth_[c * bins_ + bin] + pretend, rows_[c] + m));
    }

  private:
    // The leave-one-out log loss, summed over the rows.
    double loss(const Options& options) const {
        const auto bins = static_cast<double>(bins_);
        const double m = options.has_alpha() ? options.alpha * bins : options.m;
        const double spare = options.rules.spare, half = options.rules.half;
        const double others = std::max(total_ - 1.0, 0.0) + spare * bins;
        // Of factors that are whole powers one logarithm is taken together: it takes most time.
        double sum = 0.0, product = 1.0;
        const auto times = [&](double factor, double count) {
            if (!(factor < 1e50) || !(count == 1.0 || count == 2.0 || count == 3.0)) {
                sum += count * std::log(factor);
                return;
            }
            for (double i = 0.0; i < count; ++i) product *= factor;
            if (product > 1e100) {
                sum += std::log(product);
                product = 1.0;
            }
        };
        for (int64_t bin = 0; bin < bins_; ++bin) {
            const double *smooth = &smooth_[bin], *count = &count_[bin * k_];
            double here = 0.0;
            for (int64_t c = 0; c < k_; ++c) here += smooth[c * bins_];
            const double pretend =
                options.has_alpha() ? options.alpha
                                    : m * (std::max(here - own_[bin], 0.0) + spare) / others;
            double joint = 0.0;
            for (int64_t c = 0; c < k_; ++c)
                joint += (rows_[c] + half) * ratio(smooth[c * bins_] + pretend, rows_[c] + m);
            for (int64_t c = 0; c < k_; ++c) {
                if (count[c] <= 0.0) continue;
                const double rest_rows = std::max(rows_[c] - 1.0, 0.0);
                const double own = (rows_[c] + half) * ratio(smooth[c * bins_] + pretend, rows_[c] + m);
                const double left = std::max(smooth[c * bins_] - own_[bin], 0.0) + pretend;
                const double right = (rest_rows + half) * ratio(left, rest_rows + m);
                times(1.0 + std::max(joint - own, 0.0) / right, count[c]);
            }
        }
        return sum + std::log(product);
    }

    int64_t k_, bins_ = 0;
    double total_ = 0.0;
    std::vector<double> count_, rows_, near_, smooth_, own_;
};

// The cells of a column, of which one row is left out.
class Column {
  public:
    Column(const double* low, const double* high, const double* count, int64_t cells,
           int64_t classes)
        : low_(low), high_(high), count_(count), cells_(cells), k_(classes), bins_(classes) {}

    void leave_out(int64_t unit, int64_t right, double weight, double x, const Options& options,
                   double* found) {
        cell_.clear();
        left_.clear();
        rows_.clear();
        double total = 0.0;
        for (int64_t cell = 0; cell < cells_; ++cell) {
            double sum = 0.0, rows = 0.0;
            const std::size_t begin = left_.size();
            for (int64_t c = 0; c < k_; ++c) {
                double count = std::max(count_[cell * k_ + c], 0.0);
                if (cell == unit && c == right) count -= weight;
                sum += count;
                count = std::max(count, 0.0);
                left_.push_back(count);
                rows += count;
            }
            if (cell == unit && sum <= options.rules.negligible) {
                left_.resize(begin);
                continue;
            }
            cell_.push_back(cell);
            rows_.push_back(rows);
            total += rows;
        }
        const auto cells = static_cast<int64_t>(cell_.size());
        if (cells == 0) {
            const bool pretends = !options.real && !options.has_alpha() && options.m > 0.0;
            std::fill(found, found + k_, pretends ? -INFINITY : 0.0);
            return;
        }
        number(cells, total, options);
        bins_.start(bin_[cells - 1] + 1);
        int64_t code = 0;
        for (int64_t i = 0; i < cells; ++i) {
            bins_.add(bin_[i], &left_[i * k_]);
            if (i > 0 && bin_[i] != bin_[i - 1] && edge(cell_[i - 1], cell_[i]) <= x) ++code;
        }
        bins_.smooth(bins_.width(options));
        bins_.log_probabilities(code, options, found);
    }

  private:
    // The bins, which hold about equally many rows.
    void number(int64_t cells, double total, const Options& options) {
        const Rules& rules = options.rules;
        const double slack = rules.slack, in_shared = rules.in_shared;
        const double bins = options.bins != 0
                                ? static_cast<double>(options.bins)
                                : std::clamp(std::floor(total / rules.in_bin + slack),
                                             rules.fewest, rules.most);
        const bool few = static_cast<double>(cells) <= bins;
        alone_.assign(static_cast<std::size_t>(cells), few);
        double whole = total, shared = bins, others = 0.0, left = bins;
        const auto stand_alone = [&](double size) {
            bool more = false;
            for (int64_t i = 0; i < cells; ++i)
                if (!alone_[i] && rows_[i] >= size) {
                    more = true;
                    alone_[i] = 1;
                }
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

    const double *low_, *high_, *count_;
    int64_t cells_, k_;
    Bins bins_;
    std::vector<int64_t> cell_, bin_;
    std::vector<double> left_, rows_;
    std::vector<std::uint8_t> alone_;
};

nb::object leave_out_bins(nb::handle first, nb::handle low, nb::handle high, nb::handle count,
                          nb::handle column, nb::handle unit, nb::handle right, nb::handle weight,
                          nb::handle x, int64_t bins, double width, double m, double alpha,
                          bool real, nb::handle rules) {
    const Input<Layout::contiguous, int64_t> begins(first, "first", 1), columns(column, "column", 1),
        units(unit, "unit", 1), rights(right, "right", 1);
    const Doubles lows(low, "low", 1), highs(high, "high", 1), counts(count, "count", 2),
        weights(weight, "weight", 1), numbers(x, "x", 1), of_rules(rules, "rules", 1);
    const int64_t left = columns.shape(0), cells = lows.shape(0), k = counts.shape(1);
    highs.require_shape({cells});
    counts.require_shape({cells, k});
    units.require_shape({left});
    rights.require_shape({left});
    weights.require_shape({left});
    numbers.require_shape({left});
    of_rules.require_shape({sizeof(Rules) / sizeof(double)});
    const int64_t* begin = begins.data();
    for (int64_t j = 0; j + 1 < begins.shape(0); ++j)
        if (begin[j] < 0 || begin[j] > begin[j + 1] || begin[j + 1] > cells)
            throw std::invalid_argument("first must ascend within the cells");
    for (int64_t i = 0; i < left; ++i) {
        const int64_t j = columns.data()[i];
        if (j < 0 || j + 1 >= begins.shape(0) || units.data()[i] < begin[j] ||
            units.data()[i] >= begin[j + 1] || rights.data()[i] < 0 || rights.data()[i] >= k)
            throw std::invalid_argument("a number is of no cell or class");
    }
    Options options{bins, width, m, alpha, real, {}};
    std::memcpy(&options.rules, of_rules.data(), sizeof(Rules));
    const Result<double> found("empty", left, k);
    {
        const nb::gil_scoped_release released;
        run_parts(left, count_parts(left, 5e3), [&](int64_t from, int64_t to, int) {
            for (int64_t i = from; i < to;) {
                const int64_t j = columns.data()[i], at = begin[j];
                Column of(lows.data() + at, highs.data() + at, counts.data() + at * k,
                          begin[j + 1] - at, k);
                for (; i < to && columns.data()[i] == j; ++i)
                    of.leave_out(units.data()[i] - at, rights.data()[i], weights.data()[i],
                                 numbers.data()[i], options, found.data() + i * k);
            }
        });
    }
    return found.object();
}

}  // namespace

void bind_leave_out_bins(nb::module_& m) {
    m.def("leave_out_bins", &leave_out_bins, nb::arg("first"), nb::arg("low"), nb::arg("high"),
          nb::arg("count"), nb::arg("column"), nb::arg("unit"), nb::arg("right"),
          nb::arg("weight"), nb::arg("x"), nb::arg("bins"), nb::arg("width"), nb::arg("m"),
          nb::arg("alpha"), nb::arg("real"), nb::arg("rules"));
}

}  // namespace naively
