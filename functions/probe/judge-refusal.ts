import type { Finding } from '../../src/domain/probe/read/finding.ts'
import { judgeNoMcp } from '../../src/domain/probe/read/judge-mcp.ts'
import type { RpcReply } from '../../src/domain/probe/read/mcp-messages.ts'
import { readNamedMetadata } from '../../src/domain/probe/read/oauth-metadata.ts'
import type { ProbeAnswer } from '../../src/domain/probe/read/probe-answer.ts'
import { readSignIn } from '../discovery/read-sign-in.ts'
import type { Fetcher } from '../net/http-client.ts'

/** A server that requires a token may say where to get one: that is worth knowing too. */
export async function judgeRefusal(
  target: { url: string; client: Fetcher; now: () => number },
  answer: ProbeAnswer,
  reply: RpcReply | null,
): Promise<Finding> {
  const finding = judgeNoMcp(answer, reply, target.now())
  if (answer.status !== 401) return finding
  const named = readNamedMetadata(answer)
  const read = (url: string) => readMetadata(target.client, url)
  const signIn = await readSignIn({ url: target.url, named, read })
  return signIn === null ? finding : { ...finding, signIn }
}

async function readMetadata(client: Fetcher, url: string): Promise<string | null> {
  const headers = { accept: 'application/json' }
  const reply = await client.fetch({ method: 'GET', url, headers })
  return reply.answered && reply.answer.status === 200 && reply.answer.cut === null
    ? reply.answer.body
    : null
}
