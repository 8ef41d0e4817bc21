import { toUsd } from '../../operation/price-text.ts'
import type { CompactRow, OperationsAnswer } from '../../search/search-response.ts'

/** The answer to a message: listings, operations, or why neither. */
export type Answer =
  | ({ results: CompactRow[] } & Counted)
  | OperationsAnswer
  | { error: string; errors?: readonly { name: string; detail: string }[] }

interface Counted {
  total: number
  notes: string[]
  texts: string
}

/**
 * The answer in sentences, one line per result, for agents and people who only read text. All of it
 * is in the data part as well.
 */
export function toAnswerText(answer: Answer): string {
  if ('error' in answer) {
    const faults = answer.errors?.map(({ name, detail }) => `${name}: ${detail}`) ?? []
    return [answer.error, ...faults].join('\n')
  }
  const { total, results, notes, texts } = answer
  if (results.length === 0) return ['Nothing was found.', ...notes].join('\n')
  const rows = results.map((row) => ('listing' in row ? toOperationLine(row) : toListingLine(row)))
  return [`${results.length} of ${total}:`, ...rows, ...notes, texts].join('\n')
}

function toListingLine({ id, name, summary, price }: CompactRow): string {
  return `- ${name} (${id}): ${summary}${toPrice(price?.min_usd)}`
}

function toOperationLine({ listing, operation }: OperationsAnswer['results'][number]): string {
  const { method, name, url, description, price } = operation
  const seller = listing.name === undefined ? listing.id : `${listing.name} (${listing.id})`
  const called = method === undefined ? name : `${method} ${url}`
  const said = description === undefined ? '' : `: ${description}`
  return `- ${called ?? url ?? ''} of ${seller}${said}${toPrice(price?.min_usd)}`
}

function toPrice(usd: number | undefined): string {
  if (usd === undefined) return ''
  return usd === 0 ? ' Free.' : ` From ${toUsd(usd)}.`
}
