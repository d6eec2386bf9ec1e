// One source, several instruction sets: vectors by the compilers' vector extension, and a kernel
// body compiled for each instruction set and chosen when it is called. Of AVX-512, Gaussian
// scores took more than twice as long as of AVX2, which GCC 12 assembles lane by lane where bodies
// are inlined; tallies gained 5 to 20 %, which memory takes back on several threads.
//
// A body is a generic lambda marked NAIVELY_INLINE that takes the instruction set as its argument;
// everything it calls in its hot loop must be NAIVELY_INLINE too, or it is compiled for the
// baseline only.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#define NAIVELY_INLINE __attribute__((always_inline))

// Before a short loop over sums: only unrolled can they stay in registers.
#if defined(__clang__)
#define NAIVELY_UNROLL _Pragma("unroll")
#else
#define NAIVELY_UNROLL _Pragma("GCC unroll 16")
#endif

#if defined(__x86_64__)
#define NAIVELY_MULTIVERSION 1
#else
#define NAIVELY_MULTIVERSION 0
#endif

// Vectors wider than the baseline's never cross a call that is not inlined. (Clang reads this too.)
#pragma GCC diagnostic ignored "-Wpsabi"

namespace naively {

struct Baseline {
    static constexpr int lanes = 2;
#if defined(__FMA__) || defined(__aarch64__)
    static constexpr bool fast_fma = true;
#else
    static constexpr bool fast_fma = false;
#endif
    static constexpr const char* name =
#if defined(__x86_64__)
        "x86-64";
#elif defined(__aarch64__)
        "arm64";
#else
        "portable";
#endif
};

struct Avx2 {
    static constexpr int lanes = 4;
    static constexpr bool fast_fma = true;
    static constexpr const char* name = "x86-64 with AVX2 and FMA";
};

#if NAIVELY_MULTIVERSION
enum class InstructionSet { baseline, avx2 };

// By the names that the environment has for them.
struct NamedSet {
    const char* name;
    InstructionSet set;
};
constexpr NamedSet named_sets[] = {{"baseline", InstructionSet::baseline},
                                   {"avx2", InstructionSet::avx2}};

// The best one that this processor has.
inline InstructionSet best_instruction_set() {
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return avx2 ? InstructionSet::avx2 : InstructionSet::baseline;
}

// The one in use: the best, or a lesser one that the environment names.
inline std::atomic<InstructionSet>& instruction_set() {
    static std::atomic<InstructionSet> chosen{[] {
        const InstructionSet best = best_instruction_set();
        const char* wanted = std::getenv("NAIVELY_INSTRUCTION_SET");  // to test and to compare
        for (const NamedSet& each : named_sets)
            if (wanted && std::strcmp(wanted, each.name) == 0 && each.set <= best) return each.set;
        return best;
    }()};
    return chosen;
}

// Not inlined, so that one body's registers are no other's.
template <class Body>
__attribute__((target("avx2,fma"), noinline)) void call_avx2(const Body& body) {
    body(Avx2{});
}

template <class Body>
void on_best_instruction_set(const Body& body) {
    switch (instruction_set().load(std::memory_order_relaxed)) {
        case InstructionSet::avx2: return call_avx2(body);
        case InstructionSet::baseline: return body(Baseline{});
    }
}
#else
template <class Body>
void on_best_instruction_set(const Body& body) {
    body(Baseline{});
}
#endif

template <class T, int lanes>
struct VectorOf {
    typedef T type __attribute__((vector_size(lanes * sizeof(T))));
};
template <class T, int lanes>
using Vector = typename VectorOf<T, lanes>::type;

// Unaligned load of neighbours, widened to double.
template <int lanes, class T>
NAIVELY_INLINE inline Vector<double, lanes> load(const T* from) {
    Vector<T, lanes> loaded;
    std::memcpy(&loaded, from, sizeof loaded);
    return __builtin_convertvector(loaded, Vector<double, lanes>);
}

template <int lanes>
NAIVELY_INLINE inline void store(double* to, const Vector<double, lanes>& vector) {
    std::memcpy(to, &vector, sizeof vector);
}

template <int lanes>
NAIVELY_INLINE inline Vector<double, lanes> broadcast(double value) {
    // Written out: GCC makes one instruction of this, and one for each lane of anything shorter.
    const double v = value;
    if constexpr (lanes == 2)
        return Vector<double, 2>{v, v};
    else
        return Vector<double, 4>{v, v, v, v};
}

// Prefetch `count` elements that come `later` than `from`; they may lie past the end. The second
// cache has them, as only a few lines at once can be on their way to the first.
template <class T>
NAIVELY_INLINE inline void prefetch_range(const T* from, std::int64_t later, std::int64_t count) {
    constexpr std::uintptr_t line = 64;
    const auto begin = reinterpret_cast<std::uintptr_t>(from) +
                       static_cast<std::uintptr_t>(later) * sizeof(T);
    const auto end = begin + static_cast<std::uintptr_t>(count) * sizeof(T);
    for (std::uintptr_t at = begin; at < end; at += line)
        __builtin_prefetch(reinterpret_cast<const void*>(at), 0, 2);
}

// a * b + c rounded once; the compiler turns the loop into one instruction where there is one.
template <int lanes>
NAIVELY_INLINE inline Vector<double, lanes> fused_multiply_add(const Vector<double, lanes>& a,
                                                               const Vector<double, lanes>& b,
                                                               const Vector<double, lanes>& c) {
    Vector<double, lanes> result;
    for (int i = 0; i < lanes; ++i) result[i] = __builtin_fma(a[i], b[i], c[i]);
    return result;
}

// a * b + c where one rounding or two does not matter.
template <class Isa, int lanes>
NAIVELY_INLINE inline Vector<double, lanes> multiply_add(const Vector<double, lanes>& a,
                                                         const Vector<double, lanes>& b,
                                                         const Vector<double, lanes>& c) {
    if constexpr (Isa::fast_fma) {
        return fused_multiply_add<lanes>(a, b, c);
    } else {
        return a * b + c;
    }
}

template <class Isa>
NAIVELY_INLINE inline double multiply_add(double a, double b, double c) {
    if constexpr (Isa::fast_fma) {
        return __builtin_fma(a, b, c);
    } else {
        return a * b + c;
    }
}

}  // namespace naively
