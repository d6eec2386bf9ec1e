# Scores the rows of a data frame by a scorecard: the JSON that naively writes of a model.
#
#   source("naively.R")
#   model <- naively("model.json")
#   predict(model, frame)                  # the most probable class of each row
#   predict(model, frame, type = "prob")   # a matrix: rows, and a column for each class
#
# It is base R and jsonlite. What a scorecard is, docs/reference/scorecard.md says: the names here are
# its names. A cell that is NA or NaN is missing, as is a column that is not in the frame. Numbers are
# numeric, integer or logical; strings are character or factor; times are POSIXct, Date, or character
# such as "2026-11-21T10:30:00", in UTC; a text may be a list of character vectors, of words.

naively <- function(path) {
  as_naively(jsonlite::fromJSON(path, simplifyVector = FALSE))
}

# Return the model of a scorecard that was read already, by fromJSON(simplifyVector = FALSE).
as_naively <- function(card) {
  if (!identical(card$naively, "scorecard")) stop("This is no scorecard of naively.", call. = FALSE)
  if (card$version != 1) {
    stop("The scorecard has version ", card$version, ", and this file reads version 1.", call. = FALSE)
  }
  table <- if (!is.null(card$unicode)) .unicode_of(card$unicode)
  terms <- lapply(card$terms, function(term) .terms[[term$term]](term, table))
  structure(list(
    classes = unlist(card$classes), start = .numbers(card$start), log_prior = .numbers(card$log_prior),
    columns = vapply(card$columns, function(of) of$name, ""), terms = terms
  ), class = "naively")
}

# type = "score" are the log probabilities, less what is the same for all classes of a row.
predict.naively <- function(object, newdata, type = c("class", "prob", "score"), ...) {
  type <- match.arg(type)
  if (ncol(newdata) && !any(names(newdata) %in% object$columns)) {
    stop(
      "The frame has no column of the model, but ", toString(names(newdata)), "; the columns are ",
      toString(object$columns), ".", call. = FALSE
    )
  }
  n <- nrow(newdata)
  total <- matrix(object$start, n, length(object$start), byrow = TRUE)
  for (term in object$terms) total <- total + term(newdata)
  if (type == "score") return(.named(total, object))
  impossible <- rowSums(total > -Inf) == 0
  total[impossible, ] <- rep(object$log_prior, each = sum(impossible))
  p <- exp(total - do.call(pmax, lapply(seq_len(ncol(total)), function(c) total[, c])))
  p <- p / rowSums(p)
  if (type == "prob") .named(p, object) else object$classes[max.col(p, ties.method = "first")]
}

print.naively <- function(x, ...) {
  cat(length(x$classes), "classes,", length(x$columns), "columns,", length(x$terms), "terms\n")
  invisible(x)
}

.named <- function(scores, object) {
  colnames(scores) <- as.character(object$classes)
  scores
}

# --- Numbers --------------------------------------------------------------------------------------

# A list as numbers; JSON has infinite ones as strings. What holds a string must not be unlisted whole,
# which would round the others.
.numbers <- function(of) {
  flat <- unlist(of, use.names = FALSE)
  if (is.character(flat)) {
    each <- as.list(of)
    if (is.list(of) && any(vapply(of, is.list, NA))) each <- unlist(of, recursive = FALSE)
    flat <- vapply(each, function(x) switch(as.character(x), "inf" = Inf, "-inf" = -Inf, as.numeric(x)), 0)
  }
  as.numeric(flat)
}

# A list of lists of a number for each class, as a matrix of these rows.
.points <- function(of, classes = length(of[[1]])) matrix(.numbers(of), length(of), classes, byrow = TRUE)

.clip <- function(x, low, high) pmin(pmax(x, low), high)

# x slope, as a matrix of rows and classes: 0 times -Inf is 0, since an impossible event counts where
# it happens.
.times <- function(x, slope) {
  found <- outer(x, slope)
  found[x == 0, ] <- 0
  found
}

# --- Cells ----------------------------------------------------------------------------------------

.weekdays <- c("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
.time <- paste0(
  "^(\\d{4})[-/](\\d\\d)[-/](\\d\\d)(?:[T ](\\d\\d):(\\d\\d)(?::(\\d\\d))?(\\.\\d+)?)?(Z|[+-]\\d\\d:\\d\\d)?$"
)

.refuse <- function(column, kind, got) {
  stop("Column \"", column, "\" holds ", kind, "s; got ", got, ".", call. = FALSE)
}

# Seconds since 1970 of strings; NA if they are none.
.seconds <- function(strings) {
  parts <- regmatches(strings, regexec(.time, strings, perl = TRUE))
  vapply(parts, function(of) {
    if (length(of) == 0) return(NA_real_)
    day <- as.numeric(as.Date(paste(of[2], of[3], of[4], sep = "-"), "%Y-%m-%d", optional = TRUE))
    clock <- as.numeric(ifelse(of[5:7] == "", "0", of[5:7]))
    if (is.na(day) || any(clock >= c(24, 60, 60))) return(NA_real_)
    fraction <- if (of[8] == "") 0 else round(as.numeric(of[8]) * 1e6)
    zone <- 0
    if (!of[9] %in% c("", "Z")) {
      away <- as.numeric(strsplit(substring(of[9], 2), ":", fixed = TRUE)[[1]])
      zone <- sum(away * c(3600, 60)) * (if (startsWith(of[9], "-")) -1 else 1)
    }
    ((day * 86400 + sum(clock * c(3600, 60, 1)) - zone) * 1e6 + fraction) / 1e6
  }, 0)
}

# A column as cells of its kind, NA where one is missing.
.cells <- function(of, column, kind) {
  if (kind == "text" && is.list(of)) return(of)
  if (is.factor(of)) of <- as.character(of)
  if (is.logical(of) && all(is.na(of))) return(rep(if (kind %in% c("string", "text")) NA_character_ else NA_real_, length(of)))
  is_time <- inherits(of, "POSIXct") || inherits(of, "Date")
  if (kind %in% c("number", "boolean")) {
    if (is_time || !(is.numeric(of) || is.logical(of))) .refuse(column, kind, class(of)[1])
    return(as.numeric(of))
  }
  if (kind == "time" && is_time) {
    seconds <- as.numeric(of) * (if (inherits(of, "Date")) 86400 else 1)
    return(round(seconds * 1e6) / 1e6)
  }
  if (!is.character(of)) .refuse(column, kind, class(of)[1])
  if (kind != "time") return(enc2utf8(of))
  found <- .seconds(of)
  wrong <- which(is.na(found) & !is.na(of))
  if (length(wrong)) .refuse(column, kind, paste0("\"", of[wrong[1]], "\""))
  found
}

.part_of <- function(seconds, part) {
  hours <- floor(round(seconds * 1e6) / 3.6e9)
  days <- floor(hours / 24)
  found <- switch(part,
    hour = sprintf("%02d", as.integer(hours - 24 * days)),
    weekday = .weekdays[(days + 3) %% 7 + 1],
    month = month.name[as.POSIXlt(as.Date(days, origin = "1970-01-01"))$mon + 1]
  )
  found[is.na(seconds)] <- NA
  found
}

# The function that reads a column of a frame, as a term says. A list has NULL or NA where a text is missing.
.reader <- function(of) {
  if (!is.null(of$combined)) return(.reader_of_two(of))
  function(frame) {
    if (!of$column %in% names(frame)) return(rep(NA, nrow(frame)))
    x <- .cells(frame[[of$column]], of$column, of$kind)
    if (!is.null(of$part)) return(.part_of(x, of$part))
    if (is.null(of$log)) x else suppressWarnings(log(x))
  }
}

# The same of a number that is made of two columns; NA where one is missing, or of x / 0.
.reader_of_two <- function(of) {
  each <- lapply(list(of$column, of$combined$column), function(name) .reader(list(column = name, kind = of$kind)))
  times <- of$combined$times
  function(frame) {
    x <- as.numeric(each[[1]](frame))
    y <- as.numeric(each[[2]](frame))
    found <- switch(of$combined$operator, "+" = x + times * y, "-" = x - times * y, "/" = x / ifelse(y == 0, NA, y))
    ifelse(is.nan(found), NA, found)
  }
}

.missing <- function(x) {
  if (is.list(x)) vapply(x, function(of) is.null(of) || (length(of) == 1 && is.na(of)), NA) else is.na(x)
}

# The place of each cell among some levels, of which those of a column of numbers are numbers or truths.
.place <- function(x, levels) {
  if (is.character(x)) {
    match(x, unlist(Filter(is.character, levels)))
  } else {
    match(x, vapply(levels, function(level) if (is.character(level)) NA_real_ else as.numeric(level), 0), incomparables = NA)
  }
}

# --- Terms: the function of each kind gives what a term adds to the scores of a frame's rows --------

.terms <- list()

# What is added where the cell is there, by a function of the cells that are.
.where_there <- function(term, classes, add) {
  read <- .reader(term)
  function(frame) {
    x <- read(frame)
    there <- !.missing(x)
    found <- matrix(0, length(x), classes)
    if (any(there)) found[there, ] <- add(x[there])
    found
  }
}

.terms$presence <- function(term, table) {
  read <- .reader(term)
  points <- rbind(.numbers(term$there), .numbers(term$missing))
  function(frame) points[.missing(read(frame)) + 1, , drop = FALSE]
}

.terms$bins <- function(term, table) {
  edges <- .numbers(term$edges)
  points <- .points(term$points)
  .where_there(term, ncol(points), function(x) points[findInterval(x, edges) + 1, , drop = FALSE])
}

.terms$levels <- function(term, table) {
  points <- .points(term$points)
  .where_there(term, ncol(points), function(x) {
    place <- .place(x, term$levels)
    place[is.na(place)] <- nrow(points)
    points[place, , drop = FALSE]
  })
}

.terms$line <- function(term, table) {
  slope <- .numbers(term$slope)
  .where_there(term, length(slope), function(x) .times(.clip(x, term$low, term$high) - term$centre, slope))
}

.terms$parabola <- function(term, table) {
  mean <- .numbers(term$mean)
  half <- .numbers(term$half_precision)
  .where_there(term, length(mean), function(x) {
    apart <- .clip(outer(x, mean, `-`), -1e140, 1e140)
    -pmin(sweep(apart^2, 2, half, `*`), 1e290)
  })
}

.terms$tokens <- function(term, table) {
  there <- .numbers(term$there)
  points <- .points(term$points, length(there))
  tokens <- enc2utf8(as.character(unlist(term$tokens)))
  split <- .splitter(term$split, table)
  .where_there(term, length(there), function(texts) {
    t(vapply(texts, function(text) {
      place <- match(split(text, is.list(texts)), tokens, nomatch = 0)
      count <- tabulate(place, length(tokens))
      if (term$binary) count <- pmin(count, 1)
      known <- which(count > 0)
      over <- max(sum(count), 1)^term$length_power
      there + colSums(points[known, , drop = FALSE] * (count[known] / over))
    }, there, USE.NAMES = FALSE))
  })
}

.factor_of <- function(of) {
  read <- .reader(of)
  function(frame) {
    x <- read(frame)
    if ("level" %in% names(of)) {
      value <- if (is.null(of$level)) 0 * !is.na(x) else as.numeric(!is.na(.place(x, list(of$level))))
      if (length(of$among)) value[is.na(.place(x, of$among))] <- of$centre
    } else {
      value <- .clip(if (is.null(of$above)) as.numeric(x) else as.numeric(x > of$above), of$low, of$high)
    }
    ifelse(is.na(x), 0, (value - of$centre) / of$scale)
  }
}

.terms$product <- function(term, table) {
  a <- .factor_of(term$a)
  b <- .factor_of(term$b)
  slope <- .numbers(term$slope)
  function(frame) .times(.clip(a(frame) * b(frame) / term$scale, -term$most, term$most), slope)
}

.condition_of <- function(of) {
  read <- .reader(of)
  edge <- if (!is.null(of$edge)) .numbers(list(of$edge))
  function(frame) {
    x <- read(frame)
    holds <- if (is.null(edge)) !is.na(.place(x, of$levels)) else x >= edge
    side <- as.numeric(holds)
    if (!is.null(of$others)) side[!holds & is.na(.place(x, of$others))] <- 2
    ifelse(is.na(x), of$missing, side)
  }
}

.terms$rule <- function(term, table) {
  conditions <- lapply(term$conditions, .condition_of)
  sides <- vapply(term$conditions, function(of) if (is.null(of$others)) 2 else 3, 0)
  strides <- cumprod(c(1, sides))
  points <- .points(term$points)
  function(frame) {
    place <- rep(0, nrow(frame))
    for (i in seq_along(conditions)) place <- place + conditions[[i]](frame) * strides[[i]]
    points[place + 1, , drop = FALSE]
  }
}

# --- Texts: what is known of characters, folding, words, n-grams -------------------------------------

# The card's table of Unicode, as vectors of code points and what each becomes.
.unicode_of <- function(text) {
  lines <- strsplit(strsplit(trimws(text), "\n", fixed = TRUE)[[1]], " ", fixed = TRUE)
  names <- vapply(lines, `[`, "", 1)
  of <- lapply(lines, function(line) suppressWarnings(as.numeric(line[-1])))
  groups <- function(name, width) matrix(of[[which(names == name)]], nrow = width)
  ranges <- do.call(rbind, lapply(which(startsWith(names, "kind:") | names == "space"), function(i) {
    ends <- cumsum(of[[i]])
    odd <- seq(1, length(ends), 2)
    data.frame(begin = ends[odd], end = ends[odd + 1], kind = if (names[i] == "space") " " else substring(names[i], 6))
  }))
  ranges <- ranges[order(ranges$begin), ]
  lower <- groups("lower", 4)
  runs <- .runs(lower[1, ], lower[2, ], lower[3, ])
  marks <- groups("combining", 3)
  pairs <- groups("compose", 3)
  folds <- of[[which(names == "fold")]]
  from <- to <- list()
  at <- 0
  i <- 1
  while (i < length(folds)) {
    at <- at + folds[i]
    from[[length(from) + 1]] <- at
    to[[length(to) + 1]] <- folds[i + 1 + seq_len(folds[i + 1])]
    i <- i + 2 + folds[i + 1]
  }
  list(
    begin = ranges$begin, end = ranges$end, kind = ranges$kind,
    lower_from = runs, lower_to = runs + rep(lower[4, ], lower[2, ]),
    mark = .runs(marks[1, ], marks[2, ], 1), mark_class = rep(marks[3, ], marks[2, ]),
    first = cumsum(pairs[1, ]), second = pairs[2, ], both = pairs[3, ],
    fold_from = unlist(from), fold_to = to
  )
}

# Runs of code points: each begins so many after the last one plus 1, and has so many at a step.
.runs <- function(gap, many, step) {
  long <- (many - 1) * step + 1
  begin <- cumsum(gap + long) - long
  rep(begin, many) + rep(step, length.out = length(many))[rep(seq_along(many), many)] * (sequence(many) - 1)
}

.kinds_of <- function(table, codes) {
  place <- findInterval(codes, table$begin)
  found <- c("?", table$kind)[ifelse(codes < c(0, table$end)[place + 1], place, 0) + 1]
  ascii <- codes < 128
  found[ascii] <- tolower(intToUtf8(codes[ascii], multiple = TRUE))
  found
}

.class_of <- function(table, codes) {
  found <- table$mark_class[match(codes, table$mark)]
  ifelse(is.na(found), 0, found)
}

.decomposed <- function(table, code) {
  place <- code - 0xac00
  if (place >= 0 && place < 11172) {
    syllable <- c(0x1100 + place %/% 588, 0x1161 + (place %/% 28) %% 21)
    return(if (place %% 28) c(syllable, 0x11a7 + place %% 28) else syllable)
  }
  pair <- match(code, table$both)
  if (is.na(pair)) code else c(.decomposed(table, table$first[pair]), table$second[pair])
}

.pair_of <- function(table, a, b) {
  if (a >= 0x1100 && a < 0x1113 && b >= 0x1161 && b < 0x1176) {
    return(0xac00 + ((a - 0x1100) * 21 + b - 0x1161) * 28)
  }
  place <- a - 0xac00
  if (place >= 0 && place < 11172 && place %% 28 == 0 && b > 0x11a7 && b < 0x11c3) return(a + b - 0x11a7)
  found <- which(table$first == a & table$second == b)
  if (length(found)) table$both[found[1]]
}

# The NFC of a code point and those that combine with it (Unicode Standard Annex 15), without marks that
# are put on an ASCII letter or digit: more than two, or any that it has no composition of.
.compose <- function(table, codes) {
  codes <- unlist(lapply(codes, .decomposed, table = table))
  classes <- .class_of(table, codes)
  codes <- codes[order(cumsum(classes == 0), classes)]
  plain <- codes[1] < 128 && grepl("[a-z0-9]", .kinds_of(table, codes[1]))
  is_on <- plain & .kinds_of(table, codes) == "M"
  if (length(codes) > 3) codes <- codes[!is_on]
  done <- numeric(0)
  starter <- 0
  last <- 0
  for (code in codes) {
    class <- .class_of(table, code)
    is_free <- starter > 0 && (length(done) == starter || (last > 0 && last < class))
    made <- if (is_free) .pair_of(table, done[starter], code)
    if (!is.null(made)) {
      done[starter] <- made
      next
    }
    if (plain && .kinds_of(table, code) == "M" && is.null(.pair_of(table, codes[1], code))) next
    done <- c(done, code)
    last <- class
    if (class == 0) starter <- length(done)
  }
  done
}

# Code points as a text is split, and their kinds.
.fold <- function(table, text, lowercase) {
  codes <- utf8ToInt(text)
  place <- match(codes, table$fold_from)
  if (any(!is.na(place))) {
    codes <- unlist(Map(function(code, i) if (is.na(i)) code else table$fold_to[[i]], codes, place))
  }
  if (lowercase && length(codes)) {
    small <- table$lower_to[match(codes, table$lower_from)]
    codes <- ifelse(is.na(small), codes, small)
  }
  kinds <- .kinds_of(table, codes)
  if (any(kinds %in% c("Z", "T"))) {
    kept <- rep(TRUE, length(kinds))
    last <- ""
    for (i in seq_along(kinds)) {
      kept[i] <- !(kinds[i] %in% c("Z", "T")) || last %in% c("E", "S", "T")
      if (kept[i]) last <- kinds[i]
    }
    codes <- codes[kept]
    kinds <- kinds[kept]
  }
  composable <- kinds %in% c("M", "V")
  if (any(composable)) {
    codes <- unlist(lapply(.grouped(codes, kinds), function(of) if (length(of) > 1) .compose(table, of) else of))
    kinds <- .kinds_of(table, codes)
  }
  if (lowercase) {
    word <- grepl("[a-z0-9_KVM]", kinds)
    sigma <- which(codes %in% c(0x3c3, 0x3c2))
    ends <- c(FALSE, word)[sigma] & !c(word, FALSE)[sigma + 1]
    codes[sigma] <- ifelse(ends, 0x3c2, 0x3c3)
  }
  list(codes = codes, kinds = kinds)
}

# Each character with those of kinds M and V behind it. The first has no one before it, whatever it is.
.grouped <- function(codes, kinds) {
  begins <- !(kinds %in% c("M", "V"))
  begins[1] <- TRUE
  split(codes, cumsum(begins))
}

.token <- local({
  short <- c(W = "[a-z0-9_KV][a-z0-9_KVM]*", L = "[a-z0-9_KV][a-z0-9_KVM-]*", I = "[a-z0-9_KVM]")
  fill <- function(of) Reduce(function(of, name) gsub(name, short[[name]], of, fixed = TRUE), names(short), of)
  paste(fill(c(
    "(?:(?<=://)(?!www\\.)|(?<!Iwww\\.)(?<=www\\.))L(?:\\.L)+",
    "[a-z]#(?![a-z0-9_KVM#])",
    "[0-9]+(?:[.,][0-9]+)+(?!I)",
    "W(?:'W)*(?:\\+\\+(?![a-z0-9_KVM+]))?",
    "(?:HM*)+",
    "(?<![a-z0-9_KVM&])#W",
    "(?<![a-z0-9_KVM.])@W",
    "E[ST]*(?:ZE[ST]*)*|RR?",
    "(?<!I)[<>]?[:;=][-o'^]?[dpox3](?!I)",
    "[<>]?[:;=][-o'^]?[)(\\]\\[}{@|/\\\\*](?![a-z0-9_KVM/])",
    "</?3(?!I)|\\^_*\\^|-_+-"
  )), collapse = "|")
})

# All words of a text, and those that its n-grams are made of.
.words_of <- function(table, text, lowercase) {
  folded <- .fold(table, text, lowercase)
  codes <- folded$codes
  codes[codes %in% c(0x2019, 0x2bc)] <- 0x27
  kinds <- paste(folded$kinds, collapse = "")
  found <- gregexpr(.token, kinds, perl = TRUE)[[1]]
  if (found[1] == -1) return(list(every = character(0), others = character(0)))
  every <- others <- vector("list", length(found))
  long <- attr(found, "match.length")
  for (m in seq_along(found)) {
    at <- found[m] - 1 + seq_len(long[m])
    of <- codes[at]
    kind <- folded$kinds[at]
    if (kind[1] == "H") {
      units <- unname(vapply(split(of, cumsum(kind == "H")), intToUtf8, ""))
      pairs <- paste0(units[-length(units)], units[-1])
      if (length(units) == 1) pairs <- character(0)
      every[[m]] <- c(units, pairs)
      others[[m]] <- if (length(pairs)) pairs else units
      next
    }
    whole <- intToUtf8(of)
    others[[m]] <- whole
    if (length(of) > 2 && sum(kind == "K") > 1) {
      both <- which(kind[-length(kind)] == "K" & kind[-1] == "K")
      whole <- c(whole, vapply(both, function(i) intToUtf8(of[i + 0:1]), ""))
    }
    every[[m]] <- whole
  }
  list(every = unlist(every), others = unlist(others))
}

# All runs of low to high units, each joined.
.ngrams <- function(units, low, high, join) {
  many <- length(units)
  if (low > min(high, many)) return(character(0))
  unlist(lapply(low:min(high, many), function(n) {
    vapply(seq_len(many - n + 1), function(i) join(units[i - 1 + seq_len(n)]), "")
  }))
}

.spaces <- c(0x09:0x0d, 0x1c:0x20, 0x85, 0xa0, 0x1680, 0x2000:0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000)

# The function that gives the tokens of a text, or of a vector of words, which are taken as they are.
.splitter <- function(split, table) {
  low <- split$ngram_range[[1]]
  high <- split$ngram_range[[2]]
  stop_words <- as.character(unlist(split$stop_words))
  cut <- function(text) {
    if (is.null(split$max_characters)) text else substring(text, 1, split$max_characters)
  }
  if (split$analyzer == "word") {
    return(function(text, is_words) {
      of <- if (is_words) list(every = text, others = text) else .words_of(table, cut(text), split$lowercase)
      of <- lapply(of, function(words) words[!words %in% stop_words])
      c(if (low == 1) of$every, .ngrams(of$others, max(low, 2), high, function(words) paste(words, collapse = " ")))
    })
  }
  whole <- function(text) .fold(table, cut(paste(text, collapse = " ")), split$lowercase)$codes
  if (split$analyzer == "char") {
    return(function(text, is_words) {
      codes <- whole(text)
      space <- codes %in% .spaces
      again <- c(FALSE, space[-length(space)])[seq_along(space)] & space
      alone <- space & !again & !c(again[-1], FALSE)[seq_along(space)]
      codes[space & !alone] <- 0x20
      .ngrams(codes[!again], low, high, intToUtf8)
    })
  }
  function(text, is_words) {
    codes <- whole(text)
    space <- codes %in% .spaces
    pieces <- base::split(codes[!space], cumsum(space)[!space])
    unlist(lapply(unname(pieces), function(piece) {
      padded <- c(0x20, piece, 0x20)
      if (low > length(padded)) intToUtf8(padded) else .ngrams(padded, low, high, intToUtf8)
    }))
  }
}
