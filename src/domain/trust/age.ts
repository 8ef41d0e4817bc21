import * as v from 'valibot'
import { OfferSchema, type Operation, OperationPriceSchema } from '../listing/listing-facts.ts'
import { PerCallSchema, type Pricing } from '../listing/pricing.ts'
import { present } from '../wire/json.ts'
import { InstantSchema } from '../wire/shapes.ts'
import { HTTP_METHODS } from '../wire/vocabulary.ts'
import {
  DriftSchema,
  dayOfUse,
  type Evidence,
  MeasuredSchema,
  PackageRunSchema,
  ProbeSchema,
  ReportedUseSchema,
  SeenAnswerSchema,
  type SeenOperation,
  SignalsSchema,
} from './evidence.ts'
import { type AGE_LIMITS, isPast } from './trust.ts'

const DaySchema = v.nullable(v.string())
const DaysSchema = v.object({
  /** The day on which the listing was added. */
  listing: DaySchema,
  /** The day on which a catalogue's row about the listing was read. */
  seed: DaySchema,
  probe: DaySchema,
  /** Prices that machines read, from the seller or a catalogue. */
  price: DaySchema,
  /** The last day with payments that may be counted. */
  payments: DaySchema,
  /** The last day that other people's counts include. */
  reported_use: DaySchema,
})
/** The newest and the median day of each kind of fact, over the newest day of each listing; null if none has the fact. */
export const AgesSchema = v.object({ newest: DaysSchema, median: DaysSchema })
export type Ages = v.InferOutput<typeof AgesSchema>

/** Facts past their limit, as the full listing's JSON keeps them. */
export const PastFactsSchema = v.object({
  measured: v.optional(MeasuredSchema),
  signals: v.optional(v.object({ ...SignalsSchema.entries, as_of: InstantSchema })),
  reported_use: v.optional(v.array(ReportedUseSchema)),
  probes: v.optional(v.array(ProbeSchema)),
  /** Prices and answers of the listing's operations. */
  operations: v.optional(
    v.array(
      v.object({
        at: InstantSchema,
        method: v.picklist(HTTP_METHODS),
        url: v.string(),
        price: v.optional(OperationPriceSchema),
        offers: v.optional(v.array(OfferSchema)),
        seen: v.optional(SeenAnswerSchema),
      }),
    ),
  ),
  /** What a call costs according to catalogues. */
  pricing: v.optional(v.array(v.object({ at: InstantSchema, ...PerCallSchema.entries }))),
  drift: v.optional(v.array(DriftSchema)),
  package_run: v.optional(PackageRunSchema),
})
export type PastFacts = v.InferOutput<typeof PastFactsSchema>
export interface PastPrices {
  pricing: NonNullable<PastFacts['pricing']>
  operations: NonNullable<PastFacts['operations']>
}

/**
 * Divides evidence into what is still valid on a day and what is past its limit.
 * @param reported prices from catalogues that are past their limit
 * @returns `past` is undefined if no fact is past its limit
 */
export function splitByAge(
  evidence: Evidence,
  asOf: string,
  reported: PastPrices = { pricing: [], operations: [] },
): { current: Evidence; past: PastFacts | undefined } {
  const { measured, signals, interface: read, reported_use, drift, probes, package_run } = evidence
  const isOld = (fact: keyof typeof AGE_LIMITS, at: string | undefined) =>
    at !== undefined && isPast(at, fact, asOf)
  // A provider's signals come with its measure, and are as old.
  const signalled = signals?.as_of ?? measured?.as_of
  const uses = divide(reported_use, (use) => isOld('reported_use', dayOfUse(use)))
  const changes = divide(drift, ({ at }) => isOld('drift', at))
  const handshakes = divide(probes, ({ at }) => isOld('probes', at))
  const operations = read?.operations?.map((each) => splitOperation(each, read.at, isOld))
  const calls = [...reported.operations, ...(operations?.flatMap((each) => each.past ?? []) ?? [])]
  const past = present({
    measured: isOld('measured', measured?.as_of) ? measured : undefined,
    signals: isOld('signals', signalled) ? { ...signals, as_of: signalled ?? '' } : undefined,
    reported_use: uses.past,
    probes: handshakes.past,
    operations: calls.length > 0 ? calls : undefined,
    pricing: divide(reported.pricing, () => false).current,
    drift: changes.past,
    package_run: isOld('package_run', package_run?.at) ? package_run : undefined,
  })
  if (Object.keys(past).length === 0) return { current: evidence, past: undefined }
  const current = present({
    measured: past.measured === undefined ? measured : undefined,
    signals: past.signals === undefined ? withDay(signals, signalled) : undefined,
    reported_use: uses.current,
    interface: read && {
      ...read,
      ...present({ operations: operations?.map(({ current }) => current) }),
    },
    drift: changes.current,
    probes: handshakes.current,
    package_run: past.package_run === undefined ? package_run : undefined,
    ...{ sign_in: evidence.sign_in, notices: evidence.notices },
  })
  return { current, past }
}

type IsOld = (fact: keyof typeof AGE_LIMITS, at: string | undefined) => boolean

/** Gives signals their own day, since the measure that they came with may age out first. */
function withDay(signals: Evidence['signals'], as_of: string | undefined) {
  return signals === undefined || as_of === undefined ? signals : { ...signals, as_of }
}

/** Empty lists become undefined. */
function divide<Row>(rows: readonly Row[] = [], isGone: (row: Row) => boolean) {
  const [current, past] = [rows.filter((row) => !isGone(row)), rows.filter(isGone)]
  return {
    current: current.length > 0 ? current : undefined,
    past: past.length > 0 ? past : undefined,
  }
}

/** @param at when the operation's interface was read */
function splitOperation({ seen, price, offers, ...rest }: SeenOperation, at: string, isOld: IsOld) {
  const answer = isOld('probes', seen?.at ?? at) ? seen : undefined
  const [oldPrice, oldOffers] = isOld('prices', at) ? [price, offers] : []
  const gone = present({ price: oldPrice, offers: oldOffers, seen: answer })
  const { method, url } = rest
  return {
    current: {
      ...rest,
      ...present({
        price: oldPrice === undefined ? price : undefined,
        offers: oldOffers === undefined ? offers : undefined,
        seen: answer === undefined ? seen : undefined,
      }),
    },
    past: Object.keys(gone).length === 0 ? undefined : { at, method, url, ...gone },
  }
}

interface Prices {
  pricing?: Pricing | undefined
  http?: Operation[] | undefined
}

export function hasPrices({ pricing, http = [] }: Prices): boolean {
  return pricing?.model === 'per_call' || http.some(({ price }) => price !== undefined)
}

/**
 * A catalogue's facts without its prices, once these are past their limit.
 * @param day when the facts were read, such as 2026-11-26; if no day is given they do not age
 */
export function splitPrices<Facts extends Prices>(
  facts: Facts,
  day: string | undefined,
  asOf: string | undefined,
): { current: Omit<Facts, keyof Prices> & Prices; past: PastPrices } {
  const isKnown = day !== undefined && asOf !== undefined
  if (!hasPrices(facts) || !isKnown || !isPast(day, 'prices', asOf))
    return { current: facts, past: { pricing: [], operations: [] } }
  const at = `${day}T00:00:00Z`
  const { pricing, http, ...rest } = facts
  const operations = http?.map((each) => splitOperation(each, at, (fact) => fact === 'prices'))
  return {
    current: { ...rest, ...(operations && { http: operations.map(({ current }) => current) }) },
    past: {
      pricing: pricing?.model === 'per_call' ? [{ at, ...pricing }] : [],
      operations: operations?.flatMap(({ past }) => past ?? []) ?? [],
    },
  }
}
