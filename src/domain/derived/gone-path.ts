/** Addresses that stand for one listing, by what precedes its id. */
const PLACES = ['/api/v1/listings/', '/api/v1/call/', '/listing/', '/badge/', '/go/', '/gone/']

/** Page that says why a listing is gone; answered with 410. */
export function gonePagePath(id: string): string {
  return `/gone/${id}`
}

/**
 * The listing an address stands for. Ids contain dots, so what may follow one is cut first.
 *
 * @example listingOfPath('/badge/x402.foo.svg') → ['x402.foo.svg', 'x402.foo']
 */
export function listingOfPath(path: string): string[] {
  const place = PLACES.find((each) => path.startsWith(each))
  if (place === undefined) return []
  const rest = path.slice(place.length).replace(/\/kit\.json$/, '')
  const bare = rest.replace(/\.(?:svg|json|md)$/, '')
  return bare === rest ? [rest] : [rest, bare]
}
