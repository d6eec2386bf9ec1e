// softmax_loss of kernels/search.py: the log loss of rows and its gradient, in one pass.
//
// Rows lie in blocks, the numbers of a block's rows side by side, so that each step of a sum over
// parts and each exponential is taken for several rows at once, whatever the number of classes.
// The tables are in single precision, and sums are in double precision unless single is asked for.
// Chunks of rows are summed one by one, and their sums in order and in double precision: the result
// is the same on any number of threads.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "simd.h"
#include "softmax.h"
#include "softmax_tables.h"
#include "threads.h"

namespace naively {
namespace {

constexpr int64_t chunk_blocks = 16;  // that are summed together
constexpr int registers = 8;          // that hold sums
constexpr int most_lanes = 8;

struct Problem {
    const SoftmaxTables& of;
    const double* slope;   // (columns, functions)
    const double* weight;  // (columns, parts)
};

// Neighbours, as numbers of type T.
template <class T, int lanes, class From>
NAIVELY_INLINE inline Vector<T, lanes> load_as(const From* from) {
    if constexpr (std::is_same_v<T, double>) {
        return load<lanes>(from);
    } else {
        Vector<T, lanes> loaded;
        std::memcpy(&loaded, from, sizeof loaded);
        return loaded;
    }
}

// a * b + c; whether it is rounded once or twice does not matter.
template <class Isa, class T, int lanes>
NAIVELY_INLINE inline Vector<T, lanes> add_product(const Vector<T, lanes>& a,
                                                   const Vector<T, lanes>& b,
                                                   const Vector<T, lanes>& c) {
    if constexpr (!Isa::fast_fma) {
        return a * b + c;
    } else if constexpr (std::is_same_v<T, double>) {
        return fused_multiply_add<lanes>(a, b, c);
    } else {
        Vector<T, lanes> result;
        for (int i = 0; i < lanes; ++i) result[i] = __builtin_fmaf(a[i], b[i], c[i]);
        return result;
    }
}

// The work of one thread on chunks of rows. Sums over the functions and the parts of a row, and over
// the rows of a chunk, are of type T.
template <class T>
class Worker {
  public:
    explicit Worker(const Problem& problem)
        : of_(problem.of),
          slope_(problem.slope),
          weight_(problem.weight),
          joint_(of_.columns * block_rows),
          excess_(of_.columns * block_rows),
          shared_(packed ? of_.functions * block_rows : 0),
          rounded_(of_.columns * block_rows),
          sums_(of_.columns * (of_.functions + of_.parts + 1) * most_lanes) {}

    // Add up the blocks from `first` to `last`: the loss, and the gradient by slopes, by weights
    // and by what is added to all rows, one after the other for each column.
    template <class Isa>
    NAIVELY_INLINE inline void sum(int64_t first, int64_t last, double* loss, double* gradient) {
        constexpr int lanes = Isa::lanes * sizeof(double) / sizeof(T);
        std::fill(sums_.begin(), sums_.end(), T{});
        *loss = 0.0;
        for (int64_t block = first; block < last; ++block) {
            const BlockOfRows rows = of_.rows_of(block);
            const T* shared = functions_of<lanes>(block);
            add_up<Isa, lanes>(block, shared);
            *loss += of_.columns == 1
                         ? compare_two<Isa, Isa::lanes>(rows, joint_.data(), excess_.data())
                         : compare_many<Isa, Isa::lanes>(rows, of_.columns, joint_.data(),
                                                         excess_.data());
            for (std::size_t i = 0; i < excess_.size(); ++i)
                rounded_[i] = static_cast<T>(excess_[i]);
            add_gradient<Isa, lanes>(block, shared);
        }
        const int64_t each = of_.functions + of_.parts + 1;
        for (int64_t i = 0; i < of_.columns * each; ++i) {
            double total = 0.0;
            for (int lane = 0; lane < lanes; ++lane)
                total += static_cast<double>(sums_[i * most_lanes + lane]);
            gradient[i] = total;
        }
    }

  private:
    static constexpr bool packed = std::is_same_v<T, double>;

    // The functions of a block. In double precision they are converted once for all classes, those
    // of a few rows together, which stay in the nearest cache.
    template <int lanes>
    NAIVELY_INLINE inline const T* functions_of(int64_t block) {
        const float* shared = of_.shared + block * of_.functions * block_rows;
        if constexpr (packed) {
            constexpr int64_t width = registers * lanes;
            T* converted = shared_.data();
            for (int64_t at = 0; at < block_rows; at += width)
                for (int64_t j = 0; j < of_.functions; ++j)
                    for (int64_t i = 0; i < width; ++i)
                        *converted++ = static_cast<T>(shared[j * block_rows + at + i]);
            return shared_.data();
        } else {
            return shared;
        }
    }

    // The joint log likelihoods of a block, of shape (columns, 64).
    template <class Isa, int lanes>
    NAIVELY_INLINE inline void add_up(int64_t block, const T* shared) {
        constexpr int64_t width = registers * lanes;
        for (int64_t c = 0; c < of_.columns; ++c) {
            const float* own = of_.own + (block * of_.columns + c) * of_.parts * block_rows;
            const float* start = of_.start + (block * of_.columns + c) * block_rows;
            const double* slope = slope_ + c * of_.functions;
            const double* weight = weight_ + c * of_.parts;
            for (int64_t at = 0; at < block_rows; at += width) {
                Vector<T, lanes> total[registers];
                NAIVELY_UNROLL for (int v = 0; v < registers; ++v) total[v] = Vector<T, lanes>{};
                const T* functions = shared + at * (packed ? of_.functions : 1);
                for (int64_t j = 0; j < of_.functions; ++j)
                    add<Isa, lanes>(slope[j], functions + j * (packed ? width : block_rows), total);
                for (int64_t j = 0; j < of_.parts; ++j)
                    add<Isa, lanes>(weight[j], own + j * block_rows + at, total);
                T sums[width];
                std::memcpy(sums, total, sizeof sums);
                double* joint = joint_.data() + c * block_rows + at;
                for (int64_t i = 0; i < width; ++i)
                    joint[i] = static_cast<double>(start[at + i]) + static_cast<double>(sums[i]);
            }
        }
    }

    template <class Isa, int lanes, class From>
    NAIVELY_INLINE static inline void add(double factor, const From* from,
                                          Vector<T, lanes> (&total)[registers]) {
        const Vector<T, lanes> every = static_cast<T>(factor) - Vector<T, lanes>{};
        NAIVELY_UNROLL for (int v = 0; v < registers; ++v)
            total[v] = add_product<Isa, T, lanes>(every, load_as<T, lanes>(from + v * lanes),
                                                  total[v]);
    }

    // Add the excess of a block times its functions and its evidence to the sums.
    template <class Isa, int lanes>
    NAIVELY_INLINE inline void add_gradient(int64_t block, const T* shared) {
        const int64_t each = of_.functions + of_.parts + 1;
        constexpr int64_t width = registers * lanes;
        for (int64_t c = 0; c < of_.columns; ++c) {
            const float* own = of_.own + (block * of_.columns + c) * of_.parts * block_rows;
            T* sums = sums_.data() + c * each * most_lanes;
            for (int64_t at = 0; at < block_rows; at += width) {
                Vector<T, lanes> excess[registers];
                NAIVELY_UNROLL for (int v = 0; v < registers; ++v)
                    excess[v] =
                        load_as<T, lanes>(rounded_.data() + c * block_rows + at + v * lanes);
                const T* functions = shared + at * (packed ? of_.functions : 1);
                for (int64_t j = 0; j < of_.functions; ++j)
                    gather<Isa, lanes>(excess, functions + j * (packed ? width : block_rows),
                                       sums + j * most_lanes);
                T* sums_of_own = sums + of_.functions * most_lanes;
                for (int64_t j = 0; j < of_.parts; ++j)
                    gather<Isa, lanes>(excess, own + j * block_rows + at,
                                       sums_of_own + j * most_lanes);
                T* last = sums_of_own + of_.parts * most_lanes;
                Vector<T, lanes> total = load_as<T, lanes>(last);
                NAIVELY_UNROLL for (int v = 0; v < registers; ++v) total += excess[v];
                std::memcpy(last, &total, sizeof total);
            }
        }
    }

    template <class Isa, int lanes, class From>
    NAIVELY_INLINE static inline void gather(const Vector<T, lanes> (&excess)[registers],
                                             const From* from, T* sums) {
        Vector<T, lanes> even = load_as<T, lanes>(sums), odd{};
        NAIVELY_UNROLL for (int v = 0; v < registers; v += 2) {
            even = add_product<Isa, T, lanes>(excess[v], load_as<T, lanes>(from + v * lanes), even);
            odd = add_product<Isa, T, lanes>(excess[v + 1],
                                             load_as<T, lanes>(from + (v + 1) * lanes), odd);
        }
        even += odd;
        std::memcpy(sums, &even, sizeof even);
    }

    const SoftmaxTables& of_;
    const double *slope_, *weight_;
    std::vector<double> joint_, excess_;
    std::vector<T> shared_, rounded_, sums_;
};

// Calls what `sum` is: the loss and the gradient of each chunk, on several threads.
template <class T>
void sum_chunks(const Problem& problem, std::vector<double>& losses,
                std::vector<double>& gradients) {
    const SoftmaxTables& of = problem.of;
    const int64_t each = of.functions + of.parts + 1, size = of.columns * each;
    const auto chunks = static_cast<int64_t>(losses.size());
    const auto operations = static_cast<double>(chunk_blocks * block_rows * of.columns) *
                            (static_cast<double>(each) / 4 + 8);
    run_parts(chunks, count_parts(chunks, operations), [&](int64_t begin, int64_t end, int) {
        Worker<T> worker(problem);
        on_best_instruction_set([&](auto isa) NAIVELY_INLINE {
            for (int64_t chunk = begin; chunk < end; ++chunk)
                worker.template sum<decltype(isa)>(
                    chunk * chunk_blocks, std::min(of.blocks, (chunk + 1) * chunk_blocks),
                    &losses[chunk], &gradients[chunk * size]);
        });
    });
}

nb::tuple softmax_loss(const SoftmaxTables::Singles& start, const SoftmaxTables::Singles& shared,
                       nb::handle slope, const SoftmaxTables::Tables& own, nb::handle weight,
                       nb::handle codes, nb::handle row_weight, bool single) {
    const SoftmaxTables of(start, shared, own, codes, row_weight);
    const Doubles slopes(slope, "slope", 2), weights(weight, "weight", 2);
    slopes.require_shape({of.columns, of.functions});
    weights.require_shape({of.columns, of.parts});
    const Problem problem{of, slopes.data(), weights.data()};
    const int64_t each = of.functions + of.parts + 1, size = of.columns * each;
    const Result<double> gradient("zeros", of.columns, each);
    double loss = 0.0;
    {
        nb::gil_scoped_release released;
        const int64_t chunks = (of.blocks + chunk_blocks - 1) / chunk_blocks;
        std::vector<double> losses(chunks), gradients(chunks * size);
        if (single)
            sum_chunks<float>(problem, losses, gradients);
        else
            sum_chunks<double>(problem, losses, gradients);
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
          nb::arg("own"), nb::arg("weight"), nb::arg("codes"), nb::arg("row_weight").none(),
          nb::arg("single") = false);
}

}  // namespace naively
