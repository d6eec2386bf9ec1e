// Vocabulary of kernels/vocabulary.py: the Python class. It holds a table of tokens and a lock, and
// hands texts to text_together.h.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
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
#include "tally_rows.h"
#include "text_source.h"
#include "text_together.h"
#include "threads.h"
#include "token_table.h"

namespace naively {
namespace {

using Range = std::pair<int64_t, int64_t>;

Splitting splitting_of(const std::string& analyzer, const Range& ngram_range, bool lowercase,
                       const std::optional<int64_t>& features,
                       const std::optional<int64_t>& max_characters) {
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
    if (max_characters) {
        if (*max_characters < 1)
            throw std::invalid_argument("max_characters must be at least 1, got " +
                                        std::to_string(*max_characters));
        splitting.most = static_cast<size_t>(*max_characters);
    }
    return splitting;
}

// The first tokens of a table, which others may have more of: a copy shares the table, and goes on
// in it. Only where another has gone on already, the tokens are copied. So it costs nothing to go on
// from a model that stays as it is.
//
// Methods that take long release the GIL before they lock, and unlock before they take it back;
// nothing that needs the GIL is done under the lock, so the two cannot wait for each other. A
// vocabulary is locked before its table.
class Vocabulary {
  public:
    Vocabulary(nb::handle words, const std::string& analyzer, const Range& ngram_range,
               bool lowercase, const nb::sequence& stop_words,
               const std::optional<int64_t>& features,
               const std::optional<int64_t>& max_characters)
        : Vocabulary(TokenTable(
              splitting_of(analyzer, ngram_range, lowercase, features, max_characters),
              words_of(stop_words))) {
        read_unicode_table();
        words_of(words).visit([&](Bytes word) { shared_->table.find_or_add(word); });
        size_ = shared_->table.size();
    }
    Vocabulary(const Vocabulary& other) : splitting_(other.splitting_) {
        const std::shared_lock lock(other.mutex_);
        shared_ = other.shared_;
        size_ = other.size_;
    }

    size_t size() const {
        const std::shared_lock lock(mutex_);
        return size_;
    }

    nb::list words() const {
        nb::list words;
        const WordList utf8 = export_words();
        utf8.visit([&](Bytes word) { words.append(decoded(word)); });
        return words;
    }

    nb::object find(const nb::sequence& sequence) const {
        const WordList words = words_of(sequence);
        std::vector<int64_t> numbers;
        {
            const nb::gil_scoped_release released;
            const Reading reading(*this);
            words.visit([&](Bytes word) {
                const uint32_t number = reading.table.find(word);
                numbers.push_back(number < reading.size ? int64_t{number} : int64_t{-1});
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
            const TokenTable theirs = Reading(other).copied();
            const Growing growing({this});
            alike = shared_->table.splits_as(theirs);
            if (alike) numbers = shared_->table.join(theirs);
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
        std::unique_ptr<Vocabulary> chosen(new Vocabulary(Reading(*this).table.without_tokens()));
        TokenTable& table = chosen->shared_->table;
        for (size_t i = 0; i < words.size(); ++i)
            if (keep.data()[i]) table.find_or_add(words[i]);
        chosen->size_ = table.size();
        return chosen.release();
    }

    // See encode_together of kernels/vocabulary.py.
    static nb::list encode_together(nb::handle vocabularies, const nb::sequence& sequence,
                                    nb::handle presence, bool grow) {
        const std::vector<Vocabulary*> of = pointers_of(vocabularies);
        const size_t n = of.size();
        if (n == 0 || nb::len(presence) != n)
            throw std::invalid_argument("vocabularies and what is asked of them differ in number");
        const bool lowercase = of[0]->splitting().lowercase;
        for (const Vocabulary* vocabulary : of)
            if (vocabulary->splitting().lowercase != lowercase)
                throw std::invalid_argument("texts are lower-cased for some vocabularies only");
        const bool lists = std::all_of(of.begin(), of.end(), [](const Vocabulary* vocabulary) {
            return vocabulary->splitting().unit == Unit::words;
        });
        const TextSource texts(sequence, lists);
        std::vector<bool> once(n);
        for (size_t i = 0; i < n; ++i) once[i] = nb::cast<bool>(presence[i]);
        std::vector<std::vector<EncodedTexts>> parts;
        {
            const nb::gil_scoped_release released;
            if (grow) {
                const Growing growing(of);
                std::vector<Asked<TokenTable>> asked;
                for (size_t i = 0; i < n; ++i)
                    asked.push_back({&of[i]->shared_->table, once[i], SIZE_MAX});
                parts = encode_all(asked, texts);
            } else {
                std::vector<View> views;
                std::vector<Shared*> tables;
                std::vector<Asked<const TokenTable>> asked;
                for (size_t i = 0; i < n; ++i) {
                    views.push_back(of[i]->view());
                    tables.push_back(views[i].shared.get());
                    asked.push_back({&tables[i]->table, once[i], views[i].size});
                }
                const auto locks = locked<std::shared_lock<std::shared_mutex>>(tables);
                parts = encode_all(asked, texts);
            }
        }
        nb::list encoded;
        for (size_t i = 0; i < n; ++i) encoded.append(exported(parts, i, once[i]));
        return encoded;
    }

    // See count_by_class of kernels/vocabulary.py.
    nb::object count_by_class(const nb::sequence& sequence, nb::handle code_array, int64_t classes) {
        const TextSource texts(sequence, splitting().unit == Unit::words);
        const ClassIndices codes(code_array, static_cast<int64_t>(texts.size()), classes);
        const size_t k = static_cast<size_t>(classes);
        std::vector<std::vector<double>> counts;
        size_t tokens;
        {
            const nb::gil_scoped_release released;
            const Growing growing({this});
            const int parts = splitting().features != 0 ? 1 : count_parts_of(texts);
            TablesOfParts tables(shared_->table, parts);
            counts.resize(static_cast<size_t>(parts));
            run_parts(static_cast<int64_t>(texts.size()), parts,
                      [&](int64_t begin, int64_t end, int part) {
                          counts[static_cast<size_t>(part)] =
                              counted(tables.of(part), texts, codes.data(), begin, end, k);
                      });
            tokens = tables.join([&](int part, const std::vector<int64_t>& numbers, size_t size) {
                counts[0].resize(size * k);
                const std::vector<double>& theirs = counts[static_cast<size_t>(part)];
                for (size_t i = 0; i < numbers.size(); ++i)
                    for (size_t c = 0; c < k; ++c)
                        counts[0][static_cast<size_t>(numbers[i]) * k + c] += theirs[i * k + c];
            });
        }
        const Result<double> found("empty", tokens, k);
        std::copy(counts[0].begin(), counts[0].end(), found.data());
        return found.object();
    }

    // See add_scores of kernels/vocabulary.py.
    nb::object add_scores(const nb::sequence& sequence, nb::handle table_array,
                          nb::handle start_array) const {
        const TextSource texts(sequence, splitting().unit == Unit::words);
        const Input<Layout::contiguous, double> table(table_array, "table", 2);
        const Input<Layout::contiguous, double> start(start_array, "start", 2);
        const size_t k = static_cast<size_t>(table.shape(1));
        const bool fits = static_cast<size_t>(start.shape(0)) == texts.size() &&
                          static_cast<size_t>(start.shape(1)) == k;
        if (!fits) throw std::invalid_argument("start must have a row for each text");
        const Result<double> scores("empty", texts.size(), k);
        double* const out = scores.data();
        std::copy_n(start.data(), texts.size() * k, out);
        {
            const nb::gil_scoped_release released;
            const Reading reading(*this);
            const TokenTable& tokens = reading.table;
            const size_t known = std::min(reading.size, static_cast<size_t>(table.shape(0)));
            run_texts(texts, [&](int64_t begin, int64_t end) {
                TokenBuffers buffers;
                for (int64_t row = begin; row < end; ++row) {
                    double* const of_row = out + static_cast<size_t>(row) * k;
                    visit_tokens(tokens, texts[static_cast<size_t>(row)], buffers,
                                 [&](uint32_t token) {
                                     if (token >= known) return;
                                     const double* const added = table.data() + token * k;
                                     for (size_t c = 0; c < k; ++c) of_row[c] += added[c];
                                 });
                }
            });
        }
        return scores.object();
    }

    nb::tuple to_arrays() const {
        const bool of_words = of_several_words(splitting());
        TokenTable::WordsOfTokens parts;
        const WordList utf8 = of_words ? export_parts(parts) : export_words();
        std::vector<int64_t> lengths;
        lengths.reserve(utf8.size());
        for (size_t i = 0; i < utf8.size(); ++i)
            lengths.push_back(static_cast<int64_t>(utf8[i].length));
        return nb::make_tuple(copied<uint8_t>(utf8.bytes), copied<int64_t>(lengths),
                              of_words ? copied<int32_t>(parts.ids) : nb::none(),
                              of_words ? copied<int64_t>(parts.sizes) : nb::none());
    }

    static nb::object from_arrays(nb::handle utf8, nb::handle lengths, nb::handle ids,
                                  nb::handle sizes, const nb::kwargs& options) {
        const WordList words = words_of_arrays(utf8, lengths);
        nb::object made = nb::type<Vocabulary>()(**options);
        Vocabulary& vocabulary = *nb::inst_ptr<Vocabulary>(made);
        TokenTable& tokens = vocabulary.shared_->table;
        if (ids.is_none() || sizes.is_none()) {
            tokens.fill(words);
            vocabulary.size_ = tokens.size();
            return made;
        }
        using Ids = Input<Layout::contiguous, int32_t>;
        using Sizes = Input<Layout::contiguous, int64_t>;
        if (!Ids::fits(ids, 1) || !Sizes::fits(sizes, 1))
            throw std::invalid_argument(
                "places of words must be int32 and sizes int64, in one dimension");
        const Ids id_array(ids, "ids");
        const Sizes size_array(sizes, "sizes");
        const int64_t* size = checked_sizes(size_array, id_array.shape(0));
        if (!of_several_words(tokens.splitting())) throw std::invalid_argument("there are no n-grams");
        tokens.fill(words, id_array.data(), size, static_cast<size_t>(size_array.shape(0)));
        vocabulary.size_ = tokens.size();
        return made;
    }

  private:
    struct Shared {
        std::shared_mutex mutex;
        TokenTable table;
        explicit Shared(TokenTable&& tokens) : table(std::move(tokens)) {}
    };

    mutable std::shared_mutex mutex_;
    Splitting splitting_;
    std::shared_ptr<Shared> shared_;
    size_t size_;  // how many tokens of the table are of this vocabulary

    explicit Vocabulary(TokenTable&& tokens)
        : splitting_(tokens.splitting()), shared_(std::make_shared<Shared>(std::move(tokens))),
          size_(shared_->table.size()) {}

    // It never changes, so that it is read without a lock.
    const Splitting& splitting() const { return splitting_; }

    struct View {
        std::shared_ptr<Shared> shared;
        size_t size;
    };
    View view() const {
        const std::shared_lock lock(mutex_);
        return {shared_, size_};
    }

    // A vocabulary that is read, as long as this lives. More tokens may be added to it meanwhile.
    class Reading {
      public:
        explicit Reading(const Vocabulary& of)
            : view_(of.view()), lock_(view_.shared->mutex), table(view_.shared->table),
              size(view_.size) {}

        TokenTable copied() const { return first_of(table, size); }

      private:
        View view_;
        std::shared_lock<std::shared_mutex> lock_;

      public:
        const TokenTable& table;
        const size_t size;
    };

    // A table of the first tokens of another.
    static TokenTable first_of(const TokenTable& table, size_t size) {
        if (size == table.size()) return table;
        TokenTable copy = table.without_tokens();
        std::vector<uint8_t> token;
        for (size_t number = 0; number < size; ++number) {
            token.clear();
            table.append_to(token, number);
            copy.find_or_add({token.data(), token.size()});
        }
        return copy;
    }

    // Locks tables, each once and in one order, so that two calls do not wait for each other.
    template <class Lock>
    static std::vector<Lock> locked(std::vector<Shared*> tables) {
        std::sort(tables.begin(), tables.end());
        tables.erase(std::unique(tables.begin(), tables.end()), tables.end());
        std::vector<Lock> locks;
        for (Shared* table : tables) locks.emplace_back(table->mutex);
        return locks;
    }

    // Vocabularies that grow, as long as this lives, each in a table in which no other has gone on.
    class Growing {
      public:
        explicit Growing(const std::vector<Vocabulary*>& of) : ordered_(of) {
            std::sort(ordered_.begin(), ordered_.end());
            ordered_.erase(std::unique(ordered_.begin(), ordered_.end()), ordered_.end());
            std::vector<Shared*> tables;
            for (Vocabulary* vocabulary : ordered_) {
                own_.emplace_back(vocabulary->mutex_);
                held_.push_back(vocabulary->shared_);
                tables.push_back(vocabulary->shared_.get());
            }
            locks_ = locked<std::unique_lock<std::shared_mutex>>(tables);
            for (size_t i = 0; i < ordered_.size(); ++i) {
                const TokenTable& table = tables[i]->table;
                const size_t size = ordered_[i]->size_;
                const auto end = tables.begin() + static_cast<std::ptrdiff_t>(i);
                if (size != table.size() || std::find(tables.begin(), end, tables[i]) != end)
                    ordered_[i]->shared_ = std::make_shared<Shared>(first_of(table, size));
            }
        }
        ~Growing() {
            for (Vocabulary* vocabulary : ordered_)
                vocabulary->size_ = vocabulary->shared_->table.size();
        }
        Growing(const Growing&) = delete;
        Growing& operator=(const Growing&) = delete;

      private:
        std::vector<Vocabulary*> ordered_;
        std::vector<std::shared_ptr<Shared>> held_;  // longer than they are locked
        std::vector<std::unique_lock<std::shared_mutex>> own_, locks_;
    };

    static std::vector<Vocabulary*> pointers_of(nb::handle vocabularies) {
        std::vector<Vocabulary*> pointers;
        for (size_t i = 0; i < nb::len(vocabularies); ++i)
            pointers.push_back(nb::cast<Vocabulary*>(vocabularies[i]));
        return pointers;
    }

    static int count_parts_of(const TextSource& texts) {
        constexpr double operations_per_character = 8;
        const double operations =
            operations_per_character * static_cast<double>(texts.length());
        const double rows = std::max<double>(static_cast<double>(texts.size()), 1.0);
        return count_parts(static_cast<int64_t>(texts.size()), operations / rows);
    }

    // The table that each part of the texts adds its tokens to: the first part to the table itself,
    // each other one to a table of its own. These are joined in order of the texts, so that tokens
    // have the numbers that one thread would have given them.
    class TablesOfParts {
      public:
        TablesOfParts(TokenTable& whole, int parts) : whole_(whole) {
            for (int part = 1; part < parts && !whole.hashed(); ++part)
                own_.push_back(std::make_unique<TokenTable>(whole.without_tokens()));
        }

        // Hashed tokens are not in a table, so that all parts share it.
        TokenTable& of(int part) {
            return part == 0 || own_.empty() ? whole_ : *own_[static_cast<size_t>(part) - 1];
        }

        // Calls joined(part, numbers in the whole table, size of that) for each part after the first,
        // and returns how many tokens there are.
        template <class Joined>
        size_t join(Joined&& joined) {
            for (size_t i = 0; i < own_.size(); ++i) {
                const std::vector<int64_t> numbers = whole_.join(*own_[i]);
                own_[i].reset();
                joined(static_cast<int>(i) + 1, numbers, whole_.size());
            }
            return whole_.size();
        }

      private:
        TokenTable& whole_;
        std::vector<std::unique_ptr<TokenTable>> own_;
    };

    // How often each class of k has each token of the table, to which those of the texts are added.
    static std::vector<double> counted(TokenTable& table, const TextSource& texts,
                                       const int32_t* codes, int64_t begin, int64_t end, size_t k) {
        TokenBuffers buffers;
        std::vector<double> counts(table.size() * k);
        for (int64_t row = begin; row < end; ++row) {
            const size_t code = static_cast<size_t>(codes[row]);
            visit_tokens(table, texts[static_cast<size_t>(row)], buffers, [&](uint32_t token) {
                const size_t at = token * k + code;
                if (at >= counts.size())
                    counts.resize(std::max((token + size_t{1}) * k, 2 * counts.size()));
                counts[at] += 1.0;
            });
        }
        counts.resize(table.size() * k);
        return counts;
    }

    // Calls read(begin, end) for parts of the rows, each by one thread.
    template <class Read>
    static void run_texts(const TextSource& texts, Read&& read) {
        run_parts(static_cast<int64_t>(texts.size()), count_parts_of(texts),
                  [&](int64_t begin, int64_t end, int) { read(begin, end); });
    }

    // Encodes texts in parts, each of which one thread makes.
    template <class Table>
    static std::vector<std::vector<EncodedTexts>> encode_all(
        const std::vector<Asked<Table>>& asked, const TextSource& texts) {
        const auto rows = static_cast<int64_t>(texts.size());
        const int parts = count_parts_of(texts);
        std::vector<std::vector<EncodedTexts>> encoded(static_cast<size_t>(parts));
        const auto encode = [&](const auto& asked_of) {
            run_parts(rows, parts, [&](int64_t begin, int64_t end, int part) {
                size_t characters = 0;
                for (int64_t row = begin; row < end; ++row)
                    characters += texts[static_cast<size_t>(row)].length;
                TogetherEncoder<Table> encoder(asked_of(part), characters);
                for (int64_t row = begin; row < end; ++row)
                    encoder.encode(texts[static_cast<size_t>(row)]);
                encoded[static_cast<size_t>(part)] = std::move(encoder.encoded());
            });
        };
        if constexpr (std::is_const_v<Table>) {
            encode([&](int) { return asked; });
        } else {
            std::vector<TablesOfParts> tables;
            for (const Asked<Table>& each : asked) tables.emplace_back(*each.table, parts);
            encode([&](int part) {
                std::vector<Asked<Table>> of_part = asked;
                for (size_t i = 0; i < asked.size(); ++i) of_part[i].table = &tables[i].of(part);
                return of_part;
            });
            const auto join = [&](size_t i) {
                tables[i].join([&](int part, const std::vector<int64_t>& numbers, size_t) {
                    GrowingArray<int32_t>& indices = encoded[static_cast<size_t>(part)][i].indices;
                    for (size_t j = 0; j < indices.size(); ++j)
                        indices.data()[j] = static_cast<int32_t>(
                            numbers[static_cast<size_t>(indices.data()[j])]);
                });
            };
            const auto vocabularies = static_cast<int64_t>(asked.size());
            run_parts(vocabularies, std::min(parts, static_cast<int>(vocabularies)),
                      [&](int64_t begin, int64_t end, int) {
                          for (int64_t i = begin; i < end; ++i) join(static_cast<size_t>(i));
                      });
        }
        return encoded;
    }

    // The CSR arrays of one vocabulary from all parts, one after the other.
    static nb::tuple exported(std::vector<std::vector<EncodedTexts>>& parts, size_t i, bool once) {
        if (parts.size() == 1) {
            EncodedTexts& whole = parts[0][i];
            return nb::make_tuple(copied<int64_t>(whole.indptr), whole.indices.released(),
                                  once ? nb::none() : whole.data.released());
        }
        size_t rows = 0, tokens = 0;
        for (const auto& part : parts) {
            rows += part[i].indptr.size() - 1;
            tokens += part[i].indices.size();
        }
        const Result<int64_t> indptr("empty", rows + 1);
        const Result<int32_t> indices("empty", tokens);
        std::optional<Result<double>> data;
        if (!once) data.emplace("empty", tokens);
        int64_t* end_of_row = indptr.data();
        *end_of_row = 0;
        int64_t before = 0;
        for (auto& part : parts) {
            EncodedTexts& encoded = part[i];
            for (size_t row = 1; row < encoded.indptr.size(); ++row)
                *++end_of_row = before + encoded.indptr[row];
            std::copy(encoded.indices.begin(), encoded.indices.end(), indices.data() + before);
            if (data) std::copy(encoded.data.begin(), encoded.data.end(), data->data() + before);
            before += static_cast<int64_t>(encoded.indices.size());
            encoded = EncodedTexts();
        }
        return nb::make_tuple(indptr.object(), indices.object(),
                              data ? data->object() : nb::none());
    }

    WordList export_words() const {
        const Reading reading(*this);
        if (reading.table.hashed())
            throw std::invalid_argument("hashed words are not known, so there are none to list");
        WordList words;
        for (size_t number = 0; number < reading.size; ++number) {
            reading.table.append_to(words.bytes, number);
            words.end_word();
        }
        return words;
    }

    static bool of_several_words(const Splitting& splitting) {
        return splitting.unit == Unit::words && splitting.high > 1;
    }

    // The words of all n-grams, in order of first sight, and which ones each n-gram consists of.
    WordList export_parts(TokenTable::WordsOfTokens& parts) const {
        const Reading reading(*this);
        if (reading.table.hashed())
            throw std::invalid_argument("hashed words are not known, so there are none to save");
        return reading.table.words_of_tokens(parts, reading.size);
    }

    nb::object add_list(const WordList& words) {
        std::vector<int64_t> numbers;
        {
            const nb::gil_scoped_release released;
            const Growing growing({this});
            words.visit(
                [&](Bytes word) { numbers.push_back(int64_t{shared_->table.find_or_add(word)}); });
        }
        return copied<int64_t>(numbers);
    }
};

}  // namespace

void bind_vocabulary(nb::module_& m) {
    nb::class_<Vocabulary>(m, "Vocabulary", nb::is_weak_referenceable(),
                           "naively.kernels.vocabulary.Vocabulary, natively.")
        .def(nb::init<nb::handle, const std::string&, const Range&, bool, const nb::sequence&,
                      const std::optional<int64_t>&, const std::optional<int64_t>&>(),
             nb::arg("words") = nb::make_tuple(), nb::arg("analyzer") = "word",
             nb::arg("ngram_range") = Range(1, 1), nb::arg("lowercase") = true,
             nb::arg("stop_words") = nb::make_tuple(), nb::arg("features") = nb::none(),
             nb::arg("max_characters") = nb::none())
        .def("__len__", &Vocabulary::size)
        .def("words", &Vocabulary::words)
        .def("find", &Vocabulary::find, nb::arg("words"))
        .def("add", &Vocabulary::add, nb::arg("words"))
        .def("join", &Vocabulary::join, nb::arg("other"))
        .def("select", &Vocabulary::select, nb::arg("keep"), nb::rv_policy::take_ownership)
        .def("copy", [](const Vocabulary& self) { return new Vocabulary(self); })
        .def(
            "encode",
            [](nb::handle self, const nb::sequence& texts, bool presence, bool grow) {
                const nb::list found = Vocabulary::encode_together(
                    nb::make_tuple(self), texts, nb::make_tuple(presence), grow);
                return nb::object(found[0]);
            },
            nb::arg("texts"), nb::arg("presence"), nb::arg("grow") = false)
        .def("count_by_class", &Vocabulary::count_by_class, nb::arg("texts"), nb::arg("codes"),
             nb::arg("classes"))
        .def("add_scores", &Vocabulary::add_scores, nb::arg("texts"), nb::arg("table"),
             nb::arg("start"))
        .def("to_arrays", &Vocabulary::to_arrays)
        .def_static("from_arrays", &Vocabulary::from_arrays, nb::arg("utf8"), nb::arg("lengths"),
                    nb::arg("ids") = nb::none(), nb::arg("sizes") = nb::none(),
                    nb::arg("options"));
    m.def("encode_together", &Vocabulary::encode_together, nb::arg("vocabularies"),
          nb::arg("texts"), nb::arg("presence"), nb::arg("grow"));
}

}  // namespace naively
