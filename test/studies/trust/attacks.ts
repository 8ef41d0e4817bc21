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
  /** The listings' payouts: each its own, one for all, or a known operator's, published or only named. */
  payout: 'own' | 'shared' | 'published' | 'named'
  /** Who pays: wallets, payouts of the cheat's own shops, or buyers of others that are rewarded. */
  payers: 'wallets' | 'shops' | 'rented'
  /** Where the wallets spend beside the listings. `own_shop` is the cheat's, under another name. */
  elsewhere:
    | 'nowhere'
    | 'own_shop'
    | 'shops'
    | 'dust'
    | 'known'
    | 'vouched_shop'
    | 'side_shop'
    | 'backed_shop'
    | 'gift_cards'
    | 'misfiled'
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

/** Of what is paid for a gift card, what its buyer does not get back for it. */
const GIFT_CARD_LOSS = 0.1
/** Half an hour holds a burst; 1/100 of a day is about a quarter of one. */
const MINUTES = 0.01
const HUNDRED = 100

/** What every rented wallet gets for a payment, beside the price: a guess, which the page names. */
export const REWARD_USD = 0.1

/** Other people who are rewarded for one large payment to a shop of the cheat's. */
export const BACKERS = 2

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
  {
    ...PLAIN,
    id: 'from_payout',
    name: 'Own wallets filled by the payout, that also buy from known sellers',
    funding: 'payout',
    elsewhere: 'known',
    lost: 1,
  },
  {
    ...PLAIN,
    id: 'one_hop',
    name: 'The same, filled through another wallet',
    funding: 'one_hop',
    elsewhere: 'known',
    lost: 1,
  },
  {
    ...PLAIN,
    id: 'two_hops',
    name: 'The same, filled through two others',
    funding: 'two_hops',
    elsewhere: 'known',
    lost: 1,
  },
  {
    ...PLAIN,
    id: 'round_trip',
    name: 'Own wallets that are sent their money back',
    returned: 0.9,
    elsewhere: 'known',
    lost: 1,
  },
  {
    ...PLAIN,
    id: 'named_payout',
    name: 'A known seller’s payout, named in one’s own 402',
    payout: 'named',
  },
  {
    ...PLAIN,
    id: 'published_payout',
    name: 'A known seller’s payout, published as one’s own',
    payout: 'published',
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
    name: 'Own wallets, an own shop, and more own wallets that buy there and from known sellers',
    elsewhere: 'vouched_shop',
    lost: 1,
  },
  {
    ...PLAIN,
    id: 'dust',
    name: 'Own wallets that pay a little to every small shop',
    elsewhere: 'dust',
    lost: 1,
  },
  {
    ...PLAIN,
    id: 'small_shops',
    name: 'Own wallets that buy from small shops',
    elsewhere: 'shops',
    lost: 1,
  },
  {
    ...PLAIN,
    id: 'known_sellers',
    name: 'Own wallets that buy from known sellers',
    elsewhere: 'known',
    lost: 1,
  },
  {
    ...PLAIN,
    id: 'gift_cards',
    name: 'Own wallets that buy gift cards, sold again with a tenth lost',
    elsewhere: 'gift_cards',
    lost: GIFT_CARD_LOSS,
  },
  {
    ...PLAIN,
    id: 'hundred_known',
    name: 'A hundred listings of one hand that share wallets, which buy from known sellers',
    elsewhere: 'known',
    lost: 1,
    listings: HUNDRED,
  },
  {
    ...PLAIN,
    id: 'hundred_shops',
    name: 'The same hundred, whose wallets buy from small shops',
    elsewhere: 'shops',
    lost: 1,
    listings: HUNDRED,
  },
  {
    ...PLAIN,
    id: 'hundred_payout',
    name: 'A hundred listings with one payout, whose wallets buy from known sellers',
    payout: 'shared',
    elsewhere: 'known',
    lost: 1,
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
    id: 'side_shop',
    name: 'Own wallets that also buy from a shop which strangers really pay',
    needs: 'such a shop, its own or a friend’s, under another domain and payout',
    elsewhere: 'side_shop',
  },
  {
    ...PLAIN,
    id: 'backed_shop',
    name: `Own wallets that also buy from an own shop, which ${BACKERS} other people pay as much and get it back with $${REWARD_USD.toFixed(2)}`,
    needs: 'buyers who spent that much with known sellers and take the money',
    elsewhere: 'backed_shop',
  },
  {
    ...PLAIN,
    id: 'rented',
    name: `Other people’s wallets, given $${REWARD_USD.toFixed(2)} and the price for each payment`,
    needs: 'buyers of other services who take the money, or a platform that pays for everybody',
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
    ...PLAIN,
    id: 'misfiled',
    name: 'Gift cards, sold again with a tenth lost, from a shop filed under something else',
    needs: 'a seller of what is as good as money that nobody here has recognised',
    elsewhere: 'misfiled',
    lost: GIFT_CARD_LOSS,
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
