// The Python class _native.Vocabulary; its contract is naively/kernels/vocabulary.py.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrays.h"
#include "large_pages.h"
#include "text_count.h"
#include "text_source.h"
#include "text_tokens.h"
#include "tally_rows.h"
#include "threads.h"

namespace nb = nanobind;

namespace naively {
namespace {

template <class T>
nb::object to_numpy(const std::vector<T>& values) {
    const Result<T> copy("empty", values.size());
    std::copy(values.begin(), values.end(), copy.data());
    return copy.object();
}

nb::object decoded(const uint8_t* utf8, size_t length) {
    const char* bytes = reinterpret_cast<const char*>(utf8);
    nb::object str = nb::steal(
        PyUnicode_DecodeUTF8(bytes, static_cast<Py_ssize_t>(length), "surrogatepass"));
    if (!str.is_valid()) throw nb::python_error();
    return str;
}

using Range = std::pair<int64_t, int64_t>;

Splitting splitting_of(const std::string& analyzer, const Range& ngram_range, bool lowercase,
                       const std::optional<int64_t>& features) {
    Splitting splitting;
    if (analyzer == "char")
        splitting.unit = Unit::characters;
    else if (analyzer == "char_wb")
        splitting.unit = Unit::characters_within_words;
    else if (analyzer != "word")
        throw nb::value_error(
            ("analyzer must be one of 'word', 'char', 'char_wb', got '" + analyzer + "'").c_str());
    const auto [low, high] = ngram_range;
    if (!(1 <= low && low <= high && high <= 255)) {
        const std::string got = "(" + std::to_string(low) + ", " + std::to_string(high) + ")";
        throw nb::value_error(
            ("ngram_range must be two whole numbers, 1 <= low <= high <= 255, got " + got).c_str());
    }
    splitting.low = static_cast<size_t>(low);
    splitting.high = static_cast<size_t>(high);
    splitting.lowercase = lowercase;
    if (features) {
        if (!(1 <= *features && *features <= INT32_MAX))
            throw nb::value_error(
                ("features must be between 1 and 2**31, got " + std::to_string(*features)).c_str());
        splitting.features = static_cast<uint32_t>(*features);
    }
    return splitting;
}

// The bytes of each word, as Word has them.
std::vector<std::vector<uint8_t>> word_bytes(const nb::sequence& words) {
    const nb::object held = nb::steal(PySequence_Tuple(words.ptr()));
    if (!held.is_valid()) throw nb::python_error();
    std::vector<std::vector<uint8_t>> found(nb::len(held));
    for (size_t i = 0; i < found.size(); ++i) {
        PyObject* item = PyTuple_GET_ITEM(held.ptr(), static_cast<Py_ssize_t>(i));
        if (!PyUnicode_Check(item)) raise_not_str("word", i, item);
        append_word_bytes(item, found[i]);
    }
    return found;
}

// Methods that take long release the GIL before they lock, and unlock before they take it back;
// nothing that needs the GIL is done under the lock, so the two cannot wait for each other.
class NativeVocabulary {
  public:
    NativeVocabulary(const nb::iterable& words, const std::string& analyzer,
                     const Range& ngram_range, bool lowercase, const nb::sequence& stop_words,
                     const std::optional<int64_t>& features)
        : tokens_(splitting_of(analyzer, ngram_range, lowercase, features),
                  word_bytes(stop_words)) {
        const nb::object list = nb::steal(PySequence_List(words.ptr()));
        if (!list.is_valid()) throw nb::python_error();
        add(nb::borrow<nb::sequence>(list));
    }
    NativeVocabulary(const NativeVocabulary& other) : tokens_(other.locked_copy()) {}

    size_t size() const {
        const std::shared_lock lock(mutex_);
        return tokens_.size();
    }

    nb::list words() const {
        const Exported exported = export_words();
        nb::list words;
        size_t begin = 0;
        for (const int64_t end : exported.ends) {
            words.append(decoded(exported.utf8.data() + begin, static_cast<size_t>(end) - begin));
            begin = static_cast<size_t>(end);
        }
        return words;
    }

    nb::object find(const nb::sequence& words) const {
        return numbers_of(words, [this](const std::vector<uint8_t>& bytes) {
            const std::shared_lock lock(mutex_);
            const uint32_t number = tokens_.find(bytes);
            return number == Vocabulary::UNKNOWN ? int64_t{-1} : int64_t{number};
        });
    }

    nb::object add(const nb::sequence& words) {
        return numbers_of(words, [this](const std::vector<uint8_t>& bytes) {
            const std::unique_lock lock(mutex_);
            return int64_t{tokens_.find_or_add(bytes)};
        });
    }

    nb::object join(const NativeVocabulary& other) {
        std::vector<int64_t> numbers;
        {
            const nb::gil_scoped_release released;
            const Exported exported = other.export_words();  // which may be this one
            const std::unique_lock lock(mutex_);
            numbers.reserve(exported.ends.size());
            exported.each([&](const std::vector<uint8_t>& bytes) {
                numbers.push_back(int64_t{tokens_.find_or_add(bytes)});
            });
        }
        return to_numpy(numbers);
    }

    // The caller owns what is returned.
    NativeVocabulary* select(nb::handle keep_array) const {
        const Input<Layout::contiguous, bool> keep(keep_array, "keep", 1);
        const Exported exported = export_words();
        if (static_cast<size_t>(keep.shape(0)) != exported.ends.size())
            throw nb::value_error((std::to_string(keep.shape(0)) + " choices for " +
                                   std::to_string(exported.ends.size()) + " words")
                                      .c_str());
        std::unique_ptr<NativeVocabulary> chosen(new NativeVocabulary(tokens_.emptied()));
        size_t number = 0;
        exported.each([&](const std::vector<uint8_t>& bytes) {
            if (keep.data()[number++]) chosen->tokens_.find_or_add(bytes);
        });
        return chosen.release();
    }

    nb::tuple count(const nb::sequence& texts, nb::handle y, nb::handle w, int32_t k,
                    bool presence) {
        const TextSource source = source_of(texts);
        const int64_t rows = static_cast<int64_t>(source.size());
        const ClassIndices classes(y, rows, k);
        const Weights weights(w, rows);
        const double* weight = weights.data();
        const CountJob job{source, classes.data(), weight, static_cast<size_t>(std::max(k, 0)),
                           presence};
        // In all runs through a character or word, and the spaces around: more than one cell's.
        const size_t most = 3 * source.characters() * tokens_.splitting().high;
        if (weight != nullptr) {
            const bool exact = sums_are_exact(weight, source.size(), most);
            return exact ? count_with<double>(job) : count_with<WeightSum>(job);
        }
        // 32 bits halve the memory that is counted in; only an enormous batch can overflow them.
        if (most <= UINT32_MAX) return count_with<uint32_t>(job);
        return count_with<uint64_t>(job);
    }

    nb::tuple encode(const nb::sequence& texts, bool presence) const {
        const TextSource source = source_of(texts);
        EncodedTexts encoded;
        {
            const nb::gil_scoped_release released;
            const std::shared_lock lock(mutex_);
            encoded = encode_texts(tokens_, source, presence);
        }
        return nb::make_tuple(to_numpy(encoded.indptr), to_numpy(encoded.indices),
                              to_numpy(encoded.data));
    }

    nb::object lengths(const nb::sequence& texts, bool presence) const {
        const TextSource source = source_of(texts);
        std::vector<int64_t> lengths;
        {
            const nb::gil_scoped_release released;
            const std::shared_lock lock(mutex_);
            lengths = count_lengths(tokens_, source, presence);
        }
        return to_numpy(lengths);
    }

    nb::object score(const nb::sequence& texts, nb::handle slope_array, nb::handle start,
                     bool presence, const std::string& finish, nb::handle log_prior) const {
        const TextSource source = source_of(texts);
        const int64_t rows = static_cast<int64_t>(source.size());
        const Doubles slope(slope_array, "slope", 2);
        Scores scores(rows, slope.shape(1), start, finish, log_prior);
        {
            const nb::gil_scoped_release released;
            const std::shared_lock lock(mutex_);
            const size_t words = tokens_.size();
            if (static_cast<size_t>(slope.shape(0)) != words)
                throw std::invalid_argument(std::to_string(slope.shape(0)) +
                                            " rows of slopes for " + std::to_string(words) +
                                            " words");
            constexpr double operations_per_character = 8;
            const double operations =
                operations_per_character * static_cast<double>(source.characters());
            const int parts =
                count_parts(rows, operations / std::max(static_cast<double>(rows), 1.0));
            run_parts(rows, parts, [&](int64_t begin, int64_t end, int) {
                score_texts(tokens_, source, slope.data(), scores, presence, begin,
                            end);
            });
        }
        return scores.object();
    }

    nb::tuple to_arrays() const {
        const Exported exported = export_words();
        return nb::make_tuple(to_numpy(exported.utf8), to_numpy(exported.ends));
    }

    // The caller owns what is returned.
    static NativeVocabulary* from_arrays(nb::handle utf8_array, nb::handle ends_array,
                                         const std::string& analyzer, const Range& ngram_range,
                                         bool lowercase, const nb::sequence& stop_words,
                                         const std::optional<int64_t>& features) {
        using Bytes = Input<Layout::contiguous, uint8_t>;
        using Ends = Input<Layout::contiguous, int64_t>;
        if (!Bytes::fits(utf8_array, 1) || !Ends::fits(ends_array, 1))
            throw nb::value_error("words must be uint8 and their ends int64, in one dimension");
        const Bytes byte_array(utf8_array, "utf8");
        const Ends end_array(ends_array, "ends");
        const size_t bytes = static_cast<size_t>(byte_array.shape(0));
        const size_t n = static_cast<size_t>(end_array.shape(0));
        const uint8_t* utf8 = byte_array.data();
        try {
            decoded(utf8, bytes);
        } catch (const nb::python_error& error) {
            if (!error.matches(PyExc_UnicodeDecodeError)) throw;
            throw nb::value_error("a word is not UTF-8");
        }
        std::vector<uint8_t> swapped(bytes);
        std::transform(utf8, utf8 + bytes, swapped.begin(), swap_underscore);
        std::unique_ptr<NativeVocabulary> made(new NativeVocabulary(
            Tokens(splitting_of(analyzer, ngram_range, lowercase, features),
                   word_bytes(stop_words))));
        std::vector<uint8_t> word;
        size_t begin = 0;
        for (size_t number = 0; number < n; ++number) {
            const int64_t given = end_array.data()[number];
            if (given < static_cast<int64_t>(begin) || given > static_cast<int64_t>(bytes))
                throw nb::value_error("word ends must ascend to the end of the text");
            const size_t end = static_cast<size_t>(given);
            if (end < bytes && (swapped[end] & 0xC0) == 0x80)
                throw nb::value_error("a word is not UTF-8");
            word.assign(swapped.begin() + static_cast<std::ptrdiff_t>(begin),
                        swapped.begin() + static_cast<std::ptrdiff_t>(end));
            if (made->tokens_.find_or_add(word) != number)
                throw nb::value_error("a word is there twice");
            begin = end;
        }
        if (begin != bytes) throw nb::value_error("word ends must ascend to the end of the text");
        return made.release();
    }

  private:
    struct Exported {
        std::vector<uint8_t> utf8;
        std::vector<int64_t> ends;

        // Calls visit with the bytes of each word, as Word has them.
        template <class Visit>
        void each(Visit&& visit) const {
            std::vector<uint8_t> bytes;
            std::ptrdiff_t begin = 0;
            for (const int64_t end : ends) {
                bytes.assign(utf8.begin() + begin, utf8.begin() + end);
                std::transform(bytes.begin(), bytes.end(), bytes.begin(), swap_underscore);
                visit(bytes);
                begin = end;
            }
        }
    };

    mutable std::shared_mutex mutex_;
    Tokens tokens_;

    explicit NativeVocabulary(Tokens&& tokens) : tokens_(std::move(tokens)) {}

    Tokens locked_copy() const {
        const std::shared_lock lock(mutex_);
        return tokens_;
    }

    // Splitting never changes, so that it is read without the lock.
    TextSource source_of(const nb::sequence& texts) const {
        const Splitting& splitting = tokens_.splitting();
        return TextSource(texts, splitting.lowercase, splitting.unit == Unit::words);
    }

    Exported export_words() const {
        if (tokens_.hashed())
            throw nb::value_error("hashed words are not known, so there are none to list");
        const std::shared_lock lock(mutex_);
        Exported exported;
        exported.ends.reserve(tokens_.size());
        for (size_t number = 0; number < tokens_.size(); ++number) {
            tokens_.append_utf8(number, exported.utf8);
            exported.ends.push_back(static_cast<int64_t>(exported.utf8.size()));
        }
        return exported;
    }

    template <class Number>
    static nb::object numbers_of(const nb::sequence& words, const Number& number_of) {
        std::vector<int64_t> numbers;
        for (const auto& bytes : word_bytes(words)) numbers.push_back(number_of(bytes));
        return to_numpy(numbers);
    }

    template <class Cell>
    nb::tuple count_with(const CountJob& job) {
        LargeVector<Cell> cells;
        int64_t words;
        {
            const nb::gil_scoped_release released;
            const std::unique_lock lock(mutex_);
            cells = count_tokens<Cell>(tokens_, job);
            words = static_cast<int64_t>(tokens_.size());
        }
        const int64_t k = static_cast<int64_t>(job.k);
        Result<double> high("empty", words, k);
        for (size_t i = 0; i < cells.size(); ++i) high.data()[i] = high_of(cells[i]);
        if constexpr (std::is_same_v<Cell, WeightSum>) {
            Result<double> low("empty", words, k);
            for (size_t i = 0; i < cells.size(); ++i) low.data()[i] = cells[i].low;
            return nb::make_tuple(high.object(), low.object());
        }
        return nb::make_tuple(high.object(), nb::none());
    }
};

}  // namespace
}  // namespace naively

void bind_text(nb::module_& m) {
    using naively::NativeVocabulary;
    nb::class_<NativeVocabulary>(m, "Vocabulary", "naively.kernels.vocabulary.Vocabulary, natively.")
        .def(nb::init<const nb::iterable&, const std::string&, const naively::Range&, bool,
                      const nb::sequence&, const std::optional<int64_t>&>(),
             nb::arg("words") = nb::make_tuple(), nb::arg("analyzer") = "word",
             nb::arg("ngram_range") = naively::Range(1, 1), nb::arg("lowercase") = true,
             nb::arg("stop_words") = nb::make_tuple(), nb::arg("features") = nb::none())
        .def("__len__", &NativeVocabulary::size)
        .def("words", &NativeVocabulary::words)
        .def("find", &NativeVocabulary::find, nb::arg("words"))
        .def("add", &NativeVocabulary::add, nb::arg("words"))
        .def("join", &NativeVocabulary::join, nb::arg("other"))
        .def("select", &NativeVocabulary::select, nb::arg("keep"), nb::rv_policy::take_ownership)
        .def("copy", [](const NativeVocabulary& self) { return new NativeVocabulary(self); })
        .def("count", &NativeVocabulary::count, nb::arg("texts"), nb::arg("y"), nb::arg("w").none(),
             nb::arg("k"), nb::arg("presence"))
        .def("encode", &NativeVocabulary::encode, nb::arg("texts"), nb::arg("presence"))
        .def("lengths", &NativeVocabulary::lengths, nb::arg("texts"), nb::arg("presence"))
        .def("score", &NativeVocabulary::score, nb::arg("texts"), nb::arg("slope"),
             nb::arg("start"), nb::arg("presence"), nb::arg("finish"), nb::arg("log_prior"))
        .def("to_arrays", &NativeVocabulary::to_arrays)
        .def_static("from_arrays", &NativeVocabulary::from_arrays, nb::arg("utf8"),
                    nb::arg("ends"), nb::kw_only(), nb::arg("analyzer") = "word",
                    nb::arg("ngram_range") = naively::Range(1, 1), nb::arg("lowercase") = true,
                    nb::arg("stop_words") = nb::make_tuple(), nb::arg("features") = nb::none());
}
