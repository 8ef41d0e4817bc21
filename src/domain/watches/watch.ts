import * as v from 'valibot'
import type { Change } from '../changes/change-log.ts'
import { PayoutSchema } from '../listing/caip-account.ts'
import type { FormPage } from '../wire/form-page.ts'
import { NOTICE_TITLES } from '../wire/vocabulary.ts'

/** Events to watch. `changed` is anything a caller relies on, or a new listing in a search. */
export const WATCH_EVENTS = ['changed', 'price', 'probe', 'trust', 'removed'] as const
export const WATCH_STATES = ['waiting', 'live', 'paused'] as const
/** Watches of one mailbox or webhook. */
export const MAX_WATCHES = 20
const MAX_QUERY = 1000

const TARGET = 'expected {"listing": id}, {"query": "q=weather&rail=x402"} or {"payee": address}'
const text = v.string('expected text')
const TargetSchema = v.union(
  [
    v.strictObject({ listing: text }),
    v.strictObject({ query: v.pipe(text, v.maxLength(MAX_QUERY, 'expected a shorter query')) }),
    v.strictObject({ payee: PayoutSchema }),
  ],
  TARGET,
)

/** `POST /api/v1/watches`. */
export const WatchBodySchema = v.strictObject({
  target: v.pipe(TargetSchema, v.description('A search is its query string.')),
  events: v.optional(
    v.pipe(
      v.array(
        v.picklist(WATCH_EVENTS, `expected one of ${WATCH_EVENTS.join(', ')}`),
        'expected a list',
      ),
      v.minLength(1, 'expected at least one event'),
      v.description('All events where it is absent.'),
    ),
    [...WATCH_EVENTS],
  ),
  deliver: v.pipe(
    v.strictObject({ webhook: v.optional(text), email: v.optional(text) }, 'expected an object'),
    v.check(
      ({ webhook, email }) => webhook !== undefined || email !== undefined,
      'expected a webhook, an email address, or both',
    ),
    v.description('With both, the webhook gets news and the address hears when it fails.'),
  ),
})
export type WatchBody = v.InferOutput<typeof WatchBodySchema>

/** A watch as the holder of its token sees it. */
const WatchSchema = v.object({
  id: v.string(),
  target: TargetSchema,
  events: v.array(v.string()),
  deliver: v.object({ webhook: v.optional(v.string()), email: v.optional(v.string()) }),
  state: v.picklist(WATCH_STATES),
  /** Why it is paused. */
  reason: v.optional(v.string()),
  created_at: v.string(),
})
export type WatchView = v.InferOutput<typeof WatchSchema>

export const WatchesSchema = v.object({ watches: v.array(WatchSchema) })

/** `token` is set without mail confirmation: it manages the watch. `secret` signs webhooks. */
export const WatchStartedSchema = v.object({
  id: v.string(),
  state: v.literal('waiting'),
  token: v.optional(v.string()),
  secret: v.optional(v.string()),
})
export type WatchStarted = v.InferOutput<typeof WatchStartedSchema>

/** The body of a webhook, signed according to Standard Webhooks. */
export interface WatchNews {
  type: 'watch.news'
  timestamp: string
  data: {
    watch: Pick<WatchView, 'id' | 'target'>
    changes: (Change & { page: string })[]
    /** Changes beyond those; `GET /api/v1/changes` has them. */
    more: number
  }
}

/** `/watch`: the form, and with a token the watches of the person it was sent to. */
export type WatchPage = FormPage<
  { kind: 'taken'; started: WatchStarted } | { kind: 'own'; watches: WatchView[]; said: string },
  { target: string; email: string; webhook: string; events: string[]; token: string }
>

export function watchPath(target: { listing: string } | { query: string }): string {
  return `/watch?${new URLSearchParams(target)}`
}

/** The events of one change; none where nothing differs that anybody relies on. */
export function eventsOf({ change, facts = {} }: Change): Set<string> {
  if (change !== 'changed') return new Set([change === 'removed' ? 'removed' : 'changed'])
  return new Set(Object.keys(facts).flatMap((name) => EVENT_OF[name] ?? ['changed']))
}

const EVENT_OF: Readonly<Record<string, readonly string[]>> = {
  price: ['price'],
  price_changed: ['price'],
  probe: ['probe'],
  trust: ['trust'],
  // Owners are notified of these, not of all other changes.
  payees: ['changed', 'payee'],
  payout_changed: ['changed', 'payee'],
  disputed: ['changed', 'disputed'],
}

const LABELS: Readonly<Record<string, string>> = {
  ...NOTICE_TITLES,
  url: 'Address',
  price: 'Price',
  probe: 'Our probe',
  trust: 'Trust',
  payees: 'Paid to',
  digest: 'What a caller relies on',
}

/** A line each. @example describeChange(…) → ['Price: $0.01 → $0.05'] */
export function describeChange({ change, facts = {}, reason }: Change): string[] {
  if (change === 'added') return ['Added to the directory']
  if (change === 'removed') return [`Removed${reason === undefined ? '' : `: ${reason}`}`]
  return Object.entries(facts).map(([name, { was, is }]) => {
    const label = LABELS[name] ?? name
    // A digest means nothing to people, and programs that compare digests have the fact itself.
    if (name === 'digest') return `${label} changed`
    if (was === undefined) return `${label}: ${is ?? ''}`
    return is === undefined ? `${label}: no longer (${was})` : `${label}: ${was} → ${is}`
  })
}
