import { normalizePayout, toPayout } from '../listing/caip-account.ts'
import { toCaip2, toUsd } from '../settlement/usd-assets.ts'
import { isJsonObject } from '../wire/parse-json.ts'

export const EXPECT_HEADER = 'call-expect'

/** A caller's expectation of the listing it calls, as checked by `ExpectationSchema`. */
export interface Expectation {
  digest?: string | undefined
  payee?: string[] | undefined
  max_usd?: number | undefined
}

export interface Difference {
  what: 'digest' | 'payee' | 'price'
  expected: string
  found: string
}

/** Payee and amount of an offer or a payment; null where missing or unreadable. */
export interface Offered {
  /** CAIP-10. */
  payee: string | null
  usd: number | null
}

/** The header's value. @example toExpectText({ max_usd: 0.05 }) → 'max_usd=0.05' */
export function toExpectText({ digest, payee = [], max_usd }: Expectation): string {
  return [
    ...(digest === undefined ? [] : [`digest=${digest}`]),
    ...payee.map((each) => `payee=${each}`),
    // Never as 1e-7, which the header does not allow.
    ...(max_usd === undefined ? [] : [`max_usd=${max_usd.toFixed(18).replace(/\.?0+$/, '')}`]),
  ].join(', ')
}

/** @returns what is wrong with one way to pay; empty where it is as expected */
export function judgeOffer(offered: Offered, { payee, max_usd: most }: Expectation): Difference[] {
  const known = payee?.map(normalizePayout)
  const price = offered.usd === null ? 'a price in no dollar coin we know' : `$${offered.usd}`
  const isKnown = offered.payee !== null && known?.includes(normalizePayout(offered.payee))
  return [
    ...(known === undefined || isKnown
      ? []
      : [text('payee', known.join(' or '), offered.payee ?? 'a payee that cannot be read')]),
    ...(most === undefined || (offered.usd !== null && offered.usd <= most)
      ? []
      : [text('price', `at most $${most}`, price)]),
  ]
}

/** One of x402's `accepts`. A ceiling counts as a price, and of two amounts the larger one. */
export function readOffer(offer: unknown, rules = { allowTestCoins: true }): Offered {
  const read = (name: string) => (isJsonObject(offer) ? offer[name] : undefined)
  const network = toCaip2(String(read('network')))
  const asked = [read('amount'), read('maxAmountRequired')].filter((each) => each !== undefined)
  const isComplete = asked.length > 0 && asked.every((each) => /^\d{1,30}$/.test(String(each)))
  const [least, most = least] = asked.map(Number).sort((a, b) => a - b)
  return {
    payee: toPayout(network, String(read('payTo'))),
    usd: isComplete ? toUsd(network, String(read('asset')), String(most), rules) : null,
  }
}

/** As people read it, one sentence for each. */
export function toSentences(differences: readonly Difference[]): string {
  return differences
    .map(
      ({ what, expected, found }) =>
        `The ${what} is not as expected: ${found} instead of ${expected}.`,
    )
    .join(' ')
}

function text(what: Difference['what'], expected: string, found: string): Difference {
  return { what, expected, found }
}
