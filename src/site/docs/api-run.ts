import type { ApiEndpoint } from './api-reference.ts'

/** Reads that are counted as somebody's click, or sent on to a seller, are not trials. */
const NOT_RUN = new Set(['go'])
/** Of the relay only the question whether it would take a call, which asks no seller. */
const RELAY = 'call'

/**
 * What the reference page asks to run one read: a path with `{name}` where an input goes, and the
 * inputs; null for everything that is not a harmless read.
 *
 * @param examples what inputs start with, by name
 */
export function toApiRun(endpoint: ApiEndpoint, examples: Readonly<Record<string, string>>) {
  const { id, methods, path, needsSession, fields, responses } = endpoint
  const isStub = responses.some(({ status }) => status === '501')
  if (!methods.includes('GET') || needsSession || isStub || NOT_RUN.has(id)) return null
  const inputs = fields.flatMap(({ name, place, isRequired }) =>
    place === 'path' || place === 'query'
      ? [{ name, place, isRequired, example: examples[name] ?? '' }]
      : [],
  )
  if (id !== RELAY) return { path, inputs }
  return { path: `${path}?relay_info=1`, inputs: inputs.filter(({ place }) => place === 'path') }
}

/**
 * The address that a read asks.
 *
 * @example toRunPath({ path: '/api/v1/listings/{listing_id}', inputs }, { listing_id: 'a.b' }) → '/api/v1/listings/a.b'
 */
export function toRunPath(
  path: string,
  inputs: readonly { name: string; place: string; value: string }[],
): string {
  const query = new URLSearchParams()
  let target = path
  for (const { name, place, value } of inputs) {
    if (place === 'path') target = target.replace(`{${name}}`, () => encodeURIComponent(value))
    else if (value !== '') query.set(name, value)
  }
  return query.size === 0 ? target : `${target}?${query}`
}
