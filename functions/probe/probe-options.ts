import { parseArgs } from 'node:util'
import { isListingId } from '../../src/domain/listing/listing-id.ts'

export interface ProbeOptions {
  /** Empty for every listing. */
  ids: string[]
  /** Milliseconds; 0 probes every listing asked for. */
  staleMs: number
  limit: number
  concurrency: number
  isJson: boolean
  /** Runs packages, and asks no endpoint. */
  withPackages: boolean
  /** Keeps no seller's sentences: for content that is published as one's own. */
  factsOnly: boolean
}

export const PROBE_HELP = `Usage: npm run probe -- [ids…] [--stale 24h] [--limit N] [--concurrency N] [--packages] [--facts-only] [--json]

Asks listings whether they speak their protocol, and writes what was seen to content/evidence.
  ids               listings to probe; without any, all of them
  --stale <time>    leaves out what was probed less than so long ago: 90m, 24h, 7d
  --limit <n>       probes at most n listings
  --concurrency <n> probes under way at once (16); a host gets one at a time, an address four
  --packages        asks no endpoint, but runs the MCP packages of npm and PyPI, each fetched first
                    and then without a network in a container of docker or podman (which run
                    images too) or in a sandbox of bwrap; nothing of it is left behind
  --facts-only      keeps names, parameters and types of tools and skills, and no seller's sentence
  --json            one JSON object a line: each probe, then {"summary": …}

Never pays, never sends a message to an agent, never follows a redirect.`

const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const DEFAULT_CONCURRENCY = 16
const MOST_CONCURRENCY = 256

/** @returns the options, or what is wrong with the command and what would be right. */
export function parseProbeOptions(
  args: readonly string[],
): ProbeOptions | { help: true } | { fault: string } {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        stale: { type: 'string' },
        limit: { type: 'string' },
        concurrency: { type: 'string' },
        json: { type: 'boolean' },
        packages: { type: 'boolean' },
        'facts-only': { type: 'boolean' },
        help: { type: 'boolean' },
      },
    })
    if (values.help) return { help: true }
    const odd = positionals.find((id) => !isListingId(id))
    if (odd !== undefined)
      return { fault: `expected a listing id such as mcp.harbour, got ${JSON.stringify(odd)}` }
    return {
      ids: [...new Set(positionals)],
      staleMs: toMilliseconds(values.stale ?? '0s'),
      limit: toCount('--limit', values.limit ?? '1000000', 1_000_000),
      concurrency: toCount(
        '--concurrency',
        values.concurrency ?? String(DEFAULT_CONCURRENCY),
        MOST_CONCURRENCY,
      ),
      isJson: values.json ?? false,
      withPackages: values.packages ?? false,
      factsOnly: values['facts-only'] ?? false,
    }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

function toMilliseconds(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (unit === '')
    throw new Error(`--stale: expected a time such as 24h, got ${JSON.stringify(text)}`)
  return Number(number) * (UNITS[unit] ?? 0)
}

function toCount(name: string, text: string, most: number): number {
  const number = /^\d{1,7}$/.test(text) ? Number(text) : 0
  if (number < 1 || number > most)
    throw new Error(
      `${name}: expected a whole number from 1 to ${most}, got ${JSON.stringify(text)}`,
    )
  return number
}
