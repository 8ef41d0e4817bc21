import { parseArgs } from 'node:util'

export const MEASURE_HELP = `Usage: npm run measure -- [--since DATE] [--json]

Reads what was paid to proven payouts on the chains in RPC_URLS since the last run.
  --since   read again from a date or a time, such as 2026-11-01 or 2026-11-01T12:00:00Z, at most
            90 days back; nothing is counted twice
  --json    one object a chain
Exit: 0 done, 1 a node, the ledger or another process was in the way, 2 the command was wrong or
RPC_URLS is empty.`

export interface MeasureCommand {
  since: number | null
  isJson: boolean
}

const DAY_MS = 86_400_000
/** What the history shows. */
const MOST_DAYS = 90

/** @returns the fault, in one sentence, when the command is wrong */
export function parseMeasureOptions(
  args: readonly string[],
  now: number,
): MeasureCommand | { help: true } | { fault: string } {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        since: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    if (values.help) return { help: true }
    if (values.since === undefined) return { since: null, isJson: values.json }
    const since = parseMoment(values.since)
    if (since === null || since > now || since < now - MOST_DAYS * DAY_MS)
      return {
        fault: `--since: expected a date or time (UTC) of the last ${MOST_DAYS} days such as ${new Date(now - DAY_MS).toISOString().slice(0, 10)}, got ${JSON.stringify(values.since)}`,
      }
    return { since, isJson: values.json }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

function parseMoment(text: string): number | null {
  if (!/^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z)?$/.test(text)) return null
  const at = Date.parse(text)
  // 2026-02-30 is read as the second of March by some: what comes back must be what was said.
  return Number.isNaN(at) || !new Date(at).toISOString().startsWith(text.slice(0, 10)) ? null : at
}
