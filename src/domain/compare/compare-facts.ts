import * as v from 'valibot'
import { CalendarDateSchema } from '../listing/calendar-date.ts'

/** `content/compare/<slug>.yaml`: which listings stand on a comparison page, and what is said of them. */
const line = v.pipe(v.string(), v.minLength(1), v.maxLength(1000))
const link = v.pipe(v.string(), v.regex(/^https:\/\//, 'expected an https URL'))

export const FOCUSES = ['dedicated', 'broad'] as const

export const CompareFactsSchema = v.strictObject({
  title: v.pipe(line, v.maxLength(120, 'expected at most 120 characters')),
  updated: CalendarDateSchema,
  first_party: v.optional(v.array(v.string()), []),
  facts: v.optional(v.nullable(v.array(v.strictObject({ text: line, url: link }))), null),
  sections: v.pipe(
    v.array(
      v.strictObject({
        id: v.pipe(
          v.string(),
          v.regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'expected a lower-case id such as search-apis'),
        ),
        title: line,
        note: line,
        rows: v.array(
          v.strictObject({
            id: v.string(),
            focus: v.picklist(FOCUSES, 'expected dedicated or broad'),
          }),
        ),
      }),
    ),
    v.minLength(1, 'expected at least one section'),
  ),
  citations: v.optional(v.array(v.strictObject({ label: line, url: link })), []),
  disclosure: v.optional(line),
  ranking: v.optional(line),
})

export type CompareFacts = v.InferOutput<typeof CompareFactsSchema>
