import type { Notice } from '../../domain/trust/interface.ts'
import { NOTICE_TITLES } from '../../domain/wire/vocabulary.ts'
import { html, type Markup } from '../frame/html.ts'

export function toNotices(notices: readonly Notice[]): Markup {
  const items = notices.map(
    ({ id, note, at }) => html`
      <li><span class="dot missing"></span>
        <p><strong>${NOTICE_TITLES[id]}.</strong> <bdi dir="auto">${note}</bdi></p>
        <time datetime="${at}">${at.slice(0, 10)}</time></li>`,
  )
  return html`${items.length > 0 && html`<ul class="notices">${items}</ul>`}`
}
