import * as v from 'valibot'
import { ID_PATTERN } from '../../src/domain/listing/listing-text.ts'
import { MAX_PAYEES, NamedPayeeSchema } from '../../src/domain/sources/source-row.ts'
import type { ReportedUse } from '../../src/domain/trust/evidence.ts'
import { present } from '../../src/domain/wire/json.ts'
import { CalendarDateSchema } from '../../src/domain/wire/shapes.ts'
import { chooseRows, type Mapped } from '../facts/map-rows.ts'
import type { SeedSource } from '../fetch/read-source.ts'

const number = v.optional(
  v.pipe(
    v.string(),
    v.regex(/^\d{1,15}(?:\.\d{1,9})?$/, 'expected a number of 0 or more'),
    v.transform(Number),
  ),
)
/** Accounts separated by spaces; an account that four hosts share ends in `/4`. */
const payees = v.optional(
  v.pipe(
    v.string(),
    v.transform((list) => list.split(' ').filter((each) => each !== '')),
    v.maxLength(MAX_PAYEES, `expected at most ${MAX_PAYEES} payees`),
    v.mapItems((each) => {
      const [payee = '', hosts] = each.split('/')
      return { payee, ...(hosts !== undefined && { shared_with: Number(hosts) }) }
    }),
    v.array(NamedPayeeSchema),
  ),
)
const hosts = v.pipe(
  number,
  v.check(
    (n) => n === undefined || (Number.isInteger(n) && n > 0),
    'expected hosts to be 1 or more',
  ),
)

/** A line in a table of counts; `seeds/README.md` describes the columns. */
const LineSchema = v.object({
  listing: v.pipe(v.string(), v.regex(ID_PATTERN, 'expected the id of a listing')),
  from: CalendarDateSchema,
  to: CalendarDateSchema,
  calls: number,
  payers: number,
  settlements: number,
  volume_usd: number,
  transfers: number,
  senders: number,
  share_of: hosts,
  shared_with: hosts,
  payees,
  flag: v.optional(v.pipe(v.string(), v.regex(/^[a-z_]{1,30}$/, 'expected a flag'))),
  http: v.optional(v.pipe(v.string(), v.regex(/^[1-5]\d\d$/, 'expected an HTTP status'))),
})
type Line = v.InferOutput<typeof LineSchema>

/** Several payees may be paid by the same wallets, so the number of wallets is never divided among hosts. */
const WALLETS: readonly string[] = ['payers', 'senders']
const COUNTS = ['calls', 'payers', 'settlements', 'volume_usd', 'transfers', 'senders'] as const

function mapLine(line: Line, source: string, url: string): Mapped {
  const { listing } = line
  const uses = toUses(line, source)
  return {
    seed: {
      key: listing,
      id: listing,
      adds: true,
      rows: 1,
      // The row only credits the source: the listing already has its facts.
      withheld: ['url'],
      facts: { url, sources: [{ source, ref: url }] },
      ...(line.payees !== undefined && { payees: line.payees }),
      ...(uses.length > 0 && { evidence: { reported_use: uses } }),
    },
  }
}

function toUses(line: Line, source: string): ReportedUse[] {
  const { from, to, share_of = 1, shared_with = share_of, flag, http } = line
  const window = { source, from, to, as_of: `${to}T00:00:00Z` }
  const shared = shared_with > 1 ? { shared_with } : {}
  const uses = COUNTS.flatMap((what): ReportedUse[] => {
    const value = line[what]
    if (value === undefined) return []
    // Rounded to the cent, because shares of a payee's total are already rounded.
    const total = WALLETS.includes(what) ? value : Math.round(value * share_of * 100) / 100
    const outcome = what === 'settlements' ? flag : undefined
    return [{ ...window, what, value: total, ...shared, ...present({ outcome }) }]
  })
  return http === undefined
    ? uses
    : [...uses, { ...window, what: 'test_purchase', value: 1, outcome: http }]
}

/**
 * Parses comma-separated values under the names of their columns: ids, days and numbers, without
 * quotes. `#` starts a comment, and empty values are left out.
 * @throws Error naming a line with another number of values
 */
function parseTable(text: string): object[] {
  const lines = text.split(/\r?\n/).map((line, at) => ({ at: at + 1, line }))
  const [head, ...rows] = lines.filter(({ line }) => line.trim() !== '' && !line.startsWith('#'))
  const names = head?.line.split(',') ?? []
  return rows.map(({ at, line }) => {
    const values = line.split(',')
    if (values.length !== names.length || line.includes('"'))
      throw new Error(
        `line ${at}: expected ${names.length} comma-separated values, one for each column, got ${line}`,
      )
    return Object.fromEntries(names.flatMap((name, at) => (values[at] ? [[name, values[at]]] : [])))
  })
}

/** The importer's id, what was counted, its id in `tables/sources.yaml`, and where it is published. */
const COUNTED = [
  [
    'merona',
    'settlements counted by merona',
    'merona',
    'https://github.com/jywy78kgrf-create/merona',
  ],
  ['vet402', 'test purchases by vet402', 'vet402', 'https://github.com/kzmttkc/vet402-delivery'],
  [
    'x402-bazaar-doctor',
    'transfers to payees counted by x402-bazaar-doctor',
    'x402_bazaar_doctor',
    'https://github.com/nighshift-labs/x402-bazaar-doctor',
  ],
] as const

export const counted = COUNTED.map(
  ([id, what, source, url]): SeedSource => ({
    id,
    title: `${what}, as a table of listings`,
    liveUrl: null,
    addsOnly: true,
    lists: [],
    expected: 'a table',
    isRow: () => false,
    readText: parseTable,
    choose: chooseRows(LineSchema, 'listing', (line) => mapLine(line, source, url)),
  }),
)
