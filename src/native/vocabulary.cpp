// Vocabulary of kernels/vocabulary.py: the Python class. It holds a table of tokens and a lock, and
// hands texts to the kernels in text_count.h, text_encode.h, text_lengths.h and text_score.h.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "python_words.h"
#include "table_sums.h"
#include "tally_rows.h"
#include "text_count.h"
#include "text_encode.h"
#include "text_lengths.h"
#include "text_score.h"
#include "text_source.h"
#include "token_table.h"

namespace naively {
namespace {

using Range = std::pair<int64_t, int64_t>;

Splitting splitting_of(const std::string& analyzer, const Range& ngram_range, bool lowercase,
                       const std::optional<int64_t>& features) {
    Splitting splitting;
    if (analyzer == "char")
        splitting.unit = Unit::characters;
    else if (analyzer == "char_wb")
        splitting.unit = Unit::characters_within_words;
    else if (analyzer != "word")
        throw std::invalid_argument(
            "analyzer must be one of 'word', 'char', 'char_wb', got '" + analyzer + "'");
    const auto [low, high] = ngram_range;
    if (!(1 <= low && low <= high && high <= 255)) {
        const std::string got = "(" + std::to_string(low) + ", " + std::to_string(high) + ")";
        throw std::invalid_argument(
            "ngram_range must be two whole numbers, 1 <= low <= high <= 255, got " + got);
    }
    splitting.low = static_cast<size_t>(low);
    splitting.high = static_cast<size_t>(high);
    splitting.lowercase = lowercase;
    if (features) {
        if (!(1 <= *features && *features <= INT32_MAX))
            throw std::invalid_argument(
                "features must be between 1 and 2**31, got " + std::to_string(*features));
        splitting.features = static_cast<uint32_t>(*features);
    }
    return splitting;
}

// Methods that take long release the GIL before they lock, and unlock before they take it back;
// nothing that needs the GIL is done under the lock, so the two cannot wait for each other.
class Vocabulary {
  public:
    Vocabulary(nb::handle words, const std::string& analyzer, const Range& ngram_range,
               bool lowercase, const nb::sequence& stop_words,
               const std::optional<int64_t>& features)
        : tokens_(splitting_of(analyzer, ngram_range, lowercase, features), words_of(stop_words)) {
        words_of(words).visit([&](Bytes word) { tokens_.find_or_add(word); });
    }
    Vocabulary(const Vocabulary& other) : tokens_(other.locked_copy()) {}

    size_t size() const {
        const std::shared_lock lock(mutex_);
        return tokens_.size();
    }

    nb::list words() const {
        nb::list words;
        const WordList utf8 = swap_underscores(export_words());
        utf8.visit([&](Bytes word) { words.append(decoded(word)); });
        return words;
    }

    nb::object find(const nb::sequence& sequence) const {
        const WordList words = words_of(sequence);
        std::vector<int64_t> numbers;
        {
            const nb::gil_scoped_release released;
            const std::shared_lock lock(mutex_);
            words.visit([&](Bytes word) {
                const uint32_t number = tokens_.find(word);
                numbers.push_back(number == TokenTable::NONE ? int64_t{-1} : int64_t{number});
            });
        }
        return copied<int64_t>(numbers);
    }

    nb::object add(const nb::sequence& words) { return add_list(words_of(words)); }

    nb::object join(const Vocabulary& other) {
        std::vector<int64_t> numbers;
        bool alike;
        {
            const nb::gil_scoped_release released;
            // A copy is quick, and two that join each other would wait for each other's lock.
            const TokenTable theirs = other.locked_copy();
            const std::unique_lock lock(mutex_);
            alike = tokens_.splits_as(theirs);
            if (alike) numbers = tokens_.join(theirs);
        }
        return alike ? copied<int64_t>(numbers) : add_list(other.export_words());
    }

    // The caller owns what is returned.
    Vocabulary* select(nb::handle keep_array) const {
        const Input<Layout::contiguous, bool> keep(keep_array, "keep", 1);
        const WordList words = export_words();
        if (static_cast<size_t>(keep.shape(0)) != words.size())
            throw std::invalid_argument(std::to_string(keep.shape(0)) + " choices for " +
                                        std::to_string(words.size()) + " words");
        std::unique_ptr<Vocabulary> chosen(new Vocabulary(locked_without_tokens()));
        for (size_t i = 0; i < words.size(); ++i)
            if (keep.data()[i]) chosen->tokens_.find_or_add(words[i]);
        return chosen.release();
    }

    nb::object count(const nb::sequence& sequence, nb::handle y, nb::handle w, int64_t k,
                     bool presence) {
        const TextSource texts = source_of(sequence);
        const auto rows = static_cast<int64_t>(texts.size());
        const ClassIndices classes(y, rows, k);
        const Weights weights(w, rows);
        const auto count_as = [&](auto zero) {
            LargeVector<decltype(zero)> cells;
            int64_t tokens;
            {
                const nb::gil_scoped_release released;
                const std::unique_lock lock(mutex_);
                cells = count_texts<decltype(zero)>(tokens_, texts, classes.data(), weights.data(),
                                                    static_cast<size_t>(std::max<int64_t>(k, 0)),
                                                    presence);
                tokens = static_cast<int64_t>(tokens_.size());
            }
            return export_high_low(cells.data(), tokens, std::max<int64_t>(k, 0));
        };
        // In all n-grams through a character or word, and the spaces around: more than a sum has.
        const size_t terms = 3 * texts.characters() * tokens_.splitting().high;
        if (weights.data() != nullptr) {
            const Wholeness seen = look_at_weights(weights.data(), rows);
            const bool exact = seen.sums_are_exact(static_cast<int64_t>(terms));
            return exact ? count_as(double{}) : count_as(Sum{});
        }
        // 32 bits halve the memory that is counted in; only an enormous batch can overflow them.
        return terms <= UINT32_MAX ? count_as(uint32_t{}) : count_as(uint64_t{});
    }

    nb::tuple encode(const nb::sequence& sequence, bool presence) const {
        const TextSource texts = source_of(sequence);
        EncodedTexts encoded;
        {
            const nb::gil_scoped_release released;
            const std::shared_lock lock(mutex_);
            encoded = encode_texts(tokens_, texts, presence);
        }
        return nb::make_tuple(copied<int64_t>(encoded.indptr), copied<int32_t>(encoded.indices),
                              copied<double>(encoded.data));
    }

    nb::object lengths(const nb::sequence& sequence, bool presence) const {
        const TextSource texts = source_of(sequence);
        std::vector<int64_t> lengths;
        {
            const nb::gil_scoped_release released;
            const std::shared_lock lock(mutex_);
            lengths = count_lengths(tokens_, texts, presence);
        }
        return copied<int64_t>(lengths);
    }

    nb::object score(const nb::sequence& sequence, nb::handle slope_array, nb::handle start,
                     bool presence, const std::string& finish, nb::handle log_prior) const {
        const TextSource texts = source_of(sequence);
        const Doubles slope(slope_array, "slope", 2);
        const Scores scores(static_cast<int64_t>(texts.size()), slope.shape(1), start, finish,
                            log_prior);
        {
            const nb::gil_scoped_release released;
            const std::shared_lock lock(mutex_);
            if (static_cast<size_t>(slope.shape(0)) != tokens_.size())
                throw std::invalid_argument(std::to_string(slope.shape(0)) +
                                            " rows of slopes for " +
                                            std::to_string(tokens_.size()) + " words");
            score_texts(tokens_, texts, slope.data(), scores, presence);
        }
        return scores.object();
    }

    nb::tuple to_arrays() const {
        const WordList utf8 = swap_underscores(export_words());
        return nb::make_tuple(copied<uint8_t>(utf8.bytes), copied<int64_t>(utf8.ends));
    }

    static nb::object from_arrays(nb::handle utf8, nb::handle ends, const nb::kwargs& options) {
        const WordList words = words_of_arrays(utf8, ends);
        nb::object made = nb::type<Vocabulary>()(**options);
        TokenTable& tokens = nb::inst_ptr<Vocabulary>(made)->tokens_;
        for (size_t i = 0; i < words.size(); ++i)
            if (tokens.find_or_add(words[i]) != i)
                throw std::invalid_argument("a word is there twice");
        return made;
    }

  private:
    mutable std::shared_mutex mutex_;
    TokenTable tokens_;

    explicit Vocabulary(TokenTable&& tokens) : tokens_(std::move(tokens)) {}

    TokenTable locked_copy() const {
        const std::shared_lock lock(mutex_);
        return tokens_;
    }

    TokenTable locked_without_tokens() const {
        const std::shared_lock lock(mutex_);
        return tokens_.without_tokens();
    }

    // Splitting never changes, so that it is read without the lock.
    TextSource source_of(const nb::sequence& texts) const {
        const Splitting& splitting = tokens_.splitting();
        return TextSource(texts, splitting.lowercase, splitting.unit == Unit::words);
    }

    WordList export_words() const {
        if (tokens_.hashed())
            throw std::invalid_argument("hashed words are not known, so there are none to list");
        WordList words;
        const std::shared_lock lock(mutex_);
        for (size_t number = 0; number < tokens_.size(); ++number) {
            tokens_.append_to(words.bytes, number);
            words.end_word();
        }
        return words;
    }

    nb::object add_list(const WordList& words) {
        std::vector<int64_t> numbers;
        {
            const nb::gil_scoped_release released;
            const std::unique_lock lock(mutex_);
            words.visit(
                [&](Bytes word) { numbers.push_back(int64_t{tokens_.find_or_add(word)}); });
        }
        return copied<int64_t>(numbers);
    }
};

}  // namespace

void bind_vocabulary(nb::module_& m) {
    nb::class_<Vocabulary>(m, "Vocabulary", "naively.kernels.vocabulary.Vocabulary, natively.")
        .def(nb::init<nb::handle, const std::string&, const Range&, bool, const nb::sequence&,
                      const std::optional<int64_t>&>(),
             nb::arg("words") = nb::make_tuple(), nb::arg("analyzer") = "word",
             nb::arg("ngram_range") = Range(1, 1), nb::arg("lowercase") = true,
             nb::arg("stop_words") = nb::make_tuple(), nb::arg("features") = nb::none())
        .def("__len__", &Vocabulary::size)
        .def("words", &Vocabulary::words)
        .def("find", &Vocabulary::find, nb::arg("words"))
        .def("add", &Vocabulary::add, nb::arg("words"))
        .def("join", &Vocabulary::join, nb::arg("other"))
        .def("select", &Vocabulary::select, nb::arg("keep"), nb::rv_policy::take_ownership)
        .def("copy", [](const Vocabulary& self) { return new Vocabulary(self); })
        .def("count", &Vocabulary::count, nb::arg("texts"), nb::arg("y"), nb::arg("w").none(),
             nb::arg("k"), nb::arg("presence"))
        .def("encode", &Vocabulary::encode, nb::arg("texts"), nb::arg("presence"))
        .def("lengths", &Vocabulary::lengths, nb::arg("texts"), nb::arg("presence"))
        .def("score", &Vocabulary::score, nb::arg("texts"), nb::arg("slope"), nb::arg("start"),
             nb::arg("presence"), nb::arg("finish"), nb::arg("log_prior"))
        .def("to_arrays", &Vocabulary::to_arrays)
        .def_static("from_arrays", &Vocabulary::from_arrays, nb::arg("utf8"), nb::arg("ends"),
                    nb::arg("options"));
}

}  // namespace naively
