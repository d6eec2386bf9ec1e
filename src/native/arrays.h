// Arrays in and out, by nanobind's ndarray: what a kernel is given is checked here, so that the
// kernels see plain pointers. NumPy converts what does not fit and allocates the results.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace naively {

namespace nb = nanobind;
using std::int64_t;

enum class Layout { any, contiguous };

template <class T>
constexpr const char* numpy_type() {
    if constexpr (std::is_same_v<T, double>) return "float64";
    if constexpr (std::is_same_v<T, float>) return "float32";
    if constexpr (std::is_same_v<T, int64_t>) return "int64";
    if constexpr (std::is_same_v<T, std::int32_t>) return "int32";
    if constexpr (std::is_same_v<T, std::uint64_t>) return "uint64";
    if constexpr (std::is_same_v<T, std::uint8_t>) return "uint8";
    if constexpr (std::is_same_v<T, std::int8_t>) return "int8";
    if constexpr (std::is_same_v<T, bool>) return "bool";
}

// An array that a kernel reads. It is read where it lies if its elements are of one of these types,
// aligned, in the machine's byte order, and contiguous if that is asked for. Anything else NumPy
// converts to the first of the types: to float64 from any type, to other types only from those of
// which they can hold every value ("safe").
template <Layout layout, class First, class... Others>
class Input {
  public:
    Input(nb::handle source, const char* name) : name_(name) {
        if (!nb::try_cast(source, array_, false) || !is_readable())
            array_ = nb::cast<Array>(converted(source), false);
    }
    Input(nb::handle source, const char* name, std::size_t dimensions) : Input(source, name) {
        if (array_.ndim() != dimensions)
            throw std::invalid_argument(std::string(name_) + " must have " +
                                        std::to_string(dimensions) + " dimensions");
    }

    int64_t dimensions() const { return static_cast<int64_t>(array_.ndim()); }
    int64_t shape(int axis) const { return static_cast<int64_t>(array_.shape(axis)); }
    int64_t stride(int axis) const { return array_.stride(axis); }  // in elements

    void require_shape(std::initializer_list<int64_t> shape) const {
        int axis = 0;
        for (const int64_t size : shape)
            if (this->shape(axis++) != size)
                throw std::invalid_argument(std::string("the shape of ") + name_ + " is wrong");
    }

    // The elements, where they can be of one type only.
    const First* data() const {
        static_assert(sizeof...(Others) == 0, "visit elements that may be of several types");
        return data_as<First>();
    }

    // Calls work with a pointer to the elements, of the type that they are.
    template <class Work>
    void visit(const Work& work) const {
        visit_as<Work, First, Others...>(work);
    }

    // Whether the source is an array of one of these types, so that no value would be converted.
    static bool fits(nb::handle source, std::size_t dimensions) {
        Array array;
        return nb::try_cast(source, array, false) && is_one_of_ours(array) &&
               array.ndim() == dimensions;
    }

  private:
    using Array = nb::ndarray<nb::ro, nb::device::cpu>;

    template <class T>
    const T* data_as() const {
        return static_cast<const T*>(array_.data());
    }

    template <class Work, class T, class... Rest>
    void visit_as(const Work& work) const {
        if constexpr (sizeof...(Rest) != 0)
            if (array_.dtype() != nb::dtype<T>()) return visit_as<Work, Rest...>(work);
        work(data_as<T>());
    }

    static bool is_one_of_ours(const Array& array) {
        return array.dtype() == nb::dtype<First>() ||
               ((array.dtype() == nb::dtype<Others>()) || ...);
    }

    bool is_readable() const {
        const auto address = reinterpret_cast<std::uintptr_t>(array_.data());
        return is_one_of_ours(array_) && address % array_.itemsize() == 0 &&
               (layout == Layout::any || is_contiguous());
    }

    bool is_contiguous() const {
        int64_t size = 1;
        bool contiguous = true;
        for (int axis = static_cast<int>(array_.ndim()) - 1; axis >= 0; --axis) {
            contiguous &= shape(axis) == 1 || stride(axis) == size;
            size *= shape(axis);
        }
        return contiguous || size == 0;
    }

    static nb::object converted(nb::handle source) {
        const nb::object array = nb::module_::import_("numpy").attr("asarray")(source);
        return array.attr("astype")(
            numpy_type<First>(), nb::arg("order") = layout == Layout::contiguous ? "C" : "K",
            nb::arg("casting") = std::is_floating_point_v<First> ? "unsafe" : "safe");
    }

    const char* name_;
    Array array_;
};

using Doubles = Input<Layout::contiguous, double>;
using Integers = Input<Layout::contiguous, int64_t, std::int32_t>;

// A result, allocated by NumPy, which frees it and knows about huge pages.
template <class T>
class Result {
  public:
    // `maker` is "empty" or "zeros".
    template <class... Sizes>
    Result(const char* maker, Sizes... shape)
        : object_(nb::module_::import_("numpy").attr(maker)(nb::make_tuple(shape...),
                                                            numpy_type<T>())),
          array_(nb::cast<Array>(object_, false)) {}

    T* data() const { return array_.data(); }
    nb::object object() const { return object_; }

  private:
    using Array = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

    nb::object object_;
    Array array_;
};

// The values as an array of T.
template <class T, class Value>
nb::object copied(const std::vector<Value>& values) {
    const Result<T> copy("empty", values.size());
    std::transform(values.begin(), values.end(), copy.data(),
                   [](const Value& value) { return static_cast<T>(value); });
    return copy.object();
}

}  // namespace naively
