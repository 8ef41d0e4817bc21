import type { ClickSource } from './vocabulary.ts'

/** Every address that the service gives out for a listing. Ids need no encoding (`isListingId`). */
export const listingPath = (id: string) => `/api/v1/listings/${id}`

export const kitPath = (id: string) => `/api/v1/listings/${id}/kit.json`

/** The address of a brand's single-colour drawing; the shape in it has the id `m`. */
export const markPath = (mark: string) => `/marks/${mark}.svg`

export const pagePath = (id: string) => `/listing/${id}`

export const badgePath = (id: string) => `/badge/${id}.svg`

/** The badge as data, for badge services. */
export const badgeDataPath = (id: string) => `/badge/${id}.json`

export const receiptPath = (id: string) => `/api/v1/receipts/${id}`

/** Every path that begins with this belongs to the relay, including the seller's own path in it. */
export const CALL_PREFIX = '/api/v1/call/'

export const callPath = (id: string) => `${CALL_PREFIX}${id}`

export const comparePath = (slug: string) => `/compare/${slug}`

/** The page that compares chosen listings; a function answers it. */
export const toComparisonPath = (ids: readonly string[]) => `/compare?ids=${ids.join(',')}`

/** Images for link previews: a function draws those for listings, the build draws those for lists. */
export const kindCardPath = (kind: string) => `/og/kind/${kind}.png`

export const categoryCardPath = (id: string) => `/og/category/${id}.png`

export const taskPath = (id: string) => `/tasks/${id}`

export const kindPath = (kind: string) => `/kind/${kind}`

export const categoryPath = (id: string) => `/category/${id}`

/** The file in the repository with the content of a listing's page. */
export const contentFileOf = (id: string) => `content/listings/${id.replace('.', '/')}.md`

/** @param template `edit` in the site table; `{file}` is replaced by the path in the repository */
export function toEditUrl(template: string, id: string): string {
  return template.replace('{file}', () => contentFileOf(id))
}

export function goPath(id: string, src: ClickSource): string {
  return `/go/${id}?src=${src}`
}

/** The size in pixels that link previews expect. */
export const CARD_WIDTH = 1200

export const CARD_HEIGHT = 630

/** Minimum and maximum number of listings in one comparison. */
export const LEAST_COMPARED = 2

export const MOST_COMPARED = 6

/**
 * The id of a call's section on the page of its listing.
 * @param call the name of a tool, or an operation with its path or whole address
 * @example toCallId('GET https://api.example.com/v1/{city}?units=metric') → 'call-get-v1-city'
 */
export function toCallId(call: string): string {
  const path = call.replace(/https?:\/\/[^/?#]*/, '').replace(/[?#].*$/, '')
  const words =
    path
      .toLowerCase()
      .replaceAll(/%7[bd]/g, '')
      .match(/[a-z0-9]+/g) ?? []
  return ['call', ...words].join('-')
}
