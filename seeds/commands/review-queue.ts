import type { Config } from '../../functions/ports/config.ts'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import type { ReviewItem, ReviewSource } from '../content/review-item.ts'
import type { ReviewPlace } from '../review/accept-file.ts'
import { reviewSources } from '../review/open-sources.ts'
import { toPrintable } from '../text/plain-text.ts'

/** One question, and the source that takes its answer. */
export interface Waiting {
  item: ReviewItem
  source: ReviewSource
}

export interface ReviewQueue {
  waiting: Waiting[]
  /** Why a kind of question could not be read. */
  faults: string[]
  close(): Promise<void>
}

/**
 * Everything that waits, oldest first.
 *
 * @param from only this kind; all without it
 * @throws OperatorError for an unknown kind
 */
export async function openQueue(
  place: ReviewPlace,
  config: Config,
  from: string | undefined,
  now: () => string,
): Promise<ReviewQueue> {
  const kinds = reviewSources(place, config, now)
  const chosen = kinds.filter(({ kind }) => from === undefined || kind === from)
  if (chosen.length === 0)
    throw new OperatorError(
      `--from: expected one of ${kinds.map(({ kind }) => kind).join(', ')}, got ${JSON.stringify(from)}`,
    )
  const sources: ReviewSource[] = []
  const waiting: Waiting[] = []
  const faults: string[] = []
  for (const { kind, open } of chosen)
    try {
      const source = await open()
      if (source === null) continue
      sources.push(source)
      for (const item of await source.list()) waiting.push({ item, source })
    } catch (error) {
      faults.push(`${kind}: ${error instanceof Error ? error.message : String(error)}`)
    }
  return {
    waiting: waiting.sort((a, b) => (a.item.at < b.item.at ? -1 : a.item.at > b.item.at ? 1 : 0)),
    faults,
    close: async () => {
      for (const source of sources) await source.close?.()
    },
  }
}

/** @throws OperatorError when no item, or more than one, has an id with this beginning. */
export function findWaiting({ waiting }: ReviewQueue, id: string): Waiting {
  const exact = waiting.find(({ item }) => item.id === id)
  if (exact !== undefined) return exact
  const [first, second] = waiting.filter(({ item }) => id !== '' && item.id.startsWith(id))
  if (first === undefined)
    throw new OperatorError(`nothing waits under ${JSON.stringify(id)}: npm run review -- list`)
  if (second !== undefined)
    throw new OperatorError(
      `${JSON.stringify(id)} begins ${first.item.id} and ${second.item.id}: say more of it`,
    )
  return first
}

/** Characters of one line of an item: everything in it may be foreign text. */
const LONG = 4000

/** @example '3f2a9c01b7de  2026-11-20  mcp-registry  mcp.com.example.foo  suspicious_text' */
export function toListLine({ id, at, from, listing, why }: ReviewItem): string {
  return [id, at.slice(0, 10), from, listing, why].map((part) => toPrintable(part)).join('  ')
}

/** @param more what else the reviewer should know */
export function toShowLines(item: ReviewItem, more: readonly string[]): string[] {
  const { id, at, why, from, listing, note, file } = item
  return [
    `${id}: ${why}, asked by ${from} on ${at.slice(0, 10)}`,
    `listing: ${listing}`,
    `note:    ${note}`,
    ...more,
    ...(file === undefined ? [] : ['', file.path, ...indent(file.text)]),
  ].map((line) => toPrintable(line, LONG))
}

function indent(text: string): string[] {
  return text.split(/\r?\n/).map((line) => `  ${line}`)
}
