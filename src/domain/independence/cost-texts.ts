import { TRUST_METHOD } from '../trust/trust.ts'
import { GIVEN_AWAY } from './given-away.ts'
import { PER_BUYER } from './independence.ts'
import { MAX_FUNDED } from './operators.ts'

/** What the method page and endpoint say of the cost to fake. */
export const COST_TO_FAKE = {
  meaning:
    'The least that somebody who invented all buyers of a listing must have given away to people it does not control, in the same 30 days. Shown where payments are known one by one.',
  rules: [
    'Listings on one domain, one payout, or payouts first funded by one wallet are one operator; what is paid to the listing’s own operator is given away to nobody.',
    'What a counted buyer paid an operator on the public list was given away.',
    'What it paid any other operator was given away as far as that operator’s other buyers paid it and have themselves given away as much: an operator whose buyers are the listing’s own adds nothing.',
    'What it paid a seller of gift cards, prepaid credit or cash, by the category people filed it under, was not given away: that can be sold again.',
    'No dollar counts twice, and one buyer stands for a bounded sum, however much it spent: together this is a maximum flow from the buyers to the list.',
    'The fees of the settlements are added, at the least they have cost anywhere.',
  ],
  notCaught: [
    'Whoever would have bought from those operators anyway pays nothing extra: somebody who buys for many, and splits the purchases over wallets of its own, has buyers for fees alone.',
    'Real buyers who are rewarded for a purchase, or whom a platform they use makes pay in passing, are real: they count with all they spent elsewhere.',
    'A wallet that pays for many people, such as an agent platform’s, is one buyer to us, and anybody may be behind it.',
    'What was bought may be worth something, and be sold again: gift cards and credit of a seller that people have filed under something else, or a marketplace’s goods where the buyer is the merchant too. Refunds that take another way than the payment are not seen.',
    'The wallets that gave it away may buy from several listings of one cheat: the cost is for all of them together.',
    'A cheat that runs an honest shop under another domain, payout and funder, or has a friend who does, may pay itself there, up to what strangers really paid that shop.',
    'Payouts first funded by one wallet are held to be one operator, but the meter keeps no ordinary transfers into payouts: where a payout’s first money came from is known only when it lay around a payment, so this ties few together. Whoever keeps the money of two shops apart is two operators.',
    'Anybody may send the first money to a payout that was never paid, and so tie strangers together: they then count less for each other, never more. Operators on the list cannot be tied so.',
    `A wallet that first funded more than ${MAX_FUNDED} others is taken for an exchange and ties nobody together.`,
    'The list of independent operators is short and made by people. Buyers who spend only with others who never meet it count for nothing, however real they are; and a false payout in a listing of one of its operators would open it, which people must see when it is proposed.',
    'Payments that no chain shows us one by one, by card or on chains we do not read, are not in it.',
  ],
} as const

/** `hub-trust-v0.2`, in the words of the method page. */
export const NEXT_FORMULA = {
  score: `the formula of ${TRUST_METHOD} with W in the place of B, and N and V no further than W stands for; no score where W is 0`,
  weighted_buyers: `W = min(B, G / ${GIVEN_AWAY.capUsd})`,
  settlements: `min(N, ${PER_BUYER.settlements}*W)`,
  volume: `min(V, ${PER_BUYER.volumeUsd}*W)`,
  symbols:
    'G dollars the counted buyers gave away elsewhere, which is the cost to fake without its fees; B verified buyers, N settlements, V volume in US dollars',
} as const
