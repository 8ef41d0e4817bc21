/**
 * What a seller that wants a score without buyers may try, knowing the published method. Each is a
 * way of moving money; how much, with how many wallets, is what the search finds out.
 */
export interface Attack {
  id: string
  name: string
  /** Where the wallets' money comes from, as far as a chain shows it. */
  funding: 'elsewhere' | 'payout' | 'one_hop' | 'two_hops'
  /** Days over which the payments are spread. */
  days: number
  /** Share of each payment that the payout sends back to its payer. */
  returned: number
  /** Times each payment is reported. */
  reports: number
  /** Whose payout the listing publishes. */
  payout: 'own' | 'popular'
  /** Who pays: wallets, or the payouts of the cheat's own shops. */
  payers: 'wallets' | 'shops'
  /** Where the wallets spend beside the listing. `own_shop` is the cheat's, under another name. */
  elsewhere: 'nowhere' | 'own_shop' | 'small_shops' | 'known_shops' | 'vouched_shop' | 'side_shop'
}

const PLAIN = {
  funding: 'elsewhere',
  days: 30,
  returned: 0,
  reports: 1,
  payout: 'own',
  payers: 'wallets',
  elsewhere: 'nowhere',
} as const satisfies Omit<Attack, 'id' | 'name'>

/** Half an hour holds a burst; 1/100 of a day is about a quarter of one. */
const MINUTES = 0.01

export const ATTACKS: readonly Attack[] = [
  { ...PLAIN, id: 'own_wallets', name: 'Own wallets, filled from elsewhere, spread over a month' },
  { ...PLAIN, id: 'in_minutes', name: 'Own wallets, all within minutes', days: MINUTES },
  { ...PLAIN, id: 'slow', name: 'Own wallets, slow and patient over a quarter', days: 90 },
  { ...PLAIN, id: 'from_payout', name: 'Own wallets filled by the payout', funding: 'payout' },
  { ...PLAIN, id: 'one_hop', name: 'Own wallets filled through another one', funding: 'one_hop' },
  { ...PLAIN, id: 'two_hops', name: 'Own wallets filled through two others', funding: 'two_hops' },
  { ...PLAIN, id: 'round_trip', name: 'Own wallets that are sent their money back', returned: 0.9 },
  {
    ...PLAIN,
    id: 'replay',
    name: 'Own wallets, each authorisation reported ten times',
    reports: 10,
  },
  {
    ...PLAIN,
    id: 'borrowed_payout',
    name: 'A popular seller’s payout as one’s own',
    payout: 'popular',
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
    id: 'vouched_shop',
    name: 'Own wallets, an own shop, and more own wallets that buy there and from known shops',
    elsewhere: 'vouched_shop',
  },
  {
    ...PLAIN,
    id: 'small_shops',
    name: 'Own wallets that really buy from small strangers',
    elsewhere: 'small_shops',
  },
  {
    ...PLAIN,
    id: 'known_shops',
    name: 'Own wallets that really buy from known shops',
    elsewhere: 'known_shops',
  },
]

/**
 * What no method here prices: a cheat that also runs a shop which strangers really pay, under another
 * domain, payout and funder, pays itself there. It needs that shop first.
 */
export const SIDE_SHOP: Attack = {
  ...PLAIN,
  id: 'side_shop',
  name: 'Own wallets that also buy from an own shop which strangers really pay',
  elsewhere: 'side_shop',
}

/** How an attack is carried out; what the search changes. */
export interface Plan {
  wallets: number
  /** Payments to the listing, reports of the same one not counted. */
  payments: number
  /** Dollars turned over: they come back to the cheat. */
  volume_usd: number
  /** Dollars each wallet spends beside the listing. */
  elsewhere_usd: number
}
