import { isIPv4, isIPv6 } from 'node:net'
import * as v from 'valibot'
import { GITHUB_ISSUER } from '../../src/domain/sellers/claim-rules.ts'
import { parseJson } from '../../src/domain/wire/json.ts'
import { OperatorError } from '../../src/domain/wire/problems.ts'
import { CalendarDateSchema, textLike } from '../../src/domain/wire/shapes.ts'

/** The environment, parsed once. One error names every bad variable; no secret is printed. */
export type Config = v.InferOutput<typeof ConfigSchema>

/** Default limits, for names that `RATE_LIMITS` does not set: requests in a window of seconds. */
export const USUAL_LIMITS = {
  search: { requests: 600, seconds: 60 },
  // A purchase takes two calls.
  call: { requests: 120, seconds: 60 },
  go: { requests: 120, seconds: 60 },
  login: { requests: 20, seconds: 3600 },
  session: { requests: 60, seconds: 3600 },
  claim: { requests: 60, seconds: 3600 },
  check: { requests: 10, seconds: 3600 },
  payout: { requests: 30, seconds: 3600 },
  propose: { requests: 10, seconds: 3600 },
  dispute: { requests: 10, seconds: 3600 },
}
const LIMIT_NAMES = Object.keys(USUAL_LIMITS)

/** Requests per window of seconds, or null if the limit is off. */
export type RateLimit = { requests: number; seconds: number } | null

const SECRET_NAMES = new Set(['DATABASE_URL', 'SMTP_URL', 'RPC_URLS', 'METRICS_TOKEN'])

export class ConfigError extends OperatorError {
  override name = 'ConfigError'
}

export function parseConfig(env: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  )
  const result = v.safeParse(ConfigSchema, given)
  if (result.success) return result.output
  const lines = result.issues.map((issue) => {
    const name = String(issue.path?.[0]?.key ?? '')
    const value = SECRET_NAMES.has(name) ? '(not shown)' : JSON.stringify(given[name])
    return `${name}: got ${value}, ${issue.message}`
  })
  throw new ConfigError(`The environment has values that cannot be used:\n  ${lines.join('\n  ')}`)
}

/** @param words the accepted words: yes, no, then more of each in turn */
const flag = (words: readonly [string, string, ...string[]], fallback: string) =>
  v.optional(
    v.pipe(
      v.picklist(words, `expected ${words[0]} or ${words[1]}`),
      v.transform((text) => words.indexOf(text) % 2 === 0),
    ),
    fallback,
  )

const wholeNumber = (fallback: string, max: number) =>
  v.optional(
    v.pipe(
      v.string(),
      v.check(
        (text) => /^\d{1,6}$/.test(text) && Number(text) <= max,
        `expected a whole number from 0 to ${max}`,
      ),
      v.transform(Number),
    ),
    fallback,
  )

const folder = (fallback: string) => v.optional(v.pipe(v.string(), v.minLength(1)), fallback)

const urlWith = (protocols: readonly string[], example: string) =>
  v.pipe(
    v.string(),
    v.check((text) => {
      const url = URL.parse(text)
      return url !== null && protocols.includes(url.protocol)
    }, `expected a URL such as ${example}`),
  )

const POSTGRES_EXAMPLE = 'postgres://user:password@host/database'
const postgresUrl = urlWith(['postgres:', 'postgresql:'], POSTGRES_EXAMPLE)

/** One URL for each database server, from a URL such as `postgres://u@one:5432,two:5432/db`. */
export function toServerUrls(url: string): string[] {
  const [, before = '', hosts = url, after = ''] =
    /^(\w+:\/\/(?:[^@/]*@)?)([^/?]*)(.*)$/s.exec(url) ?? []
  return hosts.split(',').map((host) => `${before}${host}${after}`)
}

/** `BASE_URL` without a trailing slash: every absolute URL is `BASE_URL` plus a path. */
const baseUrl = v.optional(
  v.pipe(
    urlWith(['http:', 'https:'], 'https://waypost.example'),
    v.check((text) => {
      const url = URL.parse(text)
      // If the text is not a URL at all, the previous check has reported that.
      if (url === null) return true
      return url.pathname === '/' && url.search === '' && url.hash === '' && url.username === ''
    }, 'expected only scheme, host and port, such as https://waypost.example'),
    v.transform(toOrigin),
  ),
)

function toOrigin(url: string): string {
  return URL.parse(url)?.origin ?? url
}

function jsonOf<Value>(schema: v.GenericSchema<unknown, Value>, expected: string) {
  const parse = v.rawTransform<string, Value>(({ dataset, addIssue, NEVER }) => {
    const parsed = v.safeParse(schema, parseJson(dataset.value))
    if (parsed.success) return parsed.output
    addIssue({ message: `expected a JSON object ${expected}` })
    return NEVER
  })
  return v.optional(v.pipe(v.string(), parse), '{}')
}

const rpcUrls = jsonOf(
  v.record(
    v.pipe(v.string(), v.regex(/^[a-z0-9]+:[A-Za-z0-9]+$/)),
    urlWith(['http:', 'https:'], ''),
  ),
  'that maps each CAIP-2 id to a URL, such as {"eip155:8453":"https://rpc.example"}',
)

const rateLimit = v.pipe(
  v.string(),
  v.regex(/^(?:off|[1-9]\d{0,8}\/[1-9]\d{0,6})$/),
  v.transform((text): RateLimit => {
    const [requests = 0, seconds = 0] = text.split('/').map(Number)
    return text === 'off' ? null : { requests, seconds }
  }),
)

const rateLimits = jsonOf(
  v.record(v.picklist(LIMIT_NAMES), rateLimit),
  `such as {"call":"60/60","search":"off"}, with names from ${LIMIT_NAMES.join(', ')}`,
)

const onOff = flag(['on', 'off'], 'off')

const VariablesSchema = v.object({
  HOST: v.optional(v.pipe(v.string(), v.minLength(1)), '127.0.0.1'),
  PORT: wholeNumber('4321', 65_535),
  BASE_URL: baseUrl,
  CONTENT_DIR: folder('content'),
  OUT_DIR: folder('dist'),
  /** The day for which a build is made: windows and ages are counted back from it. By default today (UTC). */
  AS_OF: v.optional(CalendarDateSchema, () => new Date().toISOString().slice(0, 10)),
  STATE_DIR: folder('.state'),
  DATABASE_URL: v.optional(
    v.pipe(
      v.string(),
      v.check(
        (text) => toServerUrls(text).every((url) => v.is(postgresUrl, url)),
        `expected a URL such as ${POSTGRES_EXAMPLE}`,
      ),
    ),
  ),
  SMTP_URL: v.optional(urlWith(['smtp:', 'smtps:'], 'smtp://mail.example:587')),
  MAIL_FROM: v.optional(
    textLike(/^[^\s@<>]+@[^\s@<>]+$/, 'expected one address such as waypost@waypost.example'),
  ),
  DNS_SERVERS: commaList(
    isServerAddress,
    'expected a comma-separated list of ip or ip:port, such as 1.1.1.1:53,[2606:4700:4700::1111]:53',
  ),
  RPC_URLS: rpcUrls,
  OIDC_ISSUER: v.optional(
    v.pipe(
      urlWith(['http:', 'https:'], GITHUB_ISSUER),
      v.transform((text) => text.replace(/\/$/, '')),
    ),
    GITHUB_ISSUER,
  ),
  MEASURE: onOff,
  PROBE: onOff,
  /** Whether requests to sellers are signed; only a directory at an https address can sign. */
  PROBE_SIGN: flag(['on', 'off'], 'on'),
  /** Whether answers to paid calls are judged in memory, for receipts. */
  RECEIPTS: flag(['on', 'off'], 'on'),
  TRUST_PROXY: wholeNumber('0', 10),
  UNSAFE_ALLOW_PRIVATE_TARGETS: flag(['true', 'false', '1', '0'], 'false'),
  PRIVATE_HOSTS: commaList(
    isPrivatePattern,
    'expected a comma-separated list of hosts and ranges, such as *.corp.example,wiki.corp.example,10.0.0.0/8',
  ),
  READ_ACCESS: v.optional(v.picklist(['open', 'token'], 'expected open or token'), 'open'),
  RATE_LIMITS: rateLimits,
  METRICS_TOKEN: v.optional(
    textLike(/^\S{16,256}$/, 'expected 16 to 256 characters without spaces'),
  ),
})

const ConfigSchema = v.pipe(
  VariablesSchema,
  v.forward(
    v.check(
      ({ MEASURE, RPC_URLS }) => !MEASURE || Object.keys(RPC_URLS).length > 0,
      'expected RPC_URLS to be set as well, with a node for at least one chain',
    ),
    ['MEASURE'],
  ),
  v.transform((config) => ({
    ...config,
    /** By default the server's address on this machine. */
    BASE_URL: config.BASE_URL ?? toOrigin(`http://localhost:${config.PORT}`),
    /** What probes, claims and the relay may reach in addition to public hosts. */
    PRIVATE_TARGETS: config.UNSAFE_ALLOW_PRIVATE_TARGETS || (config.PRIVATE_HOSTS ?? false),
  })),
)

function commaList(isPart: (part: string) => boolean, message: string) {
  const split = v.transform((text: string) =>
    text
      .toLowerCase()
      .split(',')
      .map((part) => part.trim()),
  )
  return v.optional(
    v.pipe(
      v.string(),
      split,
      v.check((parts) => parts.every(isPart), message),
    ),
  )
}

function isPrivatePattern(text: string): boolean {
  const [address = '', bits] = text.split('/')
  const family = isIPv4(address) ? 32 : isIPv6(address) ? 128 : 0
  if (bits !== undefined)
    return family > 0 && /^\d{1,3}$/.test(bits) && Number(bits) >= 8 && Number(bits) <= family
  return family > 0 || /^(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*$/.test(text)
}

function isServerAddress(text: string): boolean {
  const bracketed = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(text)
  if (bracketed) return isIPv6(bracketed[1] ?? '') && Number(bracketed[2] ?? 53) <= 65_535
  if (isIPv6(text)) return true
  const [ip = '', port = '53', ...rest] = text.split(':')
  return rest.length === 0 && isIPv4(ip) && /^\d{1,5}$/.test(port) && Number(port) <= 65_535
}
