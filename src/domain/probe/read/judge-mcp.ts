import { toCountText } from '../../operation/price-text.ts'
import { type Finding, judgeStatus, type Sight, toFinding, toWrong } from './finding.ts'
import { toInertLine } from './inert-text.ts'
import type { ListedTools, McpServerInfo, RpcReply } from './mcp-messages.ts'
import { readTools } from './mcp-tools.ts'
import { readMppTerms } from './mpp-terms.ts'
import { type ProbeAnswer, toHeadText } from './probe-answer.ts'
import { readX402Terms } from './x402-terms.ts'

/** An answer that ended the handshake before a server introduced itself. */
export function judgeNoMcp(answer: ProbeAnswer, reply: RpcReply | null, now: number): Finding {
  if (answer.status === 402) return toPaidDoor(answer)
  const common = judgeStatus('mcp', answer, now)
  if (common !== null) return common
  if (reply?.kind === 'error')
    return toWrong('mcp', answer, `JSON-RPC error ${reply.code}: ${reply.message}`)
  return toWrong('mcp', answer, `${toHeadText(answer)}, no answer to initialize`)
}

/** An MCP endpoint behind a payment: its terms and payouts are read, its tools are not seen. */
function toPaidDoor(answer: ProbeAnswer): Finding {
  const read = [readX402Terms(answer), readMppTerms(answer)]
  const terms = read.flatMap((each) => (each.found ? each.terms : []))
  if (terms.length === 0) return toWrong('mcp', answer, 'status 402 without terms of x402 or MPP')
  const saw = `402 with ${toCountText(terms.length, 'offer')} before the handshake`
  const from = terms.some(({ rail }) => rail === 'x402') ? 'x402' : 'mpp'
  return toFinding({ protocol: 'mcp', outcome: 'gated', saw, sight: { from, terms } }, answer)
}

export function toMcpFinding(
  info: McpServerInfo,
  tools: Pick<ListedTools, 'values' | 'isCut'>,
  answer: Pick<ProbeAnswer, 'status' | 'ms'>,
): Finding {
  const { items, isCut } = readTools(tools.values)
  const { protocol: version } = info
  const name = toInertLine(info.name, 120)
  const saw = `MCP ${version}, ${name || 'a server without a name'}, ${toCountText(items.length, 'tool')}`
  const sight: Sight = {
    from: 'mcp',
    server: { name, version: toInertLine(info.version, 60), protocol: version },
    tools: items,
    ...((isCut || tools.isCut) && { truncated: true }),
  }
  return toFinding({ protocol: 'mcp', outcome: 'spoke', version, saw, sight }, answer)
}
