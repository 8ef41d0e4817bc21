import { toCountText } from '../../../domain/operation/price-text.ts'
import { VERDICT_WORDS } from '../../../domain/receipts/delivery-words.ts'
import { reportPath } from '../../../domain/reports/report.ts'
import type { ListingNumbers } from '../../../domain/views/seller-pages.ts'
import { receiptPath } from '../../../domain/wire/links.ts'
import { html, type Markup } from '../../frame/html.ts'
import { toTime } from '../controls/said.ts'

type Delivery = ListingNumbers['deliveries'][number]

const DISPUTES: Record<NonNullable<Delivery['dispute']>, string> = {
  waiting: 'Disputed; a person looks at it.',
  accepted: 'Disputed and withdrawn: it does not count.',
  refused: 'Disputed; the verdict holds.',
}

/** Each judged paid call, newest first, with the reason; a verdict can be disputed. */
export function toDeliveriesPanel({ deliveries }: ListingNumbers): Markup {
  const bad = deliveries.filter(({ verdict }) => verdict !== 'as_declared').length
  const rest = bad === 0 ? 'all were' : `${bad} ${bad === 1 ? 'was' : 'were'} not`
  const summary =
    deliveries.length === 0
      ? 'No paid call through the relay was judged yet.'
      : `Of the last ${toCountText(deliveries.length, 'paid call')}, ${rest} answered as declared.`
  const rows = deliveries.map(toRow)
  return html`
    <section class="panel"><h3>What came back for payments</h3>
      <p class="small">${summary} <a href="/trust#deliveries">How this is judged</a></p>
      ${deliveries.length > 0 && html`<details ${bad > 0 && 'open'}><summary>Each call</summary><ul class="deliveries">${rows}</ul></details>`}
    </section>`
}

function toRow({ id, at, call, verdict, reason, dispute }: Delivery): Markup {
  const words = VERDICT_WORDS[verdict]
  const about = html`<a href="${reportPath('dispute', id)}">Dispute this verdict</a>`
  const said = dispute !== undefined && ` ${DISPUTES[dispute]}`
  // Anybody may have disputed it, and badly: the seller can still do so until it is withdrawn.
  const next = verdict !== 'as_declared' && dispute !== 'accepted' && about
  return html`
    <li>
      <p><a href="${receiptPath(id)}">${toTime(at)}</a> <code dir="ltr">${call}</code></p>
      <p>It was <strong>${words}</strong>. ${reason}${said} ${next}</p>
    </li>`
}
