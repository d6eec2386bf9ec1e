// read_forms of kernels/forms.py: what each cell of a column of strings may be.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bindings.h"
#include "civil.h"
#include "digits.h"
#include "iso_time.h"
#include "strings.h"
#include "threads.h"

namespace naively {
namespace {

// In the order of the class Form of kernels/forms.py, which says what they are.
#define NAIVELY_FORMS(X) \
    X(EMPTY) X(MARK) X(WORD) X(LIST) X(TRUTH) X(PLAIN) X(NAME) X(EIGHT) X(POINT) \
    X(GROUPED_POINT) X(COMMA) X(GROUPED) X(EITHER_POINT) X(EITHER_COMMA) X(YMD) X(DOTTED) \
    X(DAY_FIRST) X(MONTH_FIRST) X(EITHER_DAY) X(SAME_DAY) X(FIRST_DAY) X(FIRST_MONTH) X(WRITTEN) \
    X(WRITTEN_MONTH) X(YEAR_MONTH) X(SEASON) X(MONTH_YEAR) X(CLOCK) X(SPAN)

#define NAIVELY_NAME(form) form,
#define NAIVELY_TEXT(form) #form,
enum Form : uint8_t { NAIVELY_FORMS(NAIVELY_NAME) };
constexpr const char* FORM_NAMES[] = {NAIVELY_FORMS(NAIVELY_TEXT)};
#undef NAIVELY_NAME
#undef NAIVELY_TEXT

using Character = char32_t;
using Name = std::u32string;
using View = std::u32string_view;

constexpr int LONGEST = 60, FEW_AFFIXES = 32, MANY_AFFIXES = FEW_AFFIXES + 1;
constexpr int64_t DAY = 86'400'000'000, MINUTE = 60'000'000;
constexpr int64_t NOT_A_NUMBER = 0x7FF8000000000000;

int64_t bits_of(double value) {
    int64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

// The words and ranges of characters of kernels/forms.py, which holds them alone.
struct Tables {
    std::set<Name, std::less<>> glued;
    std::array<std::vector<Name>, 128> currencies;  // by their first character, or in place 0
    std::map<Name, int, std::less<>> months;
    std::set<Name, std::less<>> named_days;
    std::vector<uint32_t> digits_from;
    std::vector<std::pair<uint32_t, uint32_t>> letters;
    std::unordered_map<Character, Character> plain;
    std::array<std::vector<Name>, 128> marks;  // by their first character, or in place 0

    static size_t place_of(Character first) { return first < 128 ? first : 0; }

    static Name name_of(nb::handle text) {
        Name name;
        for (nb::handle character : nb::list(text))
            name += static_cast<Character>(
                nb::cast<uint32_t>(nb::module_::import_("builtins").attr("ord")(character)));
        return name;
    }

    Tables() {
        const nb::object forms = nb::module_::import_("naively.kernels.forms");
        for (nb::handle mark : nb::object(forms.attr("MARKS"))) {
            const Name name = name_of(mark);
            marks[place_of(name[0])].push_back(name);
        }
        for (nb::handle unit : nb::object(forms.attr("GLUED"))) glued.insert(name_of(unit));
        for (nb::handle of : nb::object(forms.attr("CURRENCIES"))) {
            const Name name = name_of(of);
            currencies[place_of(name[0])].push_back(name);
        }
        for (nb::handle item : nb::object(forms.attr("MONTHS").attr("items")()))
            months[name_of(item[0])] = nb::cast<int>(item[1]);
        for (nb::handle day : nb::object(forms.attr("NAMED_DAYS"))) named_days.insert(name_of(day));
        for (nb::handle start : nb::object(forms.attr("DIGITS_FROM")))
            digits_from.push_back(nb::cast<uint32_t>(start));
        for (nb::handle range : nb::object(forms.attr("LETTERS")))
            letters.emplace_back(nb::cast<uint32_t>(range[0]), nb::cast<uint32_t>(range[1]));
        for (nb::handle item : nb::object(forms.attr("PLAIN_OF").attr("items")()))
            plain[name_of(item[0])[0]] = name_of(item[1])[0];
    }

    // Whether a cell, in lower case, is a mark of missing.
    bool is_mark(View text) const {
        const std::vector<Name>& some = marks[place_of(text[0])];
        return std::any_of(some.begin(), some.end(), [&](const Name& of) { return of == text; });
    }

    static const Tables& instance() {
        static const Tables* const tables = new Tables();  // for as long as the program runs
        return *tables;
    }

    bool is_letter(Character c) const {
        if (c < 0x80) return ('a' <= (c | 0x20) && (c | 0x20) <= 'z');
        for (const auto& [first, last] : letters)
            if (first <= c && c <= last) return true;
        return false;
    }
};

bool is_blank(Character c) {
    if (c < 0x80) return (9 <= c && c <= 13) || (28 <= c && c <= 32);
    return c == 0x85 || c == 0xA0 || c == 0x1680 || (0x2000 <= c && c <= 0x200A) || c == 0x2028 ||
           c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_trimmed(Character c) {
    return is_blank(c) || (0x200B <= c && c <= 0x200F) || (0x202A <= c && c <= 0x202E) ||
           (0x2060 <= c && c <= 0x2069) || c == 0x61C || c == 0xFEFF;
}

bool is_figure(Character c) { return '0' <= c && c <= '9'; }

Character lower(Character c) {
    if (('A' <= c && c <= 'Z') || (0xC0 <= c && c <= 0xDE && c != 0xD7)) return c + 32;
    return c;
}

// A short text in lower case; of a longer one the beginning.
class Lower {
  public:
    explicit Lower(View text) : size_(std::min(text.size(), MOST)) {
        for (size_t i = 0; i < size_; ++i) characters_[i] = lower(text[i]);
    }
    operator View() const { return View(characters_, size_); }
    bool operator==(View other) const { return View(*this) == other; }

  private:
    static constexpr size_t MOST = 64;
    Character characters_[MOST];
    size_t size_;
};

template <size_t N>
bool is_one_of(Character c, const char32_t (&some)[N]) {
    for (size_t i = 0; i + 1 < N; ++i)
        if (c == some[i]) return true;
    return false;
}

bool is_ascii(View text) {
    return std::all_of(text.begin(), text.end(), [](Character c) { return c < 0x80; });
}

// How 1,234, 03/04/2024 and 20240131 are read.
struct Reading {
    bool comma, day_first, dates;
};

struct Cell {
    Form form = WORD;
    int64_t value = NOT_A_NUMBER;
    uint8_t affix = 0;

    static Cell number(Form form, double value, uint8_t affix = 0) {
        return {form, bits_of(value), affix};
    }
    static Cell time(Form form, int64_t moment) { return {form, moment, 0}; }
    explicit operator bool() const { return form != WORD; }
};

// What stands beside digits: a currency, a unit, another currency, and signs before and after.
using Affix = std::array<View, 5>;

// What stood around the digits of a cell, and what it meant.
struct Notation {
    std::string before, after;
    bool marked;  // whether the digits had a mark in them
    uint8_t affix;
    bool negative;
};

// The affixes that a part of the rows has, in order of first sight.
class Affixes {
  public:
    std::vector<Name> names;

    const Notation* notation(Bytes before, Bytes after, bool marked) const {
        for (const Notation& of : notations_)
            if (of.marked == marked && is_same(of.before, before) && is_same(of.after, after)) return &of;
        return nullptr;
    }

    void learn(Bytes before, Bytes after, bool marked, uint8_t affix, bool negative) {
        constexpr size_t MOST = 8;
        if (notations_.size() < MOST)
            notations_.push_back({text_of(before), text_of(after), marked, affix, negative});
    }

    uint8_t code(const Affix& affix) {
        for (size_t i = 0; i < names.size(); ++i)
            if (is(names[i], affix)) return static_cast<uint8_t>(i + 1);
        Name name;
        for (size_t i = 0; i < affix.size(); ++i) {
            if (1 <= i && i <= 3) name += U'|';
            name += affix[i];
        }
        return code(name);
    }

    uint8_t code(const Name& name) {
        for (size_t i = 0; i < names.size(); ++i)
            if (names[i] == name) return static_cast<uint8_t>(i + 1);
        if (names.size() == FEW_AFFIXES) return MANY_AFFIXES;
        names.push_back(name);
        return static_cast<uint8_t>(names.size());
    }

  private:
    std::vector<Notation> notations_;

    static bool is_same(const std::string& a, Bytes b) {
        return a.size() == b.length && std::memcmp(a.data(), b.begin, b.length) == 0;
    }

    static std::string text_of(Bytes of) {
        return std::string(reinterpret_cast<const char*>(of.begin), of.length);
    }

    static bool is(View name, const Affix& affix) {
        size_t at = 0;
        for (size_t i = 0; i < affix.size(); ++i) {
            if (1 <= i && i <= 3) {
                if (at == name.size() || name[at] != U'|') return false;
                ++at;
            }
            if (name.substr(at, affix[i].size()) != affix[i]) return false;
            at += affix[i].size();
        }
        return at == name.size();
    }
};

int64_t year_of(int64_t year, int digits) {
    if (digits == 4) return year;
    return year < 69 ? 2000 + year : 1900 + year;
}

// Microseconds since 1970; NAT if there is no such day.
int64_t moment_of(int64_t year, int64_t month, int64_t day, int64_t of_day = 0) {
    if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1 ||
        day > days_of_month(year, month))
        return NAT;
    return DAY * days_since_1970(year, month, day) + of_day;
}

// A date of two numbers and a year, whose order the numbers may tell.
Cell day_of(Character separator, int64_t day, int64_t month, int64_t year, int64_t of_day,
            Reading reading) {
    const int64_t dmy = moment_of(year, month, day, of_day);
    if (separator == '.') return dmy == NAT ? Cell{} : Cell::time(DOTTED, dmy);
    const int64_t mdy = moment_of(year, day, month, of_day);
    if (dmy == NAT || mdy == NAT) {
        if (dmy != NAT) return Cell::time(DAY_FIRST, dmy);
        return mdy == NAT ? Cell{} : Cell::time(MONTH_FIRST, mdy);
    }
    Form form = EITHER_DAY;
    if (day == month)
        form = SAME_DAY;
    else if (day == 1 || month == 1)
        form = day == 1 ? FIRST_DAY : FIRST_MONTH;
    return Cell::time(form, reading.day_first ? dmy : mdy);
}

int64_t time_of_day(int64_t hour, int64_t minute, int64_t second, int64_t microsecond = 0) {
    if (hour > 23 || minute > 59 || second > 60) return NAT;
    return 1'000'000 * (60 * (60 * hour + minute) + std::min<int64_t>(second, 59)) + microsecond;
}

// Digits before and after the mark, and an exponent, as the nearest float; what stands between
// groups of digits is left out.
double value_of(bool negative, View whole, View fraction, View exponent) {
    Digits digits;
    for (const View some : {whole, fraction})
        for (const Character c : some) {
            if (!is_figure(c)) continue;
            digits.value = 10 * digits.value + (c - '0');
            digits.count += digits.value != 0 || digits.count != 0;
        }
    int64_t shift = -static_cast<int64_t>(fraction.size()), of = 0;
    bool down = false;
    for (size_t i = 1; i < exponent.size(); ++i) {
        if (is_figure(exponent[i]) && of < 1000) of = 10 * of + (exponent[i] - '0');
        down |= exponent[i] == '-';
    }
    shift += down ? -of : of;
    uint8_t text[160];  // read only if digits and shift are too large to be multiplied
    size_t n = 0;
    text[n++] = '0';
    for (const Character c : whole)
        if (is_figure(c)) text[n++] = static_cast<uint8_t>(c);
    text[n++] = '.';
    text[n++] = '0';
    if (!fraction.empty()) --n;
    for (const Character c : fraction) text[n++] = static_cast<uint8_t>(c);
    for (const Character c : exponent)
        if (c != '+') text[n++] = static_cast<uint8_t>(c);  // which from_chars does not read
    const double value = scaled(digits, shift, text, text + n);
    return negative ? -value : value;
}

bool is_ordinal(View text) {
    const Lower name(text);
    return name == U"st" || name == U"nd" || name == U"rd" || name == U"th" || name == U"er";
}

int64_t compact_date(View digits) {
    const size_t n = digits.size();
    if (n != 8 && n != 14) return NAT;
    const auto number = [&](size_t first, size_t count) {
        int64_t value = 0;
        for (size_t i = first; i < first + count && i < n; ++i)
            value = 10 * value + (digits[i] - '0');
        return value;
    };
    const int64_t year = number(0, 4);
    if (year < 1900 || year > 2099) return NAT;
    const int64_t of_day = time_of_day(number(8, 2), number(10, 2), number(12, 2));
    return of_day == NAT ? NAT : moment_of(year, number(4, 2), number(6, 2), of_day);
}

// Days since 1970 of the Monday on which the weeks of a year begin: that of January 4th.
int64_t first_monday(int64_t year) {
    const int64_t day = days_since_1970(year, 1, 4), weekday = ((day + 3) % 7 + 7) % 7;
    return day - weekday;
}

constexpr char32_t DIVIDED[] = U"-/,.";

// One cell, whose characters are read from the first on. What reads something returns where it
// ends, or where it began if it is not there.
class Scanner {
  public:
    Scanner(View text, const Tables& tables, Reading reading, Affixes& affixes)
        : text_(text),
          end_(static_cast<int>(text.size())),
          tables_(tables),
          reading_(reading),
          affixes_(affixes) {}

    Cell number() const {
        const int unsigned_from = is_one_of(at(0), U"+-") ? 1 : 0;
        if (lower(at(unsigned_from)) == 'i') {
            const Lower word(part(unsigned_from, end_));
            if (word == U"inf" || word == U"infinity") {
                const double infinite = std::numeric_limits<double>::infinity();
                return Cell::number(PLAIN, at(0) == '-' ? -infinite : infinite);
            }
        }
        const bool brackets = at(0) == '(' && at(end_ - 1) == ')';
        if (brackets) {
            View inner = end_ > 1 ? text_.substr(1, end_ - 2) : View();
            while (!inner.empty() && is_blank(inner.front())) inner.remove_prefix(1);
            while (!inner.empty() && is_blank(inner.back())) inner.remove_suffix(1);
            if (inner.empty()) return {};
            return Scanner(inner, tables_, reading_, affixes_).signed_number(true);
        }
        return signed_number(false);
    }

    Cell signed_number(bool brackets) const {
        int i = 0;
        View compared;
        if (is_one_of(at(0), U"<>≤≥~≈")) {
            i = at(1) == '=' ? 2 : 1;
            compared = part(0, i);
            i = skip(i);
        }
        const Character sign = is_one_of(at(i), U"+-") ? at(i) : 0;
        i = skip(i + (sign != 0));
        const View before = currency(i);
        i = skip(i + static_cast<int>(before.size()));
        const Character second = is_one_of(at(i), U"+-") ? at(i) : 0;
        if (sign && second) return {};
        i = skip(i + (second != 0));
        const Numeral of = numeral(i);
        if (of.end < 0) return {};
        i = of.end;
        View unit, after, more;
        if (!tail(i, unit, after, more)) return {};
        int half_end;
        if (half_day(skip(i), half_end) && half_end == end_) return {};  // a time of day
        if (!unit.empty()) {
            const Lower letters(unit);
            View small = letters;
            while (!small.empty() && small.back() == '.') small.remove_suffix(1);
            if (is_ordinal(small)) return {};
            if (of.mark == ',' && of.fraction.empty()) return {};
            const bool glued = !is_blank(at(i));
            const bool known = unit[0] == U'°' || currency(i) == unit ||
                               tables_.glued.find(small) != tables_.glued.end();
            if (glued && !of.mark && !known) return {};
        }
        if (is_one_of(of.group, U"'’ ") && sign == '+') return {};
        const bool negative = brackets || sign == '-' || second == '-';
        const Affix beside{before, unit, after, compared, more};
        const bool none = std::all_of(beside.begin(), beside.end(), [](View x) { return x.empty(); });
        return as_cell(of, negative, beside, none && !brackets, sign || second);
    }

    bool is_list() const {
        int i = 0, numbers = 0;
        while (true) {
            const int end = digits(i);
            if (end == i) return false;
            ++numbers;
            i = skip(end);
            if (end == end_) return numbers > 2;
            if (!is_one_of(at(i), U",;|")) return false;
            i = skip(i + 1);
        }
    }

    // --- Times ---

    Cell time() const {
        if (std::none_of(text_.begin(), text_.end(), is_figure)) return {};
        if (Cell found = numeric_date()) return found;
        if (Cell found = marked_date()) return found;
        if (Cell found = compact_moment()) return found;
        if (Cell found = week()) return found;
        if (Cell found = written_date()) return found;
        if (Cell found = clock_cell()) return found;
        return compound();
    }

    // What a date leaves open: yy for a year of two digits, and a zone that is known by letters alone.
    Name left_open() const {
        const size_t found = text_.find(U':');
        const bool has_clock = found != View::npos;
        const int colon = has_clock ? static_cast<int>(found) : end_;
        int longest = 0;
        for (int i = 0; i < colon;) {
            const int end = std::min(digits(i), colon);
            longest = std::max(longest, end - i);
            i = std::max(end, i + 1);
        }
        int last = end_;
        while (last > 0 && is_figure(text_[last - 1])) --last;
        const bool at_end = end_ - last == 4 && is_blank(at(last - 1));
        Name open = longest >= 4 || at_end ? U"" : U"yy";
        int begin = end_;
        while (begin > 0 && 'a' <= (text_[begin - 1] | 0x20) && (text_[begin - 1] | 0x20) <= 'z') --begin;
        const View zone = part(begin, end_);
        const Lower name(zone);
        if (!has_clock || zone.size() < 3 || zone.size() > 4 || name == U"utc" || name == U"gmt" ||
            name == U"uhr")
            return open;
        if (!open.empty()) open += U' ';
        return open + Name(zone);
    }

    // 1976 Jul, which is no number of units.
    Cell month_of_year() const {
        if (digits(0) != 4 || at(4) != U' ') return {};
        const int64_t year = whole(0, 4);
        return 1900 <= year && year <= 2099 ? year_first() : Cell{};
    }

  private:
    View text_;
    int end_;
    const Tables& tables_;
    Reading reading_;
    Affixes& affixes_;

    struct Numeral {
        View digits;  // before the mark, with what is between their groups
        int groups = 1;
        Character group = 0, mark = 0;
        View fraction, exponent;
        int end = -1;
    };

    Character at(int i) const { return i >= 0 && i < end_ ? text_[i] : 0; }
    View part(int begin, int end) const {
        begin = std::min(begin, end_);
        return text_.substr(begin, std::max(0, std::min(end, end_) - begin));
    }
    template <size_t N = 1>
    int skip(int i, const char32_t (&some)[N] = U"") const {
        while (i < end_ && (is_blank(text_[i]) || is_one_of(text_[i], some))) ++i;
        return i;
    }
    int digits(int i) const {
        while (i < end_ && is_figure(text_[i])) ++i;
        return i;
    }
    int letters(int i) const {
        while (i < end_ && tables_.is_letter(text_[i])) ++i;
        return i;
    }
    int64_t whole(int begin, int end) const {
        int64_t value = 0;
        for (int i = begin; i < end; ++i) value = 10 * value + (text_[i] - '0');
        return value;
    }

    View currency(int i) const {
        if (i >= end_) return {};
        for (const Name& of : tables_.currencies[Tables::place_of(text_[i])])
            if (text_.substr(i, of.size()) == of) return of;
        return {};
    }
    struct Ends {
        std::array<int, 40> at;
        int count = 0;
        void add(int end) { at[count++] = end; }
    };

    // --- Numbers ---

    int thousands(int begin, int i) const {
        if (i - begin < 1 || i - begin > 3 || !is_one_of(at(i), U",. '’")) return i;
        const Character group = at(i);
        while (at(i) == group && digits(i + 1) == i + 4) i += 4;
        return i;
    }

    int indian(int begin, int i) const {
        if (i - begin < 1 || i - begin > 2) return i;
        int end = i, twos = 0;
        for (; at(end) == ',' && digits(end + 1) == end + 3; end += 3) ++twos;
        if (twos && at(end) == ',' && digits(end + 1) == end + 4) return end + 4;
        return i;
    }

    Numeral numeral(int i) const {
        Numeral found;
        const int begin = i;
        i = digits(i);
        int end = thousands(begin, i);
        if (end == i) end = indian(begin, i);
        if (end > i) {
            found.group = text_[i];
            found.groups = 1 + static_cast<int>(std::count(text_.begin() + i, text_.begin() + end,
                                                           found.group));
            i = end;
        }
        found.digits = part(begin, i);
        if (is_one_of(at(i), U".,")) {
            found.mark = at(i);
            end = digits(i + 1);
            found.fraction = part(i + 1, end);
            i = end;
        }
        if (found.digits.empty() && found.fraction.empty()) return found;
        if (lower(at(i)) == 'e') {
            const int first = i + (is_one_of(at(i + 1), U"+-") ? 2 : 1);
            end = digits(first);
            if (end > first) {
                found.exponent = part(i, end);
                i = end;
            }
        }
        found.end = i;
        return found;
    }

    Ends units(int i) const {
        Ends ends;
        const Character first = at(i);
        if (is_one_of(first, U"%‰\"″'′")) {
            ends.add(i + 1);
        } else if (first == U'°') {
            const int end = i + 1, blank = end + (end < end_ && is_blank(text_[end]));
            if (is_one_of(at(blank), U"CFK")) ends.add(blank + 1);
            ends.add(end);
        } else if (const int last = letters(i); 1 <= last - i && last - i <= 12) {
            const bool dotted = at(last) == '.';
            for (int start = dotted ? last + 1 : last; start >= last; --start) {
                if (is_one_of(at(start), U"/²³^·.")) {
                    int end = start + 1;
                    while (end - start <= 8 && end < end_ && !is_blank(text_[end]) &&
                           !is_figure(text_[end]) && text_[end] != 0)
                        ++end;
                    if (is_figure(at(end))) ends.add(end + 1);
                    for (int of = end; of > start; --of) ends.add(of);
                }
                ends.add(start);
            }
        }
        ends.add(i);
        return ends;
    }

    bool tail(int i, View& unit, View& after, View& more) const {
        i = skip(i);
        if (i == end_) return true;
        const Ends ends = units(i);
        for (int k = 0; k < ends.count; ++k) {
            const int end = ends.at[k], begin = skip(end);
            after = currency(begin);
            const int rest = begin + static_cast<int>(after.size());
            more = is_one_of(at(rest), U"+*") ? part(rest, rest + 1) : View();
            if (skip(rest + static_cast<int>(more.size())) == end_) {
                unit = part(i, end);
                return true;
            }
        }
        return false;
    }

    Cell as_cell(Numeral of, bool negative, const Affix& beside, bool alone,
                          bool is_signed) const {
        if (of.group && of.mark == of.group) return {};
        const View last = of.digits.size() > 3 ? of.digits.substr(of.digits.size() - 3) : View();
        const View first = of.group ? of.digits.substr(0, of.digits.find(of.group)) : View();
        if (of.group && of.digits[0] == '0') {
            if (of.groups != 2 || of.mark || !is_one_of(of.group, U".,")) return {};
            of.mark = of.group;  // 0,234
            of.fraction = last;
            of.digits = first;
            of.group = 0;
        }
        if (of.group == '.' && of.groups == 4 && !of.mark) return {};
        const bool plain = std::all_of(beside.begin(), beside.end(), [](View x) { return x.empty(); });
        const uint8_t affix = plain ? 0 : affixes_.code(beside);
        const double value = value_of(negative, of.digits, of.fraction, of.exponent);
        if (is_one_of(of.group, U".,") && !of.mark && of.groups == 2) {
            const double other = value_of(negative, first, last, of.exponent);
            const bool point = of.group == '.';
            if (!of.exponent.empty() && point) return Cell::number(POINT, other, affix);
            const bool grouped = reading_.comma == point;
            return Cell::number(point ? EITHER_POINT : EITHER_COMMA, grouped ? value : other, affix);
        }
        if (of.group || of.mark) {
            Form form = GROUPED;
            if (of.mark == '.')
                form = of.group ? GROUPED_POINT : POINT;
            else if (of.mark == ',' || of.group == '.')
                form = COMMA;
            else if (of.group == ',')
                form = GROUPED_POINT;
            return Cell::number(form, value, affix);
        }
        if (!of.exponent.empty() || !alone) return Cell::number(PLAIN, value, affix);
        Digits read;
        for (const Character c : of.digits) {
            read.value = 10 * read.value + (c - '0');
            read.count += read.value != 0 || read.count != 0;
        }
        const bool leads = of.digits.size() > 1 && of.digits[0] == '0';
        if (leads || read.count > DIGITS || read.value > EXACT) return Cell::number(NAME, value);
        const int64_t moment = is_signed ? NAT : compact_date(of.digits);
        if (moment == NAT) return Cell::number(PLAIN, value);
        return reading_.dates ? Cell::time(EIGHT, moment) : Cell::number(EIGHT, value);
    }

    // 2024年1月31日, 2024년 1월 31일 or 2024. 1. 31.
    Cell marked_date() const {
        for (const View marks : {View(U"年月日"), View(U"년월일"), View(U"...")}) {
            int begin[3] = {0, 0, 0}, end[3] = {0, 0, 0}, i = 0, fields = 0;
            for (const Character mark : marks) {
                begin[fields] = skip(i);
                end[fields] = digits(begin[fields]);
                i = skip(end[fields]);
                if (at(i) != mark) break;
                ++i;
                ++fields;
            }
            const auto count = [&](int k) { return end[k] - begin[k]; };
            if (fields != 3 || count(0) != 4 || std::min(count(1), count(2)) < 1 ||
                std::max(count(1), count(2)) > 2)
                continue;
            const int64_t of_day = time_after(i);
            if (of_day == NAT) continue;
            const int64_t moment = moment_of(whole(begin[0], end[0]), whole(begin[1], end[1]),
                                             whole(begin[2], end[2]), of_day);
            return moment == NAT ? Cell{} : Cell::time(YMD, moment);
        }
        return {};
    }

    // 20240131T235959, or the date with another time after it.
    Cell compact_moment() const {
        if (digits(0) != 8 || end_ <= 8) return {};
        const int64_t day = compact_date(part(0, 8));
        if (day == NAT) return {};
        const int last = digits(9);
        int64_t of_day;
        if (lower(at(8)) == 't' && (last == 13 || last == 15)) {
            int64_t minutes;
            of_day = time_of_day(whole(9, 11), whole(11, 13), whole(13, last));
            if (of_day == NAT || !offset(skip(last), minutes)) return {};
            of_day -= minutes * MINUTE;
        } else {
            of_day = time_after(8);
            if (of_day == NAT) return {};
        }
        return Cell::time(YMD, day + of_day);
    }

    // 2024-W05-3, or 2024-W05, which begins on a Monday.
    Cell week() const {
        if (digits(0) != 4 || at(4) != '-' || lower(at(5)) != 'w' || digits(6) != 8) return {};
        if (end_ != 8 && !(end_ == 10 && at(8) == '-' && '1' <= at(9) && at(9) <= '7')) return {};
        const int64_t year = whole(0, 4), week = whole(6, 8), day = end_ == 8 ? 1 : at(9) - '0';
        if (year < 1900 || year > 2099) return {};
        const int64_t monday = first_monday(year) + 7 * (week - 1);
        if (week < 1 || monday >= first_monday(year + 1)) return {};
        return Cell::time(YMD, DAY * (monday + day - 1));
    }

    Cell year_and_month(int a, Character separator, int b, int b_end) const {
        const auto is_century = [&](int begin, int end) {
            const int64_t year = end - begin == 4 ? whole(begin, end) : 0;
            return 1900 <= year && year <= 2099;
        };
        const bool divides = separator == '-' || separator == '/';
        if (divides && is_century(0, a) && b_end - b == 2) {
            const int64_t year = whole(0, a), month = whole(b, b_end);
            const int64_t moment = moment_of(year, month, 1);
            if (moment == NAT) return {};
            return Cell::time(month == (year + 1) % 100 ? SEASON : YEAR_MONTH, moment);
        }
        if (divides && a <= 2 && is_century(b, b_end)) {
            const int64_t moment = moment_of(whole(b, b_end), whole(0, a), 1);
            return moment == NAT ? Cell{} : Cell::time(MONTH_YEAR, moment);
        }
        return {};
    }

    Cell numeric_date() const {
        const int a = digits(0);
        const Character separator = at(a);
        if ((a != 1 && a != 2 && a != 4) || !is_one_of(separator, U"-/. ")) return {};
        const int b = a + 1, b_end = digits(b);
        if (b_end == end_) return year_and_month(a, separator, b, b_end);
        if (b_end - b < 1 || b_end - b > 2 || at(b_end) != separator) return {};
        const int c = b_end + 1, c_end = digits(c), c_digits = c_end - c;
        const int64_t of_day = time_after(c_end);
        if (of_day == NAT) return {};
        if (a == 4) {
            if (separator == ' ' || c_digits < 1 || c_digits > 2) return {};
            const int64_t moment = moment_of(whole(0, a), whole(b, b_end), whole(c, c_end), of_day);
            return moment == NAT ? Cell{} : Cell::time(YMD, moment);
        }
        if (c_digits != 2 && !(c_digits == 4 && is_one_of(at(c), U"12"))) return {};
        if (c_digits == 2 && is_one_of(separator, U". ") && a + b_end - b < 4) return {};
        const int64_t year = year_of(whole(c, c_end), c_digits);
        return day_of(separator, whole(0, a), whole(b, b_end), year, of_day, reading_);
    }

    int64_t time_after(int i) const {
        if (i >= end_) return 0;
        const int begin = i;
        if (lower(at(i)) == 't') {
            ++i;
        } else {
            i += at(i) == ',';
            const int blank = skip(i);
            const bool spaced = blank > i;
            i = blank;
            if (spaced && at(i) == '-' && i + 1 < end_ && is_blank(text_[i + 1]))
                i = skip(i + 1);
            else if (spaced && lower(at(i)) == 'a' && lower(at(i + 1)) == 't' && i + 2 < end_ &&
                     is_blank(text_[i + 2]))
                i = skip(i + 2);
            if (i == begin) return NAT;
        }
        int end;
        const int64_t of_day = clock(i, end);
        int64_t minutes;
        if (of_day == NAT || !offset(skip(end), minutes)) return NAT;
        return of_day - minutes * MINUTE;
    }

    int64_t clock(int i, int& end) const {
        end = i;
        const int hour_end = std::min(digits(i), i + 2);
        if (hour_end == i || at(hour_end) != ':' || digits(hour_end + 1) != hour_end + 3) return NAT;
        int64_t hour = whole(i, hour_end), second = 0, microsecond = 0;
        const int64_t minute = whole(hour_end + 1, hour_end + 3);
        int j = hour_end + 3;
        if (at(j) == ':' && digits(j + 1) == j + 3) {
            second = whole(j + 1, j + 3);
            j += 3;
            const int last = digits(j + 1), count = last - j - 1;
            if (is_one_of(at(j), U".,") && 1 <= count && count <= 9) {
                for (int of = 0; of < 6; ++of)
                    microsecond = 10 * microsecond + (of < count ? at(j + 1 + of) - '0' : 0);
                j = last;
            }
        }
        int after;
        const int half = half_day(skip(j), after);
        if (half) {
            j = after;
            if (hour < 1 || hour > 12) return NAT;
            hour = hour % 12 + (half == 'p' ? 12 : 0);
        }
        end = j;
        return time_of_day(hour, minute, second, microsecond);
    }

    int half_day(int i, int& end) const {
        end = i;
        const Character half = lower(at(i));
        if (half != 'a' && half != 'p') return 0;
        int j = i + 1 + (at(i + 1) == '.');
        if (lower(at(j)) != 'm') return 0;
        ++j;
        end = j + (at(j) == '.');
        return static_cast<int>(half);
    }

    bool offset(int i, int64_t& minutes) const {
        minutes = 0;
        if (i >= end_) return true;
        int end = letters(i);
        const Lower held(part(i, end));
        const View name = held;
        if (name == U"z" && end == end_) return true;
        if (!is_ascii(name)) return false;
        const bool named = !name.empty();
        if (named && !((name == U"utc" || name == U"gmt") && end < end_))
            return 3 <= name.size() && name.size() <= 4 && end == end_;
        if (!is_one_of(at(end), U"+-")) return false;
        const int first = end + 1;
        int last = digits(first), hours_end = last;
        int64_t more = 0;
        if (last - first > 2) {
            hours_end = last - 2;
            more = whole(hours_end, last);
        } else if (at(last) == ':') {
            const int of = digits(last + 1);
            if (of != last + 3) return false;
            more = whole(last + 1, of);
            last = of;
        }
        const int count = hours_end - first;
        if (count < (named ? 1 : 2) || count > 2 || last != end_) return false;
        const int64_t hours = whole(first, hours_end);
        if (hours > 23 || more > 59) return false;
        minutes = (60 * hours + more) * (at(end) == '-' ? -1 : 1);
        return true;
    }

    Cell written_date() const {
        const int i = after_weekday(), end = digits(i), count = end - i;
        if (count == 4 && i == 0) return year_first();
        if (count == 1 || count == 2) return day_month_year(end, whole(i, end));
        return count == 0 ? month_first(i) : Cell{};
    }

    int after_weekday() const {
        int end = letters(0);
        if (end < 3) return 0;
        static const char32_t* const days[] = {U"mon", U"tue", U"wed", U"thu", U"fri", U"sat", U"sun"};
        const Lower first(part(0, 3));
        const bool english =
            is_ascii(part(0, end)) &&
            std::any_of(std::begin(days), std::end(days), [&](View day) { return first == day; });
        if (!english && !tables_.named_days.count(View(Lower(part(0, end))))) return 0;
        end += at(end) == '.';
        end += at(end) == ',';
        const int after = skip(end);
        return after > end ? after : 0;
    }

    int month(int i, int& end) const {
        end = letters(i);
        if (end - i < 3 || end - i > 12) return 0;
        const auto found = tables_.months.find(View(Lower(part(i, end))));
        return found == tables_.months.end() ? 0 : found->second;
    }

    // How many digits the year has that begins there; 0 if there is none.
    int written_year(int i) const {
        const int count = digits(i) - i;
        return count == 2 || (count == 4 && is_one_of(at(i), U"12")) ? count : 0;
    }

    // Where of or de, with the blank after it, ends; where it would begin if it is not there.
    int after_of(int i) const {
        const Lower word(part(i, i + 2));
        return (word == U"of" || word == U"de") && is_blank(at(i + 2)) ? skip(i + 2) : i;
    }

    Cell written(int i, int year, int count, int month, int64_t day) const {
        const int64_t of_day = time_after(i);
        if (of_day == NAT) return {};
        const int64_t moment =
            moment_of(year_of(whole(year, year + count), count), month, day, of_day);
        return moment == NAT ? Cell{} : Cell::time(WRITTEN, moment);
    }

    Cell day_month_year(int i, int64_t day) const {
        if (is_ordinal(part(i, i + 2))) i += 2;
        int end;
        const int of = month(after_of(skip(i, DIVIDED)), end);
        i = after_of(skip(end, DIVIDED));
        const int count = written_year(i);
        if (!of || !count) return {};
        return written(i + count, i, count, of, day);
    }

    Cell of_month(int64_t year, int month) const {
        const int64_t moment = moment_of(year, month, 1);
        return moment == NAT ? Cell{} : Cell::time(WRITTEN_MONTH, moment);
    }

    Cell year_first() const {
        int i = skip(4, DIVIDED), end;
        const int of = month(i, end);
        if (i == 4 || !of || !is_one_of(at(0), U"12")) return {};
        const int64_t year = whole(0, 4);
        if (end + (at(end) == '.') == end_)
            return 1900 <= year && year <= 2099 ? of_month(year, of) : Cell{};
        i = skip(end, U"-/.");
        const int last = digits(i);
        const bool comma = part(4, end).find(U',') != View::npos;
        if (i == end || comma || last - i < 1 || last - i > 2) return {};
        return written(last, 0, 4, of, whole(i, last));
    }

    Cell month_first(int i) const {
        int end;
        const int of = month(i, end);
        if (!of) return {};
        end += at(end) == '.';
        i = skip(end, U"-/");
        const int day_end = digits(i);
        if (day_end - i == 1 || day_end - i == 2)
            if (Cell found = day_and_year(end, i, of, day_end)) return found;
        i = skip(end, DIVIDED);
        i += is_one_of(at(i), U"'’");
        const int last = digits(i), count = last - i;
        if (last != end_) return {};
        const int64_t year = whole(i, std::min(last, i + 4));
        if (count == 4 && 1900 <= year && year <= 2099) return of_month(year, of);
        if (count == 2 && is_one_of(at(i - 1), U"-'’")) return of_month(year_of(year, 2), of);
        return {};
    }

    Cell day_and_year(int end, int i, int month, int day_end) const {
        const int64_t day = whole(i, day_end);
        int after = day_end;
        if (is_ordinal(part(after, after + 2))) after += 2;
        const bool comma = at(after) == ',';
        const int first = comma ? skip(after + 1) : skip(after, U"-/");
        if (first > after && written_year(first) == 4)
            if (Cell found = written(first + 4, first, 4, month, day)) return found;
        if (first > after && i > end && !comma && skip(end) == i && skip(after) == first) {
            int place;
            const int64_t of_day = clock(first, place);
            if (of_day != NAT) {  // as ctime writes it
                place = skip(place);
                const int zone = letters(place);
                if (3 <= zone - place && zone - place <= 4 && is_ascii(part(place, zone)))
                    place = skip(zone);
                if (written_year(place) == 4 && place + 4 == end_) {
                    const int64_t moment = moment_of(whole(place, place + 4), month, day, of_day);
                    return moment == NAT ? Cell{} : Cell::time(WRITTEN, moment);
                }
            }
        }
        if (i == end + 1 && is_one_of(at(end), U"- ") && is_one_of(at(day_end), U"-,")) {
            int year = day_end + 1;
            year += at(year) == ' ';
            if (digits(year) == year + 2 && year + 2 == end_)
                return written(end_, year, 2, month, day);
        }
        return {};
    }

    // Where the word days after a number of them ends, with the blank; 0 if it is not there.
    int after_days(int count) const {
        const int begin = skip(count);
        int end = letters(begin);
        const Lower word(part(begin, end));
        if (count < 1 || count > 6 || !(word == U"day" || word == U"days")) return 0;
        end += at(end) == ',';
        const int after = skip(end);
        return after > end ? after : 0;
    }

    Cell clock_cell() const {
        int end;
        const int count = digits(0);
        if (1 <= count && count <= 2 && (at(count) | 0x20) == 'h' && end_ == count + 3) {  // 14h30
            Name text(text_);
            text[count] = ':';
            return Scanner(text, tables_, reading_, affixes_).clock_cell();
        }
        const int64_t of_day = clock(0, end);
        if (of_day != NAT) {
            const Lower rest(part(skip(end), end_));
            if (rest == U"" || rest == U"uhr")
                return Cell::number(CLOCK, static_cast<double>(of_day) / 1e6);
        }
        if (const int after = after_days(count)) {
            Cell rest = Scanner(part(after, end_), tables_, reading_, affixes_).clock_cell();
            if (!rest) return {};
            double seconds;
            std::memcpy(&seconds, &rest.value, sizeof seconds);
            return Cell::number(SPAN, 86400.0 * static_cast<double>(whole(0, count)) + seconds);
        }
        const int half = half_day(skip(count), end);
        if (half && end == end_ && 1 <= count && count <= 2) {
            const int64_t hour = whole(0, count);
            if (1 <= hour && hour <= 12)
                return Cell::number(CLOCK, 3600.0 * static_cast<double>(hour % 12 + (half == 'p' ? 12 : 0)));
        }
        if (count < 1 || count > 4 || at(count) != ':' || digits(count + 1) != count + 3) return {};
        const double first = static_cast<double>(whole(0, count));
        const int64_t second = whole(count + 1, count + 3);
        int i = count + 3;
        if (second > 59) return {};
        if (i == end_) return Cell::number(SPAN, 3600.0 * first + 60.0 * static_cast<double>(second));
        const auto with_fraction = [&](int64_t seconds, int begin, int last) {
            const Character two[] = {static_cast<Character>('0' + seconds / 10),
                                     static_cast<Character>('0' + seconds % 10)};
            return value_of(false, View(two, 2), part(begin, last), {});
        };
        int last = digits(i + 1);
        if (is_one_of(at(i), U".,") && count <= 3 && last - i - 1 >= 1 && last - i - 1 <= 6 &&
            last == end_)
            return Cell::number(SPAN, 60.0 * first + with_fraction(second, i + 1, last));
        if (at(i) != ':' || last != i + 3 || whole(i + 1, last) > 59) return {};
        const int64_t third = whole(i + 1, last);
        double seconds = static_cast<double>(third);
        i = last;
        last = digits(i + 1);
        if (is_one_of(at(i), U".,") && last > i + 1) {
            seconds = with_fraction(third, i + 1, last);
            i = last;
        }
        if (i != end_) return {};
        return Cell::number(SPAN, 3600.0 * first + 60.0 * static_cast<double>(second) + seconds);
    }

    // 2h 30m, 1 hour and 5 minutes or PT2H30M, as a number of the first unit.
    Cell compound() const {
        struct Unit {
            double seconds;
            View name;
        };
        static constexpr Unit units[] = {
            {86400, U"d"}, {86400, U"day"}, {86400, U"days"}, {3600, U"h"},     {3600, U"hr"},
            {3600, U"hrs"}, {3600, U"hour"}, {3600, U"hours"}, {60, U"m"},       {60, U"min"},
            {60, U"mins"},  {60, U"minute"}, {60, U"minutes"}, {1, U"s"},        {1, U"sec"},
            {1, U"secs"},   {1, U"second"},  {1, U"seconds"},
        };
        const bool iso = at(0) == 'P';
        bool of_day = false;
        double first = 0, last = std::numeric_limits<double>::infinity(), total = 0;
        int i = iso, count = 0;
        while (i < end_) {
            if (iso && !of_day && at(i) == 'T') {
                ++i;
                of_day = true;
            }
            int end = digits(i);
            if (end - i < 1 || end - i > 4) return {};
            const View whole_part = part(i, end);
            View fraction;
            const bool point = at(end) == '.';
            if (point) {
                const int after = digits(end + 1);
                fraction = part(end + 1, after);
                end = after;
            }
            const double number = value_of(false, whole_part, fraction, {});
            const int begin = iso ? end : skip(end);
            end = iso ? begin + 1 : letters(begin);
            const Lower name(part(begin, end));
            double size = 0;
            for (const Unit& unit : units)
                if (name == unit.name) size = unit.seconds;
            if (size == 0 || size >= last || (iso && of_day == (size == 86400))) return {};
            total += size * number;
            if (count++ == 0) first = size;
            last = size;
            if (!iso) {
                end += at(end) == '.';
                end += at(end) == ',';
                end = skip(end);
                if (Lower(part(end, end + 3)) == U"and" && is_blank(at(end + 3))) end = skip(end + 3);
            }
            if (point && end < end_) return {};
            i = end;
        }
        if (count < (iso ? 1 : 2)) return {};
        const View unit = first == 86400 ? U"d" : first == 3600 ? U"h" : first == 60 ? U"min" : U"s";
        return Cell::number(POINT, total / first, affixes_.code(Affix{View(), unit, View(), View(), View()}));
    }
};

// --- A cell as it comes ---

// The characters of UTF-8, and half of a surrogate pair; at most `most`, else -1.
int decode(Bytes string, Character* out, int most) {
    int n = 0;
    const uint8_t *at = string.begin, *end = at + string.length;
    while (at != end) {
        if (n == most) return -1;
        const uint8_t first = *at;
        const int more = first < 0x80 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
        if (end - at <= more) return -1;
        Character c = more == 0 ? first : first & (0x3F >> more);
        for (int i = 1; i <= more; ++i) c = c << 6 | (at[i] & 0x3F);
        out[n++] = c;
        at += more + 1;
    }
    return n;
}

Cell read_any(Bytes string, const Tables& tables, Reading reading, Affixes& affixes) {
    constexpr int MOST = 256;  // bytes, and so characters, blanks around the cell among them
    if (string.length > MOST) return {};
    Character characters[MOST];
    const uint8_t *first = string.begin, *last = first + string.length;
    while (first != last && *first < 0x80 && is_blank(*first)) ++first;
    while (first != last && last[-1] < 0x80 && is_blank(last[-1])) --last;
    if (first == last) return {MARK, NOT_A_NUMBER, 0};
    const Bytes within{first, static_cast<size_t>(last - first)};
    const int n = decode(within, characters, MOST);
    if (n < 0) return {};
    bool ascii = true;
    for (int i = 0; i < n; ++i) {
        Character& c = characters[i];
        if (c < 0x80) continue;
        ascii = false;
        const auto plain = tables.plain.find(c);
        if (plain != tables.plain.end()) {
            c = plain->second;
            continue;
        }
        for (const uint32_t from : tables.digits_from)
            if (from <= c && c < from + 10) {
                c = static_cast<Character>('0' + (c - from));
                break;
            }
    }
    View text(characters, static_cast<size_t>(n));
    if (!ascii) {
        while (!text.empty() && is_trimmed(text.front())) text.remove_prefix(1);
        while (!text.empty() && is_trimmed(text.back())) text.remove_suffix(1);
        if (text.empty()) return {MARK, NOT_A_NUMBER, 0};
        if (text.size() > 1 && (text[0] == 0x2013 || text[0] == 0x2010 || text[0] == 0x2011) &&
            is_figure(text[1]))
            characters[text.data() - characters] = '-';
    }
    if (text.size() > LONGEST) return {};
    const Lower small(text);
    if (tables.is_mark(small)) return {MARK, NOT_A_NUMBER, 0};
    if (small == U"true" || small == U"false") return Cell::number(TRUTH, small == U"true");
    const Scanner scanner(text, tables, reading, affixes);
    if (Cell found = scanner.month_of_year()) return found;
    if (Cell found = scanner.number()) return found;
    if (Cell found = scanner.time()) {
        if (YMD <= found.form && found.form < CLOCK)
            if (const Name open = scanner.left_open(); !open.empty()) found.affix = affixes.code(open);
        return found;
    }
    if (scanner.is_list()) return {LIST, NOT_A_NUMBER, 0};
    return {};
}

// --- The usual cells, faster: plain numbers, days, and words without a digit ---

// A number without an affix, of few digits, with a decimal point or without; else WORD.
Cell read_plain(Bytes string, Reading reading) {
    const uint8_t *at = string.begin, *const end = at + string.length;
    const bool negative = *at == '-';
    at += negative;
    const uint8_t* const begin = at;
    Digits digits;
    at = digits.read(at, end);
    const int64_t whole = at - begin;
    if (whole == 0 || whole > 15) return {};
    if (at == end) {
        if (whole > 1 && *begin == '0') return {};
        if (!negative && (whole == 8 || whole == 14)) return {};
        const double value = static_cast<double>(digits.value);
        return {PLAIN, bits_of(negative ? -value : value), 0};
    }
    if (*at != '.') return {};
    const uint8_t* const fraction = ++at;
    at = digits.read(at, end);
    const int64_t after = at - fraction;
    if (at != end || whole + after > 18) return {};
    const bool grouped = after == 3 && whole <= 3 && *begin != '0';
    if (grouped && reading.comma) return {};
    double value = scaled(digits, -after, begin, end);
    if (negative) value = -value;
    return {grouped ? EITHER_POINT : POINT, bits_of(value), 0};
}

// Whether a cell of ASCII without a digit is a word, and neither a mark nor a truth nor infinite.
bool is_plain_word(Bytes string, const Tables& tables) {
    const uint8_t *begin = string.begin, *end = begin + string.length;
    if (is_blank(*begin) || is_blank(end[-1])) return false;
    for (const uint8_t* at = begin; at != end; ++at)
        if (*at >= 0x80 || is_digit(*at)) return false;
    const uint8_t first = static_cast<uint8_t>(lower(Character{*begin}));
    if (is_one_of(first, U"tfi+-")) return false;
    for (const Name& mark : tables.marks[first]) {
        if (mark.size() != string.length) continue;
        size_t i = 0;
        while (i < mark.size() && lower(Character{begin[i]}) == mark[i]) ++i;
        if (i == mark.size()) return false;
    }
    return true;
}

// Microseconds of 14:05 or 14:05:09, up to the end of a cell; else NAT.
int64_t read_clock(const uint8_t* at, const uint8_t* end) {
    int64_t fields[3] = {0, 0, 0};
    for (int i = 0; i < 3; ++i) {
        Digits digits;
        const uint8_t* const begin = at;
        at = digits.read(at, end);
        const int64_t count = at - begin;
        if (count > 2 || count < (i == 0 ? 1 : 2)) return NAT;
        fields[i] = static_cast<int64_t>(digits.value);
        if (at == end) return i > 0 && fields[2] < 60 ? time_of_day(fields[0], fields[1], fields[2]) : NAT;
        if (*at++ != ':') return NAT;
    }
    return NAT;
}

// The month whose name in English, of three letters in any case, begins there; 0 if there is none.
int64_t month_named(const uint8_t* at) {
    static constexpr char MONTHS[] = "janfebmaraprmayjunjulaugsepoctnovdec";
    for (int64_t month = 1; month <= 12; ++month) {
        const char* const name = MONTHS + 3 * (month - 1);
        if ((at[0] | 0x20) == name[0] && (at[1] | 0x20) == name[1] && (at[2] | 0x20) == name[2])
            return month;
    }
    return 0;
}

// 15-Jan-17 or 15 Jan 2017; else WORD.
Cell read_named_day(Bytes string, Affixes& affixes) {
    const uint8_t *at = string.begin, *const end = at + string.length;
    Digits day, year;
    at = day.read(at, end);
    if (at - string.begin > 2 || at == string.begin || end - at < 7) return {};
    const uint8_t separator = *at;
    if (!is_one_of(separator, U"-/ ") || at[4] != separator) return {};
    const int64_t month = month_named(at + 1);
    const uint8_t* const begin = at + 5;
    const int64_t count = year.read(begin, end) - begin;
    if (!month || begin + count != end || !(count == 2 || (count == 4 && (*begin == '1' || *begin == '2'))))
        return {};
    const int64_t moment =
        moment_of(year_of(static_cast<int64_t>(year.value), static_cast<int>(count)), month,
                  static_cast<int64_t>(day.value));
    if (moment == NAT) return {};
    Cell found = Cell::time(WRITTEN, moment);
    if (count == 2) found.affix = affixes.code(Name(U"yy"));
    return found;
}

// 31.12.2024, 12/31/2024 or 31-12-2024, or with a time of day as 14:05; else WORD.
Cell read_day(Bytes string, Reading reading) {
    const uint8_t *at = string.begin, *const end = at + string.length;
    Digits fields[3];
    uint8_t separator = 0;
    for (int i = 0; i < 3; ++i) {
        const uint8_t* const begin = at;
        at = fields[i].read(at, end);
        const int64_t count = at - begin;
        if (i == 2) {
            if (count != 4 || (*begin != '1' && *begin != '2')) return {};
            break;
        }
        if (count < 1 || count > 2 || at == end) return {};
        if (i == 0) separator = *at;
        if (*at++ != separator || (separator != '.' && separator != '/' && separator != '-')) return {};
    }
    const int64_t of_day = at == end ? 0 : *at == ' ' ? read_clock(at + 1, end) : NAT;
    if (of_day == NAT) return {};
    return day_of(separator, static_cast<int64_t>(fields[0].value), static_cast<int64_t>(fields[1].value),
                  static_cast<int64_t>(fields[2].value), of_day, reading);
}

// Digits with points and commas, and what is before and after them.
struct Figures {
    const uint8_t *first, *last;  // of the digits, and past them
    Form form = WORD;             // as of a number
    double value = 0;
    bool marked = false;  // whether there is a decimal mark
};

// Digits in groups or with a decimal mark, few enough that their value is exact; else WORD.
Figures read_figures(Bytes string, Reading reading) {
    constexpr int64_t BEFORE = 6, AFTER = 16, MOST = 15, FIELDS = 6;
    const uint8_t *const begin = string.begin, *const end = begin + string.length;
    Figures found{begin, end};
    while (found.first != end && !is_digit(*found.first)) ++found.first;
    if (found.first == end || found.first - begin > BEFORE) return found;
    Digits digits;
    int64_t lengths[FIELDS], n = 0;
    uint8_t separators[FIELDS];
    const uint8_t* at = found.first;
    while (true) {
        const uint8_t* const field = at;
        at = digits.read(at, end);
        if (at == field || n == FIELDS) return found;
        lengths[n] = at - field;
        if (at == end || (*at != '.' && *at != ',') || at + 1 == end || !is_digit(at[1])) break;
        separators[n++] = *at++;
    }
    found.last = at;
    if (end - at > AFTER || (at != end && (*at == '.' || *at == ','))) return found;
    for (const uint8_t* of = at; of != end; ++of)
        if (is_digit(*of)) return found;
    int64_t total = 0;
    for (int64_t i = 0; i <= n; ++i) total += lengths[i];
    const bool zero = *found.first == '0';
    if (total > MOST || (zero && lengths[0] > 1)) return found;
    const auto as = [&](Form form, int64_t fraction) {
        found.form = form;
        found.marked = fraction > 0;
        found.value = scaled(digits, -fraction, found.first, at);
    };
    if (n == 0) {
        if (!(lengths[0] == 4 && at != end && *at == ' ')) as(PLAIN, 0);  // 1976 Jul
        return found;
    }
    const uint8_t group = separators[0], last = separators[n - 1];
    if (n == 1) {
        const bool point = group == '.';
        if (lengths[1] == 3 && lengths[0] <= 3 && !zero)
            as(point ? EITHER_POINT : EITHER_COMMA, reading.comma == point ? 0 : 3);
        else
            as(point ? POINT : COMMA, lengths[1]);
        return found;
    }
    if (lengths[0] > 3 || zero) return found;
    for (int64_t i = 1; i < n; ++i)
        if (lengths[i] != 3 || (i + 1 < n && separators[i] != group)) return found;
    if (last != group)
        as(last == '.' ? GROUPED_POINT : COMMA, lengths[n]);
    else if (lengths[n] == 3 && !(group == '.' && n == 3))
        as(group == ',' ? GROUPED_POINT : COMMA, 0);
    return found;
}

// A number in a notation that some cell before had; else WORD, and the notation is learned.
Cell read_notation(Bytes string, const Tables& tables, Reading reading, Affixes& affixes) {
    const Figures of = read_figures(string, reading);
    const uint8_t* const end = string.begin + string.length;
    const Bytes before{string.begin, static_cast<size_t>(of.first - string.begin)},
        after{of.last, static_cast<size_t>(end - of.last)};
    if (of.form == WORD) return read_any(string, tables, reading, affixes);
    const bool grouped = of.form == EITHER_POINT || of.form == EITHER_COMMA;
    const bool marked = of.marked || grouped;
    if (const Notation* known = affixes.notation(before, after, marked))
        return Cell::number(of.form, known->negative ? -of.value : of.value, known->affix);
    const Cell cell = read_any(string, tables, reading, affixes);
    const bool same = cell.form == of.form && of.value != 0 && !(of.form == PLAIN && cell.affix == 0);
    if (same && (cell.value == bits_of(of.value) || cell.value == bits_of(-of.value)))
        affixes.learn(before, after, marked, cell.affix, cell.value == bits_of(-of.value));
    return cell;
}

Cell read_cell(Bytes string, const Tables& tables, Reading reading, Affixes& affixes) {
    if (string.length == 0) return {EMPTY, NOT_A_NUMBER, 0};
    const uint8_t first = *string.begin;
    if (is_digit(first) || first == '-') {
        if (Cell plain = read_plain(string, reading)) return plain;
        const int64_t moment = read_iso_time(string);
        if (moment != NAT) return Cell::time(YMD, moment);
        if (Cell day = read_day(string, reading)) return day;
        if (Cell day = read_named_day(string, affixes)) return day;
        const int64_t of_day = read_clock(string.begin, string.begin + string.length);
        if (of_day != NAT) return Cell::number(CLOCK, static_cast<double>(of_day) / 1e6);
    } else if (is_plain_word(string, tables)) {
        return {};
    }
    return read_notation(string, tables, reading, affixes);
}

std::string utf8_of(const Name& name) {
    std::string bytes;
    for (const Character c : name) {
        if (c < 0x80) {
            bytes += static_cast<char>(c);
        } else if (c < 0x800) {
            bytes += static_cast<char>(0xC0 | c >> 6);
            bytes += static_cast<char>(0x80 | (c & 0x3F));
        } else if (c < 0x10000) {
            bytes += static_cast<char>(0xE0 | c >> 12);
            bytes += static_cast<char>(0x80 | (c >> 6 & 0x3F));
            bytes += static_cast<char>(0x80 | (c & 0x3F));
        } else {
            bytes += static_cast<char>(0xF0 | c >> 18);
            bytes += static_cast<char>(0x80 | (c >> 12 & 0x3F));
            bytes += static_cast<char>(0x80 | (c >> 6 & 0x3F));
            bytes += static_cast<char>(0x80 | (c & 0x3F));
        }
    }
    return bytes;
}

nb::object read_forms(nb::handle object, bool comma, bool day_first, bool dates) {
    const Strings strings(object);
    const Tables& tables = Tables::instance();
    const Reading reading{comma, day_first, dates};
    const int64_t rows = strings.rows();
    const int parts = count_parts(rows, 20.0 + 2.0 * strings.mean_length());
    const Result<uint8_t> forms("empty", rows);
    const Result<int64_t> values("empty", rows);
    const Result<uint8_t> affixes("zeros", rows);
    std::vector<Affixes> found(parts);
    std::vector<int64_t> begins(parts + 1, rows);
    {
        const nb::gil_scoped_release released;
        run_parts(rows, parts, [&](int64_t begin, int64_t end, int part) {
            begins[part] = begin;
            for (int64_t row = begin; row < end; ++row) {
                Cell cell{EMPTY, NOT_A_NUMBER, 0};
                if (!strings.missing(row)) cell = read_cell(strings[row], tables, reading, found[part]);
                forms.data()[row] = cell.form;
                values.data()[row] = cell.value;
                if (cell.affix) affixes.data()[row] = cell.affix;
            }
        });
    }
    Affixes every = found[0];
    for (int part = 1; part < parts; ++part) {
        std::array<uint8_t, MANY_AFFIXES + 1> code{};
        code[MANY_AFFIXES] = MANY_AFFIXES;
        for (size_t i = 0; i < found[part].names.size(); ++i)
            code[i + 1] = every.code(found[part].names[i]);
        if (found[part].names.empty()) continue;
        for (int64_t row = begins[part]; row < begins[part + 1]; ++row)
            affixes.data()[row] = code[affixes.data()[row]];
    }
    nb::list names;
    for (const Name& name : every.names) {
        const std::string bytes = utf8_of(name);
        names.append(nb::str(bytes.data(), bytes.size()));
    }
    return nb::module_::import_("naively.kernels.forms")
        .attr("Read")(forms.object(), values.object(), affixes.object(), names);
}

}  // namespace

void bind_read_forms(nb::module_& m) {
    m.def("read_forms", &read_forms, nb::arg("strings"), nb::arg("comma") = false,
          nb::arg("day_first") = false, nb::arg("dates") = false);
    nb::list names;
    for (const char* name : FORM_NAMES) names.append(name);
    m.attr("FORM_NAMES") = names;
}

}  // namespace naively

