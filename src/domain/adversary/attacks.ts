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
  /** Who pays: wallets, payouts of the cheat's own shops, or buyers of others that are rewarded. */
  payers: 'wallets' | 'shops' | 'rented'
  /** Where the wallets spend beside the listing. `own_shop` is the cheat's, under another name. */
  elsewhere:
    | 'nowhere'
    | 'own_shop'
    | 'small_shops'
    | 'known_shops'
    | 'vouched_shop'
    | 'side_shop'
    | 'gift_cards'
    | 'misfiled_gift_cards'
  /** Share of what is spent elsewhere that is gone for good. */
  lost: number
  /** Listings of the cheat, each under a name of its own, that the same wallets buy from. */
  listings: number
  /** Whether every payment is of one amount. */
  amounts: 'even' | 'uneven'
}

const PLAIN = {
  funding: 'elsewhere',
  days: 30,
  returned: 0,
  reports: 1,
  payout: 'own',
  payers: 'wallets',
  elsewhere: 'nowhere',
  lost: 0,
  listings: 1,
  amounts: 'even',
} as const satisfies Omit<Attack, 'id' | 'name'>

/** Of what is paid for a gift card, what its buyer does not get back for it. */
const GIFT_CARD_LOSS = 0.1

/** Half an hour holds a burst; 1/100 of a day is about a quarter of one. */
const MINUTES = 0.01

export const ATTACKS: readonly Attack[] = [
  { ...PLAIN, id: 'own_wallets', name: 'Own wallets, filled from elsewhere, spread over a month' },
  { ...PLAIN, id: 'in_minutes', name: 'Own wallets, all within minutes', days: MINUTES },
  {
    ...PLAIN,
    id: 'in_minutes_uneven',
    name: 'Own wallets, all within minutes, no two paying the same',
    days: MINUTES,
    amounts: 'uneven',
  },
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
    lost: 1,
  },
  {
    ...PLAIN,
    id: 'small_shops',
    name: 'Own wallets that really buy from small strangers',
    elsewhere: 'small_shops',
    lost: 1,
  },
  {
    ...PLAIN,
    id: 'known_shops',
    name: 'Own wallets that really buy from known shops',
    elsewhere: 'known_shops',
    lost: 1,
  },
  {
    ...PLAIN,
    id: 'gift_cards',
    name: 'Own wallets that buy gift cards, sold again with a tenth lost',
    elsewhere: 'gift_cards',
    lost: GIFT_CARD_LOSS,
  },
]

/** An attack that needs something of other people's first: no method here prices that. */
export interface HelpedAttack extends Attack {
  needs: string
}

/** What every rented wallet gets for a payment, beside the price: a guess, which the page names. */
export const REWARD_USD = 0.1

export const HELPED_ATTACKS: readonly HelpedAttack[] = [
  {
    ...PLAIN,
    id: 'side_shop',
    name: 'Own wallets that also buy from a shop which strangers really pay',
    needs: 'such a shop, its own or a friend’s, under another domain, payout and funder',
    elsewhere: 'side_shop',
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
    name: 'Own wallets among which it splits what it spends with known shops anyway',
    needs: 'real purchases there, in the same month',
    elsewhere: 'known_shops',
  },
  {
    ...PLAIN,
    id: 'ten_listings',
    name: 'Ten listings that share the wallets; the price of one',
    needs: 'ten domains, payouts and sources of money',
    elsewhere: 'known_shops',
    lost: 1,
    listings: 10,
  },
  {
    ...PLAIN,
    id: 'misfiled_gift_cards',
    name: 'Gift cards, sold again with a tenth lost, from a shop filed under something else',
    needs: 'a seller of what is as good as money that nobody here has recognised',
    elsewhere: 'misfiled_gift_cards',
    lost: GIFT_CARD_LOSS,
  },
]

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
