import type { PrivateTargets } from '../../src/domain/listing/target-url.ts'
import type { Config } from '../ports/config.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** Limits of one request, in milliseconds and bytes. */
export interface HttpLimits {
  /** Name resolution, TCP and TLS together. */
  connectMs: number
  /** From the first byte to the last one read, including the connection and redirects. */
  answerMs: number
  headerBytes: number
  bodyBytes: number
  /** Of a compressed body, once decompressed. */
  decodedBytes: number
}

export interface PurposeRules {
  /**
   * Who named the address: `stranger`: anybody, so it must be public and never ourselves under
   * another name; `listing`: our content, so hosts of `PRIVATE_HOSTS` are open too; `operator`: a
   * setting or a command, which is trusted.
   */
  named: 'stranger' | 'listing' | 'operator'
  /** `{base_url}` leads to a page that explains the prober and how to opt out. */
  userAgent: string
  limits: HttpLimits
  /** Redirects followed where the caller allows the next address; a payment or a probe follows none. */
  redirects: number
}

const PROBE_AGENT = 'Directory-Probe/1 (+{base_url}/sellers/check)'

/** x402 version 2 puts its terms into a header, which can be long. */
const PROBE_LIMITS: HttpLimits = {
  connectMs: 10_000,
  answerMs: 20_000,
  headerBytes: 128 * KIB,
  bodyBytes: MIB,
  decodedBytes: 4 * MIB,
}

function toShortLimits(connectMs: number, answerMs: number, bytes: number): HttpLimits {
  return { connectMs, answerMs, headerBytes: 16 * KIB, bodyBytes: bytes, decodedBytes: bytes }
}

/**
 * Why the server, its chores and the importers send requests to others by HTTP, and the limits of each.
 * Not here: mail, DNS and PostgreSQL, which do not use HTTP, and `health`, which asks this very server.
 *
 * The relay streams both ways, on its own connection from the guard: of its row only address rules,
 * connect time and header bytes apply; `relay_info` publishes the rest.
 */
export const PURPOSES = {
  relay: { named: 'listing', userAgent: '', limits: PROBE_LIMITS, redirects: 0 },
  probe: { named: 'listing', userAgent: PROBE_AGENT, limits: PROBE_LIMITS, redirects: 0 },
  /** A check of an address, a reviewer's look at a reported one, a document named by a source. */
  stranger: { named: 'stranger', userAgent: PROBE_AGENT, limits: PROBE_LIMITS, redirects: 0 },
  /** Proofs that a host is its seller's, and keys of the issuer of a workflow's token. */
  claim: {
    named: 'listing',
    userAgent: 'Directory-Claim/1',
    limits: toShortLimits(10_000, 10_000, 64 * KIB),
    redirects: 3,
  },
  /** One page of an importer's source. */
  source: {
    named: 'operator',
    userAgent: 'Directory-Seed/1 (+{base_url}/sources)',
    limits: {
      connectMs: 10_000,
      answerMs: 30_000,
      headerBytes: 64 * KIB,
      bodyBytes: 32 * MIB,
      decodedBytes: 32 * MIB,
    },
    redirects: 3,
  },
  /** JSON-RPC of a chain, from `RPC_URLS`. */
  node: {
    named: 'operator',
    userAgent: 'Directory-Meter/1',
    limits: toShortLimits(15_000, 15_000, 16 * MIB),
    redirects: 0,
  },
} as const satisfies Record<string, PurposeRules>
export type Purpose = keyof typeof PURPOSES

/** Limits of all runs for strangers together, in addition to those of each request. */
export const ANONYMOUS_PROBES = {
  /** Requests of one run to the named host, whatever is found there. */
  requests: 16,
  runMs: 40_000,
  /** Runs under way at once; a network is an IPv6 /48. */
  perClient: 1,
  perNetwork: 2,
  perHost: 1,
  inAll: 12,
  retryAfterS: 10,
}

type TargetSettings = Pick<Config, 'PRIVATE_TARGETS' | 'UNSAFE_ALLOW_PRIVATE_TARGETS'>

/** Internal addresses a purpose may reach; `UNSAFE_ALLOW_PRIVATE_TARGETS` opens them to all. */
export function privateTargetsOf(purpose: Purpose, config: TargetSettings): PrivateTargets {
  const { named } = PURPOSES[purpose]
  if (named === 'operator') return true
  return named === 'listing' ? config.PRIVATE_TARGETS : config.UNSAFE_ALLOW_PRIVATE_TARGETS
}
