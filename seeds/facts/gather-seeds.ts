import type { MappedSeed } from './finish-seed.ts'
import { marksOf } from './listing-marks.ts'
import type { Refusal } from './refusal.ts'
import type { Seed } from './seed-facts.ts'
import type { ChosenSeeds } from './seed-source.ts'

/**
 * The last step of `choose`: mapped rows sorted by what became of them. Of two that stand for the
 * same service the first by key stays, whatever order the source had.
 */
export function gatherSeeds(
  mapped: readonly MappedSeed[],
  refused: readonly Refusal[],
  deleted: readonly string[] = [],
): ChosenSeeds {
  const chosen: ChosenSeeds = { seeds: [], refused: [...refused], dropped: [], held: [], deleted }
  const owners = new Map<string, string>()
  const listed = mapped.flatMap((each) => (each.ok ? [each] : []))
  for (const { seed, dropped } of listed.sort((a, b) => compareKeys(a.seed, b.seed))) {
    const marks = [`key ${seed.key}`, ...marksOf(seed.facts)]
    const taken = marks.find((mark) => owners.has(mark))
    if (taken !== undefined) {
      const detail = `expected a service of its own; ${taken} is ${owners.get(taken)}`
      chosen.refused.push({ reason: 'same_endpoints', name: seed.key, detail, rows: seed.rows })
      continue
    }
    for (const mark of marks) owners.set(mark, seed.key)
    chosen.seeds.push(seed)
    for (const each of dropped) chosen.dropped.push(each)
  }
  for (const each of mapped) {
    if (each.ok) continue
    chosen.refused.push(each.refusal)
    if (each.held !== undefined) chosen.held.push(each.held)
  }
  return chosen
}

function compareKeys(a: Seed, b: Seed): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0
}
