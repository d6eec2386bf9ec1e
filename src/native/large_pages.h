// Memory for large tables that are read at random: in pages of 2 MB where the system has them,
// as otherwise every second look-up waits for the address rather than for the data.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
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
        void* const memory = is_large(bytes) ? map(whole_pages(bytes)) : std::malloc(bytes);
        if (memory == nullptr) throw std::bad_alloc();
        return static_cast<T*>(memory);
    }

    void deallocate(T* memory, std::size_t n) {
        const std::size_t bytes = n * sizeof(T);
        if (is_large(bytes))
            unmap(memory, whole_pages(bytes));
        else
            std::free(memory);
    }

    template <class U>
    bool operator==(const LargePages<U>&) const { return true; }
    template <class U>
    bool operator!=(const LargePages<U>&) const { return false; }

    // Memory for n elements that holds the first ones of some that was for others, which is freed.
    T* reallocate(T* memory, std::size_t others, std::size_t n) {
        const std::size_t before = others * sizeof(T), after = n * sizeof(T);
        if (memory == nullptr || is_large(before) != is_large(after)) {
            T* const other = allocate(n);
            if (memory != nullptr) {
                std::memcpy(other, memory, std::min(before, after));
                deallocate(memory, others);
            }
            return other;
        }
        void* const found = is_large(before)
                                ? remap(memory, whole_pages(before), whole_pages(after))
                                : std::realloc(memory, after);
        if (found == nullptr) throw std::bad_alloc();
        return static_cast<T*>(found);
    }

  private:
    static bool is_large(std::size_t bytes) { return bytes >= 2 * PAGE; }
    static std::size_t whole_pages(std::size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

#if defined(__linux__)
    // Straight from the system, to which it returns: malloc keeps what is freed of this size.
    static void* map(std::size_t bytes) {
        constexpr int private_and_empty = MAP_PRIVATE | MAP_ANONYMOUS;
        void* const found =
            mmap(nullptr, bytes + PAGE, PROT_READ | PROT_WRITE, private_and_empty, -1, 0);
        if (found == MAP_FAILED) return nullptr;
        auto* const begin = static_cast<char*>(found);
        const std::size_t before = (PAGE - reinterpret_cast<std::uintptr_t>(begin) % PAGE) % PAGE;
        if (before > 0) munmap(begin, before);
        munmap(begin + before + bytes, PAGE - before);
#if defined(MADV_HUGEPAGE)
        madvise(begin + before, bytes, MADV_HUGEPAGE);  // a wish, not a need
#endif
        return begin + before;
    }
    static void unmap(void* memory, std::size_t bytes) { munmap(memory, bytes); }
    // Pages move as they are, to where they are whole large pages again.
    static void* remap(void* memory, std::size_t before, std::size_t after) {
        if (after <= before) {
            munmap(static_cast<char*>(memory) + after, before - after);
            return memory;
        }
        void* const place = map(after);
        if (place == nullptr) return nullptr;
        void* const found = mremap(memory, before, after, MREMAP_MAYMOVE | MREMAP_FIXED, place);
        if (found != MAP_FAILED) return found;
        munmap(place, after);
        return nullptr;
    }
#else
    static void* map(std::size_t bytes) { return std::malloc(bytes); }
    static void unmap(void* memory, std::size_t) { std::free(memory); }
    static void* remap(void* memory, std::size_t, std::size_t bytes) {
        return std::realloc(memory, bytes);
    }
#endif
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

// How many slots a hash table has next: small ones grow faster, large ones with less to spare.
inline std::size_t more_slots(std::size_t slots) {
    return (slots < std::size_t{1} << 20 ? 4 : 2) * slots;
}

}  // namespace naively
