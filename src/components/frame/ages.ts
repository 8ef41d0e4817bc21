import type { Switches } from '../../domain/derived/tables.ts'
import type { Ages } from '../../domain/trust/age.ts'
import { toDay } from '../../domain/views/known-view.ts'

const KINDS = [
  ['listing', 'Listings', () => true],
  ['seed', 'Catalogue rows', () => true],
  ['probe', 'Probes', () => true],
  ['price', 'Prices', ({ payments }: Switches) => payments],
  ['payments', 'Payments', ({ payments }: Switches) => payments],
  ['reported_use', 'Counts by others', () => true],
] as const

/** How old each kind of fact is, for the facts that the directory has and shows. */
export function toAgeRows(
  { newest, median }: Ages,
  switches: Switches,
): [name: string, newest: string, median: string][] {
  return KINDS.flatMap(([kind, name, isShown]) => {
    const [last, middle] = [newest[kind], median[kind]]
    return last === null || middle === null || !isShown(switches)
      ? []
      : [[name, toDay(last, 'short'), toDay(middle, 'short')]]
  })
}
