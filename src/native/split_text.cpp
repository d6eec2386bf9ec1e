// Splitter of kernels/splitting.py: text becomes the columns of a table, as Python's csv module has
// them, strictly.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "byte_runs.h"
#include "growing_array.h"

namespace naively {
namespace {

constexpr size_t LONGEST = size_t{1} << 26;  // bytes of a record
constexpr size_t SHORT = size_t{1} << 20;    // bytes of one that is read at once
constexpr int64_t MOST_LINES = 1 << 20;      // of a record
constexpr int64_t BROKEN = -1, LONG = -2;    // in place of the number of fields of a bad record
constexpr size_t AHEAD = 16;                 // bytes that tell what a character is
constexpr size_t MOST_BYTES = size_t{1} << 25;  // of the cells of a batch, about

// A character in UTF-8, or the beginning of a comment; empty if there is none.
class Mark {
  public:
    explicit Mark(nb::handle str)
        : bytes_(nb::cast<std::string>(str)),
          first_(empty() ? '\n' : static_cast<uint8_t>(bytes_[0])) {}

    size_t size() const { return bytes_.size(); }
    bool empty() const { return bytes_.empty(); }
    uint8_t first() const { return first_; }  // the end of a line if there is none
    bool is_at(const uint8_t* at, const uint8_t* end) const {
        return at < end && *at == first_ && size() != 0 && static_cast<size_t>(end - at) >= size() &&
               (size() == 1 || std::memcmp(at, bytes_.data(), size()) == 0);
    }

  private:
    std::string bytes_;
    uint8_t first_;
};

// The cells of a column, and the beginning of one that is being read.
struct Column {
    GrowingArray<uint8_t> bytes;
    std::vector<uint32_t> lengths;
    size_t whole = 0;  // bytes of the cells that have ended

    void append(const uint8_t* begin, size_t size) {
        std::memcpy(bytes.room_for(size), begin, size);
        bytes.grow_by(size);
    }
    void end_cell() {
        lengths.push_back(static_cast<uint32_t>(bytes.size() - whole));
        whole = bytes.size();
    }
    void trim_blanks() {
        size_t blanks = 0;
        while (whole + blanks < bytes.size() && bytes.data()[whole + blanks] == ' ') ++blanks;
        if (blanks == 0) return;
        uint8_t* const cell = bytes.data() + whole;
        std::memmove(cell, cell + blanks, bytes.size() - whole - blanks);
        bytes.shrink_to(bytes.size() - blanks);
    }
    void drop_cell() {
        whole -= lengths.back();
        lengths.pop_back();
    }
    void drop_beginning() { bytes.shrink_to(whole); }
};

struct Bad {
    int64_t line, fields;
    std::string text;
};

// What may come next.
enum class State { record, field, plain, quoted, closed, passed, bad };

class Splitter {
  public:
    Splitter(nb::handle dialect, bool header, int64_t width, const std::vector<int64_t>& kept,
             int64_t most, bool stops, bool ragged)
        : delimiter_(dialect.attr("delimiter")),
          quote_(dialect.attr("quote")),
          escape_(dialect.attr("escape")),
          comment_(dialect.attr("comment")),
          by_blanks_(delimiter_.is_at(&BLANK, &BLANK + 1)),
          blanks_(by_blanks_ || nb::cast<bool>(dialect.attr("blanks"))),
          spaced_(nb::cast<bool>(dialect.attr("spaced"))),
          letters_(nb::cast<bool>(dialect.attr("letters"))),
          row_names_(nb::cast<bool>(dialect.attr("row_names"))),
          skip_(nb::cast<int64_t>(dialect.attr("skip"))),
          above_(nb::cast<int64_t>(dialect.attr("above"))),
          below_(nb::cast<int64_t>(dialect.attr("below"))),
          most_(most),
          stops_(stops),
          ragged_(ragged),
          header_(header),
          keeps_first_(ragged || header || width == 0),
          width_(width),
          is_plain_(delimiter_.size() == 1 && !blanks_),
          ahead_(std::max(AHEAD, comment_.size())),
          marks_{'\n', '\r', uint8_t(by_blanks_ ? '\t' : '\n'), delimiter_.first(), quote_.first(),
                 escape_.first()},
          places_(width, NOWHERE),
          columns_(kept.size()) {
        for (size_t i = 0; i < kept.size(); ++i) places_.at(kept[i]) = static_cast<int64_t>(i);
    }

    bool split(const nb::bytes& more, bool last) {
        const nb::gil_scoped_release released;
        text_.erase(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(record_));
        at_ -= record_;
        record_ = 0;
        block_ = SIZE_MAX;
        const auto* begin = reinterpret_cast<const uint8_t*>(more.c_str());
        text_.insert(text_.end(), begin, begin + more.size());
        limit_ = last ? text_.size() : text_.size() - std::min(text_.size(), ahead_);
        while (!stopped_ && !full_) {
            if (at_ < limit_)
                step();
            else if (last && state_ != State::record)
                end_text();
            else
                break;
        }
        return full_;
    }

    nb::list take() {
        nb::list taken;
        for (Column& column : columns_) {
            const Result<int64_t> offsets("empty", column.lengths.size() + 1);
            int64_t* offset = offsets.data();
            *offset = 0;
            for (const uint32_t length : column.lengths) {
                offset[1] = offset[0] + length;
                ++offset;
            }
            taken.append(nb::make_tuple(offsets.object(), column.bytes.released()));
            column = Column();
        }
        ready_ = 0;
        size_ = 0;
        full_ = false;
        return taken;
    }

    nb::list take_bad() {
        nb::list taken;
        for (const Bad& bad : bad_)
            taken.append(nb::make_tuple(bad.line, bad.fields,
                                        nb::bytes(bad.text.data(), bad.text.size())));
        bad_.clear();
        return taken;
    }

    nb::list records() const {
        nb::list records;
        const uint8_t* cell = first_.bytes.data();
        size_t i = 0;
        for (const int64_t fields : records_) {
            nb::list record;
            for (int64_t field = 0; field < fields; ++field) {
                const uint32_t length = first_.lengths[i++];
                record.append(decoded(cell, length));
                cell += length;
            }
            records.append(record);
        }
        return records;
    }

    int64_t rows = 0, row_line = 0, comments = 0;

  private:
    static constexpr uint8_t BLANK = ' ';
    static constexpr int64_t NOWHERE = -1;

    const Mark delimiter_, quote_, escape_, comment_;
    const bool by_blanks_, blanks_, spaced_, letters_, row_names_;
    const int64_t skip_, above_, below_, most_;
    const bool stops_, ragged_, header_;
    const bool keeps_first_;  // whether the first record is kept as it is, and is in no column
    int64_t width_;
    const bool is_plain_;  // whether a delimiter is a byte, behind which a field begins
    const size_t ahead_;
    const std::array<uint8_t, 6> marks_;  // bytes that are looked at

    std::vector<uint8_t> text_;  // from the beginning of the record that is being read
    size_t record_ = 0, at_ = 0, limit_ = 0;
    size_t block_ = SIZE_MAX;  // the 64 bytes that were looked at last ...
    uint64_t marked_ = 0;      // ... and a bit for each: whether it is a mark
    std::vector<size_t> delimiters_;  // of a record
    State state_ = State::record;
    int64_t line_ = 1, lines_ = 0, fields_ = 0;  // where the record begins; how many it has
    bool begun_ = false;  // whether the first record has been read; all that is above it is empty
    bool ends_empty_ = false;
    Column* cells_ = nullptr;  // that the field is one of; null if it is not kept
    size_t length_ = 0;        // of the field so far

    std::vector<int64_t> places_;  // of each field among the columns
    std::vector<Column> columns_;
    Column first_;                  // the fields of the first record, or of all
    std::vector<int64_t> records_;  // how many fields each of these has
    std::vector<Bad> bad_;
    int64_t ready_ = 0;
    size_t size_ = 0;  // of the cells that are ready, in bytes
    bool full_ = false, stopped_ = false;

    static nb::object decoded(const uint8_t* begin, size_t size) {
        PyObject* const str = PyUnicode_DecodeUTF8(reinterpret_cast<const char*>(begin),
                                                   static_cast<Py_ssize_t>(size), "replace");
        if (str == nullptr) throw nb::python_error();
        return nb::steal(str);
    }

    bool is_first() const { return !begun_ && keeps_first_; }
    bool is(const Mark& mark, size_t at) const {
        return mark.is_at(text_.data() + at, text_.data() + text_.size());
    }
    bool is_end(size_t at) const { return text_[at] == '\n' || text_[at] == '\r'; }
    bool is_blank(size_t at) const {
        return text_[at] == ' ' || (by_blanks_ && text_[at] == '\t');
    }
    bool is_delimiter(size_t at) const { return by_blanks_ ? is_blank(at) : is(delimiter_, at); }
    size_t past_end(size_t at) const {
        const bool is_pair = text_[at] == '\r' && at + 1 < text_.size() && text_[at + 1] == '\n';
        return at + 1 + is_pair;
    }

    void step() {
        switch (state_) {
            case State::record: return begin_record();
            case State::field: return begin_field();
            case State::plain: return read_plain();
            case State::quoted: return read_quoted();
            case State::closed: return after_quote();
            case State::passed:
            case State::bad: return pass_line();
        }
    }

    void end_text() {
        switch (state_) {
            case State::quoted: return break_record();
            case State::passed:
            case State::bad: return end_passed();
            case State::field:
                if (fields_ > 0 && !by_blanks_) end_field();
                break;
            default: end_field();
        }
        ++lines_;
        end_record();
    }

    void begin_record() {
        lines_ = fields_ = 0;
        if (below_ != 0 && line_ >= below_) {
            state_ = State::bad;
            return;
        }
        const bool is_header = above_ != 0 && line_ == above_ + 1;
        const bool is_comment = line_ > skip_ && is(comment_, at_) && !is_header;
        comments += is_comment;
        if (is_comment || line_ <= skip_) {
            state_ = State::passed;
        } else {
            start_field();
            if (is_plain_) read_plain_record();
        }
    }

    // Reads a record at once, unless it is empty, or has quotes or escapes, or its end has not come.
    void read_plain_record() {
        delimiters_.clear();
        size_t end = at_;
        while (end - at_ < SHORT && (end = next_mark(end)) < limit_ && text_[end] == delimiter_.first())
            delimiters_.push_back(end++);
        if (end == at_ || end >= limit_ || !is_end(end)) return;
        for (const size_t delimiter : delimiters_) {
            add_up_to(delimiter);
            past_delimiter();
        }
        add_up_to(end);
        end_field();
        end_line();
    }

    void start_field() {
        length_ = 0;
        if (is_first())
            cells_ = &first_;
        else if (fields_ < width_ && places_[fields_] != NOWHERE)
            cells_ = &columns_[places_[fields_]];
        else
            cells_ = nullptr;
        state_ = State::field;
    }

    void begin_field() {
        while (blanks_ && at_ < limit_ && is_blank(at_)) ++at_;
        if (is_too_long() || at_ == limit_) return;
        if (is_end(at_)) {
            if (fields_ > 0 && !by_blanks_) end_field();
            end_line();
        } else if (is(quote_, at_)) {
            at_ += quote_.size();
            state_ = State::quoted;
        } else {
            state_ = State::plain;
        }
    }

    void read_plain() {
        while (at_ < limit_) {
            add_up_to(next_mark(at_));
            if (is_too_long() || at_ == limit_) return;
            if (is_end(at_)) {
                end_field();
                return end_line();
            }
            if (is_delimiter(at_)) return past_delimiter();
            if (!is(escape_, at_))
                add(at_++, 1);  // of another character that begins like a mark
            else if (!is_nothing() && !read_escaped())
                return break_record();
        }
    }

    void read_quoted() {
        while (at_ < limit_) {
            add_up_to(next_mark(at_));
            if (is_too_long() || at_ == limit_) return;
            if (is_end(at_)) {
                if (by_blanks_) return break_record();
                const size_t from = at_;
                at_ = past_end(at_);
                ++lines_;
                add(from, at_ - from);
            } else if (is(escape_, at_)) {
                if (!read_escaped()) return break_record();
            } else if (is(quote_, at_)) {
                at_ += quote_.size();
                if (!is(quote_, at_)) {
                    state_ = State::closed;
                    return;
                }
                add(at_, quote_.size());
                at_ += quote_.size();
            } else {
                add(at_++, 1);
            }
        }
    }

    void after_quote() {
        if (is_end(at_)) {
            end_field();
            end_line();
        } else if (is_delimiter(at_)) {
            past_delimiter();
        } else {
            break_record();
        }
    }

    void past_delimiter() {
        end_field();
        at_ += by_blanks_ ? 1 : delimiter_.size();
        start_field();
    }

    // Reads what stands behind an escape: a mark or the end of a line is part of its field, and
    // before another character the escape is one too. False if nothing stands there.
    bool read_escaped() {
        static constexpr char LETTERS[] = "tnrbvfZ", MEANT[] = "\t\n\r\b\v\f\x1a";
        const size_t escape = at_;
        at_ += escape_.size();
        if (at_ == text_.size()) return false;
        if (is_end(at_)) {
            at_ = past_end(at_);
            ++lines_;
            add(at_ - 1, 1);
            return true;
        }
        const char* const letter =
            letters_ && text_[at_] != 0 ? std::strchr(LETTERS, text_[at_]) : nullptr;
        if (letter != nullptr) {
            add(reinterpret_cast<const uint8_t*>(MEANT) + (letter - LETTERS), 1);
            ++at_;
            return true;
        }
        for (const Mark* mark : {&quote_, &escape_, &delimiter_}) {
            if (!is(*mark, at_)) continue;
            add(at_, mark->size());
            at_ += mark->size();
            return true;
        }
        if (!quote_.empty()) add(escape, escape_.size());
        add(at_++, 1);
        return true;
    }

    // Whether a field is \N, which is missing in dumps of databases; it is passed over.
    bool is_nothing() {
        const size_t letter = at_ + escape_.size(), behind = letter + 1;
        if (!letters_ || length_ > 0 || letter >= text_.size() || text_[letter] != 'N') return false;
        if (behind < text_.size() && !is_end(behind) && !is_delimiter(behind)) return false;
        at_ = behind;
        return true;
    }

    // Where the next byte stands that may be a mark; limit_ if there is none.
    size_t next_mark(size_t at) {
        for (uint64_t left = 0; left == 0 && at < limit_;) {
            if (at / 64 != block_) mark_block(at / 64);
            left = marked_ >> at % 64;
            at += left == 0 ? 64 - at % 64 : static_cast<size_t>(__builtin_ctzll(left));
        }
        return std::min(at, limit_);
    }
    void add_up_to(size_t end) {
        add(at_, end - at_);
        at_ = end;
    }
    void mark_block(size_t block) {
        std::array<uint8_t, 64> bytes{};
        std::memcpy(bytes.data(), &text_[64 * block], std::min<size_t>(64, text_.size() - 64 * block));
        const auto mark = [&](const ByteBlock& x) {
            ByteBlock found{};
            for (const uint8_t each : marks_) found |= bytes_equal(x, each);
            return found;
        };
        block_ = block;
        marked_ = bits_of(bytes.data(), mark);
    }
    void add(size_t from, size_t size) { add(text_.data() + from, size); }
    void add(const uint8_t* begin, size_t size) {
        if (cells_ != nullptr) cells_->append(begin, size);
        length_ += size;
    }

    void end_field() {
        ++fields_;
        ends_empty_ = length_ == 0;
        if (cells_ == nullptr) return;
        if (spaced_ && !is_first()) cells_->trim_blanks();
        cells_->end_cell();
        size_ += length_;
    }

    void end_line() {
        at_ = past_end(at_);
        ++lines_;
        end_record();
    }

    void end_record() {
        if (ragged_) {
            if (fields_ > 0) records_.push_back(fields_);
        } else if (fields_ > 0 && is_first()) {
            end_first();
        } else if (fields_ > 0 || (begun_ && width_ == 1)) {
            if (fields_ == 0) end_field();  // an empty line, in a table of one column
            begun_ = true;
            end_row();
        }
        next_record();
    }

    void end_first() {
        begun_ = true;
        records_.push_back(fields_);
        if (width_ == 0) {
            width_ = fields_ + row_names_;
            places_.assign(static_cast<size_t>(width_), NOWHERE);
        }
        if (!header_) count_row();
    }

    void end_row() {
        if (fields_ == width_ || (fields_ == width_ + 1 && ends_empty_)) return count_row();
        undo();
        note(fields_);
    }

    void count_row() {
        ++rows;
        ++ready_;
        row_line = line_;
        full_ = ready_ >= most_ || size_ >= MOST_BYTES;
    }

    void next_record() {
        line_ += lines_;
        record_ = at_;
        state_ = State::record;
    }

    // Passes over the rest of a comment, or of the first line of a record whose quotes are broken.
    void pass_line() {
        while (at_ < limit_ && !is_end(at_)) ++at_;
        if (is_too_long() || at_ == limit_) return;
        at_ = past_end(at_);
        end_passed();
    }
    void end_passed() {
        lines_ = 1;
        if (state_ == State::bad) note(BROKEN);
        next_record();
    }

    void break_record() {
        undo();
        at_ = record_;
        lines_ = 0;
        state_ = State::bad;
    }

    bool is_too_long() {
        if (at_ - record_ <= LONGEST && lines_ <= MOST_LINES) return false;
        if (lines_ > 0) {
            break_record();
        } else {
            if (state_ != State::passed && state_ != State::bad) undo();
            note(LONG);
            stopped_ = true;
        }
        return true;
    }

    void note(int64_t fields) {
        const auto* begin = reinterpret_cast<const char*>(text_.data());
        bad_.push_back({line_, fields, std::string(begin + record_, at_ - record_)});
        stopped_ |= stops_ || is_first();
    }

    // Takes the cells of the record back.
    void undo() {
        if (cells_ != nullptr) cells_->drop_beginning();
        for (int64_t field = 0; field < fields_; ++field) {
            Column* cells = &first_;
            if (!is_first()) {
                if (field >= width_ || places_[field] == NOWHERE) continue;
                cells = &columns_[places_[field]];
            }
            size_ -= cells->lengths.back();
            cells->drop_cell();
            cells->drop_beginning();
        }
    }
};

}  // namespace

void bind_split_text(nb::module_& m) {
    nb::class_<Splitter>(m, "Splitter")
        .def(nb::init<nb::handle, bool, int64_t, const std::vector<int64_t>&, int64_t, bool, bool>(),
             nb::arg("dialect"), nb::kw_only(), nb::arg("header") = true, nb::arg("width") = 0,
             nb::arg("kept") = nb::tuple(), nb::arg("most") = INT64_MAX, nb::arg("stops") = false,
             nb::arg("ragged") = false)
        .def("split", &Splitter::split, nb::arg("text"), nb::arg("last"))
        .def("take", &Splitter::take)
        .def("take_bad", &Splitter::take_bad)
        .def("records", &Splitter::records)
        .def_ro("rows", &Splitter::rows)
        .def_ro("row_line", &Splitter::row_line)
        .def_ro("comments", &Splitter::comments);
}

}  // namespace naively
