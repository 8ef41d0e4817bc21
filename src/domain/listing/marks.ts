import * as v from 'valibot'
import { textLike } from '../wire/shapes.ts'

const id = textLike(/^[a-z0-9]+(?:_[a-z0-9]+)*$/, 'expected an id of simple-icons such as github')
const place = textLike(
  /^(?:[a-z0-9-]+\.)+[a-z]{2,}(?:\/[A-Za-z0-9._-]+)*$/,
  'expected a host such as shop.example, or a host with the beginning of a path',
)

/** A row of `tables/marks.yaml`: the places on the web that belong to a brand. */
export const MarkSchema = v.strictObject({
  /** Id in simple-icons, whose drawings are in the public domain (CC0 1.0). */
  mark: id,
  /** Hosts with their subdomains, or path prefixes at a host that strangers share. */
  places: v.pipe(v.array(place), v.minLength(1, 'expected at least one place')),
})
export type MarkRow = v.InferOutput<typeof MarkSchema>

/** The mark for a listing's own URL; null where no brand's place fits. */
export type FindMark = (url: string) => string | null

/**
 * Reads the table once for many listings. The longest place that fits decides, so a product's page may
 * have a mark of its own below its maker's host.
 *
 * @example createMarkFinder([{ mark: 'github', places: ['github.com/github'] }])('https://github.com/github/x') → 'github'
 */
export function createMarkFinder(rows: readonly MarkRow[]): FindMark {
  const byPlace = new Map(
    rows.flatMap(({ mark, places }) => places.map((at) => [at.toLowerCase(), mark] as const)),
  )
  return function findMark(url) {
    for (const at of placesOf(url)) {
      const mark = byPlace.get(at)
      if (mark !== undefined) return mark
    }
    return null
  }
}

/** Every place that contains a URL, longest first: paths before hosts, hosts before parents. */
function placesOf(url: string): string[] {
  const parsed = URL.parse(url)
  if (parsed === null || parsed.protocol !== 'https:') return []
  const labels = parsed.hostname.split('.')
  const hosts = labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'))
  const segments = parsed.pathname.toLowerCase().split('/').filter(Boolean).slice(0, MAX_SEGMENTS)
  const paths = segments.map((_, at) => segments.slice(0, segments.length - at).join('/'))
  return hosts.flatMap((host) => [...paths.map((path) => `${host}/${path}`), host])
}

/** Places name no deeper paths. */
const MAX_SEGMENTS = 4
