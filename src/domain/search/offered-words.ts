import type { DirectoryPart, Switches } from '../derived/tables.ts'
import { FILTER_ROWS } from './search-filters.ts'

const PAYMENT_WORDS = [
  'paid',
  ...['expect', 'price', 'calls', 'payment', 'pay', 'x402', 'mpp'],
  ...['Call-Expect', 'X-PAYMENT', 'PAYMENT-SIGNATURE'],
]

/** Names of arguments, and values of closed lists, by the part of a directory they concern. */
const PART_OF = new Map<string, DirectoryPart>([
  ...FILTER_ROWS.flatMap(([name, { part }]) => (part === undefined ? [] : [[name, part] as const])),
  ...PAYMENT_WORDS.map((word) => [word, 'payments'] as const),
  ['trust', 'trust'],
])

/** Whether a directory without some parts offers an argument or one of its values. */
export function isOffered(word: string, switches: Partial<Switches> = {}): boolean {
  const part = PART_OF.get(word)
  return part === undefined || switches[part] !== false
}
