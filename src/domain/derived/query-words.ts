import * as v from 'valibot'
import type { TaskRow } from '../tasks/task.ts'
import { textLike } from '../wire/shapes.ts'
import { EFFECTS } from '../wire/vocabulary.ts'

const LANGUAGES = ['zh', 'es', 'hi', 'ar', 'pt', 'ru', 'ja', 'de', 'fr', 'ko'] as const

/** `content/tables/foreign-words.yaml`: bars separate languages, commas separate words. */
export const ForeignWordsSchema = v.pipe(
  v.strictObject({
    languages: v.pipe(v.array(v.picklist(LANGUAGES)), v.minLength(1)),
    stop: v.partial(v.strictObject(v.entriesFromList(LANGUAGES, v.string()))),
    words: v.record(
      textLike(/^[a-z0-9]+(?: [a-z0-9]+)*$/, 'expected plain English words'),
      v.string('expected the words of each language with a bar between languages'),
    ),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    const { languages, words } = dataset.value
    for (const [key, value] of Object.entries(words)) {
      const cells = value.split('|').map((cell) => cell.trim())
      if (cells.length === languages.length && cells.every((cell) => cell !== '')) continue
      addIssue({
        message: `expected words of ${languages.length} languages, got ${cells.length}`,
        path: [
          { type: 'object', origin: 'value', input: dataset.value, key: 'words', value: words },
          { type: 'object', origin: 'value', input: words, key, value },
        ],
      })
    }
  }),
)

export type ForeignWords = v.InferOutput<typeof ForeignWordsSchema>

export const NO_FOREIGN_WORDS: ForeignWords = { languages: [], stop: {}, words: {} }

/** `content/tables/search-words.yaml` chooses the terms; `search-rank.ts` says how they score. */
const MAX_RELATED = 6
const WORD = /^[a-z0-9]+$/

const wordList = v.pipe(
  v.string('expected words with a space between them'),
  v.transform((text) => text.split(/\s+/).filter((word) => word !== '')),
  v.check(
    (words) => words.every((word) => WORD.test(word)),
    'expected plain lower-case words with a space between them',
  ),
  v.check((words) => new Set(words).size === words.length, 'expected each word once'),
)

const phraseList = v.array(
  textLike(/^[a-z]+(?: [a-z]+)*$/, 'expected plain lower-case words with a space between them'),
)

/** Words, or a phrase, that sound like a filter; `use` is the actual parameter. */
const FilterWordsSchema = v.strictObject({
  words: v.pipe(v.array(v.string(), 'expected a list of words or phrases'), v.minLength(1)),
  use: textLike(/^[a-z_]+=[a-z0-9_.]+$/, 'expected parameter=value, such as runs=local'),
})

/** Words of queries, mapped to words of listings that offer it: `fly plane: flight airline`. */
const RelatedSchema = v.pipe(
  v.record(v.string(), v.pipe(wordList, v.minLength(1), v.maxLength(MAX_RELATED))),
  v.rawTransform(({ dataset, addIssue }) =>
    Object.entries(dataset.value).map(([key, meant]) => {
      const requested = key.split(' ')
      const own = meant.filter((word) => requested.includes(word))
      const path = {
        type: 'object',
        origin: 'value',
        input: dataset.value,
        key,
        value: meant,
      } as const
      if (!requested.every((word) => WORD.test(word)))
        addIssue({ message: 'expected plain lower-case words before the colon', path: [path] })
      if (own.length > 0)
        addIssue({ message: `“${own.join(' ')}” cannot be related to itself`, path: [path] })
      return { requested, meant }
    }),
  ),
)

export const SearchWordsSchema = v.strictObject({
  /** Words without a task; names keep theirs, so that a search for only that name finds them. */
  stop: wordList,
  /** Words that nearly every listing of such a directory could have. */
  generic: wordList,
  /** Words that people put around a task. */
  filler: wordList,
  /** Words of time, degree and manner, each also part of somebody's name. */
  aside: wordList,
  /** Words and names that are not typos, though no listing may have them. */
  everyday: wordList,
  filters: v.array(FilterWordsSchema),
  /** Phrases before the name of an unwanted seller: certain ones, and those before a name. */
  excluding: v.strictObject({ sure: phraseList, maybe: phraseList }),
  /** Verbs by the effect of such an operation; a weak one yields to another after it. */
  effects: v.strictObject({ ...v.entriesFromList(EFFECTS, wordList), weak: wordList }),
  related: RelatedSchema,
})

export type SearchWords = v.InferOutput<typeof SearchWordsSchema> & {
  foreign: ForeignWords
  /** What people say for each task of `tasks.yaml`, and who is known for it. */
  tasks: readonly Pick<TaskRow, 'id' | 'name' | 'words' | 'like'>[]
}

export const NO_SEARCH_WORDS: SearchWords = {
  stop: [],
  generic: [],
  filler: [],
  aside: [],
  everyday: [],
  filters: [],
  excluding: { sure: [], maybe: [] },
  effects: { read: [], write: [], delete: [], pay: [], weak: [] },
  related: [],
  foreign: NO_FOREIGN_WORDS,
  tasks: [],
}
