import * as v from 'valibot'
import { IndependentOperatorSchema } from '../independence/weigh-buyer.ts'
import { MarkSchema } from '../listing/marks.ts'
import { SharedHostsSchema } from '../owners/claim-rules.ts'
import { TaskRowSchema } from '../tasks/task.ts'
import { NotListedSchema } from '../unlisted/not-listed.ts'
import { textLike } from '../wire/shapes.ts'
import { MarketSeriesSchema } from './market-series.ts'
import { PolicySchema } from './policy.ts'
import { ForeignWordsSchema, SearchWordsSchema } from './query-words.ts'
import { SourceRowSchema } from './source-table.ts'
import { SwitchesSchema } from './switches.ts'

/** `content/tables/*.yaml`: what the directory says about itself, edited by maintainers. */
const identifier = textLike(
  /^[a-z0-9]+(?:[_-][a-z0-9]+)*$/,
  'expected a lower-case identifier such as llm_inference',
)
export const line = v.pipe(v.string(), v.minLength(1), v.maxLength(1000))
export const link = textLike(/^https:\/\//, 'expected an https URL')

export const CategoryRowSchema = v.strictObject({ id: identifier, name: line, description: line })

export const AlsoSearchSchema = v.strictObject({ name: line, url: link, note: line })

/** Only texts: the status is derived from the route table. `endpoint` null means planned. */
export const RoadmapRowSchema = v.strictObject({
  id: identifier,
  name: line,
  endpoint: v.nullable(textLike(/^[A-Z]+ \/\S*$/, 'expected METHOD /path')),
  note: line,
})

const colour = textLike(/^#[0-9a-f]{6}$/i, 'expected a colour such as "#0b6b50", in quotes')

/** A directory's name and look; every page, mail, card and door reads it from here. */
const SiteNamesSchema = v.strictObject({
  name: v.optional(v.pipe(line, v.maxLength(60)), 'Directory'),
  /** In User-Agent, names of servers and badges: only letters, digits and hyphens. */
  short_name: v.optional(
    textLike(
      /^[A-Za-z][A-Za-z0-9-]{0,19}$/,
      'expected up to 20 letters, digits and hyphens, such as Acme',
    ),
    'Directory',
  ),
  /** What it is for, without a full stop at the end. */
  strapline: v.optional(
    v.pipe(line, v.maxLength(90)),
    'Find services an agent can call and pay for',
  ),
  /** Links and the sign on the home page, on light and on dark paper. */
  colours: v.optional(v.strictObject({ light: colour, dark: colour })),
  /** An SVG file of the content folder, drawn instead of the signpost. */
  mark: v.optional(textLike(/^[a-z0-9-]+\.svg$/, 'expected a file name such as mark.svg')),
  /** Who runs it: an address for people, on the privacy page. */
  contact: v.optional(line),
  /** Imprint, terms, whatever the operator must publish; on the privacy page. */
  legal: v.optional(v.array(v.strictObject({ title: line, text: line })), []),
  /** Cost and requirements of reading: one sentence. A closed directory says how to get a token. */
  reading: v.optional(line, 'Search and reads need no key.'),
  /** Ids of listings whose badges can be seen although `READ_ACCESS=token` closes everything else. */
  public_badges: v.optional(v.array(v.string()), []),
  switches: SwitchesSchema,
  /** Whether the footer names the software. */
  made_with: v.optional(v.boolean(), true),
})

export const SiteTextsSchema = v.strictObject({
  ...SiteNamesSchema.entries,
  /** Ids of the showcase row; ids absent from the content are skipped with a warning. */
  showcase: v.optional(v.array(v.string()), []),
  featured_label: line,
  sponsored_policy: line,
  ranking: line,
  attribution: v.optional(v.array(line), []),
  /** Where anybody may propose a change, `{file}` for the path; else pages only name the file. */
  edit: v.optional(
    textLike(
      /^https:\/\/[^\s{}]*\{file\}[^\s{}]*$/,
      'expected an https URL that holds {file}, such as https://code.example/directory/edit/main/{file}',
    ),
  ),
  /** Shown on top of every page: that this copy is a demonstration, or down for a while. */
  banner: v.optional(line),
  disclosure: line,
  comparison_ranking: line,
  business_model: v.strictObject({
    summary: line,
    revenue: v.array(
      v.strictObject({
        id: identifier,
        name: line,
        status: v.picklist(['live', 'planned', 'never']),
        note: line,
      }),
    ),
    never: v.array(line),
    transaction_path: line,
  }),
})

export const TablesSchema = v.strictObject({
  categories: v.array(CategoryRowSchema),
  sources: v.array(SourceRowSchema),
  alsoSearch: v.array(AlsoSearchSchema),
  roadmap: v.array(RoadmapRowSchema),
  sharedHosts: SharedHostsSchema,
  marks: v.array(MarkSchema),
  independentOperators: v.array(IndependentOperatorSchema),
  site: SiteTextsSchema,
  policies: v.array(PolicySchema),
  tasks: v.array(TaskRowSchema),
  market: v.array(MarketSeriesSchema),
  notListed: v.array(NotListedSchema),
  searchWords: SearchWordsSchema,
  foreignWords: ForeignWordsSchema,
})

export type CategoryRow = v.InferOutput<typeof CategoryRowSchema>
export type RoadmapRow = v.InferOutput<typeof RoadmapRowSchema>
export type SiteNames = v.InferOutput<typeof SiteNamesSchema>
export type SiteTexts = v.InferOutput<typeof SiteTextsSchema>
export type Tables = v.InferOutput<typeof TablesSchema>
