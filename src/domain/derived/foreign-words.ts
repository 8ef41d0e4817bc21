import * as v from 'valibot'

const LANGUAGES = ['zh', 'es', 'hi', 'ar', 'pt', 'ru', 'ja', 'de', 'fr', 'ko'] as const

/**
 * `content/tables/foreign-words.yaml`: everyday words of other languages, read as the English word
 * that listings write. A row has the words of each language in the order of `languages`, commas
 * between them and a bar between languages.
 */
export const ForeignWordsSchema = v.pipe(
  v.strictObject({
    languages: v.pipe(v.array(v.picklist(LANGUAGES)), v.minLength(1)),
    stop: v.partial(v.strictObject(v.entriesFromList(LANGUAGES, v.string()))),
    words: v.record(
      v.pipe(v.string(), v.regex(/^[a-z0-9]+(?: [a-z0-9]+)*$/, 'expected plain English words')),
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
