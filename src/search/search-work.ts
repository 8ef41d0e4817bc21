/**
 * Where searches work. Rows are scored block by block, all terms of a block before the next one, so
 * that what is written at random stays in the processor's nearest memory whatever the number of
 * listings. Searches are synchronous: one of each serves all.
 */
export const BLOCK_ROWS = 1024

/** Palette numbers of one byte: nearly every posting has one of them. */
export const TABLE_CODES = 128
/** Terms and ids of one search, see plan-query. */
const MAX_TABLES = 128

/** Things asked for that are told apart. */
export const MAX_TOGETHER = 8
/** The bit, above those of the things, that every row with a score has. */
export const MATCHED = 1 << MAX_TOGETHER

/** Where `places` holds the places with a score, in the order they got one. */
export const MATCHES_AT = BLOCK_ROWS
/** Where `numbers` holds the tables. */
export const TABLES_AT = BLOCK_ROWS

/** Few arrays, because every access to one more is one more check. */
export const WORK = {
  /** The score of each row of the block, 0 between searches; then a table of scores a term. */
  numbers: new Float64Array(BLOCK_ROWS + MAX_TABLES * TABLE_CODES),
  /** `MATCHED` and the things each row of the block holds, 0 between searches; then the matches. */
  places: new Uint16Array(BLOCK_ROWS + BLOCK_ROWS + 1),
  /** The postings of one term in the block: places and scores. */
  readPlaces: new Uint16Array(BLOCK_ROWS),
  readScores: new Float64Array(BLOCK_ROWS),
} as const
