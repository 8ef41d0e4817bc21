import { TRUST_METHOD } from '../trust/trust.ts'
import { GIVEN_AWAY } from './given-away.ts'
import { MAX_FUNDED } from './operators.ts'

/** What the method page and endpoint say of the cost to fake. */
export const COST_TO_FAKE = {
  meaning:
    'The least that somebody who invented all buyers of a listing must have given away to people it does not control, in the same 30 days. Shown where payments are known one by one.',
  rules: [
    'Listings on one domain, one payout, or payouts first funded by one wallet are one operator; what is paid to the listing’s own operator is given away to nobody.',
    'What a counted buyer paid an operator on the public list was given away.',
    'What it paid any other operator was given away as far as that operator’s other buyers paid it and have themselves given away as much: an operator whose buyers are the listing’s own adds nothing.',
    'No dollar counts twice, and one buyer stands for a bounded sum, however much it spent: together this is a maximum flow from the buyers to the list.',
    'The fees of the settlements are added, at the least they have cost anywhere.',
  ],
  notCaught: [
    'Whoever would have bought from those operators anyway pays nothing extra.',
    'The wallets that gave it away may buy from several listings of one cheat: the cost is for all of them together.',
    'A cheat that runs an honest shop under another domain, payout and funder may pay itself there, up to what strangers really paid that shop.',
    `A wallet that first funded more than ${MAX_FUNDED} others is taken for an exchange and ties nobody together.`,
  ],
} as const

/** `hub-trust-v0.2`, in the words of the method page. */
export const NEXT_FORMULA = {
  score: `the formula of ${TRUST_METHOD} with W in the place of B; no score where W is 0`,
  weighted_buyers: `W = min(B, G / ${GIVEN_AWAY.capUsd})`,
  symbols:
    'G dollars the counted buyers gave away elsewhere, which is the cost to fake without its fees; B verified buyers',
} as const
