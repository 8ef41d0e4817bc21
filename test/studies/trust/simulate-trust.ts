import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { simulateCheating } from '../../../src/domain/adversary/simulate.ts'
import {
  type CostOfCheating,
  cheapestOf,
  TARGETS,
} from '../../../src/domain/independence/cost-of-cheating.ts'
import { OperatorError } from '../../../src/domain/wire/operator-error.ts'
import { runMain } from '../../operations/run-main.ts'

/**
 * `npm run simulate:trust [-- --seed N --budget USD --wallets N --payments N --dry-run]`: an adversary
 * who knows the published method looks for the cheapest way to a score, against the exclusions and
 * scores that judge real payments. Writes `content/tables/cost_of_cheating.yaml`, which `/trust` and
 * the method endpoint publish.
 */
const FILE = fileURLToPath(
  new URL('../../../content/tables/cost_of_cheating.yaml', import.meta.url),
)

await runMain(async () => {
  const { seed, budget, wallets, payments, isDry } = readOptions()
  const table = simulateCheating({
    date: new Date().toISOString().slice(0, 10),
    seed,
    means: { budget_usd: budget, wallets, payments },
    onAttack: (name) => console.error(`searched: ${name}`),
  })
  for (const line of toLines(table)) console.log(line)
  if (isDry) return
  writeFileSync(FILE, toYaml(table))
  console.log(`wrote ${join('content', 'tables', 'cost_of_cheating.yaml')}`)
})

function parseOptions() {
  try {
    return parseArgs({
      options: {
        seed: { type: 'string', default: '1' },
        budget: { type: 'string', default: '1000' },
        wallets: { type: 'string', default: '300' },
        payments: { type: 'string', default: '5000' },
        'dry-run': { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new OperatorError(error instanceof Error ? error.message : String(error))
  }
}

function readOptions() {
  const values = parseOptions()
  const read = (name: 'seed' | 'budget' | 'wallets' | 'payments', most: number) => {
    const value = Number(values[name])
    if (/^\d{1,7}$/.test(values[name]) && value >= 1 && value <= most) return value
    throw new OperatorError(
      `--${name}: got ${values[name]}, expected a whole number from 1 to ${most}`,
    )
  }
  return {
    seed: read('seed', 1_000_000),
    budget: read('budget', 1_000_000),
    wallets: read('wallets', 5_000),
    payments: read('payments', 50_000),
    isDry: values['dry-run'],
  }
}

function toLines(table: CostOfCheating): string[] {
  const { honest, helped, means } = table
  const cheapest = (['v01', 'v02'] as const).flatMap((method) =>
    TARGETS.map((target) => {
      const best = cheapestOf(table, method, target)
      const to = `${method} ${target}:`
      if (best === null) return `${to} nothing found within the means`
      const { cost_usd, wallets, payments, volume_usd, elsewhere_usd, name } = best
      return `${to} $${cost_usd} for good, ${wallets} wallets, ${payments} payments, $${volume_usd} that comes back, $${elsewhere_usd} elsewhere by each: ${name}`
    }),
  )
  return [
    `With $${means.budget_usd}, ${means.wallets} wallets and ${means.payments} payments, the cheapest found:`,
    ...cheapest,
    ...helped.map(
      ({ name, v02 }) =>
        `v02 with help: ${TARGETS.map((target) => `${target} for ${v02[target]?.cost_usd ?? 'nothing found'}`).join(', ')}: ${name}`,
    ),
    `${honest.buyers} real buyers, ${honest.payments} payments: v01 ${honest.v01}, v02 ${honest.v02}`,
  ]
}

/** YAML is a superset of JSON: one attack a line keeps a run's difference small. */
function toYaml({ attacks, helped, ...rest }: CostOfCheating): string {
  const entries = Object.entries(rest).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  return [
    '# yaml-language-server: $schema=../schema/cost_of_cheating.schema.json',
    '# Written by `npm run simulate:trust`; not edited by hand.',
    ...entries,
    'attacks:',
    ...attacks.map((attack) => `  - ${JSON.stringify(attack)}`),
    'helped:',
    ...helped.map((attack) => `  - ${JSON.stringify(attack)}`),
    '',
  ].join('\n')
}
