// encode_together of kernels/vocabulary.py: the tokens of texts by several vocabularies, in one pass
// over the characters. It needs no GIL.
//
// No word, and no n-gram within a word, reaches over white space. So a text is divided at white
// space into chunks, each of which is split only where it is seen first: its tokens are kept, and
// the next time it is looked up whole. A long one will hardly come again, and is split where it is: in
// scripts without spaces a chunk is a clause, or the text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "byte_runs.h"
#include "growing_array.h"
#include "seen_tokens.h"
#include "text.h"
#include "text_source.h"
#include "token_table.h"
#include "tokens.h"
#include "word_table.h"

namespace naively {

// The tokens of each text, as the arrays of a CSR matrix; where each counts once in a text, there
// is no data.
struct EncodedTexts {
    std::vector<int64_t> indptr{0};
    GrowingArray<int32_t> indices;
    GrowingArray<double> data;
};

// One vocabulary, and what is asked of it. A const table knows its tokens, another adds new ones.
template <class Table>
struct Asked {
    Table* table;
    bool presence;  // whether a token counts once in a text
    size_t size;    // a token of this number or a higher one is not known
};

// Whether the tokens of a text are those of its chunks, or n-grams of the words of its chunks.
inline bool splits_by_chunk(const TokenTable& table) {
    const Unit unit = table.splitting().unit;
    return unit == Unit::characters_within_words || (unit == Unit::words && !table.hashed());
}

namespace together_detail {

// Sets bit 7 of each byte that is not white space of ASCII.
template <class Block>
Block mark_chunk_bytes(const Block& x) {
    return ~(bytes_between(x, '\t', '\r') | bytes_between(x, 0x1C, ' '));
}

// The chunks that were seen, and for each vocabulary the tokens (or the words) of each chunk.
class ChunkTable {
  public:
    explicit ChunkTable(size_t vocabularies)
        : stride_(2 * vocabularies + 1), tokens_(vocabularies) {}

    uint64_t hash_of(const Word& chunk) const { return chunks_.hash_of(chunk); }
    void prefetch(uint64_t hash) const { chunks_.prefetch(hash); }
    void prefetch_entry(uint64_t hash) const { chunks_.prefetch_entry(hash); }

    uint32_t find_or_add(const Word& chunk, uint64_t hash) {
        const uint32_t number = chunks_.find_or_add(chunk, hash);
        if (records_.size() < (number + 1) * stride_)
            records_.resize((number + 1) * stride_, NOTHING);
        else
            __builtin_prefetch(&records_[number * stride_]);
        return number;
    }

    // Whether a chunk is seen for the first time in this text.
    bool first_in(uint32_t chunk, uint32_t text) {
        uint32_t& last = records_[chunk * stride_];
        const bool first = last != text;
        last = text;
        return first;
    }

    // Whether the tokens of a chunk are known, and to make them so by split(tokens), which appends.
    bool is_split(size_t vocabulary, uint32_t chunk) const {
        return place(vocabulary, chunk)[0] != NOTHING;
    }
    template <class Split>
    void split(size_t vocabulary, uint32_t chunk, Split&& split) {
        GrowingArray<uint32_t>& tokens = tokens_[vocabulary];
        const size_t before = tokens.size();
        split(tokens);
        uint32_t* at = &records_[chunk * stride_ + 1 + 2 * vocabulary];
        at[0] = static_cast<uint32_t>(before);
        at[1] = static_cast<uint32_t>(tokens.size());
    }

    void prefetch_tokens(size_t vocabulary, uint32_t chunk) const {
        __builtin_prefetch(begin(vocabulary, chunk));
    }
    const uint32_t* begin(size_t vocabulary, uint32_t chunk) const {
        return tokens_[vocabulary].data() + place(vocabulary, chunk)[0];
    }
    const uint32_t* end(size_t vocabulary, uint32_t chunk) const {
        return tokens_[vocabulary].data() + place(vocabulary, chunk)[1];
    }

    // Whether so much is kept that it should be forgotten.
    bool is_full() const {
        constexpr size_t most = size_t{1} << 24;
        size_t kept = records_.size();
        for (const auto& tokens : tokens_) kept += tokens.size();
        return kept > most;
    }

  private:
    static constexpr uint32_t NOTHING = UINT32_MAX;
    WordTable chunks_;
    // Of each chunk the text that it was in, and of each vocabulary where its tokens begin and end.
    size_t stride_;
    LargeVector<uint32_t> records_;
    std::vector<GrowingArray<uint32_t>> tokens_;

    const uint32_t* place(size_t vocabulary, uint32_t chunk) const {
        return &records_[chunk * stride_ + 1 + 2 * vocabulary];
    }
};

}  // namespace together_detail

// Encodes texts one after the other, for all vocabularies that are asked.
template <class Table>
class TogetherEncoder {
  public:
    // `characters` says about how long all texts are together.
    TogetherEncoder(const std::vector<Asked<Table>>& asked, size_t characters)
        : asked_(asked), encoded_(asked.size()) {
        for (const Asked<Table>& each : asked) {
            const TokenTable& table = *each.table;
            State& state = states_.emplace_back(SeenTokens(characters, table.size()));
            // To look up a chunk, and then its words, is no gain where words are all there is.
            state.by_chunk = splits_by_chunk(table) &&
                             (asked.size() > 1 || table.splitting().unit != Unit::words);
            state.in_sequence = table.splitting().unit == Unit::words && !table.words_are_tokens();
            any_by_chunk_ |= state.by_chunk;
        }
    }

    void encode(const Text& text) {
        ++text_;
        for (size_t i = 0; i < asked_.size(); ++i) {
            states_[i].seen.next_text();
            states_[i].places.next_text();
            states_[i].begin = encoded_[i].indices.size();
            states_[i].found.shrink_to(0);
            states_[i].words.clear();
            states_[i].length = text.first(asked_[i].table->splitting().most).length;
        }
        if (any_by_chunk_ && text.words == nullptr) divide(text);
        for (size_t i = 0; i < asked_.size(); ++i) {
            State& state = states_[i];
            const auto find = appending(i, state.found);
            if (!state.by_chunk || text.words != nullptr)
                visit_tokens(*asked_[i].table, text, buffers_, find);
            else if (state.in_sequence)
                tokens_detail::visit_ngrams_of(*asked_[i].table, state.words, buffers_, find);
            end_row(i);
        }
    }

    std::vector<EncodedTexts>& encoded() { return encoded_; }

  private:
    struct State {
        explicit State(SeenTokens&& tokens) : seen(std::move(tokens)) {}
        bool by_chunk = false, in_sequence = false;
        SeenTokens seen;              // where a token counts once
        TokenPlaces places;           // where each time counts
        size_t begin = 0;             // of the text, among the indices
        size_t length = 0;            // of what is read of the text
        GrowingArray<uint32_t> found;  // in a text, and not yet written
        std::vector<uint32_t> words;   // of a text, where n-grams of them are asked for
        // Of chunks that are not kept, from when they are split, in order, until they are used.
        GrowingArray<uint32_t> waiting;
        std::vector<size_t> ends;
        size_t used = 0;
    };

    struct Chunk {
        Word word;
        uint64_t hash;
        const uint8_t* bytes;
        size_t begin, length;
        uint32_t number;

        bool is_long() const { return length > 48; }
    };

    std::vector<Asked<Table>> asked_;
    std::vector<EncodedTexts> encoded_;
    std::vector<State> states_;
    bool any_by_chunk_ = false;
    uint32_t text_ = 0;
    TokenBuffers buffers_;
    std::unique_ptr<together_detail::ChunkTable> chunks_;
    std::vector<Chunk> chunks_of_text_;

    void add(size_t i, const uint32_t* begin, const uint32_t* end) {
        State& state = states_[i];
        GrowingArray<int32_t>& indices = encoded_[i].indices;
        int32_t* const out = indices.room_for(static_cast<size_t>(end - begin));
        if (asked_[i].presence)
            return indices.grow_by(state.seen.write_new(begin, end, asked_[i].table->size(), out));
        GrowingArray<double>& data = encoded_[i].data;
        for (; begin < end; ++begin) {
            const size_t next = indices.size() - state.begin;
            const size_t place = state.places.place(*begin, static_cast<uint32_t>(next));
            if (place == next) {
                indices.push_back(static_cast<int32_t>(*begin));
                data.push_back(0.0);
            }
            data.data()[state.begin + place] += 1.0;
        }
    }

    void end_row(size_t i) {
        EncodedTexts& encoded = encoded_[i];
        const GrowingArray<uint32_t>& found = states_[i].found;
        add(i, found.data(), found.data() + found.size());
        encoded.indptr.push_back(static_cast<int64_t>(encoded.indices.size()));
    }

    void divide(const Text& text) {
        if (chunks_ == nullptr || chunks_->is_full())
            chunks_ = std::make_unique<together_detail::ChunkTable>(asked_.size());
        together_detail::ChunkTable& table = *chunks_;
        const size_t n = text.length;
        chunks_of_text_.clear();
        visit_runs(text.utf8, n, together_detail::mark_chunk_bytes<ByteBlock>, [&](size_t begin, size_t end) {
            const uint8_t* const bytes = text.utf8 + begin;
            const size_t length = end - begin;
            const Word word = length > Word::HELD        ? Word::pointed_at(bytes, length)
                              : n - begin >= Word::HELD ? Word::held(bytes, length)
                                                         : Word::of({bytes, length});
            chunks_of_text_.push_back({word, 0, bytes, begin, length, 0});
            Chunk& chunk = chunks_of_text_.back();
            if (chunk.is_long()) return;
            chunk.hash = table.hash_of(word);
            table.prefetch(chunk.hash);
        });
        // What is looked for is fetched some chunks ahead, as memory is slow to answer.
        constexpr size_t AHEAD = 8;
        const size_t m = chunks_of_text_.size();
        for (size_t i = 0; i < m + 3 * AHEAD; ++i) {
            if (i < m && !chunks_of_text_[i].is_long())
                table.prefetch_entry(chunks_of_text_[i].hash);
            if (i >= AHEAD && i - AHEAD < m) {
                Chunk& chunk = chunks_of_text_[i - AHEAD];
                if (!chunk.is_long()) chunk.number = table.find_or_add(chunk.word, chunk.hash);
            }
            if (i >= 2 * AHEAD && i - 2 * AHEAD < m)
                split_new(table, text, chunks_of_text_[i - 2 * AHEAD]);
            if (i >= 3 * AHEAD) use(table, chunks_of_text_[i - 3 * AHEAD]);
        }
    }

    // Splits a chunk that was never asked for, or is not kept.
    void split_new(together_detail::ChunkTable& table, const Text& text, const Chunk& chunk) {
        for (size_t i = 0; i < asked_.size(); ++i) {
            State& state = states_[i];
            const size_t length = length_for(i, chunk);
            if (!state.by_chunk || length == 0) continue;
            if (!is_kept(chunk, length)) {
                split(i, alone(text, chunk, length), state.waiting);
                state.ends.push_back(state.waiting.size());
            } else if (table.is_split(i, chunk.number)) {
                table.prefetch_tokens(i, chunk.number);
            } else {
                table.split(i, chunk.number, [&](GrowingArray<uint32_t>& tokens) {
                    split(i, alone(text, chunk, length), tokens);
                });
            }
        }
    }

    // How many bytes of a chunk are read for a vocabulary.
    size_t length_for(size_t i, const Chunk& chunk) const {
        const size_t most = states_[i].length;
        return chunk.begin >= most ? 0 : std::min(chunk.length, most - chunk.begin);
    }
    static bool is_kept(const Chunk& chunk, size_t length) {
        return !chunk.is_long() && length == chunk.length;
    }

    static Text alone(const Text& text, const Chunk& chunk, size_t length) {
        return {chunk.bytes, length, text.ascii, nullptr, false};
    }

    void use(together_detail::ChunkTable& table, const Chunk& chunk) {
        const bool first = !chunk.is_long() && table.first_in(chunk.number, text_);
        for (size_t i = 0; i < asked_.size(); ++i) {
            State& state = states_[i];
            const size_t length = length_for(i, chunk);
            if (!state.by_chunk || length == 0) continue;
            if (is_kept(chunk, length)) {
                add_all(i, table.begin(i, chunk.number), table.end(i, chunk.number), first);
                continue;
            }
            const uint32_t* const waiting = state.waiting.data();
            const size_t begin = state.used == 0 ? 0 : state.ends[state.used - 1];
            add_all(i, waiting + begin, waiting + state.ends[state.used++], true);
            if (state.used < state.ends.size()) continue;
            state.waiting.shrink_to(0);
            state.ends.clear();
            state.used = 0;
        }
    }

    void add_all(size_t i, const uint32_t* begin, const uint32_t* end, bool first) {
        State& state = states_[i];
        if (state.in_sequence)
            state.words.insert(state.words.end(), begin, end);
        else if (first || !asked_[i].presence)
            add(i, begin, end);
    }

    // What appends a token, if it is known.
    auto appending(size_t i, GrowingArray<uint32_t>& tokens) const {
        const size_t size = asked_[i].size;
        return [=, &tokens](uint32_t token) { if (token < size) tokens.push_back(token); };
    }

    // Appends the tokens of a chunk; for a vocabulary of n-grams of words, its words.
    void split(size_t i, const Text& chunk, GrowingArray<uint32_t>& tokens) {
        const auto find = appending(i, tokens);
        if (!states_[i].in_sequence) return visit_tokens(*asked_[i].table, chunk, buffers_, find);
        tokens_detail::visit_word_ids(*asked_[i].table, chunk, buffers_,
                                      [&](uint32_t id) { tokens.push_back(id); });
    }
};

}  // namespace naively
