import * as v from 'valibot'
import { isTestNetwork } from '../listing/networks.ts'
import { toCountText } from '../listing/pricing.ts'
import { RIGHT_CARD } from '../probe/a2a.ts'
import {
  type Finding,
  jsonOf,
  type PaymentTerm,
  type ProbeAnswer,
  type ProbeProtocol,
  RIGHT_MPP,
  type Sight,
  toInertLine,
  toOperationName,
} from '../probe/finding.ts'
import { RIGHT_MCP } from '../probe/mcp.ts'
import { toAnswers } from '../probe/merge.ts'
import { RIGHT_X402 } from '../probe/x402.ts'
import type { DeclaredResponse } from '../relay/declared-answer.ts'
import { isJsonType, type Judgement, judgeDelivery } from '../relay/judge.ts'
import { readOpenApi } from '../sources/openapi.ts'
import { readX402Manifest } from '../sources/x402-manifest.ts'
import { isJsonObject, present } from '../wire/json.ts'
import type { Refused } from '../wire/problems.ts'
import { toOperationKey } from '../wire/text.ts'
import {
  type DeliveryVerdict,
  type HttpMethod,
  isUp,
  PROBE_PROTOCOLS,
  RAILS,
} from '../wire/vocabulary.ts'
import { NotListedReasonSchema } from './not-listed.ts'

const LINT_VERDICTS = ['clean', 'problems', 'not_reached'] as const

/** One request of ours and what came back, so that a seller can compare both with its own log. */
const RequestedStepSchema = v.object({
  method: v.string(),
  url: v.string(),
  /** `status 402, application/json, 12 ms`, or why there was no answer. */
  came_back: v.string(),
})
export type RequestedStep = v.InferOutput<typeof RequestedStepSchema>

/** A way to pay, as a seller's 402 states it. */
const OfferedTermSchema = v.object({
  /** `GET https://…`; absent if the service as a whole answered. */
  operation: v.optional(v.string()),
  rail: v.picklist(RAILS),
  /** x402 scheme, or MPP method and intent. */
  scheme: v.string(),
  network: v.nullable(v.string()),
  /** Null for a coin whose value we do not know. */
  usd: v.nullable(v.number()),
  payout: v.nullable(v.string()),
})
export type OfferedTerm = v.InferOutput<typeof OfferedTermSchema>

export const LintReportSchema = v.object({
  target: v.string(),
  /** The protocol that we took the address for; null if it fits none we know. */
  took_for: v.nullable(v.picklist(PROBE_PROTOCOLS)),
  saw: v.string(),
  asked: v.array(RequestedStepSchema),
  /** The ways to pay that 402s offered; absent if there were none. */
  terms: v.optional(v.array(OfferedTermSchema)),
  right: v.array(v.string()),
  problems: v.array(v.object({ what: v.string(), change: v.string() })),
  verdict: v.picklist(LINT_VERDICTS),
  /** Why an address has no listing, and how to list it. */
  not_listed: v.optional(NotListedReasonSchema),
})
export type LintReport = v.InferOutput<typeof LintReportSchema>
export type LintProblem = LintReport['problems'][number]

/** The report for a seller; its lines name the operation if there are several. @param own the listing's own errors */
export function toLintReport(
  target: string,
  finding: Finding,
  requested: readonly RequestedStep[],
  own: readonly LintProblem[] = [],
): LintReport {
  const advice = toEveryAdvice(finding)
  const problems = [...own, ...advice.flatMap((each) => each.problems)]
  const terms = [{ finding }, ...(finding.others ?? [])].flatMap((each) =>
    toOfferedTerms(each.finding),
  )
  const isReached = finding.failure === undefined && finding.outcome !== 'unprobeable'
  return {
    target,
    took_for: isUp(finding) ? finding.protocol : null,
    saw: finding.saw,
    asked: [...requested],
    ...(terms.length > 0 && { terms }),
    right: advice.flatMap(({ right }) => right),
    problems,
    verdict: isReached ? (problems.length > 0 ? 'problems' : 'clean') : 'not_reached',
  }
}

function toOfferedTerms({ sight }: Finding): OfferedTerm[] {
  const operation = sight?.operation && toOperationKey(sight.operation)
  return (sight?.terms ?? []).map(({ accept: _, scheme, ...term }) => ({
    ...{ ...present({ operation }), ...term, scheme: toInertLine(scheme, 80) },
  }))
}

function toEveryAdvice(finding: Finding): Advice[] {
  if (finding.others === undefined) return [toAdvice(finding)]
  return toAnswers(finding).map(({ operation, finding: answer }) => {
    const name = toOperationName(operation)
    const { right, problems } = toAdvice(answer)
    return {
      right: right.map((line) => `${name}: ${line}`),
      problems: problems.map(({ what, change }) => ({ what: `${name}: ${what}`, change })),
    }
  })
}

export type CheckAnswer = { kind: 'empty' } | Refused | { kind: 'report'; report: LintReport }

interface Advice {
  right: string[]
  problems: LintProblem[]
}

/** After this time a caller with a short timeout gives up (milliseconds). */
const SLOW_MS = 5000

/** Advice for an answer that does not follow the protocol. */
const RIGHT_ANSWERS: Record<ProbeProtocol, string> = {
  x402: RIGHT_X402,
  mpp: RIGHT_MPP,
  mcp: RIGHT_MCP,
  a2a: RIGHT_CARD,
  http: 'Answer the declared example with 2xx and the declared content type, JSON where none is declared.',
}

function toAdvice(finding: Finding): Advice {
  const { outcome, protocol, saw, ms = 0, sight } = finding
  if (outcome !== 'spoke' && outcome !== 'gated')
    return { right: [], problems: finding.faults ?? [{ what: saw, change: toChange(finding) }] }
  const unpriced = (sight?.terms ?? []).filter(({ network }) => isOtherChain(network))
  const right = [
    outcome === 'spoke' ? `It speaks ${protocol}: ${saw}.` : `It answers: ${saw}.`,
    ...(unpriced.length === 0
      ? []
      : [
          `${[...new Set(unpriced.map(({ network }) => network))].join(' and ')}: valid network names, but we know no price of their coins.`,
        ]),
  ]
  const problems = [
    ...(finding.faults ?? []),
    ...(sight === undefined ? [] : [...judgeTerms(sight), ...judgeMcp(sight)]),
    ...problemIf(
      outcome === 'gated' && sight === undefined,
      `${saw}: a caller without credentials cannot see the tools`,
      'Declare auth in the listing. If anybody may see the tools, let the handshake through without credentials.',
    ),
    ...problemIf(
      ms > SLOW_MS,
      `the answer took ${ms} ms`,
      `Answer the handshake within ${SLOW_MS} ms: a handshake does no paid work.`,
    ),
  ]
  return { right, problems }
}

function toChange({ outcome, protocol, failure, status, saw }: Finding): string {
  if (status !== undefined && status >= 300 && status <= 399)
    return 'Publish the address that answers: redirects are never followed, since a client that pays would carry its payment along.'
  if (outcome === 'wrong_protocol')
    return protocol === 'http' && saw.includes('text/html')
      ? 'This is a page for people. Publish the address that programs call, as an operation with its method and an example.'
      : RIGHT_ANSWERS[protocol]
  if (failure === 'own_bound')
    return 'Check again and name the protocol, so that fewer requests are needed.'
  if (outcome === 'unknown')
    return failure === undefined
      ? 'Nothing to change: the service asked for a pause and gets one. Check again later.'
      : 'Check that the name resolves elsewhere, then try again; this does not count against the service.'
  if (failure === 'tls') return 'Check that the certificate is valid, complete and for this host.'
  if (failure === 'address_refused') return 'The host must resolve to public addresses only.'
  if (outcome === 'unprobeable')
    return 'Declare an operation that may be probed: a GET, or a body and parameters with examples.'
  return failure === undefined
    ? 'Check that the published address is the one that answers.'
    : 'Check that the service listens at this address and answers within 20 seconds.'
}

/** Whether a network has a CAIP-2 id in a namespace whose accounts and coins we do not know. */
function isOtherChain(network: string | null): boolean {
  return network !== null && !/^(?:eip155|solana):/.test(network)
}

function judgeTerms({ terms = [] }: Sight): LintProblem[] {
  const unnamed = terms.filter(({ network }) => network === null)
  // Only clients on other chains know what an account looks like there.
  const unpayable = terms.filter(
    ({ network, payout }) => network !== null && payout === null && !isOtherChain(network),
  )
  const expensive = terms.filter(({ usd }) => usd !== null && usd > 1000)
  const chains = terms.flatMap(({ network }) => network ?? [])
  return [
    ...problemIf(
      chains.length > 0 && chains.length === terms.length && chains.every(isTestNetwork),
      'every offer is on a test network',
      'Offer a main network too, such as eip155:8453: coins of test networks pay nobody.',
    ),
    ...about(
      unnamed,
      'names no network by CAIP-2',
      'Name it as eip155:8453 or solana:<reference>.',
    ),
    ...about(
      unpayable,
      'names a payee that is not an address on its network',
      'payTo must be a full address on the network that the same offer names.',
    ),
    ...about(
      expensive,
      'asks for more than $1,000 for one call',
      'Check the decimals: amounts are base units.',
    ),
  ]
}

/** The problem with the first offer on a chain, if any: offers by card and other methods rightly name no chain. */
function about(terms: readonly PaymentTerm[], what: string, change: string): LintProblem[] {
  const [first] = terms.filter(({ rail, network }) => rail === 'x402' || network !== null)
  return first === undefined ? [] : [{ what: `an offer (${first.scheme}) ${what}`, change }]
}

function judgeMcp({ from, tools = [], server, cut }: Sight): LintProblem[] {
  if (from !== 'mcp') return []
  const unsaid = tools.filter(({ name, title, description }) => description === (title ?? name))
  return [
    ...problemIf(
      server?.name === '',
      'the server has no name',
      'Give serverInfo a name and a version.',
    ),
    ...problemIf(
      cut !== undefined,
      `the list of tools was cut: ${cut}`,
      'Give each page of tools/list its own nextCursor and the last page none, with at most 500 tools whose schemas need no other file.',
    ),
    ...problemIf(
      unsaid.length > 0,
      `${unsaid.length} of ${tools.length} tools have no description, such as ${unsaid[0]?.name}`,
      'Say in a sentence what each tool does: agents choose by it.',
    ),
  ]
}

function problemIf(isSo: boolean, what: string, change: string): LintProblem[] {
  return isSo ? [{ what, change }] : []
}

interface OperationName {
  method: HttpMethod
  url: string
}

export interface DeclaredOperation extends OperationName {
  response: DeclaredResponse
}

/** Verdicts that the declaration may have caused; all other verdicts are not about it. */
const OF_DECLARATION: ReadonlySet<DeliveryVerdict> = new Set([
  'other_shape',
  'empty',
  'error_in_200',
])
const MAX_PROBLEM = 300

/**
 * Judges a listing's declarations by the rule for paid calls, so that a seller learns of a wrong
 * declaration before receipts show it. It judges the probe's free answers or, if an answer requires
 * payment, the declared example.
 */
export function judgeDeclared(
  declared: readonly DeclaredOperation[],
  finding: Finding,
): LintProblem[] {
  const examples = declared.flatMap((operation) =>
    toProblem(operation, 'the declared example', judgeExample(operation.response)),
  )
  const answers = toAnswers(finding).flatMap(({ operation, finding: { judged } }) =>
    toProblem(operation, 'the answer', judged),
  )
  return [...examples, ...answers]
}

/** Judges the example by the schema alone: if the two disagree, either may be right. */
function judgeExample({ content_type, schema, example }: DeclaredResponse): Judgement | undefined {
  if (example === undefined || !isJsonType(content_type)) return undefined
  const declared = { content_type, ...(schema !== undefined && { schema }) }
  const body = new TextEncoder().encode(JSON.stringify(example))
  return judgeDelivery(declared, { status: 200, end: 'whole', body })
}

function toProblem(
  operation: OperationName,
  subject: string,
  judged: Judgement | undefined,
): LintProblem[] {
  if (judged === undefined || !OF_DECLARATION.has(judged.verdict)) return []
  const { verdict, reason } = judged
  const what = `${toOperationName(operation)}: ${subject} would be judged ${verdict}: ${reason}`
  return [
    {
      what: toInertLine(what, MAX_PROBLEM),
      change:
        'Declare under response what a good answer contains (schema and example), or answer as declared: paid calls are judged by that declaration.',
    },
  ]
}

/**
 * For a seller who lints the address of an OpenAPI document or an x402 manifest: what discovery
 * reads in the document, and what is wrong with it. Other findings stay unchanged.
 * @param address the document's address
 */
export function withDocument(heard: Finding, answer: ProbeAnswer, address: string): Finding {
  const value = answer.cut === null ? jsonOf(answer) : undefined
  const api = readOpenApi(value, address)
  const isManifest =
    isJsonObject(value) &&
    ('x402Version' in value || /\/\.well-known\/x402(?:\.json)?$/.test(new URL(address).pathname))
  const document = api ?? (isManifest ? readX402Manifest(value, address) : null)
  if (document === null) return heard
  const { operations, placeholder } = document
  const priced = operations.filter(({ price }) => price !== undefined).length
  const noun = api === null ? 'an x402 manifest' : 'an OpenAPI document'
  const saw = `${heard.saw}, ${noun} with ${toCountText(operations.length, 'operation')}, ${priced} with a price`
  const faults = [
    ...problemIf(
      placeholder !== undefined,
      `payTo is the placeholder ${toInertLine(JSON.stringify(placeholder ?? ''), 100)}`,
      'Name the wallet that is paid.',
    ),
    ...problemIf(
      operations.length === 0,
      `none of its entries is an operation on ${new URL(address).host}`,
      'Name each operation by its path, or by its https address on this host.',
    ),
  ]
  return { ...heard, saw, ...(faults.length > 0 && { faults }) }
}
