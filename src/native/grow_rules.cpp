// grow_rules of kernels/rules.py: decision tables, each grown on what those before leave unsaid.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "simd.h"
#include "softmax.h"

namespace naively {
namespace {

constexpr double least_curvature = 1e-6;  // of a row
constexpr double least_p = 1e-15;         // of which the log loss is taken
constexpr double of_level = 5.0;          // added to the curvature by which levels are ordered
constexpr double alike = 1e-9;            // by which levels differ at most that are on one side
constexpr double better = 1.0 + 1e-9;     // times as much as the best: else the first is taken
constexpr double least_weight = 1e-6;     // of the rows of a bin: less is none, by rounding
constexpr int poolings = 16;              // passes over the cells of a table
constexpr double worth = 1e-9;            // nats that a condition must gain

struct Options {
    int64_t rounds, patience, conditions, columns;
    double rate, ridge, rows;
};

struct Condition {
    std::int32_t column = -1;
    std::uint64_t mask = 0;
    double gain = 0;
};

// Some columns are looked at together: their tables are filled in one pass over the rows, whose
// sums depend on each other only within a column.
constexpr int64_t together = 4;
constexpr int64_t lanes = 4;  // sums of a row, of which there are a multiple of these

class Grower {
  public:
    int64_t rows, columns, classes, width;
    int64_t sums;  // of a row: the gradient and the curvature of each class, and the weight
    Options options;
    const int64_t* sizes;
    const bool* ordered;
    const std::int8_t* monotone;
    std::vector<int64_t> order;         // of the rows: those to grow on, then those held out
    int64_t grown = 0;                  // how many rows to grow on
    std::vector<std::uint8_t> codes;    // (columns, rows)
    std::vector<double> joint, slopes;  // (rows, width), (rows, sums)
    std::vector<double> weight;
    std::vector<std::int32_t> right;
    std::vector<std::int32_t> first_classes;  // in the order in which rows have them; none of two
    std::vector<std::int32_t> leaf;     // of each row, -1 of one that no condition holds for
    std::vector<std::vector<double>> tables;  // of each column: (bins, leaves, sums)
    std::vector<std::int32_t> some;           // the rows that tables are filled with, the others
    std::vector<std::uint8_t> filled;         // leaves being what is left of those before
    std::vector<double> total;

    // The gradient and the curvature of each row; returns the log loss of the rows held out.
    double differentiate() {
        double loss = 0;
        on_best_instruction_set([&](auto isa) NAIVELY_INLINE {
            loss = width == 1 ? differentiate_two<decltype(isa)>()
                              : differentiate_many<decltype(isa)>();
        });
        return loss;
    }

    // By the log odds of the second class, several rows at once.
    template <class Isa>
    NAIVELY_INLINE double differentiate_two() {
        double loss = 0, odds[lanes], p[lanes];
        for (int64_t first = 0; first < rows; first += lanes) {
            const int64_t count = std::min(lanes, rows - first);
            for (int64_t i = 0; i < lanes; ++i) odds[i] = i < count ? joint[first + i] : 0.0;
            const Vector<double, lanes> f = load<lanes>(odds), none = broadcast<lanes>(0.0);
            const Vector<double, lanes> one = broadcast<lanes>(1.0);
            const Vector<double, lanes> e = exp_of<Isa, lanes>(select<lanes>(f > none, -f, f));
            store<lanes>(p, select<lanes>(f > none, one, e) / (one + e));
            for (int64_t i = 0; i < count; ++i) {
                const int64_t row = first + i;
                if (row >= grown) {
                    const double of_right = right[row] == 1 ? p[i] : 1 - p[i];
                    loss -= weight[row] * std::log(std::max(of_right, least_p));
                    continue;
                }
                double* of = &slopes[row * sums];
                of[0] = weight[row] * ((right[row] == 1 ? 1.0 : 0.0) - p[i]);
                of[1] = weight[row] * std::max(p[i] * (1 - p[i]), least_curvature);
                of[2] = weight[row];
            }
        }
        return loss;
    }

    // By the joint log likelihoods, several classes of a row at once.
    template <class Isa>
    NAIVELY_INLINE double differentiate_many() {
        double loss = 0;
        const int64_t padded = (width + lanes - 1) / lanes * lanes;
        const double more = static_cast<double>(width) / (width - 1);
        std::vector<double> below(static_cast<std::size_t>(padded), -700.0), p(below.size());
        for (int64_t i = 0; i < rows; ++i) {
            const double* f = &joint[i * width];
            const double most = *std::max_element(f, f + width);
            for (int64_t c = 0; c < width; ++c) below[c] = f[c] - most;
            for (int64_t c = 0; c < padded; c += lanes)
                store<lanes>(&p[c], exp_of<Isa, lanes>(load<lanes>(&below[c])));
            double sum = 0;
            for (int64_t c = 0; c < width; ++c) sum += p[c];
            const double scale = 1 / sum;
            if (i >= grown) {
                loss -= weight[i] * std::log(std::max(p[right[i]] * scale, least_p));
                continue;
            }
            double* of = &slopes[i * sums];
            const double w = weight[i];
            for (int64_t c = 0; c < width; ++c) {
                const double share = p[c] * scale;
                of[c] = -w * share;
                of[width + c] = w * std::max(share * (1 - share) * more, least_curvature);
            }
            of[right[i]] += w;
            of[2 * width] = w;
        }
        return loss;
    }

    // Chooses the leaves that tables are filled for: of two that were one, that of fewer rows.
    void choose_rows(int64_t leaves) {
        std::vector<int64_t> count(static_cast<std::size_t>(leaves), 0);
        for (int64_t i = 0; i < grown; ++i)
            if (leaf[i] >= 0) ++count[leaf[i]];
        filled.assign(static_cast<std::size_t>(leaves), 1);
        const int64_t half = leaves / 2;
        for (int64_t l = 0; l < half; ++l) filled[count[l] <= count[l + half] ? l + half : l] = 0;
        some.clear();
        for (int64_t i = 0; i < grown; ++i)
            if (leaf[i] >= 0 && filled[leaf[i]]) some.push_back(static_cast<std::int32_t>(i));
    }

    // Fills the tables of some columns, `count` at most `together`.
    void fill(const int64_t* column, int64_t count, int64_t leaves) {
        std::vector<double> before[together];
        for (int64_t k = 0; k < count; ++k) {
            before[k].swap(tables[column[k]]);
            tables[column[k]].assign(static_cast<std::size_t>(sizes[column[k]] * leaves * sums),
                                     0.0);
        }
        on_best_instruction_set([&](auto) NAIVELY_INLINE {
            if (sums == lanes && count == together)
                fill_narrow<together>(column, leaves);
            else if (sums == lanes)
                for (int64_t k = 0; k < count; ++k) fill_narrow<1>(column + k, leaves);
            else if (count == together)
                fill_wide<together>(column, leaves);
            else
                for (int64_t k = 0; k < count; ++k) fill_wide<1>(column + k, leaves);
            if (leaves > 1)
                for (int64_t k = 0; k < count; ++k) subtract(before[k], column[k], leaves);
        });
    }

    // The cells of the tables of some columns that rows are added to.
    template <int64_t count>
    struct Cells {
        const std::uint8_t* code[count];
        double* table[count];
        const std::int32_t* leaf;
        int64_t leaves;

        Cells(Grower& of, const int64_t* column, int64_t leaves)
            : leaf(of.leaf.data()), leaves(leaves) {
            for (int64_t k = 0; k < count; ++k) {
                code[k] = &of.codes[column[k] * of.rows];
                table[k] = of.tables[column[k]].data();
            }
        }
        NAIVELY_INLINE double* at(int64_t k, std::int32_t row, int64_t size) const {
            return table[k] + (code[k][row] * leaves + leaf[row]) * size;
        }
    };

    template <int64_t count>
    NAIVELY_INLINE void fill_narrow(const int64_t* column, int64_t leaves) {
        const Cells<count> cells(*this, column, leaves);
        for (const std::int32_t i : some) {
            const Vector<double, lanes> of = load<lanes>(&slopes[i * lanes]);
            NAIVELY_UNROLL for (int64_t k = 0; k < count; ++k) {
                double* at = cells.at(k, i, lanes);
                store<lanes>(at, load<lanes>(at) + of);
            }
        }
    }

    template <int64_t count>
    NAIVELY_INLINE void fill_wide(const int64_t* column, int64_t leaves) {
        const Cells<count> cells(*this, column, leaves);
        const int64_t end = sums;
        for (const std::int32_t i : some) {
            const double* of = &slopes[i * end];
            double* at[count];
            for (int64_t k = 0; k < count; ++k) at[k] = cells.at(k, i, end);
            for (int64_t c = 0; c < end; c += lanes) {
                const Vector<double, lanes> more = load<lanes>(of + c);
                NAIVELY_UNROLL for (int64_t k = 0; k < count; ++k)
                    store<lanes>(at[k] + c, load<lanes>(at[k] + c) + more);
            }
        }
    }

    // Sets the leaves that were not filled to what the leaf before has beside the other half.
    NAIVELY_INLINE void subtract(const std::vector<double>& before, int64_t column,
                                 int64_t leaves) {
        const int64_t half = leaves / 2;
        for (int64_t b = 0; b < sizes[column]; ++b)
            for (int64_t l = 0; l < half; ++l) {
                const double* whole = &before[(b * half + l) * sums];
                double* one = &tables[column][(b * leaves + l) * sums];
                double* other = one + half * sums;
                if (filled[l]) std::swap(one, other);
                for (int64_t c = 0; c < sums; ++c) one[c] = whole[c] - other[c];
            }
    }

    // A table laid out to be added up bin by bin: gradients and curvatures of all leaves and
    // classes, (bins, leaves * width), and weights, (bins,).
    struct Bins {
        int64_t entries = 0;
        std::vector<double> gradient, curvature, weight;
    } bins;

    void lay_out(const std::vector<double>& table, int64_t count, int64_t leaves) {
        bins.entries = leaves * width;
        bins.gradient.resize(static_cast<std::size_t>(count * bins.entries));
        bins.curvature.resize(bins.gradient.size());
        bins.weight.assign(static_cast<std::size_t>(count), 0.0);
        for (int64_t b = 0; b < count; ++b)
            for (int64_t l = 0; l < leaves; ++l) {
                const double* of = &table[(b * leaves + l) * sums];
                std::copy(of, of + width, &bins.gradient[b * bins.entries + l * width]);
                std::copy(of + width, of + 2 * width,
                          &bins.curvature[b * bins.entries + l * width]);
                bins.weight[b] += of[2 * width];
            }
    }

    struct Order {
        std::vector<int64_t> bins;
        std::vector<bool> parted;  // whether a mask may end there
    };

    // The bins of a column in the order in which a mask may take them. Levels that are alike are on
    // one side. Names have no say: the first class is that of the first row, and the first level is
    // at the nearer end.
    Order in_order(int64_t column, int64_t count) const {
        Order found;
        if (ordered[column]) {
            found.bins.resize(static_cast<std::size_t>(sizes[column] - 1));
            found.parted.assign(found.bins.size(), true);
            std::iota(found.bins.begin(), found.bins.end(), 0);
            return found;
        }
        std::vector<double> gradient(static_cast<std::size_t>(count * width), 0.0);
        std::vector<double> curvature(gradient.size(), 0.0);
        for (int64_t b = 0; b < count; ++b)
            for (int64_t e = 0; e < bins.entries; ++e) {
                gradient[b * width + e % width] += bins.gradient[b * bins.entries + e];
                curvature[b * width + e % width] += bins.curvature[b * bins.entries + e];
            }
        int64_t best = 0;
        double most = -1;
        for (const std::int32_t c : first_classes) {
            double apart = 0;
            for (int64_t b = 0; b < count; ++b)
                apart += gradient[b * width + c] * gradient[b * width + c] /
                         (curvature[b * width + c] + options.ridge + of_level);
            if (apart > most * better) {
                most = apart;
                best = c;
            }
        }
        std::vector<std::pair<double, int64_t>> keyed;
        for (int64_t b = 0; b < count; ++b)
            if (bins.weight[b] > least_weight)
                keyed.emplace_back(std::nearbyint(gradient[b * width + best] /
                                                  (curvature[b * width + best] + of_level) / alike),
                                   b);
        auto back = keyed;
        std::sort(keyed.begin(), keyed.end());
        std::sort(back.begin(), back.end(), [](const auto& x, const auto& y) {
            return x.first > y.first || (x.first == y.first && x.second < y.second);
        });
        if (!back.empty() && back[0].second < keyed[0].second) keyed.swap(back);
        for (std::size_t i = 0; i < keyed.size(); ++i) {
            found.bins.push_back(keyed[i].second);
            found.parted.push_back(i + 1 == keyed.size() || keyed[i].first != keyed[i + 1].first);
        }
        return found;
    }

    // Improves the condition by the best one of a column.
    void search(int64_t column, int64_t leaves, Condition& best) {
        const bool alone = options.columns == 1;  // missing cells are not told about then
        const int64_t missing = sizes[column] - 1, count = sizes[column] - alone;
        lay_out(tables[column], sizes[column], leaves);
        const auto entries = static_cast<std::size_t>(bins.entries);
        std::vector<double> whole(2 * entries, 0.0), left(2 * entries);
        double all = 0, weights = 0;
        for (int64_t b = 0; b < count; ++b) {
            for (std::size_t e = 0; e < entries; ++e) {
                whole[e] += bins.gradient[b * entries + e];
                whole[entries + e] += bins.curvature[b * entries + e];
            }
            weights += bins.weight[b];
        }
        for (std::size_t e = 0; e < entries; ++e)
            all += whole[e] * whole[e] / (whole[entries + e] + options.ridge);
        const Order order = in_order(column, count);
        const std::vector<int64_t>& each = order.bins;
        const bool either = ordered[column] && !alone && bins.weight[missing] > least_weight;
        for (int side = 0; side <= either; ++side) {
            std::uint64_t mask = 0;
            double below = 0;
            std::fill(left.begin(), left.end(), 0.0);
            if (side) {
                mask = std::uint64_t{1} << missing;
                below = bins.weight[missing];
                std::copy_n(&bins.gradient[missing * entries], entries, left.begin());
                std::copy_n(&bins.curvature[missing * entries], entries,
                            left.begin() + static_cast<std::ptrdiff_t>(entries));
            }
            const auto last = static_cast<int64_t>(each.size()) - (either && side == 0 ? 0 : 1);
            on_best_instruction_set([&](auto) NAIVELY_INLINE {
                for (int64_t i = 0; i < last; ++i) {
                    const int64_t bin = each[i];
                    const double both = gain_of(&bins.gradient[bin * entries],
                                                &bins.curvature[bin * entries], whole.data(),
                                                left.data(), entries, options.ridge);
                    mask |= std::uint64_t{1} << bin;
                    below += bins.weight[bin];
                    if (below < options.rows || weights - below < options.rows) continue;
                    if (!order.parted[i]) continue;
                    const double gain = (both - all) / 2;
                    if (gain > best.gain * better && rises(column, whole, left, entries))
                        best = {static_cast<std::int32_t>(column), mask, gain};
                }
            });
        }
    }

    // Adds a bin to those on the left, and returns twice what both sides gain.
    NAIVELY_INLINE static double gain_of(const double* gradient, const double* curvature,
                                         const double* whole, double* left, std::size_t entries,
                                         double ridge) {
        double gain = 0;
        for (std::size_t e = 0; e < entries; ++e) {
            const double g = left[e] += gradient[e];
            const double h = (left[entries + e] += curvature[e]) + ridge;
            const double other = whole[e] - g;
            const double curve = whole[entries + e] - left[entries + e] + ridge;
            gain += (g * g * curve + other * other * h) / (h * curve);  // one division for two
        }
        return gain;
    }

    // Whether the log odds rise, or fall, with a column from left to right as they may.
    bool rises(int64_t column, const std::vector<double>& whole, const std::vector<double>& left,
               std::size_t entries) const {
        if (!monotone[column]) return true;
        for (std::size_t e = 0; e < entries; ++e) {
            const double low = left[e] / (left[entries + e] + options.ridge);
            const double high = (whole[e] - left[e]) /
                                (whole[entries + e] - left[entries + e] + options.ridge);
            if (monotone[column] * (high - low) < 0) return false;
        }
        return true;
    }

    // Grows a table; returns how many conditions it has.
    int64_t grow(std::int32_t* column_of, std::uint64_t* mask_of) {
        std::vector<bool> may(static_cast<std::size_t>(columns), true), used(may.size(), false);
        std::fill(leaf.begin(), leaf.end(), 0);
        int64_t depth = 0, different = 0;
        for (; depth < options.conditions; ++depth) {
            Condition best;
            best.gain = worth;
            const int64_t leaves = int64_t{1} << depth;
            int64_t group[together], count = 0;
            choose_rows(leaves);
            for (int64_t column = 0; column < columns; ++column) {
                if (may[column]) group[count++] = column;
                if (count == together || (count && column == columns - 1)) {
                    fill(group, count, leaves);
                    for (int64_t k = 0; k < count; ++k) search(group[k], leaves, best);
                    count = 0;
                }
            }
            if (best.column < 0) break;
            column_of[depth] = best.column;
            mask_of[depth] = best.mask;
            if (!used[best.column]) {
                used[best.column] = true;
                if (++different == options.columns) may = used;
            }
            const std::uint8_t* code = &codes[best.column * rows];
            const int64_t missing = options.columns == 1 ? sizes[best.column] - 1 : 64;
            for (int64_t i = 0; i < rows; ++i) {
                if (leaf[i] < 0) continue;
                if (code[i] == missing)
                    leaf[i] = -1;
                else
                    leaf[i] |= static_cast<std::int32_t>(best.mask >> code[i] & 1) << depth;
            }
        }
        return depth;
    }

    // Cells that fall where they may only rise get their mean, until none does.
    void keep_order(int64_t depth, const std::int32_t* column_of, double* values) {
        const int64_t cells = int64_t{1} << depth;
        bool any = false, changed = true;
        for (int64_t d = 0; d < depth; ++d) any |= monotone[column_of[d]] != 0;
        for (int pass = 0; any && changed && pass < poolings; ++pass) {
            changed = false;
            for (int64_t d = 0; d < depth; ++d)
                for (int64_t cell = 0; cell < cells && monotone[column_of[d]]; ++cell) {
                    const int64_t low = cell | int64_t{1} << d;  // of lesser numbers
                    if (cell == low || monotone[column_of[d]] * (values[cell] - values[low]) >= 0)
                        continue;
                    const double h = total[cell * sums + 1] + options.ridge;
                    const double l = total[low * sums + 1] + options.ridge;
                    values[cell] = values[low] = (h * values[cell] + l * values[low]) / (h + l);
                    changed = true;
                }
        }
        if (any && changed) std::fill(values, values + cells, 0.0);
    }

    // The values of the cells of the table that has been grown; they are added to the rows.
    void settle(int64_t depth, const std::int32_t* column_of, double* values) {
        const int64_t cells = int64_t{1} << depth;
        total.assign(static_cast<std::size_t>(cells * sums), 0.0);
        for (int64_t i = 0; i < grown; ++i)
            if (leaf[i] >= 0)
                for (int64_t c = 0; c < sums; ++c) total[leaf[i] * sums + c] += slopes[i * sums + c];
        for (int64_t cell = 0; cell < cells; ++cell)
            for (int64_t c = 0; c < width; ++c)
                values[cell * width + c] =
                    total[cell * sums + c] / (total[cell * sums + width + c] + options.ridge);
        keep_order(depth, column_of, values);
        for (int64_t at = 0; at < cells * width; ++at) values[at] *= options.rate;
        for (int64_t i = 0; i < rows; ++i)
            if (leaf[i] >= 0)
                for (int64_t c = 0; c < width; ++c)
                    joint[i * width + c] += values[leaf[i] * width + c];
    }
};

nb::object grow_rules(nb::handle codes, nb::handle sizes, nb::handle ordered, nb::handle joint,
                      nb::handle right, nb::handle weight, nb::handle held, nb::handle monotone,
                      int64_t rounds, int64_t patience, int64_t conditions, int64_t columns,
                      double rate, double ridge, double rows) {
    const Input<Layout::contiguous, std::uint8_t> code(codes, "codes", 2);
    const Input<Layout::contiguous, int64_t> size(sizes, "sizes", 1);
    const Input<Layout::contiguous, bool> is_ordered(ordered, "ordered", 1);
    const Doubles start(joint, "joint", 2);
    const Input<Layout::contiguous, std::int32_t> label(right, "right", 1);
    const Doubles row_weight(weight, "weight", 1);
    const Input<Layout::contiguous, bool> is_held(held, "held", 1);
    const Input<Layout::contiguous, std::int8_t> rises(monotone, "monotone", 1);
    Grower of;
    of.columns = code.shape(0);
    of.rows = code.shape(1);
    of.classes = start.shape(1);
    of.width = of.classes == 2 ? 1 : of.classes;
    of.sums = (2 * of.width + 1 + lanes - 1) / lanes * lanes;
    of.options = {rounds, patience, conditions, columns, rate, ridge, rows};
    size.require_shape({of.columns});
    is_ordered.require_shape({of.columns});
    rises.require_shape({of.columns});
    start.require_shape({of.rows, of.classes});
    label.require_shape({of.rows});
    row_weight.require_shape({of.rows});
    is_held.require_shape({of.rows});
    if (of.classes < 2) throw std::invalid_argument("there must be two classes at least");
    if (conditions < 1 || conditions > 8 || columns < 1)
        throw std::invalid_argument("a rule has one to eight conditions, on a column at least");
    of.sizes = size.data();
    of.ordered = is_ordered.data();
    of.monotone = rises.data();
    for (int64_t j = 0; j < of.columns; ++j) {
        if (of.sizes[j] < 1 || of.sizes[j] > 64)
            throw std::invalid_argument("a column has one to 64 bins");
        for (int64_t i = 0; i < of.rows; ++i)
            if (code.data()[j * of.rows + i] >= of.sizes[j])
                throw std::invalid_argument("a code is out of range");
    }
    for (int64_t i = 0; i < of.rows; ++i)
        if (label.data()[i] < 0 || label.data()[i] >= of.classes)
            throw std::invalid_argument("a class code is out of range");

    const int64_t cells = int64_t{1} << conditions;
    const Result<std::int32_t> column_of("empty", rounds, conditions);
    const Result<std::uint64_t> mask_of("zeros", rounds, conditions);
    const Result<double> values("zeros", rounds, cells, of.width), losses("zeros", rounds + 1);
    std::fill(column_of.data(), column_of.data() + rounds * conditions, -1);
    int64_t round = 0;
    {
        nb::gil_scoped_release released;
        for (int64_t i = 0; i < of.rows && of.width > 1; ++i)
            if (std::find(of.first_classes.begin(), of.first_classes.end(), label.data()[i]) ==
                of.first_classes.end())
                of.first_classes.push_back(label.data()[i]);
        for (int side = 0; side < 2; ++side) {
            for (int64_t i = 0; i < of.rows; ++i)
                if (is_held.data()[i] == (side == 1)) of.order.push_back(i);
            if (side == 0) of.grown = static_cast<int64_t>(of.order.size());
        }
        of.codes.resize(static_cast<std::size_t>(of.columns * of.rows));
        of.joint.resize(static_cast<std::size_t>(of.rows * of.width));
        of.slopes.resize(static_cast<std::size_t>(of.rows * of.sums));
        of.leaf.resize(static_cast<std::size_t>(of.rows));
        of.tables.resize(static_cast<std::size_t>(of.columns));
        for (int64_t i = 0; i < of.rows; ++i) {
            const int64_t row = of.order[i];
            for (int64_t j = 0; j < of.columns; ++j)
                of.codes[j * of.rows + i] = code.data()[j * of.rows + row];
            const double* f = start.data() + row * of.classes;
            if (of.width == 1)
                of.joint[i] = f[1] - f[0];
            else
                std::copy(f, f + of.classes, &of.joint[i * of.width]);
            of.weight.push_back(row_weight.data()[row]);
            of.right.push_back(label.data()[row]);
        }
        double least = std::numeric_limits<double>::infinity();
        int64_t best = 0;
        for (;; ++round) {
            const double loss = of.differentiate();
            losses.data()[round] = loss;
            if (loss < least) {
                least = loss;
                best = round;
            } else if (patience && round - best >= patience + best / 4) {
                break;
            }
            if (round == rounds) break;
            const int64_t depth = of.grow(column_of.data() + round * conditions,
                                          mask_of.data() + round * conditions);
            if (depth == 0) break;
            of.settle(depth, column_of.data() + round * conditions,
                      values.data() + round * cells * of.width);
        }
    }
    return nb::make_tuple(round, column_of.object(), mask_of.object(), values.object(),
                          losses.object());
}

}  // namespace

void bind_grow_rules(nb::module_& m) {
    m.def("grow_rules", &grow_rules, nb::arg("codes"), nb::arg("sizes"), nb::arg("ordered"),
          nb::arg("joint"), nb::arg("right"), nb::arg("weight"), nb::arg("held"),
          nb::arg("monotone"), nb::kw_only(), nb::arg("rounds"), nb::arg("patience"),
          nb::arg("conditions"), nb::arg("columns"), nb::arg("rate"), nb::arg("ridge"),
          nb::arg("rows"));
}

}  // namespace naively
