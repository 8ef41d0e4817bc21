import { normalizePayout } from '../../listing/caip-account.ts'
import { toOperationKey } from '../../operation/is-at-address.ts'
import type { Interface, SeenOperation } from '../../trust/interface.ts'
import { MAX_PAY_TO, type SeenAnswer } from '../../trust/seen-answer.ts'
import { largestOf, smallestOf } from '../../wire/extremes.ts'
import { present } from '../../wire/parse-json.ts'
import type { Finding, PaymentTerm } from '../read/finding.ts'
import { toInertLine } from '../read/inert-text.ts'

/** How long probes, and the payouts and operations they saw, are kept. */
export const KEEP_MS = 90 * 86_400_000
const MAX_OFFERS = 20

/** Above this a price of one call is a decoy or a ceiling (USD): it is seen, and is no price. */
const MAX_PRICE_USD = 1000
const MAX_SEEN_USD = 100_000

/** Outcomes that say nothing about the earlier terms: no answer, or one from a proxy in front. */
const SILENT: ReadonlySet<Finding['outcome']> = new Set(['dead', 'unknown', 'gated'])

type SeenOperations = NonNullable<Interface['operations']>

/**
 * Probed operations with answers; the rest unchanged. Sorted by address, so runs change few lines.
 */
export function mergeOperations(
  old: Interface | undefined,
  finding: Finding,
  at: string,
): SeenOperations {
  const known = new Map(readOperations(old, at).map((each) => [toOperationKey(each), each]))
  for (const { operation, finding: answer } of toAnswers(finding)) {
    const key = toOperationKey(operation)
    known.set(key, mergeAnswer(known.get(key) ?? operation, answer, at))
  }
  return [...known.values()]
    .map((each) => withoutTime(each, at))
    .sort((a, b) => (`${a.url} ${a.method}` < `${b.url} ${b.method}` ? -1 : 1))
}

/** Each probed operation of a listing, the deciding one first. */
export function toAnswers(finding: Finding) {
  const operation = finding.sight?.operation
  const first = operation === undefined ? [] : [{ operation, finding }]
  return [...first, ...(finding.others ?? [])]
}

/** Each answer with its own time. Old answers are dropped. */
function readOperations(old: Interface | undefined, at: string): SeenOperations {
  const oldest = Date.parse(at) - KEEP_MS
  return (old?.operations ?? []).map(({ seen, ...operation }) => {
    const seenAt = seen?.at ?? old?.at ?? at
    return seen === undefined || Date.parse(seenAt) < oldest
      ? operation
      : { ...operation, seen: { ...seen, at: seenAt } }
  })
}

/** Whether the terms of the operation's last 402 remain valid after an answer. */
function isSilent({ outcome }: Pick<Finding, 'outcome'>): boolean {
  return SILENT.has(outcome)
}

/** @param before its earlier state; description, price and offers stay unless replaced */
function mergeAnswer(before: SeenOperation, answer: Finding, at: string): SeenOperation {
  const { sight, outcome } = answer
  const { terms = [], operation } = sight ?? {}
  const priced = terms.filter(({ usd }) => usd !== null && usd <= MAX_PRICE_USD)
  const bounds = toBounds(priced)
  const asked = toBounds(terms.filter(({ usd }) => usd !== null && usd <= MAX_SEEN_USD))
  const { min_usd, max_usd, pay_to, accepts } = before.seen ?? {}
  const former = present({ min_usd, max_usd, pay_to, accepts })
  const seen: SeenAnswer = {
    at,
    outcome,
    ...toSaid(answer),
    ...(answer.judged && { verdict: answer.judged.verdict }),
    ...(isSilent(answer) ? former : { ...asked, ...toPayTo(terms), ...toAccepts(terms) }),
  }
  return {
    ...before,
    ...operation,
    ...(bounds !== null && { price: { ...bounds, per: 'call' }, offers: toOffers(priced) }),
    seen,
  }
}

export function toSaid({ status = 0, saw }: Finding): Pick<SeenAnswer, 'status' | 'saw'> {
  const isStatus = status >= 100 && status <= 599
  return { ...(isStatus && { status }), ...(saw !== '' && { saw }) }
}

function toBounds(priced: readonly PaymentTerm[]) {
  if (priced.length === 0) return null
  const prices = priced.map(({ usd }) => usd ?? 0)
  return { min_usd: smallestOf(prices), max_usd: largestOf(prices) }
}

function toPayTo(terms: readonly PaymentTerm[]): Pick<SeenAnswer, 'pay_to'> {
  const named = new Map(
    terms.flatMap(({ payout }) => (payout === null ? [] : [[normalizePayout(payout), payout]])),
  )
  return named.size > 0 ? { pay_to: [...named.values()].sort().slice(0, MAX_PAY_TO) } : {}
}

function toAccepts(terms: readonly PaymentTerm[]): Pick<SeenAnswer, 'accepts'> {
  const accepts = terms.flatMap(({ accept }) => accept ?? []).slice(0, MAX_PAY_TO)
  return accepts.length > 0 ? { accepts } : {}
}

function toOffers(terms: readonly PaymentTerm[]) {
  const groups = Map.groupBy(terms, ({ rail, network }) => `${rail} ${network ?? ''}`)
  return [...groups.values()].slice(0, MAX_OFFERS).flatMap((group) => {
    const [first] = group
    const bounds = toBounds(group)
    if (first === undefined || bounds === null) return []
    const { rail, network } = first
    return { rail, ...(network !== null && { network }), ...bounds }
  })
}

function withoutTime({ seen, ...operation }: SeenOperation, at: string): SeenOperation {
  if (seen?.at !== at) return seen === undefined ? operation : { ...operation, seen }
  const { at: _, ...rest } = seen
  return { ...operation, seen: rest }
}

/** With its method a name of at most 100 characters, as rows of changes hold it. */
const MAX_PATH_LENGTH = 90

/** @example { method: 'GET', url: 'https://x.example/users/{id}' } → 'GET /users/{id}' */
export function toOperationName({ method, url }: { method: string; url: string }): string {
  const path = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '')
  return `${method} ${toInertLine(path === '' ? '/' : path, MAX_PATH_LENGTH)}`
}
