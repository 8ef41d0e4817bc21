import { encodeBody } from '../operation/example-request.ts'
import { isAtAddress } from '../operation/is-at-address.ts'
import type { HttpMethod, Rail } from '../wire/vocabulary.ts'
import { chooseOperation } from './choose-operation.ts'
import type { KitOperation } from './kit-operations.ts'

/** A caller's input to a call through the relay; the operation provides the rest. */
export interface AskedCall {
  method?: HttpMethod | undefined
  /** A path with its query, or a URL on the seller's host. */
  endpoint?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
  body?: unknown
}

type CalledOperation = Pick<
  KitOperation,
  'method' | 'url' | 'price' | 'offers' | 'relay_url' | 'example'
>

export interface FilledCall extends AskedCall {
  method: HttpMethod
  headers: Record<string, string>
}

const PLACEHOLDER = /<[A-Z0-9_]+>/g

/**
 * Filled in from the operation that the endpoint names, else the one a buyer on `rail` most likely
 * wants. The caller's values win; a placeholder is never sent.
 * @returns a sentence about what the caller must provide before the call can be sent
 */
export function fillCall(
  operations: readonly CalledOperation[],
  asked: AskedCall,
  rail: Rail,
): FilledCall | string {
  const { endpoint, headers = {}, body } = asked
  const called = findCalled(operations, asked, rail)
  const method = asked.method ?? called?.method ?? (body === undefined ? 'GET' : 'POST')
  if (called === undefined || called.method !== method) return { ...asked, method, headers }
  const { example } = called
  const address = endpoint ?? example.url
  const filled = {
    method,
    endpoint: address,
    headers: { ...findMissing(headers, example.headers), ...headers },
    body: body ?? toBody(example),
  }
  const left = [
    ...new Set(`${address} ${body === undefined ? filled.body : ''}`.match(PLACEHOLDER)),
  ]
  return left.length === 0
    ? filled
    : `${method} ${called.url} takes what only its caller knows: ${left.join(', ')}. Send endpoint and body with them filled in; its kit describes each.`
}

function findCalled(
  operations: readonly CalledOperation[],
  { endpoint, method }: AskedCall,
  rail: Rail,
): CalledOperation | undefined {
  const relayed = operations.filter(
    (operation) =>
      operation.relay_url !== undefined && (method === undefined || operation.method === method),
  )
  if (endpoint === undefined) return chooseOperation(relayed, rail)
  return relayed.find(({ url }) => isAtAddress(url, endpoint))
}

/** The example's fields that the caller omits, except for those only the caller can fill. */
function findMissing(
  given: Readonly<Record<string, string>>,
  example: Readonly<Record<string, string>>,
): Record<string, string> {
  const said = new Set(Object.keys(given).map((name) => name.toLowerCase()))
  return Object.fromEntries(
    Object.entries(example).filter(
      ([name, value]) => !said.has(name.toLowerCase()) && value.match(PLACEHOLDER) === null,
    ),
  )
}

function toBody({ headers, body }: CalledOperation['example']): string | undefined {
  return body === undefined ? undefined : encodeBody(headers['Content-Type'] ?? '', body)
}
