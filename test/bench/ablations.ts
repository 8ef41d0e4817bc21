import type { SearchWords } from '../../src/domain/derived/query-words.ts'

/** A file, what stands there, and what is put in its place. */
export type Edit = readonly [file: string, from: string, to: string]

export interface Ablation {
  name: string
  edits?: readonly Edit[]
  /** Lists of the table of words that are emptied. */
  lists?: readonly (keyof SearchWords)[]
}

const BELONGING = 'query/long-and-excluded.ts'
const PLAN = 'query/plan-query.ts'
const UNITS = 'query/known-terms.ts'
const FOREIGN = 'query/foreign-words.ts'
const LEXICON = 'words/word-sets.ts'
const FIND = 'search/find-operations.ts'
const ORDER = 'search/order-operations.ts'

/** Every mechanism of reading a question, of ranking and of ordering what was found. */
export const ABLATIONS: readonly Ablation[] = [
  { name: 'nothing left out' },
  // Words.
  {
    name: 'stemming',
    edits: [
      [
        'words/split-text.ts',
        'export function stemWord(word: string): string {',
        'export function stemWord(word: string): string {\n  if (word !== "") return word',
      ],
    ],
  },
  {
    name: 'stems: words that are left alone',
    edits: [
      ['words/split-text.ts', 'if (UNTOUCHED.has(word)) return word', ''],
      [
        'words/split-text.ts',
        'UNTOUCHED.has(singular) ? singular : stripEnding(singular)',
        'stripEnding(singular)',
      ],
    ],
  },
  {
    name: 'stems: plurals alone',
    edits: [
      [
        'words/split-text.ts',
        'UNTOUCHED.has(singular) ? singular : stripEnding(singular)',
        'singular',
      ],
    ],
  },
  {
    name: 'repair of slips',
    edits: [
      ['query/known-terms.ts', 'if (index.words.isEveryday(word)) return null', 'return null'],
    ],
  },
  {
    name: 'repair: sounds (`ite` for `ight`)',
    edits: [['query/known-terms.ts', ', ...soundAlikes(word)', '']],
  },
  {
    name: 'repair: of rare words too',
    edits: [[UNITS, 'if (rows > RARE_ROWS || written.length', 'if (rows >= 0 || written.length']],
  },
  {
    name: 'repair: singulars nobody writes',
    edits: [
      ['words/read-listings.ts', 'return [...spellings, ...singulars]', 'return [...spellings]'],
    ],
  },
  { name: 'repair: everyday words are not slips', lists: ['everyday'] },
  {
    name: 'pairs of neighbours',
    edits: [[PLAN, 'pairTerms(index, queryTerms, weight)', '[]']],
  },
  {
    name: 'pairs: less in long questions',
    edits: [[PLAN, '(isStory ? TERM_WEIGHTS.told : 1)', '1']],
  },
  {
    name: 'two words read as one (`whats app`)',
    edits: [[PLAN, 'joinWords(index, read.words)', 'read.words']],
  },
  {
    name: 'two words: three with a stop word between (`speech to text`)',
    edits: [['query/plan-query.ts', 'joinNext(index, words.slice(at, at + 3), isStory) ??', '']],
  },
  {
    name: 'two words: not small words of a story',
    edits: [['query/plan-query.ts', 'if (isStory &&', 'if (false && isStory &&']],
  },
  { name: 'one word read as two', edits: [[UNITS, 'rows > WELL_KNOWN_ROWS', 'rows >= 0']] },
  {
    name: 'starts of words, for the last one',
    edits: [[UNITS, 'guess.isLast && !isEveryday', 'false && !isEveryday']],
  },
  {
    name: 'CamelCase found by its parts',
    edits: [['words/read-listings.ts', "if (style === 'camel')", 'if (style === null)']],
  },
  {
    name: 'three words and more with hyphens found as one',
    edits: [['words/read-listings.ts', 'parts.length > 2 ?', 'false ?']],
  },
  {
    name: 'what stands before a slash is a person',
    edits: [['index/search-document.ts', 'const NAMESPACED = /^(', 'const NAMESPACED = /^(?!)(']],
  },
  {
    name: 'elisions (`d’un`)',
    edits: [['words/split-text.ts', ".replace(ELISION, '')", '']],
  },
  // What is left out.
  { name: 'related words', lists: ['related'] },
  { name: 'stop words', lists: ['stop'] },
  { name: 'words too common to tell listings apart', lists: ['generic'] },
  { name: 'fillers', lists: ['filler'] },
  { name: 'words of time and manner', lists: ['aside'] },
  { name: 'phrases that sound like a filter', lists: ['filters'] },
  { name: 'who is not wanted', lists: ['excluding'] },
  {
    name: 'not wanted: a name, where `not` is not sure',
    edits: [['query/long-and-excluded.ts', 'if (isSure) return true', 'return isSure']],
  },
  {
    name: 'not wanted: the name alone is searched for',
    edits: [['query/long-and-excluded.ts', 'words: says ? wanted : others', 'words: wanted']],
  },
  {
    name: 'not wanted: two names',
    edits: [['query/long-and-excluded.ts', "or?.whole === 'or' && others.length > 0 ?", 'false ?']],
  },
  {
    name: 'details of a long question count less',
    edits: [[PLAN, 'if (!isLong(kept)) return queryTerms', 'return queryTerms']],
  },
  {
    name: 'what was told beside the task',
    edits: [[PLAN, 'kept.length < taken.length ?', 'false ?']],
  },
  // Long prompts.
  {
    name: 'long: the words that belong together',
    edits: [[BELONGING, 'if (!isLong(kept)) return kept', 'return kept']],
  },
  { name: 'long: … and stand near each other', edits: [[BELONGING, ' / distance', '']] },
  { name: 'long: … and name listings', edits: [[BELONGING, ' * (LEAST.named + one.named)', '']] },
  { name: 'long: … and stand behind what asks', edits: [[BELONGING, ' * (asked[at] ?? 1)', '']] },
  {
    name: 'long: weak words of the stretch go',
    edits: [[BELONGING, '(span[at] ?? 0) >= STRONG * best', 'true']],
  },
  {
    name: 'long: a dense question tells no story',
    edits: [[BELONGING, 'told.length > DENSE * all.length', 'false']],
  },
  // Languages.
  { name: 'languages', lists: ['foreign'] },
  {
    name: 'languages: words without their related ones',
    edits: [[PLAN, 'read.isForeign ? []', 'false ? []']],
  },
  {
    name: 'languages: no repair',
    edits: [[PLAN, 'readDeed(index, kept, !read.isForeign)', 'readDeed(index, kept, true)']],
  },
  {
    name: 'languages: originals listings have',
    edits: [[FOREIGN, 'filter((word) => isWritten(index, word))', 'filter(() => false)']],
  },
  {
    name: 'languages: places of several words',
    edits: [[FOREIGN, 'const place = wordsOfPlace(tokens)', 'const place = 0']],
  },
  {
    name: 'languages: phrases',
    edits: [[FOREIGN, 'isStart ? others.length : 0', 'UNSPACED.has(language) ? others.length : 0']],
  },
  {
    name: 'languages: forms of a word',
    edits: [[LEXICON, 'for (const start of startsOf(form))', 'for (const start of [form])']],
  },
  {
    name: 'languages: forms of the table',
    edits: [
      [
        LEXICON,
        'for (const start of startsOf(key, ENDING_LETTERS.known))',
        'for (const start of [])',
      ],
    ],
  },
  {
    name: 'languages: prefixes',
    edits: [[LEXICON, "prefix === undefined ? text : text.replace(prefix, '')", 'text']],
  },
  {
    name: 'languages: compounds',
    edits: [[FOREIGN, "form === null && lexicon.language === 'de'", 'false']],
  },
  {
    name: 'languages: pieces without spaces',
    edits: [[FOREIGN, 'return readPieces(text, lexicon)', 'return null']],
  },
  {
    name: 'languages: plurals before `de`',
    edits: [[LEXICON, "['de', 'd'].includes(others[0] ?? '')", 'false']],
  },
  {
    name: 'languages: what tells, what is English',
    edits: [[FOREIGN, '(telling > 0 || own > 1) && own >= english', 'own > english']],
  },
  // The score.
  {
    name: 'score: fields weigh alike',
    edits: [
      [
        'search/search-rank.ts',
        '{ name: 3, labels: 2, summary: 1 }',
        '{ name: 1, labels: 1, summary: 1 }',
      ],
    ],
  },
  {
    name: 'score: lengths',
    edits: [['search/search-rank.ts', 'BM25_B = 0.75', 'BM25_B = 0']],
  },
  {
    name: 'exact ids, hosts and names first',
    edits: [
      [
        'query/rank-rows.ts',
        'for (const kind of EXACT_KINDS)',
        'for (const kind of [] as ExactKind[])',
      ],
    ],
  },
  {
    name: 'exact: vendors',
    edits: [
      [
        'query/rank-rows.ts',
        'for (const kind of EXACT_KINDS)',
        "for (const kind of EXACT_KINDS.filter((each) => each !== 'vendor'))",
      ],
    ],
  },
  {
    name: 'exact: of a vendor the one named like it',
    edits: [['query/rank-rows.ts', "if (kind === 'vendor')", 'if (kind === null)']],
  },
  {
    name: 'exact: products',
    edits: [
      [
        'query/rank-rows.ts',
        'for (const kind of EXACT_KINDS)',
        "for (const kind of EXACT_KINDS.filter((each) => each !== 'product'))",
      ],
    ],
  },
  // Operations.
  {
    name: 'deeds: what does what was asked first',
    edits: [[ORDER, 'findAskedEffect(index, q)', 'null']],
  },
  {
    name: 'deeds: named like the question first',
    edits: [[ORDER, 'putNamedFirst(index, { q, rows: found, end, effect, read })', 'found']],
  },
  {
    name: 'deeds: callable first',
    edits: [
      [ORDER, 'putCallableFirst(index, rows, { effect, facts, doing: count, read })', 'rows'],
    ],
  },
  {
    name: 'deeds: two of a listing',
    edits: [
      [
        ORDER,
        'spread(putCallableFirst(index, rows, { effect, facts, doing: count, read }), read)',
        'putCallableFirst(index, rows, { effect, facts, doing: count, read })',
      ],
    ],
  },
  {
    name: 'deeds: what does the task first',
    edits: [
      [FIND, 'if (task === null) return []', "if (task !== 'none') return []"],
      [ORDER, 'place !== undefined && hasValue', 'false && hasValue'],
    ],
  },
]
