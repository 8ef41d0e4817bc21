import { createHash, createPublicKey, verify as isSigned } from 'node:crypto'

/**
 * A verifier of HTTP Message Signatures, written from RFC 9421, RFC 8941 (structured fields), RFC 7638
 * and the profile of Web Bot Auth alone; it shares no line with what signs.
 */

type Bare = string | number | boolean | Buffer | { token: string }
type Parameters = Map<string, Bare>
/** An inner list where `value` is a list. */
interface Member {
  value: Bare | Member[]
  parameters: Parameters
}

/** RFC 8941 §4.2: a Dictionary. @throws where it is none */
function parseDictionary(text: string): Map<string, Member> {
  let rest = text.trim()
  const take = (pattern: RegExp): string => {
    const found = new RegExp(`^(?:${pattern.source})`).exec(rest)
    if (found === null) throw new Error(`expected ${pattern.source} at ${rest}`)
    rest = rest.slice(found[0].length)
    return found[0]
  }
  const bare = (): Bare => {
    if (rest.startsWith('"'))
      return take(/"(?:[^"\\]|\\["\\])*"/)
        .slice(1, -1)
        .replace(/\\(.)/g, '$1')
    if (rest.startsWith(':')) return Buffer.from(take(/:[A-Za-z0-9+/=]*:/).slice(1, -1), 'base64')
    if (rest.startsWith('?')) return take(/\?[01]/) === '?1'
    if (/^-?\d/.test(rest)) return Number(take(/-?\d{1,15}/))
    return { token: take(/[A-Za-z*][\w!#$%&'*+.^`|~:/-]*/) }
  }
  const key = () => take(/[a-z*][a-z0-9_.*-]*/)
  const parameters = (): Parameters => {
    const found: Parameters = new Map()
    while (rest.startsWith(';')) {
      take(/; */)
      const name = key()
      const isTrue = !rest.startsWith('=')
      if (!isTrue) take(/=/)
      found.set(name, isTrue || bare())
    }
    return found
  }
  const item = (): Member => ({ value: bare(), parameters: parameters() })
  const member = (): Member => {
    if (!rest.startsWith('(')) return item()
    take(/\( */)
    const items: Member[] = []
    while (!rest.startsWith(')')) {
      items.push(item())
      take(/ *(?=\))| +/)
    }
    take(/\)/)
    return { value: items, parameters: parameters() }
  }
  const members = new Map<string, Member>()
  while (rest !== '') {
    const name = key()
    const isTrue = !rest.startsWith('=')
    if (!isTrue) take(/=/)
    members.set(name, isTrue ? { value: true, parameters: parameters() } : member())
    if (rest !== '') take(/[ \t]*,[ \t]*(?=.)/)
  }
  return members
}

/** RFC 8941 §4.1 */
function serialize({ value, parameters }: Member): string {
  const text = Array.isArray(value) ? `(${value.map(serialize).join(' ')})` : serializeBare(value)
  const all = [...parameters].map(([name, one]) =>
    one === true ? `;${name}` : `;${name}=${serializeBare(one)}`,
  )
  return text + all.join('')
}

function serializeBare(value: Bare): string {
  if (typeof value === 'string') return `"${value.replace(/["\\]/g, '\\$&')}"`
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') return value ? '?1' : '?0'
  return Buffer.isBuffer(value) ? `:${value.toString('base64')}:` : value.token
}

/** A request as it arrived. */
export interface Arrived {
  method: string
  /** Path and query. */
  target: string
  scheme: 'http' | 'https'
  /** Names and values in turn, as on the wire. */
  rawHeaders: readonly string[]
}

/** A message to verify: a request, or an answer with the request it answers. */
type Message = Arrived | { rawHeaders: readonly string[]; request: Arrived }

function fieldOf({ rawHeaders }: { rawHeaders: readonly string[] }, name: string): string {
  const values = rawHeaders.filter(
    (_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name,
  )
  if (values.length === 0) throw new Error(`no ${name}`)
  return values.map((value) => value.trim()).join(', ')
}

/** RFC 9421 §2: the value of a component. */
function resolveComponent(message: Message, { value: name, parameters }: Member): string {
  if (typeof name !== 'string') throw new Error('a component is named by a string')
  if (parameters.has('req')) {
    if (!('request' in message)) throw new Error('req is of answers alone')
    const rest = new Map([...parameters].filter(([each]) => each !== 'req'))
    return resolveComponent(message.request, { value: name, parameters: rest })
  }
  if (!name.startsWith('@')) {
    const key = parameters.get('key')
    if (key === undefined) return fieldOf(message, name)
    const member = parseDictionary(fieldOf(message, name)).get(String(key))
    if (member === undefined) throw new Error(`no ${String(key)} in ${name}`)
    return serialize(member)
  }
  if (!('method' in message)) throw new Error(`${name} is of requests alone`)
  const { method, target, scheme } = message
  if (name === '@method') return method
  if (name === '@path') return target.split('?')[0] || '/'
  if (name === '@authority')
    return fieldOf(message, 'host')
      .toLowerCase()
      .replace(scheme === 'https' ? /:443$/ : /:80$/, '')
  throw new Error(`${name} is not known here`)
}

interface Jwk {
  kty: string
  crv: string
  x: string
}

/** RFC 7638 §3, with the members of RFC 8037 */
export function thumbprintOf({ crv, kty, x }: Jwk): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url')
}

export interface Verified {
  covered: string[]
  /** The origin that the sender names, in quotes. */
  agent: string | null
  nonce: string | null
}

/**
 * RFC 9421 §3.2, and what the tag's profile asks for.
 *
 * @param keys those that the sender publishes
 * @param now seconds
 * @throws Error that says why it is refused
 */
export function verify(message: Message, tag: string, keys: readonly Jwk[], now: number): Verified {
  const inputs = parseDictionary(fieldOf(message, 'signature-input'))
  const signatures = parseDictionary(fieldOf(message, 'signature'))
  const found = [...inputs].find(([, { parameters }]) => parameters.get('tag') === tag)
  if (found === undefined) throw new Error(`no signature with the tag ${tag}`)
  const [label, input] = found
  const { value: components, parameters } = input
  const signature = signatures.get(label)?.value
  if (!Array.isArray(components) || !Buffer.isBuffer(signature)) throw new Error('malformed')
  const covered = components.map(serialize)
  if (new Set(covered).size !== covered.length) throw new Error('a component is there twice')
  const isRequest = 'method' in message
  const sender = components.find(({ value }) => value === 'signature-agent')
  const needed = isRequest ? ['"@authority"'] : ['"@authority";req', '"content-digest"']
  for (const name of needed) if (!covered.includes(name)) throw new Error(`${name} is not covered`)
  if (isRequest && sender === undefined) throw new Error('who sends it is not covered')
  const [created, expires] = [Number(parameters.get('created')), Number(parameters.get('expires'))]
  if (!(created <= now && now <= expires)) throw new Error('not at this time')
  const key = keys.find((each) => thumbprintOf(each) === parameters.get('keyid'))
  if (key === undefined) throw new Error('its key is not published')
  if (parameters.get('alg') !== 'ed25519') throw new Error('another algorithm')
  const lines = components.map((each) => `${serialize(each)}: ${resolveComponent(message, each)}`)
  const base = [...lines, `"@signature-params": ${serialize(input)}`].join('\n')
  const publicKey = createPublicKey({ key: { ...key }, format: 'jwk' })
  if (!isSigned(null, Buffer.from(base), publicKey, signature))
    throw new Error('the signature does not fit')
  const nonce = parameters.get('nonce')
  return {
    covered,
    agent: sender === undefined ? null : resolveComponent(message, sender),
    nonce: typeof nonce === 'string' ? nonce : null,
  }
}
