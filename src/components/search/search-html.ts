import { toCountText, toUsd } from '../../domain/operation/price-text.ts'
import { pagePath } from '../../domain/wire/links.ts'
import { KIND_LABELS } from '../../domain/wire/vocabulary.ts'
import { html, type Markup } from '../frame/html.ts'
import { toListingItems } from '../rows/listing-items.ts'
import { toTile } from '../rows/tile.ts'
import type { OwnRow, SearchResults, SearchRow } from './search-answer.ts'
import type { NotePiece, SearchOption, SearchView } from './search-view.ts'

/**
 * The markup of an answer for each slot of the search page, by name (`data-<name>`): the server
 * prints it, and so does the browser while somebody types.
 */
export function toSearchParts({ own }: SearchResults, view: SearchView) {
  const { tasks, rows, notes, status, nothing, chips, sorts, facets, previous, next, feed } = view
  return {
    status: html`${status}`,
    'filter-count': html`${chips.length > 0 && `(${chips.length})`}`,
    facets: html`${facets.map(
      ({ label, options, more }) =>
        html`<div><h2>${label}</h2>${toOptions(options)}${more.length > 0 && toMore(label, more)}</div>`,
    )}`,
    chips: html`${chips.map(
      ({ text, path }) => html`
        <a class="chip" href="${path}"><bdi>${text}</bdi> <span aria-hidden="true">×</span>
        <span class="visually-hidden">, remove</span></a>`,
    )}`,
    sorts: html`${sorts.map(
      ({ text, path, isActive }) => html`<a href="${path}"${toCurrent(isActive)}>${text}</a>`,
    )}`,
    notes: html`${tasks.map(toTaskLine)}${notes.map((note) => html`<p class="small soft" dir="auto">${note.map(toNotePiece)}</p>`)}`,
    results: html`${toHits(rows)}`,
    empty: html`${nothing !== '' && html`<p class="notice">${nothing}${toElsewhere(rows.length, view)}</p>`}`,
    'filter-end': html`Show ${status}`,
    pager: html`
      ${previous !== null && html`<a class="button" rel="prev" href="${previous}">Previous</a>`}
      ${next !== null && html`<a class="button" rel="next" href="${next}">Next</a>`}
      ${feed !== null && html`<a class="small" rel="nofollow" href="${feed}">Feed of their changes</a>`}`,
    own: html`${own.length > 0 && toOwn(own)}`,
  } as const
}

/** Where nobody sells it yet. */
function toElsewhere(shown: number, { previous }: SearchView): Markup | false {
  return (
    shown === 0 &&
    previous === null &&
    html` Or <a href="/#categories">look through the categories</a>,
      ${' '}or <a href="/report">propose a service</a> that should be here.`
  )
}

/** Who does the named task, by price, is a page of its own. */
function toTaskLine({ name, page, sellers, min_usd }: NonNullable<SearchResults['tasks']>[number]) {
  const price = min_usd === 0 ? 'some free' : min_usd !== null && `from ${toUsd(min_usd)}`
  return html`
    <p class="task-line"><a href="${page}">${name}</a>
      <span class="soft">${toCountText(sellers, 'service')}${price && html`, <span class="money">${price}</span>`}</span></p>`
}

function toNotePiece(piece: NotePiece) {
  return typeof piece === 'string' ? piece : html`<a href="${piece.path}">${piece.text}</a>`
}

function toOptions(options: readonly SearchOption[]): Markup {
  const items = options.map(
    ({ text, count, path, isActive }) => html`
      <li><a href="${path}"${toCurrent(isActive)} rel="nofollow">
        <bdi>${text}</bdi><span>${count}</span></a></li>`,
  )
  return html`<ul>${items}</ul>`
}

function toMore(label: string, more: readonly SearchOption[]): Markup {
  const summary = html`<summary>${more.length} more</summary>`
  return html`<details data-facet="${label}">${summary}${toOptions(more)}</details>`
}

function toCurrent(isActive: boolean) {
  return isActive && html` aria-current="true"`
}

/** Visible rows of one domain. */
const OPEN_ROWS = 3

/** Rows after the third of one domain are folded, at the place of the first. */
function toHits(rows: readonly SearchRow[]): Markup[] {
  const byDomain = Map.groupBy(rows, ({ domain }) => domain)
  return rows.flatMap((row) => {
    const same = row.domain === undefined ? [] : (byDomain.get(row.domain) ?? [])
    const place = same.indexOf(row)
    if (place < OPEN_ROWS) return toHit(row)
    return place === OPEN_ROWS ? toFold(row.domain, same.slice(OPEN_ROWS)) : []
  })
}

function toFold(domain: string | undefined, rows: readonly SearchRow[]): Markup {
  return html`
    <li class="hit-fold"><details data-facet="${domain}">
      <summary>${rows.length} more from ${domain}</summary>
      <ol class="hit-list">${rows.map(toHit)}</ol></details></li>`
}

function toHit(row: SearchRow): Markup {
  const { id, name, kind, mark, summary, price, rails, trust, vouched, operation, paid } = row
  const from = price === null ? '' : price.max_usd === 0 ? 'free' : toUsd(price.min_usd)
  const isRange = price !== null && price.min_usd !== price.max_usd
  return html`
    <li class="hit">
      <label class="pick">
        <input type="checkbox" name="ids" value="${id}" form="compare" aria-label="Compare ${name}"></label>
      ${toTile({ id, name, kind, mark })}
      <div class="hit-who">
        <a class="hit-name" href="${pagePath(id)}" dir="auto">${name}</a>
        <div class="hit-words"><p class="clamp" dir="auto">${summary}</p>
        ${operation !== undefined && html`<p class="clamp" dir="auto">Matches ${operation}</p>`}
        ${paid !== undefined && html`<p class="small">Paid ${paid}</p>`}</div></div>
      <div class="hit-price">
        ${from !== '' && html`<span class="money">${from}</span>`}
        ${isRange && html` <small>to ${toUsd(price.max_usd)}</small>`}</div>
      <div class="hit-pay"><span>${rails.join(', ')}</span> <small>${KIND_LABELS[kind]}</small></div>
      ${trust !== null && html`<div class="hit-trust">${toScore(trust, vouched)}</div>`}
    </li>`
}

/** The bar is decoration, the number is enough. */
function toScore(trust: number, vouched: boolean | undefined): Markup {
  return html`
    <span class="meter"><b>${trust}</b>
      <svg width="44" height="6" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class="meter-track" width="100" height="6"></rect>
        <rect class="meter-fill" width="${trust}" height="6"></rect></svg></span>
    ${vouched === false && html`<small>not vouched for</small>`}`
}

/** Our own kits that match, apart from the results: they compete with nobody. */
function toOwn(rows: readonly OwnRow[]): Markup {
  const items = rows.map((row) => ({
    ...row,
    page: pagePath(row.id),
    kind_label: KIND_LABELS[row.kind],
  }))
  return html`
    <section class="section first-party" aria-labelledby="own"><h2 id="own">Made by us</h2>
      <p class="soft small">Our own kits are listed apart from the results.</p>
      <ul class="items">${toListingItems(items)}</ul></section>`
}
