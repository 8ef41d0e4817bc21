import * as v from 'valibot'
import { createSignInSchema } from '../listing/invoke.ts'
import {
  createOperationSchema,
  MAX_SKILLS,
  MAX_TOOLS,
  ToolNameSchema as name,
  printableText,
  SkillSchema,
  ToolSchema,
} from '../listing/listing-facts.ts'
import { PayoutSchema } from '../listing/networks.ts'
import { NetworkSchema, PriceSchema } from '../listing/pricing.ts'
import { compareText, largestOf } from '../wire/json.ts'
import {
  CalendarDateSchema,
  count,
  DAY_MS,
  InstantSchema,
  listOf,
  textLike,
  uniqueList,
  whole,
} from '../wire/shapes.ts'
import { DELIVERY_VERDICTS, NOTICES, PROBE_OUTCOMES, PROBE_PROTOCOLS } from '../wire/vocabulary.ts'
import { COUNTED_SCHEMES } from './payments.ts'

/** Where a machine read what a seller offers; `http` is what unpaid operations answered. */
const INTERFACE_ORIGINS = [
  'openapi',
  'x402',
  'mpp',
  'http',
  'mcp',
  'agent_card',
  'server_card',
  'catalog',
] as const

/** The parts of a seller's terms that a probe compares from look to look. */
const DRIFTING = ['price', 'network', 'payee', 'tools'] as const

/** Outcomes of running a package, which is not a service that answers. */
const PACKAGE_RUN_OUTCOMES = ['runs_as_declared', 'fails', 'unknown'] as const

/** The most payees kept for one operation. */
export const MAX_PAY_TO = 10

const OutcomeSchema = v.picklist(PROBE_OUTCOMES, `expected one of ${PROBE_OUTCOMES.join(', ')}`)

const StatusSchema = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(100),
  v.maxValue(599, 'expected an HTTP status'),
)

const SawSchema = v.pipe(
  v.string(),
  v.maxLength(200, 'expected at most 200 characters'),
  v.regex(/^[^\p{Cc}\p{Cf}\u2028\u2029]+$/u, 'expected one printable line'),
)

const shortWord = textLike(
  /^[\x21-\x7e]{1,200}$/,
  'expected at most 200 characters, without spaces',
)
const shortLine = textLike(/^[\x20-\x7e]{1,200}$/, 'expected one line of at most 200 characters')
/** How many members of `extra` are kept; an offer with more, or with members inside members, is not kept. */
const MAX_EXTRA = 10

/** An offer in a 402 with everything a payer signs, in the words of x402 version 2. */
export const AcceptSchema = v.strictObject({
  scheme: shortWord,
  /** The network as CAIP-2, even if the 402 wrote a name. */
  network: NetworkSchema,
  asset: shortWord,
  /** The asset's atomic units. */
  amount: textLike(/^\d{1,40}$/, 'expected a whole number of atomic units'),
  payTo: shortWord,
  maxTimeoutSeconds: whole(1, 1_000_000),
  extra: v.optional(
    v.pipe(
      v.record(shortLine, v.union([shortLine, v.pipe(v.number(), v.finite()), v.boolean()])),
      v.check((extra) => Object.keys(extra).length <= MAX_EXTRA),
    ),
  ),
})
export type Accept = v.InferOutput<typeof AcceptSchema>

/** Result of our probe's call to one operation: evidence member `interface.operations[].seen`. */
export const SeenAnswerSchema = v.strictObject({
  /** Absent if it equals the interface's time, so that a run without news changes one line. */
  at: v.optional(InstantSchema),
  outcome: OutcomeSchema,
  status: v.optional(StatusSchema),
  /** The price of one call in the operation's last 402: its cheapest and most expensive offer (USD). */
  min_usd: v.optional(PriceSchema),
  max_usd: v.optional(PriceSchema),
  /** The payees in the operation's last 402, CAIP-10. */
  pay_to: v.optional(v.pipe(v.array(PayoutSchema), v.maxLength(MAX_PAY_TO))),
  /** The complete offers in the operation's last 402, x402 only. */
  accepts: v.optional(v.pipe(v.array(AcceptSchema), v.maxLength(MAX_PAY_TO))),
  saw: v.optional(SawSchema),
  /** For a free answer, the verdict that a paid call would get. */
  verdict: v.optional(v.picklist(DELIVERY_VERDICTS)),
})
export type SeenAnswer = v.InferOutput<typeof SeenAnswerSchema>

/**
 * Data read from a seller by machines: evidence members `interface` and `notices`. Writers cut it
 * to these limits first and set `truncated`.
 *
 * Known limit: tools' schemas are kept as the seller publishes them. Nobody judges them, and no
 * code of ours runs them.
 */
const MAX_INTERFACE_BYTES = 262_144
export const MAX_OPERATIONS = 500
const MAX_PAYOUTS = 50
const MAX_NOTICES = 20

/** An operation as a machine read it, and what it answered when our probe called it. */
const SeenOperationSchema = v.strictObject({
  // Any address passes here; the build leaves out those that it doesn't list.
  ...createOperationSchema({ allowPrivate: true }).entries,
  seen: v.optional(SeenAnswerSchema),
})

export const InterfaceSchema = v.pipe(
  v.strictObject({
    at: InstantSchema,
    from: v.picklist(INTERFACE_ORIGINS, `expected one of ${INTERFACE_ORIGINS.join(', ')}`),
    operations: v.optional(listOf(SeenOperationSchema, MAX_OPERATIONS)),
    tools: v.optional(listOf(ToolSchema, MAX_TOOLS)),
    skills: v.optional(listOf(SkillSchema, MAX_SKILLS)),
    server: v.optional(
      v.strictObject({
        name: v.optional(name),
        version: v.optional(name),
        protocol: v.optional(name),
        /** The address for messages in an agent's card, and the A2A binding, such as `JSONRPC`. */
        url: v.optional(v.pipe(v.string(), v.url(), v.maxLength(2000))),
        binding: v.optional(name),
      }),
    ),
    /** Payees in the seller's own 402 to our probe. */
    payouts: v.optional(
      listOf(
        v.strictObject({ payout: PayoutSchema, network: NetworkSchema, seen_at: InstantSchema }),
        MAX_PAYOUTS,
      ),
    ),
    truncated: v.optional(v.boolean()),
  }),
  v.check(
    (value) => new TextEncoder().encode(JSON.stringify(value)).length <= MAX_INTERFACE_BYTES,
    `expected at most ${MAX_INTERFACE_BYTES} bytes`,
  ),
)

export const NoticeSchema = v.strictObject({
  id: v.picklist(NOTICES, `expected one of ${NOTICES.join(', ')}`),
  note: printableText(300),
  at: InstantSchema,
})

const NoticesSchema = listOf(NoticeSchema, MAX_NOTICES)

export type Interface = v.InferOutput<typeof InterfaceSchema>
export type SeenOperation = v.InferOutput<typeof SeenOperationSchema>
export type Notice = v.InferOutput<typeof NoticeSchema>

const MAX_REPORTS = 40

/** What others count about a service. */
const USES = [
  'calls',
  /** At least this many wallets paid: payers of several endpoints or payees may be the same. */
  'payers',
  /** Payments to the payee, whatever was bought, and their sum. */
  'settlements',
  'volume_usd',
  /** A payment by one tester, settled; `outcome` is the HTTP status that followed. */
  'test_purchase',
  /** All tokens that an address received, for sales or not, and the number of wallets that sent them. */
  'transfers',
  'senders',
  /** Downloads of the service's package or image. */
  'downloads',
  /** Stars of the service's repository. */
  'stars',
] as const

/** One figure that another source published, and when: shown with its source, never scored. */
export const ReportedUseSchema = v.strictObject({
  /** Id in `tables/sources.yaml`. */
  source: textLike(/^[a-z0-9][a-z0-9_-]{0,59}$/, 'expected the id of a source'),
  what: v.picklist(USES, `expected one of ${USES.join(', ')}`),
  value: v.pipe(v.number(), v.finite(), v.minValue(0, 'expected 0 or more')),
  /** The first and the last day of the count. */
  from: v.optional(CalendarDateSchema),
  to: v.optional(CalendarDateSchema),
  as_of: InstantSchema,
  /** How many hosts share the payee: if several do, the figure is the payee's, not this listing's. */
  shared_with: v.optional(v.pipe(count, v.minValue(2, 'expected 2 or more'))),
  /** HTTP status after a test purchase; or the flag that the source itself attaches to its count. */
  outcome: v.optional(textLike(/^[a-z0-9_]{1,30}$/, 'expected an HTTP status or a short flag')),
})
export type ReportedUse = v.InferOutput<typeof ReportedUseSchema>

const ReportedUsesSchema = uniqueList(
  ReportedUseSchema,
  MAX_REPORTS,
  ({ source, what }) => `${source} ${what}`,
  'figure of a source',
)

/** The last day that the figure includes. @example '2026-07-20' */
export function dayOfUse({ to, as_of }: Pick<ReportedUse, 'to' | 'as_of'>): string {
  return to ?? as_of.slice(0, 10)
}

/** The newest figures, by source. */
export function uniteReports(
  read: readonly { reported_use?: readonly ReportedUse[] | undefined }[],
): ReportedUse[] {
  const all = read.flatMap(({ reported_use = [] }) => reported_use)
  const oldestFirst = all.toSorted((a, b) => compareText(dayOfUse(a), dayOfUse(b)))
  const byName = new Map(oldestFirst.map((use) => [`${use.source} ${USES.indexOf(use.what)}`, use]))
  return [...byName].sort(([a], [b]) => compareText(a, b)).map(([, use]) => use)
}

/**
 * The highest count of one kind by one source for the listing itself: sources may count the same sales. A
 * payee's total is divided equally among its hosts; a count that its own source doubts is left out.
 */
export function mostReported(
  what: ReportedUse['what'],
  uses: readonly ReportedUse[] = [],
): number | undefined {
  const own = uses.filter((use) => use.what === what && use.outcome === undefined)
  const counts = own.map(({ value, shared_with = 1 }) => Math.round(value / shared_with))
  return counts.length === 0 ? undefined : largestOf(counts)
}

/** Source id for settlements that this service verified on-chain itself, without an outside provider. */
export const OWN_EVIDENCE = 'service_verified'

const amount = v.pipe(
  v.number(),
  v.finite('expected a finite number'),
  v.minValue(0, 'expected 0 or more'),
)
const percent = v.pipe(
  v.number(),
  v.minValue(0, 'expected a percentage from 0 to 100'),
  v.maxValue(100, 'expected a percentage from 0 to 100'),
)
const shortText = v.pipe(
  v.string(),
  v.minLength(1, 'expected text, got nothing'),
  v.maxLength(300, 'expected at most 300 characters'),
)
const token = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_.-]{1,60}$/, 'expected a short identifier'))

/** `settlements` is how many were excluded under this flag. */
export const WashFlagSchema = v.strictObject({
  flag: token,
  settlements: count,
  note: v.optional(shortText),
})
/** A note about something to watch; it changes no score. */
export const WatchSchema = v.strictObject({ id: token, note: shortText })

/** The most days kept: a page's bars show the last 30, which a reader may add up. */
const MAX_DAYS = 90

const DaySchema = v.strictObject({
  date: CalendarDateSchema,
  settlements: count,
  volume_usd: amount,
  buyers: count,
})

const DaysSchema = v.pipe(
  v.array(DaySchema),
  v.maxLength(MAX_DAYS, `expected at most ${MAX_DAYS} days`),
  v.check(
    (days) => days.every(({ date }, i) => date > (days[i - 1]?.date ?? '')),
    'expected each day once, oldest first',
  ),
)

/** All payments in the window, before exclusions. */
export const RawSchema = v.strictObject({
  payers: count,
  settlements: count,
  volume_usd: amount,
})

export const MeasuredSchema = v.pipe(
  v.strictObject({
    source: token,
    /** End of the 30-day window. Ages in this listing's figures are counted back from here. */
    as_of: InstantSchema,
    verified_buyers_30d: count,
    settlements_30d: count,
    volume_usd_30d: amount,
    /** Share of the largest buyer, 0 to 1. */
    top_buyer_share_30d: v.pipe(
      v.number(),
      v.minValue(0, 'expected a share from 0 to 1'),
      v.maxValue(1, 'expected a share from 0 to 1'),
    ),
    last_settlement_at: v.nullable(InstantSchema),
    shared_payout: v.boolean(),
    /** Payers left out because no independent seller vouches for them; absent if unknown. */
    unknown_buyers_30d: v.optional(count),
    /** How the counted payments were made; absent if not recorded. */
    paid_by: v.optional(v.array(v.picklist(COUNTED_SCHEMES))),
    wash_flags: v.array(WashFlagSchema),
    watch: v.array(WatchSchema),
    /** Absent if only counted numbers are known. */
    raw: v.optional(RawSchema),
    days: v.optional(DaysSchema),
  }),
  v.forward(
    // Passes if either is not a time at all: that is another error, reported elsewhere.
    v.check(
      ({ last_settlement_at: last, as_of }) => !(last && Date.parse(last) > Date.parse(as_of)),
      'expected a time that is not later than as_of',
    ),
    ['last_settlement_at'],
  ),
  v.forward(
    v.check((m) => doDaysAgree(m), 'expected days that add up to the totals of the window'),
    ['days'],
  ),
)

export const SignalsSchema = v.strictObject({
  /** The signals' own day; without it they are as old as the measure they came with. */
  as_of: v.optional(InstantSchema),
  status: v.optional(token),
  verified: v.optional(v.boolean()),
  uptime_24h: v.optional(percent),
  uptime_30d: v.optional(percent),
  p95_ms: v.optional(count),
  compliance_grade: v.optional(token),
  risk_level: v.optional(token),
  endpoint_count: v.optional(count),
  openapi_paid_ops: v.optional(count),
})

const VersionSchema = v.pipe(v.string(), v.regex(/^[ -~]{1,60}$/, 'expected a printable version'))

export const ProbeSchema = v.strictObject({
  at: InstantSchema,
  protocol: v.picklist(PROBE_PROTOCOLS, `expected one of ${PROBE_PROTOCOLS.join(', ')}`),
  outcome: OutcomeSchema,
  /** HTTP status of the decisive answer. */
  status: v.optional(StatusSchema),
  ms: v.optional(count),
  version: v.optional(VersionSchema),
  saw: v.optional(SawSchema),
})

/** The last run of a listing's package, in a sandbox without a network. It is not a probe. */
export const PackageRunSchema = v.strictObject({
  at: InstantSchema,
  /** The program's own version; absent if it gave none. */
  version: v.optional(VersionSchema),
  outcome: v.picklist(PACKAGE_RUN_OUTCOMES),
  /** Why the package did not run as declared. */
  why: v.optional(SawSchema),
  /** Settings and arguments that were given placeholders when it was started. */
  placeholders: v.optional(listOf(printableText(100), 80)),
})

/** The metadata of an OAuth-protected server, as a machine last read it. */
const SeenSignInSchema = v.strictObject({
  at: InstantSchema,
  // Any address passes here; the build leaves out those that it doesn't list.
  ...createSignInSchema({ allowPrivate: true }).entries,
})

export const MAX_DRIFT = 100
export const MAX_DRIFT_TEXT = 500

/** One change seen by a probe. `was` is absent for an addition, `is` for a removal. */
export const DriftSchema = v.strictObject({
  at: InstantSchema,
  what: v.picklist(DRIFTING),
  /** The name of an operation or a tool. */
  name: printableText(100),
  was: v.optional(printableText(MAX_DRIFT_TEXT)),
  is: v.optional(printableText(MAX_DRIFT_TEXT)),
  /** Whether `was` is from the previous probe (`look`) or from the listing. */
  of: v.picklist(['look', 'listing']),
})
export type Drift = v.InferOutput<typeof DriftSchema>

/** `content/evidence/<prefix>/<slug>.json`, written by machines only; members in file order. */
export const EvidenceSchema = v.strictObject({
  measured: v.optional(MeasuredSchema),
  signals: v.optional(SignalsSchema),
  reported_use: v.optional(ReportedUsesSchema),
  interface: v.optional(InterfaceSchema),
  sign_in: v.optional(SeenSignInSchema),
  notices: v.optional(NoticesSchema),
  /** Prices, networks, payees and tools before and after, newest first. */
  drift: v.optional(v.pipe(v.array(DriftSchema), v.maxLength(MAX_DRIFT))),
  probes: v.optional(v.array(ProbeSchema)),
  package_run: v.optional(PackageRunSchema),
})

export type Day = v.InferOutput<typeof DaySchema>
/** Files have whole buyers and settlements; our own figures have fractions, which an answer rounds. */
export type Measured = v.InferOutput<typeof MeasuredSchema>
export type Signals = v.InferOutput<typeof SignalsSchema>
export type Probe = v.InferOutput<typeof ProbeSchema>
export type PackageRun = v.InferOutput<typeof PackageRunSchema>

/** How the reason begins where no package came; that says nothing about the package itself. */
export const NOT_FETCHED = 'the package could not be fetched'
export type Evidence = v.InferOutput<typeof EvidenceSchema>

/** An evidence file, with its members in the order that people read, so that a run changes few lines. */
export function toEvidenceText(evidence: Evidence): string {
  const names = v.keyof(EvidenceSchema).options
  const sorted = names.flatMap((name) =>
    evidence[name] === undefined ? [] : [[name, evidence[name]]],
  )
  return `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`
}

const WINDOW_DAYS = 30
/** Volumes are rounded per day. */
const CENTS_A_DAY = 0.01

/** The window contains only part of its first calendar day: totals lie between the sums without and with that day. */
function doDaysAgree({ days, as_of, settlements_30d, volume_usd_30d }: Totals): boolean {
  if (days === undefined) return true
  const start = new Date(Date.parse(as_of) - WINDOW_DAYS * DAY_MS).toISOString().slice(0, 10)
  const within = days.filter(({ date }) => date > start && date <= as_of.slice(0, 10))
  const [edge] = days.filter(({ date }) => date === start)
  const isBetween = (total: number, of: (day: Day) => number, slack: number) => {
    const sum = within.reduce((all, day) => all + of(day), 0)
    return total >= sum - slack && total <= sum + (edge === undefined ? 0 : of(edge)) + slack
  }
  return (
    isBetween(settlements_30d, (day) => day.settlements, 0) &&
    isBetween(volume_usd_30d, (day) => day.volume_usd, CENTS_A_DAY * days.length)
  )
}

interface Totals {
  days?: Day[] | undefined
  as_of: string
  settlements_30d: number
  volume_usd_30d: number
}

type Seen = Pick<Evidence, 'sign_in'>

/** The latest of several reads of a server's metadata. */
export function newestSignIn(read: readonly Seen[]): Seen['sign_in'] {
  return read
    .flatMap(({ sign_in }) => (sign_in === undefined ? [] : [sign_in]))
    .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))[0]
}
