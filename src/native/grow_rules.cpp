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

namespace naively {
namespace {

constexpr double least_curvature = 1e-6;  // of a row
constexpr double least_p = 1e-15;         // of which the log loss is taken
constexpr double of_level = 5.0;          // added to the curvature by which levels are ordered
constexpr double better = 1.0 + 1e-9;     // times as much as the best: else the first is taken
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

class Grower {
  public:
    int64_t rows, columns, classes, width, sums;  // sums: gradient, curvature of each, and weight
    Options options;
    const int64_t* sizes;
    const bool* ordered;
    const std::int8_t* monotone;
    std::vector<int64_t> order;        // of the rows: those to grow on, then those held out
    int64_t grown = 0;                 // how many rows to grow on
    std::vector<std::uint8_t> codes;   // (columns, rows)
    std::vector<double> joint, slopes; // (rows, width), (rows, sums)
    std::vector<double> weight;
    std::vector<std::int32_t> right;
    std::vector<std::int32_t> leaf;    // of each row, -1 of one that no condition holds for
    std::vector<double> table;         // of a column: (leaves, bins, sums)
    std::vector<double> total;         // (leaves, sums)

    // The gradient and the curvature of each row; returns the log loss of the rows held out.
    double differentiate() {
        double loss = 0;
        std::vector<double> p(static_cast<std::size_t>(classes));
        for (int64_t i = 0; i < rows; ++i) {
            const double* f = &joint[i * width];
            if (width == 1) {
                p[1] = 1 / (1 + std::exp(-f[0]));
                p[0] = 1 - p[1];
            } else {
                const double most = *std::max_element(f, f + width);
                double sum = 0;
                for (int64_t c = 0; c < width; ++c) sum += p[c] = std::exp(f[c] - most);
                for (int64_t c = 0; c < width; ++c) p[c] /= sum;
            }
            if (i >= grown) {
                loss -= weight[i] * std::log(std::max(p[right[i]], least_p));
                continue;
            }
            double* of = &slopes[i * sums];
            const double more = width == 1 ? 1.0 : static_cast<double>(width) / (width - 1);
            for (int64_t c = 0; c < width; ++c) {
                const int64_t label = width == 1 ? 1 : c;
                of[c] = weight[i] * ((right[i] == label ? 1.0 : 0.0) - p[label]);
                of[width + c] =
                    weight[i] * std::max(p[label] * (1 - p[label]) * more, least_curvature);
            }
            of[2 * width] = weight[i];
        }
        return loss;
    }

    double score(const double* of) const {
        double found = 0;
        for (int64_t c = 0; c < width; ++c)
            found += of[c] * of[c] / (of[width + c] + options.ridge);
        return found;
    }

    void fill(int64_t column, int64_t leaves) {
        const int64_t bins = sizes[column];
        table.assign(static_cast<std::size_t>(leaves * bins * sums), 0.0);
        const std::uint8_t* code = &codes[column * rows];
        if (sums == 3) {
            for (int64_t i = 0; i < grown; ++i) {
                if (leaf[i] < 0) continue;
                double* at = &table[(leaf[i] * bins + code[i]) * 3];
                const double* of = &slopes[i * 3];
                at[0] += of[0];
                at[1] += of[1];
                at[2] += of[2];
            }
            return;
        }
        for (int64_t i = 0; i < grown; ++i) {
            if (leaf[i] < 0) continue;
            double* at = &table[(leaf[i] * bins + code[i]) * sums];
            const double* of = &slopes[i * sums];
            for (int64_t c = 0; c < sums; ++c) at[c] += of[c];
        }
    }

    // The bins of a column in the order in which a mask may take them.
    std::vector<int64_t> in_order(int64_t column, int64_t leaves) const {
        const int64_t bins = sizes[column];
        if (ordered[column]) {
            std::vector<int64_t> found(static_cast<std::size_t>(bins - 1));
            std::iota(found.begin(), found.end(), 0);
            return found;
        }
        const bool alone = options.columns == 1;  // missing cells are not told about then
        std::vector<double> sum(static_cast<std::size_t>(bins * sums), 0.0);
        for (int64_t at = 0; at < leaves * bins * sums; ++at) sum[at % (bins * sums)] += table[at];
        int64_t best = 0;
        double most = -1;
        for (int64_t c = 0; c < width && width > 1; ++c) {
            double found = 0;
            for (int64_t b = 0; b < bins - alone; ++b) {
                const double g = sum[b * sums + c];
                found += g * g / (sum[b * sums + width + c] + options.ridge + of_level);
            }
            if (found > most * better) {
                most = found;
                best = c;
            }
        }
        std::vector<std::pair<double, int64_t>> keyed;
        for (int64_t b = 0; b < bins - alone; ++b)
            if (sum[b * sums + 2 * width] > 0)
                keyed.emplace_back(sum[b * sums + best] / (sum[b * sums + width + best] + of_level),
                                   b);
        std::stable_sort(keyed.begin(), keyed.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        std::vector<int64_t> found;
        for (const auto& [key, bin] : keyed) found.push_back(bin);
        return found;
    }

    // Improves the condition by the best one of a column.
    void search(int64_t column, int64_t leaves, Condition& best) {
        fill(column, leaves);
        const int64_t bins = sizes[column], missing = bins - 1;
        const bool alone = options.columns == 1;
        total.assign(static_cast<std::size_t>(leaves * sums), 0.0);
        for (int64_t l = 0; l < leaves; ++l)
            for (int64_t b = 0; b < bins - alone; ++b)
                for (int64_t c = 0; c < sums; ++c)
                    total[l * sums + c] += table[(l * bins + b) * sums + c];
        double all = 0, of_missing = 0;
        for (int64_t l = 0; l < leaves; ++l) {
            all += score(&total[l * sums]);
            of_missing += table[(l * bins + missing) * sums + 2 * width];
        }
        const std::vector<int64_t> each = in_order(column, leaves);
        const bool either = ordered[column] && !alone && of_missing > 0;
        std::vector<double> left(static_cast<std::size_t>(leaves * sums)), other(sums);
        for (int side = 0; side <= either; ++side) {
            std::uint64_t mask = side ? std::uint64_t{1} << missing : 0;
            for (int64_t l = 0; l < leaves; ++l)
                for (int64_t c = 0; c < sums; ++c)
                    left[l * sums + c] = side ? table[(l * bins + missing) * sums + c] : 0.0;
            const int64_t last =
                static_cast<int64_t>(each.size()) - (either && side == 0 ? 0 : 1);
            for (int64_t i = 0; i < last; ++i) {
                mask |= std::uint64_t{1} << each[i];
                double gain = 0, below = 0, above = 0;
                bool rises = true;
                for (int64_t l = 0; l < leaves; ++l) {
                    double* of = &left[l * sums];
                    const double* whole = &total[l * sums];
                    const double* here = &table[(l * bins + each[i]) * sums];
                    for (int64_t c = 0; c < sums; ++c) {
                        of[c] += here[c];
                        other[c] = whole[c] - of[c];
                    }
                    below += of[2 * width];
                    above += other[2 * width];
                    gain += score(of) + score(other.data());
                    if (monotone[column])
                        rises &= monotone[column] * (other[0] / (other[width] + options.ridge) -
                                                     of[0] / (of[width] + options.ridge)) >= 0;
                }
                if (below < options.rows || above < options.rows || !rises) continue;
                gain = (gain - all) / 2;
                if (gain > best.gain * better) best = {static_cast<std::int32_t>(column), mask, gain};
            }
        }
    }

    // Grows a table; returns how many conditions it has.
    int64_t grow(std::int32_t* column_of, std::uint64_t* mask_of) {
        std::vector<bool> may(static_cast<std::size_t>(columns), true), used(may.size(), false);
        std::fill(leaf.begin(), leaf.end(), 0);
        int64_t depth = 0, different = 0;
        for (; depth < options.conditions; ++depth) {
            Condition best;
            best.gain = worth;
            for (int64_t column = 0; column < columns; ++column)
                if (may[column]) search(column, int64_t{1} << depth, best);
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

    // The values of the cells of the table that has been grown; they are added to the rows.
    void settle(int64_t depth, double* values) {
        const int64_t cells = int64_t{1} << depth;
        total.assign(static_cast<std::size_t>(cells * sums), 0.0);
        for (int64_t i = 0; i < grown; ++i)
            if (leaf[i] >= 0)
                for (int64_t c = 0; c < sums; ++c) total[leaf[i] * sums + c] += slopes[i * sums + c];
        for (int64_t cell = 0; cell < cells; ++cell)
            for (int64_t c = 0; c < width; ++c)
                values[cell * width + c] =
                    options.rate * total[cell * sums + c] /
                    (total[cell * sums + width + c] + options.ridge);
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
    of.sums = 2 * of.width + 1;
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
        for (int side = 0; side < 2; ++side) {
            for (int64_t i = 0; i < of.rows; ++i)
                if (is_held.data()[i] == (side == 1)) of.order.push_back(i);
            if (side == 0) of.grown = static_cast<int64_t>(of.order.size());
        }
        of.codes.resize(static_cast<std::size_t>(of.columns * of.rows));
        of.joint.resize(static_cast<std::size_t>(of.rows * of.width));
        of.slopes.resize(static_cast<std::size_t>(of.rows * of.sums));
        of.leaf.resize(static_cast<std::size_t>(of.rows));
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
        int64_t bad = 0;
        for (;; ++round) {
            const double loss = of.differentiate();
            losses.data()[round] = loss;
            if (loss < least) {
                least = loss;
                bad = 0;
            } else if (patience && ++bad >= patience) {
                break;
            }
            if (round == rounds) break;
            const int64_t depth = of.grow(column_of.data() + round * conditions,
                                          mask_of.data() + round * conditions);
            if (depth == 0) break;
            of.settle(depth, values.data() + round * cells * of.width);
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
