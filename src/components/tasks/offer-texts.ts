import type { CompiledListing } from '../../compiled.ts'
import { toCurlOptions } from '../../domain/listing/operation.ts'
import { toCountText, toUsd } from '../../domain/listing/pricing.ts'
import { LISTED_AT, type TaskOffer, type TaskView } from '../../domain/plans/task-offers.ts'
import { needsNoAccount } from '../../domain/tasks/filled-request.ts'
import { toDay } from '../../domain/views/known-view.ts'
import type { Warning } from '../../domain/wire/vocabulary.ts'
import { ACCESS_TEXTS } from '../rows/decision-facts.ts'

/** @example toFromText({ min_usd: 0.01 }) → 'from $0.01'; empty if no price is known */
export function toFromText({ min_usd }: Pick<TaskView, 'min_usd'>): string {
  if (min_usd === null) return ''
  return min_usd === 0 ? 'some free' : `from ${toUsd(min_usd)}`
}

/** A listing's warning at one of its offers: another price of the listing does not concern an offer that kept its own. */
export function toOfferWarning(
  { price }: Pick<TaskOffer, 'price'>,
  warning: Warning | undefined,
): Warning | undefined {
  return warning === 'price_changed' && !price.includes(LISTED_AT) ? undefined : warning
}

/**
 * Facts to decide between sellers, each a short text.
 * @param listed what others saw of the listing, used for facts that we did not see ourselves
 */
export function toOfferFacts(
  offer: TaskOffer,
  listed: Pick<CompiledListing, 'brief' | 'home'> | undefined,
): string[] {
  const { auth, returns, is_local, needs, next } = offer
  return [
    needsNoAccount({ type: auth })
      ? 'no account'
      : (ACCESS_TEXTS[auth][2] ?? 'access not declared'),
    ...(is_local ? ['runs on your machine'] : []),
    ...(needs === undefined ? [] : [`needs a known ${needs}`]),
    ...toSeen(offer, listed),
    ...(returns === undefined ? [] : [`returns ${returns}`]),
    ...(next === undefined ? [] : [`then ${next.replace(/https:\/\/[^/]*/, '')} for the result`]),
  ]
}

/** When the seller last answered us and was last paid; if we saw neither, one fact that others saw. */
function toSeen(
  { answered, paid }: TaskOffer,
  listed: Parameters<typeof toOfferFacts>[1],
): string[] {
  const [reportedPay, reportedAnswer] = [listed?.brief.paid, listed?.home.answered ?? undefined]
  if (answered === undefined && paid === undefined) {
    if (listed?.brief.warning === 'no_answer') return []
    if (reportedPay !== undefined) return [`paid ${reportedPay}`]
    return reportedAnswer === undefined ? [] : [`answered ${toDay(reportedAnswer, 'short')}`]
  }
  const at = answered && toDay(answered.at, 'short')
  const speed = answered?.ms === undefined ? '' : ` in ${answered.ms} ms`
  return [
    ...(at === undefined ? [] : [`answered ${at}${speed}`]),
    ...(paid === undefined
      ? []
      : [
          `last paid ${toDay(paid.at, 'short')}, ${toCountText(paid.settlements_30d, 'payment')} in 30 days`,
        ]),
  ]
}

/** The request as a command, or a tool's arguments; null if unknown. */
export function toOfferCode({ request, operation, relay_url }: TaskOffer): string | null {
  if (request === undefined) return null
  const { method, url, headers, body, command } = request
  if (method === undefined) {
    const call = JSON.stringify({ name: operation, arguments: request.arguments ?? {} }, null, 1)
    const where = url ?? command
    return where === undefined ? call : `# tools/call at ${where}\n${call}`
  }
  const isBare = body === undefined && ['POST', 'PUT', 'PATCH'].includes(method)
  const note = isBare ? '\n# What the body takes is not published.' : ''
  return `curl -sS -i ${toCurlOptions({ method, url: relay_url ?? url ?? '', headers, body })}${note}`
}
