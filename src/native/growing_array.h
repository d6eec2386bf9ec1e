// An array that grows at its end, and that NumPy takes over without a copy. Unlike a vector, it is
// enlarged by realloc, which moves large memory by its pages, and its elements are set only once.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace naively {

namespace nb = nanobind;

template <class T>
class GrowingArray {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    size_t size() const { return size_; }
    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    const T* begin() const { return data(); }
    const T* end() const { return data() + size_; }

    void push_back(T value) {
        *room_for(1) = value;
        ++size_;
    }

    // The end, behind which there is room for so many elements. Those that are written there become
    // elements by `grow_by`.
    T* room_for(size_t n) {
        if (capacity_ - size_ < n) enlarge(n);
        return data_.get() + size_;
    }
    void grow_by(size_t n) { size_ += n; }

    // A NumPy array of the elements, of which none are left here. It needs the GIL.
    nb::object released() {
        // Of 64 bits NumPy has two types, which it shows differently.
        static_assert(!std::is_same_v<T, std::int64_t>, "copy them");
        if (size_ < capacity_) reallocate(std::max<size_t>(size_, 1));
        const nb::capsule owner(data_.get(), [](void* memory) noexcept { std::free(memory); });
        T* const memory = data_.release();
        const size_t size = size_;
        size_ = capacity_ = 0;
        return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(memory, {size}, owner));
    }

  private:
    struct Free {
        void operator()(T* memory) const { std::free(memory); }
    };
    std::unique_ptr<T[], Free> data_;
    size_t size_ = 0, capacity_ = 0;

    void enlarge(size_t n) {
        constexpr size_t least = 256;
        if (n > static_cast<size_t>(-1) / 4 / sizeof(T) - size_) throw std::bad_alloc();
        reallocate(std::max({least, size_ + n, 2 * capacity_}));
    }

    void reallocate(size_t capacity) {
        void* const memory = std::realloc(data_.get(), capacity * sizeof(T));
        if (memory == nullptr) throw std::bad_alloc();
        static_cast<void>(data_.release());  // realloc has freed it
        data_.reset(static_cast<T*>(memory));
        capacity_ = capacity;
    }
};

}  // namespace naively
