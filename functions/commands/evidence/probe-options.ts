import { type Content, readContent } from '../../../src/content/read.ts'
import { isListingId } from '../../../src/domain/listing/listing-text.ts'
import { OperatorError } from '../../../src/domain/wire/problems.ts'
import type { Config } from '../../ports/config.ts'
import { readCommandLine, wrongCommand } from '../../ports/run-main.ts'

const HELP = `Usage: npm run probe -- [ids…] [--stale 24h] [--limit N] [--concurrency N] [--facts-only] [--json]

Asks listings whether they speak their protocol, and writes what was seen to content/evidence.
  ids               listings to probe; without any, all of them
  --stale <time>    leaves out listings probed less than this long ago: 90m, 24h, 7d
  --limit <n>       probes at most n listings
  --concurrency <n> concurrent probes (16); one at a time per host, four per address
  --facts-only      keeps names, parameters and types of tools and skills, and no seller's sentence
  --json            one JSON object a line: each probe, then {"summary": …}

Never pays, never sends a message to an agent, never follows a redirect.`

const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const OPTIONS = {
  stale: { type: 'string', default: '0s' },
  limit: { type: 'string', default: '1000000' },
  concurrency: { type: 'string', default: '16' },
  json: { type: 'boolean', default: false },
  'facts-only': { type: 'boolean', default: false },
} as const

export type ProbeOptions = ReturnType<typeof parseProbeOptions>

/** @throws UsageError saying what is wrong with the command and how to fix it */
export function parseProbeOptions(args: readonly string[]) {
  const { values, words } = readCommandLine(HELP, OPTIONS, Number.POSITIVE_INFINITY, args)
  const odd = words.find((id) => !isListingId(id))
  if (odd !== undefined)
    throw wrongCommand(
      HELP,
      `expected a listing id such as mcp.harbour, got ${JSON.stringify(odd)}`,
    )
  return {
    ids: [...new Set(words)],
    staleMs: toMilliseconds(values.stale),
    limit: toCount('--limit', values.limit, 1_000_000),
    concurrency: toCount('--concurrency', values.concurrency, 256),
    isJson: values.json,
    factsOnly: values['facts-only'],
  }
}

/** @throws OperatorError saying what was not done because of errors */
export function readSoundContent(config: Config, done: string): Content {
  const { content } = readContent(config.CONTENT_DIR, { allowPrivate: config.PRIVATE_TARGETS })
  if (content !== null) return content
  throw new OperatorError(`The content has errors, so nothing was ${done}: see npm run check.`)
}

function toMilliseconds(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (unit === '')
    throw wrongCommand(HELP, `--stale: expected a time such as 24h, got ${JSON.stringify(text)}`)
  return Number(number) * (UNITS[unit] ?? 0)
}

function toCount(name: string, text: string, most: number): number {
  const number = /^\d{1,7}$/.test(text) ? Number(text) : 0
  if (number < 1 || number > most)
    throw wrongCommand(
      HELP,
      `${name}: expected a whole number from 1 to ${most}, got ${JSON.stringify(text)}`,
    )
  return number
}
