import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runMain } from '../../../functions/operations/run-main.ts'
import {
  type CostOfCheating,
  cheapestOf,
  type Goals,
  TARGETS,
} from '../../../src/domain/independence/cost-of-cheating.ts'
import { OperatorError } from '../../../src/domain/wire/operator-error.ts'
import { ATTACKS, type Attack, PLAINEST } from './attacks.ts'
import { compareSpreading } from './compare-spreading.ts'
import { findCheapest } from './find-cheapest.ts'
import { measureGriefing } from './griefing.ts'
import { MARKETS, measureLoss } from './honest-loss.ts'
import { createJudge, createMarket } from './market.ts'
import { playChains } from './play-chains.ts'
import { playCheating } from './play-cheating.ts'
import { playMachine } from './play-machine.ts'

/**
 * `npm run simulate:trust [-- --seeds N --budget USD --wallets N --payments N --dry-run]`: an adversary
 * who knows the published method looks for the cheapest way to a score, and to a rival's loss, against
 * the rules that judge real payments, in so many markets of one shape. Each figure is the cheapest of
 * them all. Writes `content/tables/cost_of_cheating.yaml`, which `/trust` and
 * the method endpoint publish.
 */
const FILE = fileURLToPath(
  new URL('../../../content/tables/cost_of_cheating.yaml', import.meta.url),
)

/** Small enough for a search of thousands of plays; more people hold more of everything. */
export const STUDIED = { ...MARKETS.middle, buyers: 150, shops: 15 }
const ATTACKED = { ...MARKETS.middle, buyers: 300 }

if (import.meta.main)
  await runMain(async () => {
    const { seeds, isDry, ...means } = readOptions()
    const forged = await playChains()
    const machine = await playMachine()
    const table = { ...simulate(seeds, means), forged, machine }
    for (const line of toLines(table)) console.log(line)
    if (isDry) return
    writeFileSync(FILE, toYaml(table))
    console.log('wrote content/tables/cost_of_cheating.yaml')
  })

/** The same seeds and means give the same table, but for its date. */
function simulate(
  seeds: readonly number[],
  means: CostOfCheating['means'],
): Omit<CostOfCheating, 'forged' | 'machine'> {
  const found = seeds.map((seed) => searchMarket(seed, means))
  const [first] = found
  return {
    date: new Date().toISOString().slice(0, 10),
    seeds: [...seeds],
    means,
    unmeasured: cheapestGoals(found.map(({ unmeasured }) => unmeasured)),
    cheating: (first?.cheating ?? []).map((row, n) => ({
      ...row,
      goals: cheapestGoals(found.flatMap(({ cheating }) => cheating[n]?.goals ?? [])),
    })),
    ...measureGriefing(ATTACKED, seeds),
    honest: measureLoss(seeds[0] ?? 1),
    spreading: compareSpreading(ATTACKED, seeds),
  }
}

function searchMarket(
  seed: number,
  means: CostOfCheating['means'],
): Pick<CostOfCheating, 'unmeasured' | 'cheating'> {
  const market = createMarket(STUDIED, seed)
  const judge = createJudge(market)
  const search = (attack: Attack, judgeOf = judge, starts?: Goals): Goals => {
    const played = new Map<string, number>()
    const play = (plan: Parameters<typeof playCheating>[1]) => {
      const key = JSON.stringify(plan)
      const score = played.get(key) ?? playCheating(attack, plan, market, judgeOf)
      played.set(key, score)
      return score
    }
    const [low, middle, high] = TARGETS.map((target) => {
      const start = starts?.[target] ?? null
      return findCheapest(attack, Number(target), { means, play, seed, start })
    })
    console.error(`searched: ${attack.name}`)
    return { 30: low ?? null, 60: middle ?? null, 90: high ?? null }
  }
  let known: Goals | undefined
  return {
    unmeasured: search(PLAINEST, createJudge(market, false)),
    cheating: ATTACKS.map((attack) => {
      const { id, name, needs, listings } = attack
      const goals = search(attack, judge, attack.listings === 1 ? undefined : known)
      if (id === 'known_sellers') known = goals
      const row = { id, name, listings, goals }
      return needs === undefined ? row : { ...row, needs }
    }),
  }
}

function cheapestGoals(found: readonly Goals[]): Goals {
  const [low, middle, high] = TARGETS.map(
    (target) =>
      found
        .flatMap((goals) => goals[target] ?? [])
        .toSorted((one, other) => one.cost_usd - other.cost_usd)[0] ?? null,
  )
  return { 30: low ?? null, 60: middle ?? null, 90: high ?? null }
}

function parseOptions() {
  try {
    return parseArgs({
      options: {
        seeds: { type: 'string', default: '5' },
        budget: { type: 'string', default: '1000' },
        wallets: { type: 'string', default: '300' },
        payments: { type: 'string', default: '3000' },
        'dry-run': { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new OperatorError(error instanceof Error ? error.message : String(error))
  }
}

function readOptions() {
  const values = parseOptions()
  const read = (name: 'seeds' | 'budget' | 'wallets' | 'payments', most: number) => {
    const value = Number(values[name])
    if (/^\d{1,7}$/.test(values[name]) && value >= 1 && value <= most) return value
    throw new OperatorError(
      `--${name}: got ${values[name]}, expected a whole number from 1 to ${most}`,
    )
  }
  return {
    seeds: Array.from({ length: read('seeds', 100) }, (_, n) => n + 1),
    budget_usd: read('budget', 1_000_000),
    wallets: read('wallets', 5_000),
    payments: read('payments', 50_000),
    isDry: values['dry-run'],
  }
}

function toLines(table: CostOfCheating): string[] {
  const { means, cheating, forged, machine, griefing, honest, unmeasured, victims, spreading } =
    table
  const toDollars = (usd: number | null) => `$${usd ?? '–'}`
  const toCosts = (goals: Goals) =>
    TARGETS.map((target) => `${target} for $${goals[target]?.cost_usd ?? '–'}`).join(', ')
  return [
    `With $${means.budget_usd}, ${means.wallets} wallets and ${means.payments} payments a listing, the cheapest found:`,
    `${TARGETS.map((target) => `${target} for $${cheapestOf(table, target)?.cost_usd ?? '–'}`).join(', ')}: of all that need nothing of others`,
    `${toCosts(unmeasured)}: where nobody is measured`,
    ...cheating.map(
      ({ id, goals, needs }) => `${toCosts(goals)}: ${id}${needs ? ' (helped)' : ''}`,
    ),
    ...forged.map(
      ({ id, payments, counted, score }) =>
        `${counted} of ${payments} counted, score ${score}: ${id}`,
    ),
    ...machine.map(
      ({ id, aim, cost_usd, before, after, held }) =>
        `${toDollars(cost_usd)}, score ${before} becomes ${after}, ${held ? 'held' : 'NOT HELD'}: ${id} (${aim})`,
    ),
    `A third of the score of a seller with about 4, 10 or 25 buyers (${victims.map(({ buyers }) => buyers).join(', ')}):`,
    ...griefing.map(
      ({ id, cost_usd, score, least, knows }) =>
        `${cost_usd.map(toDollars).join(', ')}, at worst ${score} to ${least}: ${id}${knows ? ' (knows the buyers)' : ''}`,
    ),
    ...honest.map(
      ({ market, known, buyers_kept, score_before, score }) =>
        `${market}: ${known} of honest buyers paid a known seller, ${buyers_kept} of those kept, score ${score_before} becomes ${score}`,
    ),
    ...spreading.map(
      ({ id, buyers_kept, hundredth, cheap_shops, bait_usd, twenty_tools }) =>
        `${id}: kept ${buyers_kept.join(' ')}, hundredth ${hundredth} times too cheap, cheap shops take ${cheap_shops}, bait ${bait_usd.map(toDollars).join(' ')}, ${twenty_tools} of twenty tools`,
    ),
  ]
}

/** YAML is a superset of JSON: one row a line keeps a run's difference small. */
function toYaml(table: CostOfCheating): string {
  const entries = Object.entries(table).flatMap(([key, value]) =>
    Array.isArray(value)
      ? [`${key}:`, ...value.map((row) => `  - ${JSON.stringify(row)}`)]
      : [`${key}: ${JSON.stringify(value)}`],
  )
  return [
    '# yaml-language-server: $schema=../schema/cost_of_cheating.schema.json',
    '# Written by `npm run simulate:trust`; not edited by hand.',
    ...entries,
    '',
  ].join('\n')
}
