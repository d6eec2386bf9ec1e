// An array that grows at its end, and that NumPy takes over without a copy. Unlike those of a
// vector, its elements are set only once, and large memory moves by its pages when it is enlarged.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "large_pages.h"

namespace naively {

namespace nb = nanobind;

template <class T>
class GrowingArray {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    GrowingArray() = default;
    GrowingArray(GrowingArray&& other) noexcept { *this = std::move(other); }
    GrowingArray& operator=(GrowingArray&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }
    ~GrowingArray() {
        if (data_ != nullptr) LargePages<T>().deallocate(data_, capacity_);
    }

    size_t size() const { return size_; }
    T* data() { return data_; }
    const T* data() const { return data_; }
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
        return data_ + size_;
    }
    void grow_by(size_t n) { size_ += n; }
    void shrink_to(size_t n) { size_ = n; }

    // A NumPy array of the elements, of which none are left here. It needs the GIL.
    nb::object released() {
        // Of 64 bits NumPy has two types, which it shows differently.
        static_assert(!std::is_same_v<T, std::int64_t>, "copy them");
        if (data_ == nullptr || size_ < capacity_) reallocate(std::max<size_t>(size_, 1));
        auto held = std::make_unique<GrowingArray>(std::move(*this));
        const nb::capsule owner(held.get(), [](void* array) noexcept {
            delete static_cast<GrowingArray*>(array);
        });
        const GrowingArray* const array = held.release();
        using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
        return nb::cast(Array(array->data_, {array->size_}, owner));
    }

  private:
    T* data_ = nullptr;
    size_t size_ = 0, capacity_ = 0;

    void enlarge(size_t n) {
        constexpr size_t least = 256;
        if (n > static_cast<size_t>(-1) / 4 / sizeof(T) - size_) throw std::bad_alloc();
        reallocate(std::max({least, size_ + n, 2 * capacity_}));
    }

    void reallocate(size_t capacity) {
        data_ = LargePages<T>().reallocate(data_, capacity_, capacity);
        capacity_ = capacity;
    }
};

}  // namespace naively
