import type { Notice } from '../../domain/trust/interface.ts'
import { html, type Markup } from '../frame/html.ts'

/** What a notice is about, in the fewest words. */
export const NOTICE_TITLES: Record<Notice['id'], string> = {
  withdrawn_at_source: 'Withdrawn at its source',
  network_changed: 'Another network',
  price_changed: 'Another price',
  payout_changed: 'Another payout',
  payout_rotating: 'Payouts rotate',
  tools_changed: 'Tools changed',
  payout_contested: 'Payout contested',
  disputed: 'Disputed',
}

export function toNotices(notices: readonly Notice[]): Markup {
  const items = notices.map(
    ({ id, note, at }) => html`
      <li><span class="dot missing"></span>
        <p><strong>${NOTICE_TITLES[id]}.</strong> <bdi dir="auto">${note}</bdi></p>
        <time datetime="${at}">${at.slice(0, 10)}</time></li>`,
  )
  return html`${items.length > 0 && html`<ul class="notices">${items}</ul>`}`
}
