import type { CostOfCheating } from '../../../src/domain/independence/cost-of-cheating.ts'
import { VOUCHING } from '../../../src/domain/independence/weigh-buyer.ts'
import { REWARD_USD } from './attacks.ts'
import { BAIT_USD, type Bait, planBait } from './bait.ts'
import { toTargets } from './compare-spreading.ts'
import {
  AS_OF,
  createJudge,
  createMarket,
  DAY_MS,
  type Judge,
  type Market,
  type MarketShape,
  type Moves,
  type Paid,
  pay,
  payoutOf,
  send,
  toCaip10,
  toListing,
} from './market.ts'
import { weighByRule } from './spreading-rules.ts'

/** What a rival does to one honest seller. */
interface Griefing {
  id: string
  name: string
  /** Whether the rival must know who the victim's buyers are, or will be. */
  knows: boolean
  /** Where no known seller has been paid yet. */
  isEarly?: true
  /** Against sellers whose buyers spend little. */
  isSmall?: true
  plans: readonly Plan[]
  moves: (scene: Scene, plan: Plan) => Moves
  /** Dollars the rival never sees again. */
  cost: (plan: Plan, scene: Scene) => number
}

interface Plan {
  /** Wallets of the rival's, or shops of its own. */
  many: number
  /** What each pays, or is paid. */
  usd: number
  /** Days on which each comes back. */
  days: number
}

interface Scene {
  /** With the victim's buyers alone: a score depends on nobody else's payments. */
  market: Market
  /** Everybody in the market: a rival that does not know the buyers has to reach them all. */
  everybody: number
  victim: string
  /** Of the victim, as far as they paid known sellers. */
  buyers: readonly string[]
  baits: readonly Bait[]
}

/** Half of it is still a third too much. */
const LOSS = 1 / 3
const HUNDRED = 100
/** What half of the buyers of small things spend less than, at one seller in a month. */
const SMALL_USD = 0.05
const FREE = 0
/** What a rival spends at most on one seller. */
const BUDGET_USD = 100
const EXCHANGE = 'exchange'
const full = VOUCHING.microsAListing / 1_000_000
/** Buyers that a known seller needs to be measured. */
const WALLETS_A_SEED = Math.ceil(VOUCHING.microsAMeasuredSeed / VOUCHING.microsAListing)
/** What people buy without being paid for it, at shops of somebody who only wants them to. */
const CHEAP_USD = 0.03

const ONCE: Plan = { many: HUNDRED, usd: 0, days: 1 }
const NUMBERS = [1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300]
const DOLLARS = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 12, 20, 30, 50]
const SPENDING = NUMBERS.flatMap((many) => DOLLARS.map((usd) => ({ ...ONCE, many, usd })))
const CROWDS = NUMBERS.map((many) => ({ ...ONCE, many }))
const SWITCHING = [1, 3, 5, 8, 9, 10, 12, 20].map((many) => ({ ...ONCE, many, usd: full }))
const FEW_SHOPS = [1, 2, 3].map((many) => ({ ...ONCE, many, usd: CHEAP_USD }))
const CHEAP = [0.001, 0.01, CHEAP_USD].flatMap((usd) => [
  { ...ONCE, usd },
  { ...ONCE, usd: usd / 3, days: 3 },
])
/** How many of the baits are laid, in the order that takes most for each. */
const BAITS = Array.from({ length: 120 }, (_, n) => ({ ...ONCE, many: n + 1 }))
const BAITS_OF_ALL = [1, 2, 3, 4, 6, 8].flatMap((many) =>
  [1, 2, 3].map((days) => ({ ...ONCE, many, usd: BAIT_USD * days, days })),
)

/** Wallets that count in full: what a rival needs for its payments to count at all. */
const knownWallets = ({ market }: Scene, wallets: number) =>
  Array.from({ length: wallets }, (_, n) =>
    pay({ payer: `rival-${n}`, shop: market.seeds[n % market.seeds.length] ?? '', usd: full }),
  ).flat()

const buyFrom = (shop: string, wallets: number, usd: number, at?: (n: number) => number) =>
  Array.from({ length: wallets }, (_, n) =>
    pay({ payer: `rival-${n}`, shop, usd, ...(at && { at: at(n) }) }),
  ).flat()

/** Each buyer that is reached buys from each of the rival's shops. */
function sell({ buyers }: Scene, { many, usd, days }: Plan): Paid[] {
  return buyers.flatMap((payer) =>
    Array.from({ length: many }, (_, n) => `rival-shop-${n}`).flatMap((shop) =>
      Array.from({ length: days }, (_, day) =>
        pay({ payer, shop, usd: usd / days, at: AS_OF - (day + 0.5) * DAY_MS }),
      ).flat(),
    ),
  )
}

export const GRIEFINGS: readonly Griefing[] = [
  {
    id: 'claimed_calls',
    name: 'Calls through our relay that say the victim’s payments were for a listing of the rival’s',
    knows: true,
    plans: [ONCE],
    cost: () => FREE,
    moves: ({ market, victim }) => ({
      hints: new Map(
        market.payments
          .filter(({ shop }) => shop === victim)
          .map(({ transaction }) => [transaction, 'rival']),
      ),
      listings: [toListing('rival', { published: [toCaip10(payoutOf('rival'))] })],
    }),
  },
  {
    id: 'second_payout',
    name: 'A hundred listings that publish a second payout of the victim’s',
    knows: false,
    plans: [ONCE],
    cost: () => FREE,
    moves: ({ victim }) => {
      const second = toCaip10(`second-${payoutOf(victim)}`)
      return {
        listings: [
          toListing(victim, { published: [toCaip10(payoutOf(victim)), second] }),
          ...Array.from({ length: HUNDRED }, (_, n) =>
            toListing(`rival-${n}`, { published: [second] }),
          ),
        ],
      }
    },
  },
  {
    id: 'nothing',
    name: 'Transfers of nothing in the victim’s name to all its buyers',
    knows: true,
    plans: [ONCE],
    cost: () => FREE,
    moves: ({ victim, buyers }) => ({
      transfers: buyers.map((to) =>
        send({ from: payoutOf(victim), to, usd: 0, at: AS_OF - 40 * DAY_MS }),
      ),
    }),
  },
  {
    id: 'gifts',
    name: 'Money of the victim’s, got for a sale, given to its buyers, who hold $5 each, before they pay',
    knows: true,
    plans: SPENDING,
    cost: ({ usd }) => usd,
    moves: ({ victim, buyers }, { usd }) => ({
      transfers: [
        send({ from: payoutOf(victim), to: 'rival', usd: 1, at: AS_OF - 20 * DAY_MS }),
        ...buyers.flatMap((to) => [
          send({ from: EXCHANGE, to, usd: 5, at: AS_OF - 15 * DAY_MS }),
          send({ from: 'rival', to, usd: usd / buyers.length, at: AS_OF - 10 * DAY_MS }),
        ]),
      ],
    }),
  },
  {
    id: 'large_payments',
    name: 'One wallet or more with large payments to the victim',
    knows: false,
    plans: SPENDING,
    cost: ({ many, usd }) => many * (usd + full),
    moves: (scene, { many, usd }) => ({
      payments: [...knownWallets(scene, many), ...buyFrom(scene.victim, many, usd)],
    }),
  },
  {
    id: 'crowd',
    name: 'A crowd within half an hour that pays what a buyer pays, filled by the exchange the buyers use',
    knows: true,
    plans: CROWDS,
    cost: ({ many }) => many * 0.02,
    moves: ({ market, victim, buyers }, { many }) => {
      const last = market.payments.filter(({ shop }) => shop === victim).at(-1)
      const usd = last?.usd ?? 0.02
      const start = last?.at ?? AS_OF
      return {
        payments: buyFrom(victim, many, usd, (n) => start + n * 1000),
        transfers: [...buyers, ...Array.from({ length: many }, (_, n) => `rival-${n}`)].map((to) =>
          send({ from: EXCHANGE, to, usd: 1, at: AS_OF - 20 * DAY_MS }),
        ),
      }
    },
  },
  {
    id: 'one_payout',
    name: 'A hundred listings with one payout from which all the victim’s buyers buy for a cent',
    knows: true,
    plans: [{ ...ONCE, many: 1, usd: 0.01 }],
    cost: () => FREE,
    moves: (scene, plan) => ({
      payments: sell(scene, plan),
      listings: Array.from({ length: HUNDRED }, (_, n) =>
        toListing(`rival-shop-${n}`, {
          owner: 'rival.example',
          published: [toCaip10(payoutOf('rival-shop-0'))],
        }),
      ),
    }),
  },
  {
    id: 'cheap_shops',
    name: `A hundred shops that sell each of the victim’s buyers something for up to ${CHEAP_USD * 100} cents each, before or after they buy from the victim`,
    knows: true,
    plans: CHEAP,
    cost: () => FREE,
    moves: (scene, plan) => ({ payments: sell(scene, plan) }),
  },
  {
    id: 'bait',
    name: `Shops that pay the victim’s buyers $${REWARD_USD.toFixed(2)}, and the price, for each purchase there`,
    knows: true,
    plans: BAITS,
    cost: costOfBaits,
    moves: (scene, plan) => ({ payments: layBaits(scene, plan) }),
  },
  {
    id: 'cheap_shops_small',
    name: `Up to three shops that sell each buyer something for ${CHEAP_USD * 100} cents; a seller whose buyers spend about ${SMALL_USD * 100} cents there in a month`,
    knows: true,
    isSmall: true,
    plans: FEW_SHOPS,
    cost: () => FREE,
    moves: (scene, plan) => ({ payments: sell(scene, plan) }),
  },
  {
    id: 'bait_small',
    name: `Shops that pay such a seller’s buyers $${REWARD_USD.toFixed(2)}, and the price, for each purchase there`,
    knows: true,
    isSmall: true,
    plans: BAITS,
    cost: costOfBaits,
    moves: (scene, plan) => ({ payments: layBaits(scene, plan) }),
  },
  {
    id: 'bait_and_pay',
    name: 'Rewards to the victim’s buyers as above, and one large payment to the victim',
    knows: true,
    plans: BAITS,
    cost: (plan, scene) => costOfBaits(plan, scene) + full + volumeOf(scene),
    moves: (scene, plan) => ({
      payments: [
        ...layBaits(scene, plan),
        ...knownWallets(scene, 1),
        ...buyFrom(scene.victim, 1, volumeOf(scene)),
      ],
    }),
  },
  {
    id: 'switch_on',
    name: 'Before the rule holds: own wallets that pay three known sellers until it does, so that buyers nobody vouches for stop counting; a seller whose buyers pay no known seller',
    knows: false,
    isEarly: true,
    plans: SWITCHING,
    cost: ({ many, usd }) => many * usd * VOUCHING.measuredSeeds,
    moves: ({ market }, { many, usd }) => ({
      payments: market.seeds
        .slice(0, VOUCHING.measuredSeeds)
        .flatMap((shop) => buyFrom(shop, many, usd)),
    }),
  },
  {
    id: 'bait_everybody',
    name: 'Such rewards to everybody, as nobody says who the victim’s buyers are',
    knows: false,
    plans: BAITS_OF_ALL,
    cost: ({ many, days }, { everybody }) => many * days * everybody * REWARD_USD,
    moves: (scene, plan) => ({ payments: sell(scene, plan) }),
  },
]

function costOfBaits({ many }: Plan, { baits }: Scene): number {
  return baits.slice(0, many).reduce((sum, { days }) => sum + days, 0) * REWARD_USD
}

function layBaits({ baits }: Scene, { many }: Plan): Paid[] {
  return baits
    .slice(0, many)
    .flatMap(({ payer, shop, days }) =>
      Array.from({ length: days }, (_, day) =>
        pay({ payer, shop, usd: BAIT_USD, at: AS_OF - (day + 0.5) * DAY_MS }),
      ).flat(),
    )
}

/** What the victim was paid in all, ten dollars at most: one buyer counts for no more. */
function volumeOf({ market, victim }: Scene): number {
  const own = market.payments.filter(({ shop }) => shop === victim)
  return Math.min(
    10,
    own.reduce((sum, { usd }) => sum + usd, 0),
  )
}

/** Sellers with about so many buyers are attacked in each market: none can afford to lose one. */
const VICTIMS = [4, 10, 25] as const

/** What each attack costs that takes a third of a seller's score, and how low any plan brought one. */
export function measureGriefing(
  shape: MarketShape,
  seeds: readonly number[],
): Pick<CostOfCheating, 'griefing' | 'victims'> {
  const usual = findVictims(shape, seeds)
  const small = findVictims({ ...shape, medianUsd: SMALL_USD }, seeds)
  const griefing = GRIEFINGS.map((attack) => measureOne(attack, attack.isSmall ? small : usual))
  return { griefing, victims: usual.map(({ seen }) => seen) }
}

function findVictims(shape: MarketShape, seeds: readonly number[]) {
  return seeds.flatMap((seed) => {
    const market = createMarket(shape, seed)
    const calm = createJudge(market)({})
    return VICTIMS.map((wanted) => {
      const scene = toScene(market, calm.buyersOf, wanted)
      const [whole, early] = [createJudge(scene.market), createJudge(withoutSeeds(scene.market))]
      const found = whole({})
      const buyers = Math.round(found.buyersOf(scene.victim))
      return {
        scene,
        judges: { whole, early },
        wanted,
        seen: { seed, buyers, score: found.scoreOf(scene.victim) },
      }
    })
  })
}

/** The cheapest of all of them, by size, and the hardest fall. */
function measureOne(
  attack: Griefing,
  attacked: ReturnType<typeof findVictims>,
): CostOfCheating['griefing'][number] {
  const { id, name, knows, isEarly } = attack
  const found = attacked.map(({ scene, judges: { whole, early }, wanted }) => {
    const judge = isEarly === true ? early : whole
    const score = judge({}).scoreOf(scene.victim)
    const limit = score * (1 - LOSS)
    return { score, wanted, ...findCheapest(attack, { scene, judge, limit }) }
  })
  const cheapestOf = (wanted: number): number | null =>
    found
      .filter((one) => one.wanted === wanted)
      .reduce<number | null>((least, { cost_usd: cost }) => {
        if (cost === null || least === null) return cost ?? least
        return Math.min(cost, least)
      }, null)
  const [hardest] = found.toSorted((a, b) => a.least / a.score - b.least / b.score)
  const { score = 0, least = 0 } = hardest ?? {}
  console.error(`searched: ${name}`)
  const [few, some, many] = VICTIMS
  const costs: [number | null, number | null, number | null] = [
    cheapestOf(few),
    cheapestOf(some),
    cheapestOf(many),
  ]
  return { id, name, knows, cost_usd: costs, score, least }
}

function withoutSeeds(market: Market): Market {
  return { ...market, payments: market.payments.filter(({ shop }) => !market.seeds.includes(shop)) }
}

/** Plans from the cheapest up, until one does it; the lowest score seen on the way is kept. */
function findCheapest(
  { moves, cost, plans }: Griefing,
  { scene, judge, limit }: { scene: Scene; judge: Judge; limit: number },
): { cost_usd: number | null; least: number } {
  let least = 100
  const priced = plans.map((plan) => ({ plan, usd: cost(plan, scene) }))
  for (const { plan, usd } of priced.sort((a, b) => a.usd - b.usd)) {
    if (usd > BUDGET_USD) break
    const score = judge(moves(scene, plan)).scoreOf(scene.victim)
    least = Math.min(least, score)
    if (score <= limit) return { cost_usd: Math.round(usd * 100) / 100, least }
  }
  return { cost_usd: null, least }
}

function toScene(market: Market, buyersOf: (id: string) => number, wanted: number): Scene {
  const [victim = ''] = market.shops.toSorted(
    (a, b) => Math.abs(buyersOf(a) - wanted) - Math.abs(buyersOf(b) - wanted),
  )
  const payers = Map.groupBy(market.payments, ({ payer }) => payer)
  const own = [...payers].filter(([, paid]) => paid.some(({ shop }) => shop === victim))
  const isSeed = ({ shop }: Paid) => market.seeds.includes(shop)
  const known = own.filter(([, paid]) => paid.some(isSeed))
  const strangers = Array.from({ length: WALLETS_A_SEED }, (_, n) =>
    market.seeds.flatMap((shop) => pay({ payer: `somebody-${n}`, shop, usd: full })),
  ).flat()
  const targets = toTargets({ ...market, payments: known.flatMap(([, paid]) => paid) })
  return {
    market: { ...market, payments: [...own.flatMap(([, paid]) => paid), ...strangers] },
    everybody: payers.size,
    victim,
    buyers: known.map(([payer]) => payer),
    baits: planBait(victim, targets, weighByRule),
  }
}
