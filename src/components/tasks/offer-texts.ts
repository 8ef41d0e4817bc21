import { toCurlOptions } from '../../domain/listing/operation.ts'
import { toCountText, toUsd } from '../../domain/listing/price-text.ts'
import type { TaskOffer, TaskView } from '../../domain/plans/task-plan.ts'
import { needsNoAccount } from '../../domain/tasks/filled-request.ts'
import { ACCESS_TEXTS } from '../rows/decision-facts.ts'

/** @example toFromText({ min_usd: 0.01 }) → 'from $0.01'; empty where none is known */
export function toFromText({ min_usd }: Pick<TaskView, 'min_usd'>): string {
  if (min_usd === null) return ''
  return min_usd === 0 ? 'some free' : `from ${toUsd(min_usd)}`
}

const PER: Readonly<Record<string, string>> = { token: 'token', minute: 'minute', mb: 'MB' }

/** @example toOfferPrice({ usd: 0.01 }) → '$0.01'; toOfferPrice({ usd: 0 }) → 'free' */
export function toOfferPrice({ usd, per }: Pick<TaskOffer, 'usd' | 'per'>): string {
  if (usd === null) return 'price not published'
  if (usd === 0) return 'free'
  return per === undefined ? toUsd(usd) : `${toUsd(usd)} per ${PER[per] ?? 'unit'}`
}

/** What decides between sellers, one short text each. */
export function toOfferFacts(offer: TaskOffer): string[] {
  const { auth, returns, answered, paid, is_local } = offer
  return [
    needsNoAccount({ type: auth }) ? 'no account' : ACCESS_TEXTS[auth][0],
    ...(is_local ? ['runs on your machine'] : []),
    ...(answered === undefined ? [] : [`answered ${toAnswered(answered)}`]),
    ...(paid === undefined
      ? []
      : [
          `last paid ${paid.at.slice(0, 10)}, ${toCountText(paid.settlements_30d, 'payment')} in 30 days`,
        ]),
    ...(returns === undefined ? [] : [`returns ${returns}`]),
  ]
}

function toAnswered({ at, ms }: NonNullable<TaskOffer['answered']>): string {
  return ms === undefined ? at.slice(0, 10) : `${at.slice(0, 10)} in ${ms} ms`
}

/** The request as a command, or what a tool is called with; null where it is not known. */
export function toOfferCode({ request, operation, relay_url }: TaskOffer): string | null {
  if (request === undefined) return null
  const { method, url, headers, body, command } = request
  if (method === undefined) {
    const call = JSON.stringify({ name: operation, arguments: request.arguments ?? {} }, null, 1)
    const where = url ?? command
    return where === undefined ? call : `# tools/call at ${where}\n${call}`
  }
  return `curl -sS -i ${toCurlOptions({ method, url: relay_url ?? url ?? '', headers, body })}`
}
