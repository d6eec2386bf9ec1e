// Memory for large tables that are read at random: in pages of 2 MB where the system has them,
// as otherwise every second look-up waits for the address rather than for the data.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace naively {

template <class T>
struct LargePages {
    using value_type = T;
    static constexpr std::size_t PAGE = std::size_t{1} << 21;

    LargePages() = default;
    template <class U>
    LargePages(const LargePages<U>&) {}

    T* allocate(std::size_t n) {
        if (n > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_alloc();
        const std::size_t bytes = n * sizeof(T);
        void* memory;
        if (bytes < 2 * PAGE) {
            memory = std::malloc(bytes);
        } else {
            memory = std::aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
#if defined(MADV_HUGEPAGE)
            if (memory != nullptr) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish, not a need
#endif
        }
        if (memory == nullptr) throw std::bad_alloc();
        return static_cast<T*>(memory);
    }

    void deallocate(T* memory, std::size_t) { std::free(memory); }

    template <class U>
    bool operator==(const LargePages<U>&) const { return true; }
    template <class U>
    bool operator!=(const LargePages<U>&) const { return false; }
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

// How many slots a hash table has next: small ones grow faster, large ones with less to spare.
inline std::size_t more_slots(std::size_t slots) {
    return (slots < std::size_t{1} << 20 ? 4 : 2) * slots;
}

}  // namespace naively
