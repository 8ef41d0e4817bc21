import { html, type Markup } from '../frame/html.ts'
import type { ListingRow } from './listing-row.ts'
import { toMeter, toShape, toTile } from './tile.ts'

/** Our own kits in search results have neither price nor score. */
type ItemRow = Pick<ListingRow, 'id' | 'name' | 'kind' | 'kind_label' | 'page'> &
  Partial<
    Pick<
      ListingRow,
      'price' | 'min_usd' | 'rails' | 'trust' | 'trust_note' | 'summary' | 'mark' | 'paid'
    >
  >

/** Listings one under the other, each on two lines; a summary is shown where a row has one. */
export function toListingItems(rows: readonly ItemRow[]): Markup {
  return html`${rows.map(toItem)}`
}

function toItem(row: ItemRow): Markup {
  const { name, kind, kind_label, page, price = '', min_usd = null, summary } = row
  const { rails = [], trust = null, trust_note, paid } = row
  return html`
    <li class="item">${toTile(row)}
      <span class="item-name"><a href="${page}"><bdi>${name}</bdi></a></span>
      ${min_usd !== null && html`<span class="small money">${price.replace(' per call', '')}</span>`}
      ${summary !== undefined && html`<p class="clamp" dir="auto">${summary}</p>`}
      <p class="item-facts">
        <span class="kind ${toShape(kind)}">${kind_label}</span>
        ${rails.length > 0 && html`<span>${rails.join(', ')}</span>`}
        ${trust !== null && toMeter(trust, trust_note)}
        ${paid !== undefined && html`<span>Paid ${paid}</span>`}</p></li>`
}

/** The same without summaries, for lists that are skimmed. */
export function toShortItems(rows: readonly ListingRow[]): Markup {
  return toListingItems(rows.map(({ summary: _, ...row }) => row))
}
