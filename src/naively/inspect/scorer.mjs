// Scores rows by a scorecard: the JSON that naively writes of a model. A row is an object of cells;
// a cell that is null, undefined or NaN is missing. This is an ES module, whose last line says what it
// exports; of the same lines naively.inspect.scorecard makes a script, with one global, "naively".

const VERSION = 1, FAR = 1e140, MOST = 1e290;
const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August",
  "September", "October", "November", "December"];
// What Python takes for white space, which differs from JavaScript's.
const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const SPACES = new RegExp(`${SPACE}+`, "u"), TWO_SPACES = new RegExp(`${SPACE}{2,}`, "gu");
const TIME = /^(\d{4})[-/](\d\d)[-/](\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/;

const number = (x) => (x === "inf" ? Infinity : x === "-inf" ? -Infinity : x);
const numbers = (list) => Float64Array.from(list.flat(Infinity), number);
const code = (level) => (typeof level === "boolean" ? Number(level) : level);

// Seconds since 1970 of a Date, or of a string as 2026-11-21T10:30:00, in UTC unless it says.
function seconds(cell) {
  if (cell instanceof Date) return cell.getTime() / 1000;
  const found = TIME.exec(cell);
  if (!found) return NaN;
  const [, year, month, day, clock = "00:00", fraction = ".0", zone = "Z"] = found;
  // Date reads the 31st of February as the 3rd of March, and 24:00 as the next day.
  if (new Date(`${year}-${month}-${day}T00:00Z`).getUTCDate() !== Number(day) || clock >= "24") return NaN;
  const whole = Date.parse(`${year}-${month}-${day}T${clock}${zone}`) * 1000;
  return (whole + Math.round(Number(fraction) * 1e6)) / 1e6;
}

function partOf(time, part) {
  const hours = Math.floor(Math.round(time * 1e6) / 3.6e9), days = Math.floor(hours / 24);
  if (part === "hour") return String(hours - 24 * days).padStart(2, "0");
  if (part === "weekday") return WEEKDAYS[(((days + 3) % 7) + 7) % 7];
  return MONTHS[new Date(days * 864e5).getUTCMonth()];
}

const READ = { // how a cell of each kind is read; undefined is no such cell
  number: (cell) => (typeof cell === "number" || typeof cell === "boolean" ? Number(cell) : undefined),
  string: (cell) => (typeof cell === "string" ? cell : undefined),
  text: (cell) => (typeof cell === "string" || Array.isArray(cell) ? cell : undefined),
  time: (cell) => { const time = seconds(cell); return Number.isNaN(time) ? undefined : time; },
};
READ.boolean = READ.number;

// The function that reads a cell of a row, as a term says; undefined is missing.
function reader({ column, kind, part, log, combined }) {
  if (combined) { // a number made of two columns
    const { operator, times } = combined, [a, b] = [column, combined.column].map((name) => reader({ column: name, kind }));
    return (row) => {
      const x = a(row), y = b(row);
      if (x === undefined || y === undefined || (operator === "/" && y === 0)) return undefined;
      const both = operator === "/" ? x / y : operator === "+" ? x + times * y : x - times * y;
      return Number.isNaN(both) ? undefined : both;
    };
  }
  return (row) => {
    const cell = Object.hasOwn(row, column) ? row[column] : null;
    if (cell === null || cell === undefined || Number.isNaN(cell)) return undefined;
    const x = READ[kind](cell);
    if (x === undefined) throw new TypeError(`Column "${column}" holds ${kind}s; got ${JSON.stringify(cell)}.`);
    return part ? partOf(x, part) : log ? Math.log(x) : x;
  };
}

// How many of the ascending edges a number reaches.
function reached(edges, x) {
  let low = 0, high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x >= edges[middle]) low = middle + 1; else high = middle;
  }
  return low;
}

const clip = (x, low, high) => Math.min(Math.max(x, low), high);
const times = (x, slope) => (x === 0 ? 0 : x * slope); // an impossible event counts where it happens

// The value of a row for a product; 0 where the cell is missing.
function factorOf(of) {
  const read = reader(of), { centre, scale, above, low, high } = of;
  const among = of.among?.length ? new Set(of.among.map(code)) : null;
  const value = "level" in of ? (x) => (among && !among.has(x) ? centre : Number(x === code(of.level)))
    : (x) => clip(above === undefined ? x : Number(x > above), low, high);
  return (row) => { const x = read(row); return x === undefined ? 0 : (value(x) - centre) / scale; };
}

// The side of a row of a condition of a rule: 1 where it holds, 0 or 2 where not.
function conditionOf(of) {
  const read = reader(of), edge = number(of.edge), levels = of.levels && new Set(of.levels.map(code));
  const others = of.others && new Set(of.others.map(code));
  const side = (x) => (levels ? levels.has(x) : x >= edge) ? 1 : others && !others.has(x) ? 2 : 0;
  return (row) => { const x = read(row); return x === undefined ? of.missing : side(x); };
}

// The card's table of Unicode, as maps by code point; only what is asked for is spread out.
function unicodeOf(text) {
  const lines = new Map(text.trim().split("\n").map((line) => {
    const [name, ...of] = line.split(" ");
    return [name, of.map(Number)];
  }));
  const ranges = [];
  for (const [name, of] of lines) {
    if (!name.startsWith("kind:") && name !== "space") continue;
    for (let i = 0, last = 0; i < of.length; i += 2) {
      ranges.push([last + of[i], last + of[i] + of[i + 1], name === "space" ? " " : name[5]]);
      last += of[i] + of[i + 1];
    }
  }
  ranges.sort((a, b) => a[0] - b[0]);
  const begins = ranges.map(([begin]) => begin), known = new Map();
  const lower = new Map(), folded = new Map(), classes = new Map(), composed = new Map(), parts = new Map();
  let of = lines.get("lower");
  for (let i = 0, at = 0; i < of.length; i += 4) {
    at += of[i];
    for (let j = 0; j < of[i + 1]; j++, at += of[i + 2]) lower.set(at, at + of[i + 3]);
    at += 1 - of[i + 2];
  }
  of = lines.get("fold");
  for (let i = 0, at = 0; i < of.length; i += 2 + of[i + 1]) {
    at += of[i];
    folded.set(at, of.slice(i + 2, i + 2 + of[i + 1]));
  }
  of = lines.get("combining");
  for (let i = 0, at = 0; i < of.length; i += 3) {
    at += of[i];
    for (let j = 0; j < of[i + 1]; j++, at++) classes.set(at, of[i + 2]);
  }
  of = lines.get("compose");
  for (let i = 0, first = 0; i < of.length; i += 3) {
    first += of[i];
    composed.set(first * PAIR + of[i + 1], of[i + 2]);
    parts.set(of[i + 2], [first, of[i + 1]]);
  }
  const kind = (code) => {
    if (code < 128) return String.fromCharCode(code).toLowerCase();
    if (!known.has(code)) {
      const range = ranges[reached(begins, code) - 1];
      known.set(code, range && code < range[1] ? range[2] : "?");
    }
    return known.get(code);
  };
  return { lower, folded, classes, composed, parts, kind };
}

const PAIR = 0x110000, HANGUL = 0xac00, LEADING = 0x1100, VOWEL = 0x1161, TRAILING = 0x11a7;

// The NFC of a code point and those that combine with it (Unicode Standard Annex 15), without marks that are
// put on an ASCII letter or digit: more than two, or any that it has no composition of.
function compose(table, codes) {
  const classOf = (code) => table.classes.get(code) || 0;
  const decomposed = (code) => {
    const place = code - HANGUL;
    if (place >= 0 && place < 11172) {
      const syllable = [LEADING + Math.floor(place / 588), VOWEL + (Math.floor(place / 28) % 21)];
      return place % 28 ? [...syllable, TRAILING + (place % 28)] : syllable;
    }
    const pair = table.parts.get(code);
    return pair ? [...decomposed(pair[0]), pair[1]] : [code];
  };
  const pairOf = (a, b) => {
    if (a >= LEADING && a < LEADING + 19 && b >= VOWEL && b < VOWEL + 21) {
      return HANGUL + ((a - LEADING) * 21 + b - VOWEL) * 28;
    }
    const place = a - HANGUL;
    if (place >= 0 && place < 11172 && place % 28 === 0 && b > TRAILING && b < TRAILING + 28) {
      return a + b - TRAILING;
    }
    return table.composed.get(a * PAIR + b);
  };
  const ordered = [];
  let marks = [];
  const flush = () => { ordered.push(...marks.sort((a, b) => classOf(a) - classOf(b))); marks = []; };
  for (const code of codes.flatMap(decomposed)) {
    if (classOf(code)) { marks.push(code); continue; }
    flush();
    ordered.push(code);
  }
  flush();
  const done = [];
  const isPlain = ordered[0] < 128 && /[a-z0-9]/.test(table.kind(ordered[0])), isCrowded = ordered.length > 3;
  let starter = -1, last = 0;
  for (const code of ordered) {
    const isOn = isPlain && table.kind(code) === "M";
    if (isOn && isCrowded) continue;
    const of = classOf(code), isFree = starter >= 0 && (done.length === starter + 1 || (last && last < of));
    const made = isFree ? pairOf(done[starter], code) : undefined;
    if (made !== undefined) { done[starter] = made; continue; }
    if (isOn && pairOf(ordered[0], code) === undefined) continue;
    done.push(code);
    last = of;
    if (!of) starter = done.length - 1;
  }
  return done;
}

const IN_WORD = "a-z0-9_KV", LONG_WORD = `[${IN_WORD}][${IN_WORD}M]*`, HOST = `[${IN_WORD}][${IN_WORD}M-]*`;
const TOKEN = new RegExp([
  `(?:(?<=://)(?!www\\.)|(?<![${IN_WORD}M]www\\.)(?<=www\\.))${HOST}(?:\\.${HOST})+`,
  `[a-z]#(?![${IN_WORD}M#])`,
  `[0-9]+(?:[.,][0-9]+)+(?![${IN_WORD}M])`,
  `${LONG_WORD}(?:'${LONG_WORD})*(?:\\+\\+(?![${IN_WORD}M+]))?`,
  "(?:HM*)+",
  `(?<![${IN_WORD}M&])#${LONG_WORD}`,
  `(?<![${IN_WORD}M.])@${LONG_WORD}`,
  "E[ST]*(?:ZE[ST]*)*|RR?",
  `(?<![${IN_WORD}M])[<>]?[:;=][-o'^]?[dpox3](?![${IN_WORD}M])`,
  `[<>]?[:;=][-o'^]?[)(\\]\\[}{@|/\\\\*](?![${IN_WORD}M/])`,
  `</?3(?![${IN_WORD}M])|\\^_*\\^|-_+-`,
].join("|"), "g");
const WORDLIKE = new RegExp(`[${IN_WORD}M]`);

// A text as it is split: its characters, of one width, in NFC, and the kinds of these as a string.
function fold(table, text, lowercase) {
  let codes = [], kinds = "";
  for (const character of text) {
    const code = character.codePointAt(0);
    for (const to of table.folded.get(code) || [code]) {
      codes.push(lowercase ? table.lower.get(to) ?? to : to);
    }
  }
  let last = "";
  codes = codes.filter((code) => {
    const kind = table.kind(code);
    if ("ZT".includes(kind) && !(last && "EST".includes(last))) return false;
    kinds += last = kind;
    return true;
  });
  if (/[MV]/.test(kinds)) {
    const parts = [];
    let done = 0;
    for (const { 0: found, index } of kinds.matchAll(/.[MV]+/gs)) {
      parts.push(codes.slice(done, index), compose(table, codes.slice(index, index + found.length)));
      done = index + found.length;
    }
    codes = [...parts, codes.slice(done)].flat();
    kinds = codes.map(table.kind).join("");
  }
  if (lowercase) {
    codes = codes.map((code, i) => {
      if (code !== 0x3c3 && code !== 0x3c2) return code;
      const ends = i > 0 && WORDLIKE.test(kinds[i - 1]) && !WORDLIKE.test(kinds[i + 1] ?? "");
      return ends ? 0x3c2 : 0x3c3;
    });
  }
  return [codes.map((code) => String.fromCodePoint(code)), kinds];
}

// All words of a text, and those that its n-grams are made of.
function wordsOf(table, text, lowercase) {
  const [folded, kinds] = fold(table, text, lowercase), every = [], others = [];
  const characters = folded.map((c) => (c === "\u2019" || c === "\u02bc" ? "'" : c));
  for (const { 0: found, index } of kinds.matchAll(TOKEN)) {
    const of = characters.slice(index, index + found.length);
    if (found[0] === "H") {
      const units = [...found.matchAll(/HM*/g)].map((m) => of.slice(m.index, m.index + m[0].length).join(""));
      const pairs = units.slice(1).map((unit, i) => units[i] + unit);
      units.forEach((unit, i) => { every.push(unit); if (i < pairs.length) every.push(pairs[i]); });
      others.push(...(pairs.length ? pairs : units));
      continue;
    }
    every.push(of.join(""));
    others.push(of.join(""));
    for (let i = 0; found.length > 2 && i + 1 < found.length; i++) {
      if (found[i] === "K" && found[i + 1] === "K") every.push(of[i] + of[i + 1]);
    }
  }
  return [every, others];
}

function ngrams(units, [low, high], between) {
  const found = [];
  for (let n = low; n <= Math.min(high, units.length); n++) {
    for (let i = 0; i + n <= units.length; i++) found.push(units.slice(i, i + n).join(between));
  }
  return found;
}

// The tokens of a text, or of a list of words, by a table as `unicodeOf` makes it.
function tokensOf({ analyzer, ngram_range: range, lowercase, stop_words: stop, max_characters: most }, table) {
  const left = new Set(stop), [low, high] = range;
  const cut = (text) => (most !== null && text.length > most ? [...text].slice(0, most).join("") : text);
  if (analyzer === "word") {
    return (text) => {
      const of = Array.isArray(text) ? [text, text] : wordsOf(table, cut(text), lowercase);
      const [every, others] = of.map((words) => words.filter((word) => !left.has(word)));
      return [...(low === 1 ? every : []), ...ngrams(others, [Math.max(low, 2), high], " ")];
    };
  }
  const whole = (text) => fold(table, cut(Array.isArray(text) ? text.join(" ") : text), lowercase)[0].join("");
  if (analyzer === "char") return (text) => ngrams([...whole(text).replace(TWO_SPACES, " ")], range, "");
  const padded = (word) => [" ", ...word, " "];
  return (text) => whole(text).split(SPACES).filter(Boolean).flatMap((word) => (
    range[0] > padded(word).length ? [` ${word} `] : ngrams(padded(word), range, "")));
}

// The known tokens of a text with how often each counts, and what each adds once.
function counter(term, table) {
  const split = tokensOf(term.split, table), place = new Map(term.tokens.map((token, i) => [token, i]));
  return (text) => {
    const count = new Map();
    for (const token of split(text)) {
      const i = place.get(token);
      if (i !== undefined) count.set(i, term.binary ? 1 : (count.get(i) || 0) + 1);
    }
    const total = [...count.values()].reduce((a, b) => a + b, 0);
    return { count, over: Math.max(total, 1) ** term.length_power };
  };
}

// Each kind of term: what it adds to the scores of a row, by add(points, row of points, times).
const TERMS = {
  presence(term) {
    const read = reader(term), points = numbers([term.there, term.missing]);
    const said = [term.there, term.missing].map((of) => of.some(Boolean));
    return (row, add) => { const i = Number(read(row) === undefined); if (said[i]) add(points, i); };
  },
  bins(term) {
    const read = reader(term), edges = numbers(term.edges), points = numbers(term.points);
    return (row, add) => { const x = read(row); if (x !== undefined) add(points, reached(edges, x)); };
  },
  levels(term) {
    const read = reader(term), points = numbers(term.points), unseen = term.levels.length;
    const place = new Map(term.levels.map((level, i) => [code(level), i]));
    return (row, add) => { const x = read(row); if (x !== undefined) add(points, place.get(x) ?? unseen); };
  },
  line(term) {
    const read = reader(term), slope = numbers(term.slope), { low, high, centre } = term;
    return (row, add) => { const x = read(row); if (x !== undefined) add(slope, 0, clip(x, low, high) - centre); };
  },
  parabola(term) {
    const read = reader(term), mean = numbers(term.mean), half = numbers(term.half_precision);
    return (row, add) => {
      const x = read(row);
      if (x !== undefined) add(mean.map((m, c) => -Math.min(half[c] * clip(x - m, -FAR, FAR) ** 2, MOST)), 0);
    };
  },
  tokens(term, table) {
    const read = reader(term), counted = counter(term, table), points = numbers(term.points);
    const there = numbers(term.there);
    return (row, add) => {
      const text = read(row);
      if (text === undefined) return;
      const found = counted(text);
      if (there.some(Boolean)) add(there, 0, 1, null);
      found.count.forEach((n, i) => add(points, i, n / found.over, term.tokens[i]));
    };
  },
  product(term) {
    const a = factorOf(term.a), b = factorOf(term.b), slope = numbers(term.slope);
    return (row, add) => {
      const x = clip((a(row) * b(row)) / term.scale, -term.most, term.most);
      if (x) add(slope, 0, x);
    };
  },
  rule(term) {
    const conditions = term.conditions.map(conditionOf), points = numbers(term.points);
    const said = term.points.map((of) => of.some(Boolean));
    let size = 1;
    const strides = term.conditions.map((of) => { const at = size; size *= of.others ? 3 : 2; return at; });
    return (row, add) => {
      const cell = conditions.reduce((sum, side, i) => sum + side(row) * strides[i], 0);
      if (said[cell]) add(points, cell);
    };
  },
};

// The order of strings by their characters, which is not that of UTF-16.
function byCharacter(a, b) {
  const [x, y] = [a, b].map((of) => Array.from(of, (one) => one.codePointAt(0)));
  const i = x.findIndex((one, at) => one !== y[at]);
  return i < 0 ? x.length - y.length : x[i] - (y[i] ?? -1);
}

// The name of a number that is made of two columns.
function titleOf({ column, combined: { operator, column: other, times } }) {
  return `${column} ${operator} ${times === 1 ? "" : `${times} * `}${other}`;
}

// What a term is called in an explanation, and the cells that it shows.
function lineOf(term, row, token) {
  const cell = (name) => (Object.hasOwn(row, name) ? row[name] ?? null : null);
  const several = term.conditions || (term.a && [term.a, term.b]);
  if (several) {
    const of = new Map(several.map((one) => [one.combined ? titleOf(one) : one.part ? `${one.column} (${one.part})` : one.column, one]));
    const names = term.conditions ? [...of.keys()].sort(byCharacter) : [...of.keys()];
    return [names.join(" × "), names.map((name) => (of.get(name).combined ? reader(of.get(name))(row) : cell(of.get(name).column)))];
  }
  if (term.combined) return [titleOf(term), reader(term)(row)];
  const { column, part } = term, value = cell(column);
  if (token !== undefined) return [column, token];
  if (part) return [`${column} (${part})`, partOf(seconds(value), part)];
  if (value === null || Number.isNaN(value)) return [`${column} is missing`, null];
  return term.kind === "text" ? [`${column} is present`, null] : [column, value];
}

// Return what scores rows by a scorecard: scores, posteriors, labels and explanations.
function scorer(card) {
  if (card?.naively !== "scorecard") throw new TypeError("This is no scorecard of naively.");
  if (card.version !== VERSION) {
    throw new TypeError(`The scorecard has version ${card.version}, and this scorer reads version ${VERSION}.`);
  }
  const start = numbers(card.start), prior = numbers(card.log_prior), k = start.length;
  const table = card.unicode && unicodeOf(card.unicode);
  const terms = card.terms.map((term) => [term, TERMS[term.term](term, table)]);
  const read = card.terms.flatMap(({ column, a, b, conditions }) => [{ column }, a, b, ...(conditions ?? [])]);
  const names = card.columns.map((column) => column.name), known = new Set([...names, ...read.map((of) => of?.column)]);

  // A row of other keys only, or of none that is no plain object, is no row whose cells are all missing.
  function check(row) {
    if (row === null || typeof row !== "object") throw new TypeError("A row is an object of cells by column.");
    const keys = Object.keys(row);
    if (keys.some((key) => known.has(key))) return;
    if (!keys.length && Object.prototype.toString.call(row) === "[object Object]") return;
    const some = (of) => of.slice(0, 10).map((one) => JSON.stringify(one)).join(", ") + (of.length > 10 ? ", ..." : "");
    throw new TypeError(`The row has no column of the model, but ${some(keys) || "no keys"}; the columns are ${some(names)}.`);
  }
  function scores(row) {
    check(row);
    const total = Float64Array.from(start);
    const add = (points, i, n = 1) => { for (let c = 0; c < k; c++) total[c] += times(n, points[i * k + c]); };
    for (const [, of] of terms) of(row, add);
    return total;
  }
  function posterior(row) {
    const joint = scores(row), of = joint.some((score) => score > -Infinity) ? joint : prior;
    const top = Math.max(...of), p = of.map((score) => Math.exp(score - top));
    const sum = p.reduce((a, b) => a + b, 0);
    return p.map((each) => each / sum);
  }
  function predict(row) {
    const p = posterior(row);
    return card.classes[p.indexOf(Math.max(...p))];
  }
  // The classes that are probable enough for sets of a coverage to hold the right one that often.
  function set(row, coverage) {
    const known = card.sets ?? [], of = known.find((one) => one.coverage === coverage);
    if (!of) {
      const said = known.length ? `of ${known.map((one) => one.coverage).join(", ")}` : "of no coverage";
      throw new RangeError(`The scorecard knows sets ${said}, not of ${coverage}.`);
    }
    const p = posterior(row), best = p.indexOf(Math.max(...p));
    return card.classes.filter((_, c) => p[c] >= of.probability || c === best);
  }
  // Lines of a column, a value and its evidence for each class, which sum to the scores.
  function explain(row) {
    check(row);
    const lines = new Map([["", { column: "class prior", value: null, evidence: Array.from(prior) }]]);
    const intercept = Array.from(start, (of, c) => (of === prior[c] ? 0 : of - prior[c]));
    if (intercept.some((of) => of)) lines.set("+", { column: "intercept", value: null, evidence: intercept });
    for (const [term, of] of terms) {
      of(row, (points, i, n = 1, token) => {
        const [column, value] = lineOf(term, row, token), key = JSON.stringify([column, token ?? null]);
        if (!lines.has(key)) lines.set(key, { column, value, evidence: new Array(k).fill(0) });
        const { evidence } = lines.get(key);
        for (let c = 0; c < k; c++) evidence[c] += times(n, points[i * k + c]);
      });
    }
    return [...lines.values()];
  }
  return { classes: card.classes, columns: card.columns, scores, posterior, predict, set, explain };
}

export { scorer, tokensOf, unicodeOf };
