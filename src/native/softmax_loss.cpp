// softmax_loss of kernels/softmax.py: the log loss of rows and its gradient, in one pass.
//
// Rows lie in blocks, the numbers of a block's rows side by side, so that each step of a sum over
// parts and each exponential is taken for several rows at once, whatever the number of classes.
// The tables are in single precision, all arithmetic is in double precision. Chunks of rows are
// summed one by one, and their sums in order: the result is the same on any number of threads.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "simd.h"
#include "threads.h"

namespace naively {
namespace {

constexpr int64_t block_rows = 64;
constexpr int64_t chunk_blocks = 16;  // that are summed together
constexpr int registers = 8;          // that hold sums
constexpr int most_lanes = 4;

using Singles = nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Tables = nb::ndarray<const float, nb::ndim<4>, nb::c_contig, nb::device::cpu>;

template <int lanes>
using Numbers = Vector<double, lanes>;
template <int lanes>
using Bits = Vector<std::int64_t, lanes>;

// `yes` where the condition holds, else `no`.
template <int lanes>
NAIVELY_INLINE inline Numbers<lanes> select(const Bits<lanes>& condition, const Numbers<lanes>& yes,
                                            const Numbers<lanes>& no) {
    return (Numbers<lanes>)((condition & (Bits<lanes>)yes) | (~condition & (Bits<lanes>)no));
}

template <int lanes>
NAIVELY_INLINE inline Numbers<lanes> larger(const Numbers<lanes>& a, const Numbers<lanes>& b) {
    return select<lanes>(a > b, a, b);
}

// exp(x) for x <= 0, within 1e-14 of it, and not less than exp(-700).
template <class Isa, int lanes>
NAIVELY_INLINE inline Numbers<lanes> exp_of(const Numbers<lanes>& of) {
    const auto every = [](double value) NAIVELY_INLINE { return broadcast<lanes>(value); };
    constexpr double rounder = 0x1.8p52;  // adding it rounds to an integer, left in the low bits
    const Numbers<lanes> x = larger<lanes>(of, every(-700.0));
    const Numbers<lanes> shifted = x * every(1.4426950408889634074) + every(rounder);
    const Numbers<lanes> exponent = shifted - every(rounder);
    const Numbers<lanes> r =
        (x - exponent * every(0x1.62e42fefa3800p-1)) - exponent * every(0x1.ef35793c76730p-45);
    constexpr double over[] = {1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
                               1.0 / 120,     1.0 / 24,     1.0 / 6,     0.5,        1.0,
                               1.0};
    Numbers<lanes> p = every(1.0 / 39916800);  // Taylor to r^11 / 11!
    NAIVELY_UNROLL for (int i = 0; i < 11; ++i)
        p = multiply_add<Isa, lanes>(p, r, every(over[i]));
    const Bits<lanes> scale = ((Bits<lanes>)shifted + 1023) << 52;
    return p * (Numbers<lanes>)scale;
}

// log(x) for normal x > 0, within 1e-14. No branches, so that a loop over it becomes vector
// instructions.
NAIVELY_INLINE inline double log_positive(double x) {
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    // The mantissa is taken between the root of a half and the root of 2.
    const std::uint64_t root_of_half = 0x3fe6a09e667f3bcd;
    const std::uint64_t off = bits - root_of_half;
    const std::uint64_t mantissa_bits = (off & 0x000fffffffffffff) + root_of_half;
    // The exponent, from the high bits, without a conversion of 64-bit integers.
    const std::uint64_t magic_bits = ((off >> 52) ^ 0x800) + 0x4330000000000000;
    double mantissa, magic;
    std::memcpy(&mantissa, &mantissa_bits, sizeof mantissa);
    std::memcpy(&magic, &magic_bits, sizeof magic);
    // `off >> 52` is the exponent modulo 4096; flipping its sign bit adds 2048.
    const double exponent = magic - (4503599627370496.0 + 2048.0);
    const double s = (mantissa - 1.0) / (mantissa + 1.0), t = s * s;
    double p = 2.0 / 17;
    p = p * t + 2.0 / 15;
    p = p * t + 2.0 / 13;
    p = p * t + 2.0 / 11;
    p = p * t + 2.0 / 9;
    p = p * t + 2.0 / 7;
    p = p * t + 2.0 / 5;
    p = p * t + 2.0 / 3;
    p = p * t + 2.0;
    return exponent * 0.69314718055994530942 + p * s;
}

struct Problem {
    int64_t rows, columns, functions, parts, classes;
    const float* start;        // (blocks, columns, 64)
    const float* shared;       // (blocks, functions, 64)
    const float* own;          // (blocks, columns, parts, 64)
    const double* slope;       // (columns, functions)
    const double* weight;      // (columns, parts)
    const std::int32_t* codes; // (rows,)
    const double* row_weight;  // (rows,), or null
};

// The work of one thread on chunks of rows.
class Worker {
  public:
    explicit Worker(const Problem& problem)
        : of_(problem),
          joint_(problem.columns * block_rows),
          excess_(problem.columns * block_rows),
          shared_(problem.columns == 1 ? 0 : problem.functions * block_rows),
          sums_(problem.columns * (problem.functions + problem.parts + 1) * most_lanes) {}

    // Add up the blocks from `first` to `last`: the loss, and the gradient by slopes, by weights
    // and by what is added to all rows, one after the other for each column.
    template <class Isa>
    NAIVELY_INLINE inline void sum(int64_t first, int64_t last, double* loss, double* gradient) {
        constexpr int lanes = Isa::lanes;
        std::fill(sums_.begin(), sums_.end(), 0.0);
        *loss = 0.0;
        for (int64_t block = first; block < last; ++block) {
            const float* shared = of_.shared + block * of_.functions * block_rows;
            if (of_.columns == 1) {
                add_up<Isa, lanes>(block, shared);
                *loss += compare_two<Isa, lanes>(block);
                add_gradient<Isa, lanes>(block, shared);
            } else {
                // The functions are converted once for all classes, those of a few rows together,
                // which stay in the nearest cache.
                constexpr int64_t width = registers * lanes;
                double* converted = shared_.data();
                for (int64_t at = 0; at < block_rows; at += width)
                    for (int64_t j = 0; j < of_.functions; ++j)
                        for (int64_t i = 0; i < width; ++i)
                            *converted++ = static_cast<double>(shared[j * block_rows + at + i]);
                converted = shared_.data();
                add_up<Isa, lanes>(block, converted);
                *loss += compare_many<Isa, lanes>(block);
                add_gradient<Isa, lanes>(block, converted);
            }
        }
        const int64_t each = of_.functions + of_.parts + 1;
        for (int64_t i = 0; i < of_.columns * each; ++i) {
            double total = 0.0;
            for (int lane = 0; lane < lanes; ++lane)
                total += sums_[i * most_lanes + lane];
            gradient[i] = total;
        }
    }

  private:
    // The joint log likelihoods of a block, of shape (columns, 64).
    template <class Isa, int lanes, class T>
    NAIVELY_INLINE inline void add_up(int64_t block, const T* shared) {
        constexpr int64_t width = registers * lanes;
        constexpr bool packed = std::is_same_v<T, double>;
        for (int64_t c = 0; c < of_.columns; ++c) {
            const float* own = of_.own + (block * of_.columns + c) * of_.parts * block_rows;
            const float* start = of_.start + (block * of_.columns + c) * block_rows;
            const double* slope = of_.slope + c * of_.functions;
            const double* weight = of_.weight + c * of_.parts;
            for (int64_t at = 0; at < block_rows; at += width) {
                Numbers<lanes> total[registers];
                NAIVELY_UNROLL for (int v = 0; v < registers; ++v)
                    total[v] = load<lanes>(start + at + v * lanes);
                const T* functions = shared + at * (packed ? of_.functions : 1);
                for (int64_t j = 0; j < of_.functions; ++j)
                    add<Isa, lanes>(slope[j], functions + j * (packed ? width : block_rows), total);
                for (int64_t j = 0; j < of_.parts; ++j)
                    add<Isa, lanes>(weight[j], own + j * block_rows + at, total);
                std::memcpy(joint_.data() + c * block_rows + at, total, sizeof total);
            }
        }
    }

    template <class Isa, int lanes, class T>
    NAIVELY_INLINE static inline void add(double factor, const T* from,
                                          Numbers<lanes> (&total)[registers]) {
        const Numbers<lanes> every = broadcast<lanes>(factor);
        NAIVELY_UNROLL for (int v = 0; v < registers; ++v)
            total[v] = multiply_add<Isa, lanes>(every, load<lanes>(from + v * lanes),
                                               total[v]);
    }

    // How much the row at a place of a block weighs: 0 past the last row.
    NAIVELY_INLINE inline double weight_of(int64_t row) const {
        if (row >= of_.rows) return 0.0;
        return of_.row_weight ? of_.row_weight[row] : 1.0;
    }

    // The loss of a block by the log odds of the second class, and the excess.
    template <class Isa, int lanes>
    NAIVELY_INLINE inline double compare_two(int64_t block) {
        alignas(64) double sign[block_rows], weight[block_rows], least[block_rows], norm[block_rows];
        for (int64_t i = 0; i < block_rows; ++i) {
            const int64_t row = block * block_rows + i;
            weight[i] = weight_of(row);
            sign[i] = row < of_.rows && of_.codes[row] == 1 ? -1.0 : 1.0;
        }
        const Numbers<lanes> none = broadcast<lanes>(0.0), one = broadcast<lanes>(1.0);
        for (int64_t i = 0; i < block_rows; i += lanes) {
            const Numbers<lanes> signs = load<lanes>(sign + i);
            // Log odds of the wrong class, and those of the less probable class.
            const Numbers<lanes> wrong = signs * load<lanes>(joint_.data() + i);
            const Numbers<lanes> above = larger<lanes>(wrong, none);
            const Numbers<lanes> e = exp_of<Isa, lanes>(wrong - above - above);
            const Numbers<lanes> sum = one + e;
            const Numbers<lanes> over = select<lanes>(wrong > none, one, e);
            const Numbers<lanes> p = over / sum * signs * load<lanes>(weight + i);
            std::memcpy(excess_.data() + i, &p, sizeof p);
            std::memcpy(least + i, &above, sizeof above);
            std::memcpy(norm + i, &e, sizeof e);
        }
        double losses[block_rows];
        for (int64_t i = 0; i < block_rows; ++i)
            losses[i] = (least[i] + log_positive(1.0 + norm[i])) * weight[i];
        double loss = 0.0;
        for (int64_t i = 0; i < block_rows; ++i) loss += losses[i];
        return loss;
    }

    // The loss of a block by the joint log likelihoods of all classes, and the excess.
    template <class Isa, int lanes>
    NAIVELY_INLINE inline double compare_many(int64_t block) {
        const int64_t k = of_.columns;
        alignas(64) double best[block_rows], norm[block_rows], weight[block_rows];
        for (int64_t i = 0; i < block_rows; ++i) weight[i] = weight_of(block * block_rows + i);
        const double* joint = joint_.data();
        double* excess = excess_.data();
        for (int64_t i = 0; i < block_rows; i += lanes) {
            Numbers<lanes> most = load<lanes>(joint + i);
            for (int64_t c = 1; c < k; ++c)
                most = larger<lanes>(load<lanes>(joint + c * block_rows + i), most);
            Numbers<lanes> sum{};
            for (int64_t c = 0; c < k; ++c) {
                const Numbers<lanes> below = load<lanes>(joint + c * block_rows + i) - most;
                const Numbers<lanes> e = exp_of<Isa, lanes>(below);
                std::memcpy(excess + c * block_rows + i, &e, sizeof e);
                sum += e;
            }
            const Numbers<lanes> factor = load<lanes>(weight + i) / sum;
            for (int64_t c = 0; c < k; ++c) {
                const Numbers<lanes> p = load<lanes>(excess + c * block_rows + i) * factor;
                std::memcpy(excess + c * block_rows + i, &p, sizeof p);
            }
            std::memcpy(best + i, &most, sizeof most);
            std::memcpy(norm + i, &sum, sizeof sum);
        }
        const int64_t here = std::min(block_rows, of_.rows - block * block_rows);
        const std::int32_t* code = of_.codes + block * block_rows;
        double losses[block_rows];
        for (int64_t i = 0; i < block_rows; ++i)
            losses[i] = log_positive(norm[i]);
        double loss = 0.0;
        for (int64_t i = 0; i < here; ++i) {
            const int64_t at = code[i] * block_rows + i;
            excess[at] -= weight[i];
            loss += (losses[i] + best[i] - joint[at]) * weight[i];
        }
        return loss;
    }

    // Add the excess of a block times its functions and its evidence to the sums.
    template <class Isa, int lanes, class T>
    NAIVELY_INLINE inline void add_gradient(int64_t block, const T* shared) {
        const int64_t each = of_.functions + of_.parts + 1;
        constexpr int64_t width = registers * lanes;
        constexpr bool packed = std::is_same_v<T, double>;
        for (int64_t c = 0; c < of_.columns; ++c) {
            const float* own = of_.own + (block * of_.columns + c) * of_.parts * block_rows;
            double* sums = sums_.data() + c * each * most_lanes;
            for (int64_t at = 0; at < block_rows; at += width) {
                Numbers<lanes> excess[registers];
                NAIVELY_UNROLL for (int v = 0; v < registers; ++v)
                    excess[v] = load<lanes>(excess_.data() + c * block_rows + at + v * lanes);
                const T* functions = shared + at * (packed ? of_.functions : 1);
                for (int64_t j = 0; j < of_.functions; ++j)
                    gather<Isa, lanes>(excess, functions + j * (packed ? width : block_rows),
                                       sums + j * most_lanes);
                double* sums_of_own = sums + of_.functions * most_lanes;
                for (int64_t j = 0; j < of_.parts; ++j)
                    gather<Isa, lanes>(excess, own + j * block_rows + at,
                                       sums_of_own + j * most_lanes);
                double* last = sums_of_own + of_.parts * most_lanes;
                Numbers<lanes> total = load<lanes>(last);
                NAIVELY_UNROLL for (int v = 0; v < registers; ++v) total += excess[v];
                std::memcpy(last, &total, sizeof total);
            }
        }
    }

    template <class Isa, int lanes, class T>
    NAIVELY_INLINE static inline void gather(const Numbers<lanes> (&excess)[registers],
                                             const T* from, double* sums) {
        Numbers<lanes> even = load<lanes>(sums), odd = Numbers<lanes>{};
        NAIVELY_UNROLL for (int v = 0; v < registers; v += 2) {
            even = multiply_add<Isa, lanes>(excess[v], load<lanes>(from + v * lanes), even);
            odd = multiply_add<Isa, lanes>(excess[v + 1],
                                          load<lanes>(from + (v + 1) * lanes), odd);
        }
        even += odd;
        std::memcpy(sums, &even, sizeof even);
    }

    const Problem of_;
    std::vector<double> joint_, excess_, shared_, sums_;
};

nb::tuple softmax_loss(const Singles& start, const Singles& shared, nb::handle slope, const Tables& own,
                       nb::handle weight, nb::handle codes, nb::handle row_weight) {
    const Doubles slopes(slope, "slope", 2), weights(weight, "weight", 2);
    const Input<Layout::contiguous, std::int32_t> code(codes, "codes", 1);
    const int64_t rows = code.shape(0), blocks = (rows + block_rows - 1) / block_rows;
    const int64_t columns = slopes.shape(0), functions = slopes.shape(1), parts = weights.shape(1);
    slopes.require_shape({columns, functions});
    weights.require_shape({columns, parts});
    const auto is = [](const auto& array, std::initializer_list<int64_t> shape) {
        std::size_t axis = 0;
        for (const int64_t size : shape)
            if (static_cast<int64_t>(array.shape(axis++)) != size) return false;
        return true;
    };
    if (!is(start, {blocks, columns, block_rows}) || !is(shared, {blocks, functions, block_rows}) ||
        !is(own, {blocks, columns, parts, block_rows}))
        throw std::invalid_argument("the shape of a table is wrong");
    if (columns < 1) throw std::invalid_argument("there must be a class");
    const int64_t k = std::max<int64_t>(columns, 2);
    for (int64_t i = 0; i < rows; ++i)
        if (code.data()[i] < 0 || code.data()[i] >= k)
            throw std::invalid_argument("a class code is out of range");
    std::vector<Doubles> weighing;
    if (!row_weight.is_none()) {
        weighing.emplace_back(row_weight, "row_weight", 1);
        weighing[0].require_shape({rows});
    }
    const Problem problem{rows, columns, functions, parts, k, start.data(), shared.data(),
                          own.data(), slopes.data(), weights.data(), code.data(),
                          weighing.empty() ? nullptr : weighing[0].data()};
    const int64_t each = functions + parts + 1, size = columns * each;
    const Result<double> gradient("zeros", columns, each);
    double loss = 0.0;
    {
        nb::gil_scoped_release released;
        const int64_t chunks = (blocks + chunk_blocks - 1) / chunk_blocks;
        std::vector<double> losses(chunks), gradients(chunks * size);
        const auto operations = static_cast<double>(chunk_blocks * block_rows * columns) *
                                (static_cast<double>(each) / 4 + 8);
        run_parts(chunks, count_parts(chunks, operations), [&](int64_t begin, int64_t end, int) {
            Worker worker(problem);
            on_best_instruction_set([&](auto isa) NAIVELY_INLINE {
                for (int64_t chunk = begin; chunk < end; ++chunk)
                    worker.sum<decltype(isa)>(
                        chunk * chunk_blocks, std::min(blocks, (chunk + 1) * chunk_blocks),
                        &losses[chunk], &gradients[chunk * size]);
            });
        });
        for (int64_t chunk = 0; chunk < chunks; ++chunk) {
            loss += losses[chunk];
            for (int64_t i = 0; i < size; ++i) gradient.data()[i] += gradients[chunk * size + i];
        }
    }
    return nb::make_tuple(loss, gradient.object());
}

}  // namespace

void bind_softmax_loss(nb::module_& m) {
    m.def("softmax_loss", &softmax_loss, nb::arg("start"), nb::arg("shared"), nb::arg("slope"),
          nb::arg("own"), nb::arg("weight"), nb::arg("codes"), nb::arg("row_weight").none());
}

}  // namespace naively
