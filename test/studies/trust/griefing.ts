import type { CostOfCheating } from '../../../src/domain/independence/cost-of-cheating.ts'
import { VOUCHING } from '../../../src/domain/independence/vouching.ts'
import type { PayoutFacts } from '../../../src/domain/owners/payout-standing.ts'
import { REWARD_USD } from './attacks.ts'
import {
  AS_OF,
  createJudge,
  createMarket,
  DAY_MS,
  type Judge,
  type Market,
  type MarketShape,
  type Moves,
  pay,
  payoutOf,
  send,
  toCaip10,
  toListing,
} from './market.ts'

/** What a rival does to one honest seller with a number of wallets and dollars for each of them. */
interface Griefing {
  id: string
  name: string
  moves: (scene: Scene, plan: Plan) => Moves
  /** Whether what is spent comes back: plans of one cost then differ. */
  isPaidBack?: boolean
  /** Dollars the rival never sees again. */
  cost: (plan: Plan, scene: Scene) => number
}

interface Plan {
  wallets: number
  usd: number
}

interface Scene {
  market: Market
  victim: string
  /** Of the victim. */
  buyers: readonly string[]
  /** Other shops its buyers use. */
  shops: readonly string[]
}

/** Half of it is still a third too much. */
export const LOSS = 1 / 3
const HUNDRED = 100
const FREE = 0
/** What a rival spends at most on one seller. */
const BUDGET_USD = 100
const EXCHANGE = 'exchange'
const vouch = VOUCHING.usdAListing

/** Wallets that known sellers vouch for: what a rival needs for its payments to count at all. */
const vouched = ({ market }: Scene, wallets: number, usd = vouch) =>
  Array.from({ length: wallets }, (_, n) =>
    pay({
      payer: `rival-${n}`,
      shop: market.seeds[n % market.seeds.length] ?? '',
      usd: usd + 0.01,
    }),
  ).flat()

const buyFrom = (shop: string, wallets: number, usd: number, at?: (n: number) => number) =>
  Array.from({ length: wallets }, (_, n) =>
    pay({ payer: `rival-${n}`, shop, usd, ...(at && { at: at(n) }) }),
  ).flat()

export const GRIEFINGS: readonly Griefing[] = [
  {
    id: 'naming',
    name: 'A hundred listings that publish the victim’s payout on other chains',
    cost: () => FREE,
    moves: ({ victim }) => ({
      listings: rivals((n) => ({ published: [`eip155:${n + 1}:${payoutOf(victim)}`] })),
    }),
  },
  {
    id: 'second_payout',
    name: 'A hundred listings that publish a second payout of the victim’s',
    cost: () => FREE,
    moves: ({ victim }) => {
      const second = toCaip10(`second-${payoutOf(victim)}`)
      return {
        listings: [
          toListing(victim, { published: [toCaip10(payoutOf(victim)), second] }),
          ...rivals(() => ({ published: [second] })),
        ],
      }
    },
  },
  {
    id: 'nothing',
    name: 'Transfers of nothing in the victim’s name to all its buyers',
    cost: () => FREE,
    moves: ({ victim, buyers }) => ({
      transfers: buyers.map((to) =>
        send({ from: payoutOf(victim), to, usd: 0, at: AS_OF - 40 * DAY_MS }),
      ),
    }),
  },
  {
    id: 'gifts',
    name: 'Money of the victim’s, got for a sale, given to its buyers before they pay',
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
    id: 'one_big',
    name: 'One large payment',
    cost: ({ usd }) => usd + vouch,
    moves: (scene, { usd }) => ({
      payments: [...vouched(scene, 1), ...buyFrom(scene.victim, 1, usd)],
    }),
  },
  {
    id: 'some_big',
    name: 'Several wallets with large payments',
    cost: ({ wallets, usd }) => wallets * (usd + vouch),
    moves: (scene, { wallets, usd }) => ({
      payments: [...vouched(scene, wallets), ...buyFrom(scene.victim, wallets, usd)],
    }),
  },
  {
    id: 'crowd',
    name: 'A crowd within half an hour that pays what a buyer pays, filled by the exchange the buyers use',
    cost: ({ wallets }) => wallets * 0.02,
    moves: ({ market, victim, buyers }, { wallets }) => {
      const last = market.payments.filter(({ listing_id }) => listing_id === victim).at(-1)
      const usd = last?.usd ?? 0.02
      const start = last?.at ?? AS_OF
      return {
        payments: buyFrom(victim, wallets, usd, (n) => start + n * 1000),
        transfers: [...buyers, ...Array.from({ length: wallets }, (_, n) => `rival-${n}`)].map(
          (to) => send({ from: EXCHANGE, to, usd: 1, at: AS_OF - 20 * DAY_MS }),
        ),
      }
    },
  },
  {
    id: 'displacing',
    name: 'Wallets that buy where the victim’s buyers buy, for a hundred listings of one’s own, until nothing is left to vouch for those',
    cost: ({ wallets, usd }) => wallets * usd,
    moves: ({ shops }, { wallets, usd }) => ({
      payments: Array.from({ length: wallets }, (_, n) => [
        ...pay({ payer: `rival-${n}`, shop: shops[n % shops.length] ?? '', usd }),
        ...Array.from({ length: Math.min(HUNDRED, Math.ceil(usd / vouch)) }, (_, l) =>
          pay({ payer: `rival-${n}`, shop: `rival-shop-${l}`, usd: 0.001 }),
        ).flat(),
      ]).flat(),
    }),
  },
  {
    id: 'diluting',
    name: 'A hundred listings with one payout from which all the victim’s buyers are given something for a tenth of a cent',
    cost: () => FREE,
    moves: ({ buyers }) => {
      const ids = Array.from({ length: HUNDRED }, (_, n) => `rival-shop-${n}`)
      return {
        payments: buyers.flatMap((payer) =>
          pay({ payer, shop: ids[0] ?? '', usd: 0.001 }).flatMap((one) =>
            ids.map((listing_id) => ({ ...one, listing_id })),
          ),
        ),
        listings: ids.map((id) =>
          toListing(id, { owner: 'rival.example', published: [toCaip10(payoutOf(ids[0] ?? ''))] }),
        ),
      }
    },
  },
  {
    id: 'freebies',
    name: 'A hundred shops under a hundred names that give everybody something for a tenth of a cent, before anybody buys from the victim',
    cost: () => FREE,
    moves: ({ market }) => ({ payments: bait(buyersIn(market), HUNDRED, 0.001, EARLY) }),
  },
  {
    id: 'bait',
    name: `Shops under several names that pay each of the victim’s buyers $${REWARD_USD.toFixed(2)}, and the price, for buying there`,
    isPaidBack: true,
    cost: ({ wallets }, { buyers }) => wallets * buyers.length * REWARD_USD,
    moves: ({ buyers }, { wallets, usd }) => ({ payments: bait(buyers, wallets, usd) }),
  },
  {
    id: 'bait_before',
    name: 'The same before they first buy from the victim: as nobody knows who will, for everybody',
    isPaidBack: true,
    cost: ({ wallets }, { market }) => wallets * buyersIn(market).length * REWARD_USD,
    moves: ({ market }, { wallets, usd }) => ({
      payments: bait(buyersIn(market), wallets, usd, EARLY),
    }),
  },
]

/** Before the market's own payments. */
const EARLY = AS_OF - 8 * DAY_MS

/** Each buyer buys once from each of so many shops of the rival's. */
function bait(buyers: readonly string[], shops: number, usd: number, at = AS_OF) {
  return Array.from({ length: shops }, (_, n) => `rival-shop-${n}`).flatMap((shop) =>
    buyers.flatMap((payer) => pay({ payer, shop, usd, at })),
  )
}

function buyersIn({ payments }: Market): string[] {
  return [...new Set(payments.map(({ payer }) => payer))]
}

function rivals(change: (n: number) => Partial<PayoutFacts>): PayoutFacts[] {
  return Array.from({ length: HUNDRED }, (_, n) =>
    toListing(`rival-${n}`, { published: [], ...change(n) }),
  )
}

const WALLETS = [1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300]
const DOLLARS = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 12, 20, 30, 50]

/** Sellers with about so many buyers are attacked in each market: none can afford to lose one. */
const VICTIMS = [4, 10, 25]

/** What each attack costs that takes a third of a seller's score, and how low any plan brought one. */
export function measureGriefing(
  shape: MarketShape,
  seeds: readonly number[],
): Pick<CostOfCheating, 'griefing' | 'victims'> {
  const attacked = seeds.flatMap((seed) => {
    const market = createMarket(shape, seed)
    const judge = createJudge(market)
    const calm = judge({})
    return VICTIMS.map((wanted) => {
      const scene = findVictim(market, calm.buyersOf, wanted)
      const seen = { seed, buyers: calm.buyersOf(scene.victim), score: calm.scoreOf(scene.victim) }
      return { scene, judge, seen }
    })
  })
  const griefing = GRIEFINGS.map((attack) => {
    const { id, name } = attack
    const found = attacked.map(({ scene, judge, seen: { score } }) => {
      const limit = score * (1 - LOSS)
      return { score, ...findCheapest(attack, { scene, judge, limit }) }
    })
    const costs = found.flatMap(({ cost_usd }) => cost_usd ?? [])
    const [hardest] = found.toSorted((a, b) => a.least / a.score - b.least / b.score)
    const { score = 0, least = 0 } = hardest ?? {}
    console.error(`searched: ${name}`)
    return { id, name, cost_usd: costs.length === 0 ? null : Math.min(...costs), score, least }
  })
  return { griefing, victims: attacked.map(({ seen }) => seen) }
}

/** Plans from the cheapest up, until one does it; the lowest score seen on the way stands beside it. */
function findCheapest(
  { moves, cost, isPaidBack = false }: Griefing,
  { scene, judge, limit }: { scene: Scene; judge: Judge; limit: number },
): { cost_usd: number | null; least: number } {
  const plans = WALLETS.flatMap((wallets) => DOLLARS.map((usd) => ({ wallets, usd }))).sort(
    (a, b) => cost(a, scene) - cost(b, scene),
  )
  let least = 100
  let last = -1
  for (const plan of plans) {
    // Numbers an attack does not use change nothing, and nothing about its cost.
    if (cost(plan, scene) === last && !isPaidBack) continue
    last = cost(plan, scene)
    if (last > BUDGET_USD) break
    const score = judge(moves(scene, plan)).scoreOf(scene.victim)
    least = Math.min(least, score)
    if (score <= limit) return { cost_usd: Math.round(last * 100) / 100, least }
  }
  return { cost_usd: null, least }
}

function findVictim(market: Market, buyersOf: (id: string) => number, wanted: number): Scene {
  const victim = market.shops.toSorted(
    (a, b) => Math.abs(buyersOf(a) - wanted) - Math.abs(buyersOf(b) - wanted),
  )[0]
  const own = market.payments.filter(({ listing_id }) => listing_id === victim)
  const buyers = [...new Set(own.map(({ payer }) => payer))]
  const isBuyer = new Set(buyers)
  const shops = market.payments
    .filter(({ payer, listing_id }) => isBuyer.has(payer) && market.shops.includes(listing_id))
    .map(({ listing_id }) => listing_id)
  return {
    market,
    victim: victim ?? '',
    buyers,
    shops: [...new Set(shops)].filter((id) => id !== victim),
  }
}
