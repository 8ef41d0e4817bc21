import {
  judgeStdioEnd,
  judgeStdioReply,
  toPlaceholderNames,
} from '../../../src/domain/probe/keep/judge-package.ts'
import type { PackagePlan } from '../../../src/domain/probe/keep/probe-plan.ts'
import { type Finding, toFinding } from '../../../src/domain/probe/read/finding.ts'
import { toMcpFinding } from '../../../src/domain/probe/read/judge-mcp.ts'
import {
  type McpServerInfo,
  type McpSession,
  readDiscovered,
  readInitialized,
  toCurrentRequest,
  toFormerToolsList,
  toInitialize,
  toInitialized,
} from '../../../src/domain/probe/read/mcp-messages.ts'
import { SEEN } from '../../../src/domain/probe/read/mcp-tools.ts'
import type { StdioSession } from './stdio-session.ts'

/** Pages of `tools/list` that are read; a server that always has one more is cut here. */
const MAX_PAGES = 20

/**
 * The handshake over stdio. `initialize` comes first: servers of former revisions may end at any
 * other request, while one that speaks the current revision only answers with an error and is then
 * asked to `server/discover`. Then `tools/list`. Never rejects.
 */
export async function probeStdio(session: StdioSession, plan: PackagePlan): Promise<Finding> {
  const opened = await session.ask(toInitialize(1))
  if (opened === null) return judgeStdioEnd(session.end(), 'initialize', plan)
  const info = opened.kind === 'result' ? readInitialized(opened.result) : null
  if (info !== null) {
    const former: McpSession = { version: info.protocol, id: null }
    session.tell(toInitialized(former))
    return listTools(session, plan, info, former)
  }
  if (opened.kind === 'result') return judgeStdioReply(opened, 'initialize', plan)
  const discovered = await session.ask(toCurrentRequest(2, 'server/discover'))
  const current = discovered?.kind === 'result' ? readDiscovered(discovered.result) : null
  return current === null
    ? judgeStdioReply(opened, 'initialize', plan)
    : listTools(session, plan, current, null)
}

/** @param former the session of a former revision, or null for the current one */
async function listTools(
  session: StdioSession,
  plan: PackagePlan,
  info: McpServerInfo,
  former: McpSession | null,
): Promise<Finding> {
  const values: unknown[] = []
  let cursor: string | undefined
  for (let page = 0; info.hasTools && page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor }
    const id = 10 + page
    const listed = await session.ask(
      former === null
        ? toCurrentRequest(id, 'tools/list', params)
        : toFormerToolsList(id, former, params),
    )
    if (listed === null) return judgeStdioEnd(session.end(), 'tools/list', plan)
    if (listed.kind === 'error' || !Array.isArray(listed.result.tools))
      return judgeStdioReply(listed, 'tools/list', plan)
    // One more than is kept: what follows sees by it that there were more.
    for (const tool of listed.result.tools.slice(0, SEEN.tools + 1)) values.push(tool)
    const { nextCursor } = listed.result
    cursor = typeof nextCursor === 'string' ? nextCursor : undefined
    if (cursor === undefined || values.length > SEEN.tools) break
  }
  return toSpoken(toMcpFinding(info, { values, isCut: cursor !== undefined }, null), plan)
}

function toSpoken(finding: Finding, plan: PackagePlan): Finding {
  const names = toPlaceholderNames(plan)
  const saw = names === '' ? finding.saw : `${finding.saw}, with placeholders for ${names}`
  return toFinding({ ...finding, saw, isLocal: true })
}
