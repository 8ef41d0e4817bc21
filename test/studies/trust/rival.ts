import { VOUCHING, weighBuyer } from '../../../src/domain/trust/score-listings.ts'
import {
  AS_OF,
  createJudge,
  createMarket,
  DAY_MS,
  FULL_USD,
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

/** What a rival does to one honest seller, and what it never sees again of its money. */
export interface Harm {
  /** Whether the rival must know who the victim's buyers are, or will be. */
  knows: boolean
  /** Where no known seller has been paid yet. */
  isEarly?: true
  plans: readonly Plan[]
  moves(scene: Scene, plan: Plan): Moves
  cost(plan: Plan, scene: Scene): number
}

/** Wallets or shops of the rival's, and what each pays or is paid. */
interface Plan {
  many: number
  usd: number
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

/** A shop of the rival's from which one buyer is paid to buy on so many days. */
interface Bait {
  payer: string
  shop: string
  days: number
}

const BUDGET_USD = 100
const LOSS = 1 / 3
/** What a buyer takes for a purchase, beside the price: a guess. */
const REWARD_USD = 0.1
/** Above all that counts of one day; it is given back, so its price does not matter. */
const BAIT_USD = 2
const EXCHANGE = 'exchange'
const NUMBERS = [1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300]
const DOLLARS = [0.05, 0.25, 1, 2, 3, 5, 8, 12, 20, 30, 50]
const ONCE: Plan = { many: 100, usd: 0 }
const SPENDING = NUMBERS.flatMap((many) => DOLLARS.map((usd) => ({ many, usd })))
const rivals = (many: number) => Array.from({ length: many }, (_, n) => `rival-${n}`)

export const HARMS: Record<string, Harm> = {
  'a hundred listings that publish a second payout of the victim’s': {
    knows: false,
    plans: [ONCE],
    cost: () => 0,
    moves: ({ victim }, { many }) => {
      const second = toCaip10(`second-${payoutOf(victim)}`)
      const own = toListing(victim, { published: [toCaip10(payoutOf(victim)), second] })
      return {
        listings: [own, ...rivals(many).map((id) => toListing(id, { published: [second] }))],
      }
    },
  },
  'large payments to the victim': {
    knows: false,
    plans: SPENDING,
    cost: ({ many, usd }) => many * (usd + FULL_USD),
    moves: ({ market, victim }, { many, usd }) => ({
      payments: rivals(many).flatMap((payer, n) => [
        ...pay({ payer, shop: market.seeds[n % market.seeds.length] ?? '', usd: FULL_USD }),
        ...pay({ payer, shop: victim, usd }),
      ]),
    }),
  },
  'a crowd that pays what a buyer pays, filled by the exchange the buyers use': {
    knows: true,
    plans: NUMBERS.map((many) => ({ many, usd: 0.02 })),
    cost: ({ many, usd }) => many * usd,
    moves: ({ market, victim, buyers }, { many }) => {
      const last = market.payments.filter(({ shop }) => shop === victim).at(-1)
      return {
        payments: rivals(many).flatMap((payer, n) =>
          pay({ payer, shop: victim, usd: last?.usd ?? 0.02, at: (last?.at ?? AS_OF) + n * 1000 }),
        ),
        transfers: [...buyers, ...rivals(many)].map((to) =>
          send({ from: EXCHANGE, to, usd: 1, at: AS_OF - 20 * DAY_MS }),
        ),
      }
    },
  },
  'a hundred shops that sell each buyer something for up to 3 cents': {
    knows: true,
    plans: [0.001, 0.01, 0.03].map((usd) => ({ many: 100, usd })),
    cost: () => 0,
    moves: (scene, plan) => ({ payments: sell(scene, plan) }),
  },
  'rewards to the victim’s buyers for each purchase at the rival’s shops': {
    knows: true,
    plans: Array.from({ length: 120 }, (_, n) => ({ many: n + 1, usd: BAIT_USD })),
    cost: ({ many }, { baits }) =>
      baits.slice(0, many).reduce((sum, { days }) => sum + days * REWARD_USD, 0),
    moves: ({ baits }, { many, usd }) => ({
      payments: baits
        .slice(0, many)
        .flatMap(({ payer, shop, days }) =>
          Array.from({ length: days }, (_, day) =>
            pay({ payer, shop, usd, at: AS_OF - (day + 0.5) * DAY_MS }),
          ).flat(),
        ),
    }),
  },
  'such rewards to everybody, as nobody says who the buyers are': {
    knows: false,
    plans: [1, 2, 3, 4, 6, 8].map((many) => ({ many, usd: BAIT_USD })),
    cost: ({ many }, { everybody }) => many * everybody * REWARD_USD,
    moves: (scene, plan) => ({ payments: sell(scene, plan) }),
  },
  'own wallets that pay known sellers until the rule holds': {
    knows: false,
    isEarly: true,
    plans: [1, 3, 5, 8, 9, 10, 12, 20].map((many) => ({ many, usd: FULL_USD })),
    cost: ({ many, usd }) => many * usd * VOUCHING.measuredSeeds,
    moves: ({ market }, { many, usd }) => ({
      payments: market.seeds
        .slice(0, VOUCHING.measuredSeeds)
        .flatMap((shop) => rivals(many).flatMap((payer) => pay({ payer, shop, usd }))),
    }),
  },
}

/** Each buyer that is reached buys from each of the rival's shops. */
function sell({ buyers }: Scene, { many, usd }: Plan): Paid[] {
  return buyers.flatMap((payer) => rivals(many).flatMap((shop) => pay({ payer, shop, usd })))
}

/** Sellers with about so many buyers in one market. */
export function findVictims(shape: MarketShape, seed: number, sizes: readonly number[]) {
  const market = createMarket(shape, seed)
  const calm = createJudge(market)({})
  return sizes.map((wanted) => {
    const scene = toScene(market, calm.buyersOf, wanted)
    const unpaid = scene.market.payments.filter(({ shop }) => !market.seeds.includes(shop))
    const early = createJudge({ ...scene.market, payments: unpaid })
    return { scene, judge: createJudge(scene.market), early }
  })
}

/** Dollars of the cheapest plan that takes a third of the victim's score; null within the budget for none. */
export function findHarm(
  { plans, cost, moves, isEarly }: Harm,
  { scene, judge: usual, early }: ReturnType<typeof findVictims>[number],
): number | null {
  const judge = isEarly === true ? early : usual
  const limit = judge({}).scoreOf(scene.victim) * (1 - LOSS)
  const priced = plans.map((plan) => ({ plan, usd: cost(plan, scene) }))
  const found = priced
    .filter(({ usd }) => usd <= BUDGET_USD)
    .sort((a, b) => a.usd - b.usd)
    .find(({ plan }) => judge(moves(scene, plan)).scoreOf(scene.victim) <= limit)
  return found?.usd ?? null
}

function toScene(market: Market, buyersOf: (id: string) => number, wanted: number): Scene {
  const [victim = ''] = market.shops.toSorted(
    (a, b) => Math.abs(buyersOf(a) - wanted) - Math.abs(buyersOf(b) - wanted),
  )
  const payers = Map.groupBy(market.payments, ({ payer }) => payer)
  const own = [...payers].filter(([, paid]) => paid.some(({ shop }) => shop === victim))
  const known = own.filter(([, paid]) => paid.some(({ shop }) => market.seeds.includes(shop)))
  // Whatever else happens, the known sellers stay measured.
  const wallets = Math.ceil(VOUCHING.microsAMeasuredSeed / VOUCHING.microsAListing)
  const strangers = Array.from({ length: wallets }, (_, n) =>
    market.seeds.flatMap((shop) => pay({ payer: `somebody-${n}`, shop, usd: FULL_USD })),
  ).flat()
  return {
    market: { ...market, payments: [...own.flatMap(([, paid]) => paid), ...strangers] },
    everybody: payers.size,
    victim,
    buyers: known.map(([payer]) => payer),
    baits: planBaits(victim, known, new Set(market.seeds)),
  }
}

/** In the order that takes most for each reward, as a rival finds them who knows the rule and all these payments. */
function planBaits(
  victim: string,
  known: readonly (readonly [payer: string, paid: readonly Paid[]])[],
  seeds: ReadonlySet<string>,
): Bait[] {
  const toPurchase = ({ shop, usd, at }: Pick<Paid, 'shop' | 'usd' | 'at'>) => ({
    ...{ owner: shop, listings: [shop], micros: Math.round(usd * 1_000_000) },
    day: Math.floor(at / DAY_MS),
  })
  const weigh = (bought: Parameters<typeof weighBuyer>[0]) =>
    weighBuyer(bought, seeds).get(victim) ?? 0
  const states = known.map(([payer, paid]) => ({ payer, bought: paid.map(toPurchase) }))
  const baits: Bait[] = []
  for (let rewards = 0; rewards < 250; ) {
    const moves = states.flatMap((state) =>
      [...[1, 2, 3, 5].map((shops) => [shops, 1] as const), [1, 3] as const, [1, 5] as const].map(
        ([shops, days]) => {
          const added = Array.from({ length: shops }, (_, n) => ({
            ...{ payer: state.payer, shop: `rival-shop-${baits.length + n}`, days },
          }))
          const purchases = added.flatMap(({ shop }) =>
            Array.from({ length: days }, (_, day) =>
              toPurchase({ shop, usd: BAIT_USD, at: AS_OF - (day + 0.5) * DAY_MS }),
            ),
          )
          const bought = [...state.bought, ...purchases]
          return {
            state,
            added,
            bought,
            gain: (weigh(state.bought) - weigh(bought)) / (shops * days),
          }
        },
      ),
    )
    const [best] = moves.sort((a, b) => b.gain - a.gain)
    if (best === undefined || best.gain <= 0) break
    best.state.bought = best.bought
    for (const bait of best.added) baits.push(bait)
    rewards += best.added.reduce((sum, { days }) => sum + days, 0)
  }
  return baits
}
