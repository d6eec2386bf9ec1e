// minimise_softmax of kernels/search.py: the least of the penalised log loss of few rows by few
// arguments, by Newton's method.
//
// One pass over the rows gives the loss, its gradient and its second derivatives; a search needs
// about five. All is small, on one thread, and in double precision.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "simd.h"
#include "softmax.h"
#include "softmax_tables.h"

namespace naively {
namespace {

// As in kernels/search.py.
constexpr double slope_asked = 1e-4;
constexpr int shorter = 12;
constexpr double rounding = 1e-9;
constexpr double steadier = 1e-10;

using Numbers64 = std::vector<double>;

struct Penalty {
    const double* alone;     // (arguments,)
    const double* together;  // (parts,)
    const double* centre;    // (arguments,)
};

// The loss at some arguments, its gradient and its second derivatives, below the diagonal and on it.
struct Point {
    explicit Point(int64_t arguments)
        : x(arguments), gradient(arguments), second(arguments * arguments) {}

    Numbers64 x, gradient, second;
    double loss = 0.0;
};

template <class Isa>
NAIVELY_INLINE inline double dot(const double* a, const double* b, int64_t count = block_rows) {
    constexpr int lanes = Isa::lanes;
    Vector<double, lanes> sum[4] = {};
    int64_t i = 0;
    for (; i + 4 * lanes <= count; i += 4 * lanes)
        NAIVELY_UNROLL for (int v = 0; v < 4; ++v)
            sum[v] = multiply_add<Isa, lanes>(load<lanes>(a + i + v * lanes),
                                              load<lanes>(b + i + v * lanes), sum[v]);
    for (; i + lanes <= count; i += lanes)
        sum[0] = multiply_add<Isa, lanes>(load<lanes>(a + i), load<lanes>(b + i), sum[0]);
    const Vector<double, lanes> all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    double total = 0.0;
    for (int lane = 0; lane < lanes; ++lane) total += all[lane];
    for (; i < count; ++i) total += a[i] * b[i];
    return total;
}

class Search {
  public:
    Search(const SoftmaxTables& tables, const int64_t* number, int64_t arguments,
           const Penalty& penalty)
        : of_(tables),
          n_(arguments),
          each_(tables.functions + tables.parts),
          penalty_(penalty),
          number_(number),
          at_(tables.columns * each_),
          shared_(tables.shared, tables.shared + tables.blocks * tables.functions * block_rows),
          own_(tables.own, tables.own + tables.blocks * tables.columns * tables.parts * block_rows),
          joint_(tables.columns * block_rows),
          excess_(tables.columns * block_rows),
          likely_(each_ * block_rows),
          mean_(n_ * block_rows),
          over_(n_ * block_rows),
          factor_(n_ * n_),
          solved_(n_) {
        for (int64_t c = 0; c < of_.columns; ++c) {
            for (int64_t j = 0; j < of_.functions; ++j)
                at_[c * each_ + j] = c * of_.functions + j;
            for (int64_t j = 0; j < of_.parts; ++j)
                at_[c * each_ + of_.functions + j] = weight_at(c, j);
        }
    }

    // The arguments of least loss, instead of those where the search begins.
    template <class Isa>
    NAIVELY_INLINE inline void run(double* x, int64_t steps, double tolerance) {
        Point here(n_), there(n_);
        for (int64_t a = 0; a < n_; ++a) here.x[a] = above(a, x[a]);
        evaluate<Isa>(here);
        for (int64_t step = 0; step < steps; ++step) {
            const double gain = solve<Isa>(here) / 2;
            if (!(gain > 0.0)) break;
            if (gain < tolerance * std::fabs(here.loss)) {
                for (int64_t a = 0; a < n_; ++a) here.x[a] = above(a, here.x[a] + solved_[a]);
                break;
            }
            if (!go<Isa>(here, there)) break;
            std::swap(here, there);
        }
        std::copy(here.x.begin(), here.x.end(), x);
    }

  private:
    int64_t weight_at(int64_t column, int64_t part) const {
        return of_.columns * of_.functions + number_[column * of_.parts + part];
    }

    // A weight is at least 0.
    double above(int64_t argument, double value) const {
        return argument < of_.columns * of_.functions ? value : std::max(value, 0.0);
    }

    // Go as far as `solved_`, or less far, until the loss falls by enough; false if it never does.
    template <class Isa>
    NAIVELY_INLINE inline bool go(const Point& here, Point& there) {
        double length = 1.0;
        for (int tried = 0; tried < shorter; ++tried) {
            double promised = 0.0;
            for (int64_t a = 0; a < n_; ++a) {
                there.x[a] = above(a, here.x[a] + length * solved_[a]);
                promised += here.gradient[a] * (there.x[a] - here.x[a]);
            }
            evaluate<Isa>(there);
            if (there.loss <=
                here.loss + slope_asked * promised + rounding * std::fabs(here.loss))
                return true;
            const double excess = there.loss - here.loss - promised;
            const double best = excess > 0.0 ? -promised / (2 * excess) : 0.5;
            length *= std::min(std::max(best, 0.1), 0.5);
        }
        return false;
    }

    template <class Isa>
    NAIVELY_INLINE inline void evaluate(Point& point) {
        point.loss = 0.0;
        std::fill(point.gradient.begin(), point.gradient.end(), 0.0);
        std::fill(point.second.begin(), point.second.end(), 0.0);
        for (int64_t block = 0; block < of_.blocks; ++block) add_block<Isa>(block, point);
        penalise(point);
    }

    template <class Isa>
    NAIVELY_INLINE inline void add_block(int64_t block, Point& point) {
        const BlockOfRows rows = of_.rows_of(block);
        for (int64_t c = 0; c < of_.columns; ++c) {
            double* joint = &joint_[c * block_rows];
            const float* start = of_.start + (block * of_.columns + c) * block_rows;
            for (int64_t i = 0; i < block_rows; ++i) joint[i] = start[i];
            for (int64_t j = 0; j < each_; ++j) {
                const double factor = point.x[at_[c * each_ + j]], *from = values(block, c, j);
                for (int64_t i = 0; i < block_rows; ++i) joint[i] += factor * from[i];
            }
        }
        point.loss += of_.columns == 1
                          ? compare_two<Isa, Isa::lanes>(rows, joint_.data(), excess_.data())
                          : compare_many<Isa, Isa::lanes>(rows, of_.columns, joint_.data(),
                                                          excess_.data());
        std::fill(mean_.begin(), mean_.end(), 0.0);
        double once[block_rows];
        for (int64_t i = 0; i < block_rows; ++i)
            once[i] = rows.weight[i] > 0.0 ? -1.0 / rows.weight[i] : 0.0;
        for (int64_t c = 0; c < of_.columns; ++c) add_class<Isa>(block, c, rows, once, point);
        if (of_.columns == 1) return;
        // Less what the mean over the classes says.
        for (int64_t a = 0; a < n_; ++a) {
            double *over = &over_[a * block_rows], *mean = &mean_[a * block_rows];
            for (int64_t i = 0; i < block_rows; ++i) over[i] = mean[i] * once[i];
            for (int64_t b = 0; b <= a; ++b)
                point.second[a * n_ + b] += dot<Isa>(over, &mean_[b * block_rows]);
        }
    }

    // The gradient by the arguments of a class, and its own part of the second derivatives.
    template <class Isa>
    NAIVELY_INLINE inline void add_class(int64_t block, int64_t c, const BlockOfRows& rows,
                                         const double* once, Point& point) {
        const double* excess = &excess_[c * block_rows];
        const int64_t* at = &at_[c * each_];
        double p[block_rows];  // times the weight of the row
        for (int64_t i = 0; i < block_rows; ++i) p[i] = excess[i];
        for (int64_t i = 0; i < rows.count; ++i)
            if (rows.codes[i] == (of_.columns == 1 ? 1 : c)) p[i] += rows.weight[i];
        for (int64_t a = 0; a < each_; ++a) {
            const double* from = values(block, c, a);
            double *likely = &likely_[a * block_rows], *mean = &mean_[at[a] * block_rows];
            for (int64_t i = 0; i < block_rows; ++i) likely[i] = from[i] * p[i];
            for (int64_t i = 0; i < block_rows; ++i) mean[i] += likely[i];
            point.gradient[at[a]] += dot<Isa>(excess, from);
            point.second[at[a] * n_ + at[a]] += steadier * dot<Isa>(likely, from);
            if (of_.columns == 1)  // the mean over two classes is that of one
                for (int64_t i = 0; i < block_rows; ++i) likely[i] += likely[i] * p[i] * once[i];
            for (int64_t b = 0; b <= a; ++b)
                point.second[std::max(at[a], at[b]) * n_ + std::min(at[a], at[b])] +=
                    dot<Isa>(likely, values(block, c, b));
        }
    }

    // What an argument of a class is multiplied with: functions, then evidence.
    const double* values(int64_t block, int64_t c, int64_t j) const {
        if (j < of_.functions) return &shared_[(block * of_.functions + j) * block_rows];
        const int64_t part = j - of_.functions;
        return &own_[((block * of_.columns + c) * of_.parts + part) * block_rows];
    }

    void penalise(Point& point) const {
        double twice = 0.0;
        for (int64_t a = 0; a < n_; ++a) {
            const double off = point.x[a] - penalty_.centre[a];
            twice += penalty_.alone[a] * off * off;
            point.gradient[a] += penalty_.alone[a] * off;
            point.second[a * n_ + a] += penalty_.alone[a];
        }
        for (int64_t j = 0; j < of_.parts; ++j) {
            const double each = penalty_.together[j];
            if (each == 0.0) continue;
            double off = 0.0;
            for (int64_t c = 0; c < of_.columns; ++c)
                off += point.x[weight_at(c, j)] - penalty_.centre[weight_at(c, j)];
            twice += each * off * off;
            for (int64_t c = 0; c < of_.columns; ++c) {
                point.gradient[weight_at(c, j)] += each * off;
                for (int64_t d = 0; d < of_.columns; ++d)
                    if (weight_at(d, j) <= weight_at(c, j))
                        point.second[weight_at(c, j) * n_ + weight_at(d, j)] += each;
            }
        }
        point.loss += twice / 2;
    }

    // Newton's step into `solved_`, and what the loss would lose by it if it were linear. Arguments
    // at 0 that would fall below it rest.
    template <class Isa>
    NAIVELY_INLINE inline double solve(const Point& point) {
        const auto rests = [&](int64_t a) {
            return above(a, -1.0) == 0.0 && point.x[a] <= 0.0 && point.gradient[a] > 0.0;
        };
        double promised = 0.0;
        for (int64_t a = 0; a < n_; ++a) {  // Cholesky's factor, row by row, and its solution
            double* row = &factor_[a * n_];
            solved_[a] = 0.0;
            if (rests(a)) {
                std::fill(row, row + a, 0.0);
                row[a] = 1.0;
                continue;
            }
            double left = point.second[a * n_ + a], rest = -point.gradient[a];
            for (int64_t b = 0; b < a; ++b) {
                const double* other = &factor_[b * n_];
                const double sum = rests(b) ? 0.0 : point.second[a * n_ + b];
                row[b] = (sum - dot<Isa>(row, other, b)) / other[b];
                left -= row[b] * row[b];
                rest -= row[b] * solved_[b];
            }
            if (!(left > 0.0)) return 0.0;
            row[a] = std::sqrt(left);
            solved_[a] = rest / row[a];
        }
        for (int64_t a = n_ - 1; a >= 0; --a) {
            const double* row = &factor_[a * n_];
            solved_[a] /= row[a];
            for (int64_t b = 0; b < a; ++b) solved_[b] -= row[b] * solved_[a];
            promised -= solved_[a] * point.gradient[a];
        }
        return promised;
    }

    const SoftmaxTables& of_;
    const int64_t n_, each_;
    const Penalty penalty_;
    const int64_t* number_;
    std::vector<int64_t> at_;  // the argument of each value of each column
    const Numbers64 shared_, own_;
    Numbers64 joint_, excess_, likely_, mean_, over_, factor_, solved_;
};

nb::object minimise_softmax(const SoftmaxTables::Singles& start,
                            const SoftmaxTables::Singles& shared, const SoftmaxTables::Tables& own,
                            nb::handle number, nb::handle codes, nb::handle row_weight,
                            nb::handle x, nb::handle alone, nb::handle together, nb::handle centre,
                            int64_t steps, double tolerance) {
    const SoftmaxTables of(start, shared, own, codes, row_weight);
    const Input<Layout::contiguous, int64_t> numbers(number, "number", 2);
    const Doubles from(x, "x", 1), of_each(alone, "alone", 1), of_parts(together, "together", 1),
        centres(centre, "centre", 1);
    const int64_t n = from.shape(0);
    numbers.require_shape({of.columns, of.parts});
    of_each.require_shape({n});
    of_parts.require_shape({of.parts});
    centres.require_shape({n});
    for (int64_t i = 0; i < of.columns * of.parts; ++i)
        if (numbers.data()[i] < 0 || numbers.data()[i] >= n - of.columns * of.functions)
            throw std::invalid_argument("the number of a weight is out of range");
    if (n < of.columns * of.functions) throw std::invalid_argument("the shape of x is wrong");
    const Result<double> found("empty", n);
    std::copy_n(from.data(), n, found.data());
    {
        nb::gil_scoped_release released;
        Search search(of, numbers.data(), n, {of_each.data(), of_parts.data(), centres.data()});
        on_best_instruction_set([&](auto isa) NAIVELY_INLINE {
            search.run<decltype(isa)>(found.data(), steps, tolerance);
        });
    }
    return found.object();
}

}  // namespace

void bind_minimise_softmax(nb::module_& m) {
    m.def("minimise_softmax", &minimise_softmax, nb::arg("start"), nb::arg("shared"),
          nb::arg("own"), nb::arg("number"), nb::arg("codes"), nb::arg("row_weight").none(),
          nb::arg("x"), nb::arg("alone"), nb::arg("together"), nb::arg("centre"),
          nb::arg("steps"), nb::arg("tolerance"));
}

}  // namespace naively
