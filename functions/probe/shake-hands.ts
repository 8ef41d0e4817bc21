import { parse } from 'tldts'
import type { Handshake, PackagePlan } from '../../src/domain/probe/keep/probe-plan.ts'
import { toFailureFinding } from '../../src/domain/probe/read/common-outcome.ts'
import { type Finding, toFinding } from '../../src/domain/probe/read/finding.ts'
import { judgeCard } from '../../src/domain/probe/read/judge-a2a.ts'
import type { Asker } from './ask.ts'
import { askOperations } from './ask-operations.ts'
import { probeMcp, probeMcpSse } from './probe-mcp.ts'

/** What a handshake may do: ask. */
type OneAsker = Pick<Asker, 'ask'>

/** Runs one package in a container and says what came of it. */
export type PackageProber = (plan: PackagePlan) => Promise<Finding>

/** A whole handshake, however many requests it takes, ends after this many milliseconds. */
export const HANDSHAKE_MS = 45_000

/**
 * One probe: asks as planned and says what came of it. It pays nothing, sends no message to an
 * agent, follows no redirect and calls nothing that was not declared safe. Never rejects.
 *
 * @param now milliseconds since the epoch
 * @param probePackage runs packages, with bounds of its own; without it none is run
 */
export function shakeHands(
  handshake: Handshake,
  { ask }: Pick<Asker, 'ask'>,
  now: () => number,
  probePackage?: PackageProber,
): Promise<Finding> {
  if (handshake.kind === 'package' && probePackage !== undefined)
    return probePackage(handshake.package).then((finding) =>
      handshake.has_endpoint ? { ...finding, isBeside: true } : finding,
    )
  const deadline = AbortSignal.timeout(HANDSHAKE_MS)
  return begin(
    handshake,
    {
      ask: (request) => {
        const { signal } = request
        const both = signal === undefined ? deadline : AbortSignal.any([deadline, signal])
        return ask({ ...request, signal: both })
      },
    },
    now,
    deadline,
  )
}

async function begin(
  handshake: Handshake,
  asker: OneAsker,
  now: () => number,
  deadline: AbortSignal,
): Promise<Finding> {
  switch (handshake.kind) {
    case 'payment':
    case 'http':
      return askOperations(handshake, asker, now, deadline)
    case 'mcp':
      return probeMcp({ url: handshake.url, asker, now })
    case 'mcp_sse':
      return probeMcpSse({ url: handshake.url, asker, now })
    case 'a2a':
      return probeCard(handshake.urls, asker, now)
    case 'package':
      return toFinding({
        protocol: 'mcp',
        outcome: 'unprobeable',
        saw: 'packages are not run here',
      })
    case 'none': {
      const { protocol, reason: saw } = handshake
      return toFinding({ protocol, outcome: 'unprobeable', saw })
    }
  }
}

/** The card's places in turn: only a 404 leads on to the next. */
async function probeCard(
  urls: readonly string[],
  asker: OneAsker,
  now: () => number,
): Promise<Finding> {
  const [url = '', ...others] = urls
  const headers = { 'a2a-version': '1.0' }
  const reply = await asker.ask({ method: 'GET', url, headers })
  if (!reply.answered) return toFailureFinding('a2a', reply)
  if (reply.answer.status === 404 && others.length > 0) return probeCard(others, asker, now)
  return judgeCard(reply.answer, url, isSameSite, now())
}

/** @example isSameSite('api.foo.com', 'foo.com') → true; isSameSite('a.vercel.app', 'b.vercel.app') → false */
function isSameSite(left: string, right: string): boolean {
  const [a, b] = [left, right].map((host) => parse(host, { allowPrivateDomains: true }).domain)
  return left === right || (a !== null && a !== undefined && a === b)
}
