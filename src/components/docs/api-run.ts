import type { ApiEndpoint } from './api-reference.ts'

/** Reads that count as a click, or go to a seller, cannot be tried. */
const NOT_RUN = new Set(['go'])
/** Of the relay only the check whether it would take a call, which contacts no seller. */
const RELAY = 'call'

/**
 * What the reference page needs to run one read: a path with `{name}` for inputs, and the inputs;
 * null for everything but harmless reads.
 *
 * @param examples initial values of inputs, by name
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
 * The address of a read.
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
