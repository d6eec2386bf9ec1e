// The types of scorer.mjs, and of the JSON that scorecard.schema.json describes.

/** A class label. */
export type Label = string | number | boolean;

/** What a column held in training. */
export type Kind = "number" | "boolean" | "string" | "time" | "text";

/** A cell of a row; null, undefined and NaN are missing. A text may be a list of its words. */
export type CellValue = string | number | boolean | Date | readonly string[] | null | undefined;

/** The cells of a row, by the names of their columns; one of other keys only is a TypeError. */
export type Row = Readonly<Record<string, CellValue>>;

export type Level = string | number | boolean;

/** A number; JSON has infinite ones as strings. */
export type Infinitable = number | "inf" | "-inf";

export type Points = readonly (readonly Infinitable[])[];

export interface Column {
  readonly name: string;
  readonly kind: Kind;
}

/** What is read of a row. */
export interface Cell {
  readonly column: string;
  readonly kind: Kind;
  readonly part?: "hour" | "weekday" | "month";
  readonly log?: true;
  /** What the number is combined with. */
  readonly combined?: {
    readonly operator: "+" | "-" | "/";
    readonly column: string;
    readonly times: number;
  };
}

export interface PresenceTerm extends Cell {
  readonly term: "presence";
  readonly there: readonly Infinitable[];
  readonly missing: readonly Infinitable[];
}

export interface BinsTerm extends Cell {
  readonly term: "bins";
  readonly edges: readonly Infinitable[];
  readonly points: Points;
}

export interface LevelsTerm extends Cell {
  readonly term: "levels";
  readonly levels: readonly Level[];
  readonly points: Points;
}

export interface LineTerm extends Cell {
  readonly term: "line";
  readonly low: number;
  readonly high: number;
  readonly centre: number;
  readonly slope: readonly Infinitable[];
}

export interface ParabolaTerm extends Cell {
  readonly term: "parabola";
  readonly mean: readonly Infinitable[];
  readonly half_precision: readonly Infinitable[];
}

/** How a text is split into tokens. */
export interface Split {
  readonly analyzer: "word" | "char" | "char_wb";
  readonly ngram_range: readonly [number, number];
  readonly lowercase: boolean;
  readonly stop_words: readonly string[];
  readonly max_characters: number | null;
}

export interface TokensTerm extends Cell {
  readonly term: "tokens";
  readonly split: Split;
  readonly binary: boolean;
  readonly length_power: number;
  readonly there: readonly Infinitable[];
  readonly tokens: readonly string[];
  readonly points: Points;
}

/** A side of a product: a line, or whether the cell is a level. */
export type Factor = Cell & { readonly centre: number; readonly scale: number } & (
    | { readonly low: number; readonly high: number; readonly above?: number }
    | { readonly level: Level | null; readonly among: readonly (Level | null)[] }
  );

export interface ProductTerm {
  readonly term: "product";
  readonly a: Factor;
  readonly b: Factor;
  readonly scale: number;
  readonly most: number;
  readonly slope: readonly Infinitable[];
}

export type Condition = Cell & { readonly missing: 0 | 1 | 2 } & (
    | { readonly edge: Infinitable }
    | { readonly levels: readonly Level[]; readonly others?: readonly Level[] }
  );

export interface RuleTerm {
  readonly term: "rule";
  readonly conditions: readonly Condition[];
  readonly points: Points;
}

export type Term =
  | PresenceTerm
  | BinsTerm
  | LevelsTerm
  | LineTerm
  | ParabolaTerm
  | TokensTerm
  | ProductTerm
  | RuleTerm;

/** A model as numbers to be added up. */
export interface Scorecard {
  readonly naively: "scorecard";
  readonly version: 1;
  readonly classes: readonly Label[];
  readonly log_prior: readonly Infinitable[];
  readonly start: readonly Infinitable[];
  readonly columns: readonly Column[];
  readonly terms: readonly Term[];
  readonly sets?: readonly { readonly coverage: number; readonly probability: number }[];
  readonly unicode?: string;
}

/** A line of an explanation: what a cell, a token or several cells say for each class, in nats. */
export interface Contribution {
  readonly column: string;
  readonly value: CellValue | readonly CellValue[];
  readonly evidence: number[];
}

export interface Scorer {
  readonly classes: readonly Label[];
  readonly columns: readonly Column[];
  /** The log probability of each class, less what is the same for all. */
  scores(row: Row): Float64Array;
  /** The probability of each class. */
  posterior(row: Row): Float64Array;
  /** The most probable class; of equal ones the first. */
  predict(row: Row): Label;
  /** The classes of a set that holds the right one as often as the coverage says. */
  set(row: Row, coverage: number): Label[];
  /** Lines that sum to the scores. */
  explain(row: Row): Contribution[];
}

/** Return what scores rows by a scorecard; JSON that was read may be passed as it is. */
export function scorer(card: unknown): Scorer;

/** A table of Unicode, as `unicodeOf` makes it. */
export interface Unicode {
  readonly lower: ReadonlyMap<number, number>;
  readonly folded: ReadonlyMap<number, readonly number[]>;
  readonly classes: ReadonlyMap<number, number>;
  readonly composed: ReadonlyMap<number, number>;
  readonly parts: ReadonlyMap<number, readonly [number, number]>;
  kind(code: number): string;
}

/** Return the table of a scorecard's `unicode`. */
export function unicodeOf(text: string): Unicode;

/** Return the function that splits a text into tokens; a list of words is taken as it is. */
export function tokensOf(split: Split, table: Unicode): (text: string | readonly string[]) => string[];
