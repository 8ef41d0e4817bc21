/**
 * What a seller that wants a score without buyers may try, knowing the published method. Each is a
 * way of moving money; how much, with how many wallets, is what the search finds out.
 */
export interface Attack {
  id: string
  name: string
  /** Something of other people's that it needs first: no method prices that. */
  needs?: string
  /** Where the wallets' money comes from, as far as a chain shows it. */
  funding: 'elsewhere' | 'payout' | 'one_hop' | 'two_hops'
  /** Days over which the payments are spread. */
  days: number
  /** Share of each payment that the payout sends back to its payer. */
  returned: number
  /** The listings' payouts: each its own, one for all, or a known seller's, published or called through us. */
  payout: 'own' | 'shared' | 'published' | 'called'
  /** Who pays: wallets, payouts of the cheat's own shops, or buyers of others that are rewarded. */
  payers: 'wallets' | 'shops' | 'rented'
  /** Where the wallets spend in addition. `own_shop` is the cheat's, under another name. */
  elsewhere: 'nowhere' | 'own_shop' | 'shops' | 'known'
  /** Share of what is spent elsewhere that is gone for good. */
  lost: number
  /** Listings of the cheat that the same wallets buy from; the costs are those of one. */
  listings: number
  /** Whether every payment is of one amount. */
  amounts: 'even' | 'uneven'
}

const PLAIN = {
  funding: 'elsewhere',
  days: 30,
  returned: 0,
  payout: 'own',
  payers: 'wallets',
  elsewhere: 'nowhere',
  lost: 0,
  listings: 1,
  amounts: 'uneven',
} as const satisfies Omit<Attack, 'id' | 'name'>

const SPENDING = { ...PLAIN, elsewhere: 'known', lost: 1 } as const

/** Half an hour holds a burst; 1/100 of a day is about a quarter of one. */
const MINUTES = 0.01
const HUNDRED = 100

/** What every rented wallet gets for a payment, beside the price: a guess, which the page names. */
export const REWARD_USD = 0.1

/** What is all there is to it where nobody can vouch: own wallets that pay. */
export const PLAINEST: Attack = {
  ...PLAIN,
  id: 'own_wallets',
  name: 'Own wallets, filled from elsewhere, over a month',
}

export const ATTACKS: readonly Attack[] = [
  PLAINEST,
  {
    ...PLAIN,
    id: 'in_minutes',
    name: 'Own wallets, all within minutes',
    days: MINUTES,
    amounts: 'even',
  },
  { ...SPENDING, id: 'from_payout', name: 'Own wallets filled by the payout', funding: 'payout' },
  {
    ...SPENDING,
    id: 'one_hop',
    name: 'The same, filled through another wallet',
    funding: 'one_hop',
  },
  {
    ...SPENDING,
    id: 'two_hops',
    name: 'The same, filled through two others',
    funding: 'two_hops',
  },
  {
    ...SPENDING,
    id: 'round_trip',
    name: 'Own wallets that are sent their money back',
    returned: 0.9,
  },
  {
    ...PLAIN,
    id: 'published_payout',
    name: 'A known seller’s payout, published as one’s own',
    payout: 'published',
  },
  {
    ...PLAIN,
    id: 'claimed_calls',
    name: 'A known seller’s payments, each called through our relay as if it had been for one’s own listing',
    payout: 'called',
  },
  {
    ...PLAIN,
    id: 'ring',
    name: 'Shops of one hand that pay each other',
    payers: 'shops',
    elsewhere: 'own_shop',
  },
  {
    ...PLAIN,
    id: 'own_shop',
    name: 'Own wallets that also buy from an own shop under another name',
    elsewhere: 'own_shop',
  },
  {
    ...PLAIN,
    id: 'small_shops',
    name: 'Own wallets that buy from small shops, or buy gift cards',
    elsewhere: 'shops',
    lost: 0.1,
  },
  { ...SPENDING, id: 'known_sellers', name: 'Own wallets that buy from known sellers' },
  {
    ...SPENDING,
    id: 'hundred_known',
    name: 'A hundred listings that share such wallets; the price of each',
    listings: HUNDRED,
  },
  {
    ...SPENDING,
    id: 'hundred_payout',
    name: 'The same with one payout for all',
    payout: 'shared',
    listings: HUNDRED,
  },
  {
    ...PLAIN,
    id: 'hundred_ring',
    name: 'A hundred listings whose wallets buy from all of them and from nobody else',
    listings: HUNDRED,
  },
  {
    ...PLAIN,
    id: 'rented',
    name: `Other people’s wallets, given $${REWARD_USD.toFixed(2)} and the price for each payment`,
    needs: 'buyers of known sellers who take the money, or a platform that pays for everybody',
    payers: 'rented',
  },
  {
    ...PLAIN,
    id: 'anyway',
    name: 'Own wallets among which it splits what it spends with known sellers anyway',
    needs: 'real purchases there, in the same month',
    elsewhere: 'known',
  },
  {
    ...SPENDING,
    id: 'sold_again',
    name: 'Own wallets that buy from a known seller what they sell again with a tenth lost',
    needs: 'a seller on our list whose goods can be sold again',
    lost: 0.1,
  },
]

/** How an attack is carried out; what the search changes. Payments and dollars are those of one listing. */
export interface Plan {
  wallets: number
  payments: number
  /** Dollars turned over: they come back to the cheat. */
  volume_usd: number
  /** Dollars each wallet spends beside the listings. */
  elsewhere_usd: number
}
