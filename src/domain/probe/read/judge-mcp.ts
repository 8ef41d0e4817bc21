import { judgeStatus, toWrong } from './common-outcome.ts'
import { type Finding, type PaymentTerm, toFinding } from './finding.ts'
import { toInertLine } from './inert-text.ts'
import type { ListedTools, McpServerInfo, RpcReply } from './mcp-messages.ts'
import { readTools } from './mcp-tools.ts'
import { readMppTerms } from './mpp-terms.ts'
import { mediaTypeOf, type ProbeAnswer } from './probe-answer.ts'
import { readX402Terms } from './x402-terms.ts'

/** An answer that ended the handshake before a server introduced itself. */
export function judgeNoMcp(answer: ProbeAnswer, reply: RpcReply | null, now: number): Finding {
  if (answer.status === 402) return toPaidDoor(answer)
  const common = judgeStatus('mcp', answer, now)
  if (common !== null) return common
  const type = mediaTypeOf(answer) || 'no content type'
  if (reply?.kind === 'error')
    return toWrong('mcp', answer, `JSON-RPC error ${reply.code}: ${reply.message}`)
  return toWrong('mcp', answer, `status ${answer.status}, ${type}, no answer to initialize`)
}

/** An MCP endpoint behind a payment: its terms and payouts are read, its tools are not seen. */
function toPaidDoor(answer: ProbeAnswer): Finding {
  const read = [readX402Terms(answer), readMppTerms(answer)]
  const terms: PaymentTerm[] = read.flatMap((each) => (each.found ? each.terms : []))
  if (terms.length === 0) return toWrong('mcp', answer, 'status 402 without terms of x402 or MPP')
  return toFinding({
    protocol: 'mcp',
    outcome: 'gated',
    status: 402,
    ms: Math.round(answer.ms),
    saw: `402 with ${terms.length} ${terms.length === 1 ? 'offer' : 'offers'} before the handshake`,
    sight: { from: terms.some(({ rail }) => rail === 'x402') ? 'x402' : 'mpp', terms },
  })
}

/**
 * `tools/list` was answered, or the server said it has no tools.
 *
 * @param answer null for a package: it has no status, and its first answer waits for its download
 */
export function toMcpFinding(
  info: McpServerInfo,
  tools: Pick<ListedTools, 'values' | 'isCut'>,
  answer: Pick<ProbeAnswer, 'status' | 'ms'> | null,
): Finding {
  const { items, isCut } = readTools(tools.values)
  const name = toInertLine(info.name, 120)
  return toFinding({
    protocol: 'mcp',
    outcome: 'spoke',
    ...(answer !== null && { status: answer.status, ms: Math.round(answer.ms) }),
    version: info.protocol,
    saw: `MCP ${info.protocol}, ${name || 'a server without a name'}, ${items.length} ${items.length === 1 ? 'tool' : 'tools'}`,
    sight: {
      from: 'mcp',
      server: { name, version: toInertLine(info.version, 60), protocol: info.protocol },
      tools: items,
      ...((isCut || tools.isCut) && { truncated: true }),
    },
  })
}
