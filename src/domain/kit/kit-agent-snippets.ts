import type { Skill } from '../listing/tools-and-skills.ts'
import { quoteForShell } from './kit-http-snippets.ts'

/**
 * How to reach an A2A agent: its card, then a message over JSON-RPC. The card decides where messages
 * go and which protocol is spoken there, 1.0 or 0.3, so the code asks it.
 *
 * @param cardUrl the published card, or undefined for the well-known place on the agent's origin.
 * @param agent what the card said when it was last read: then one request is enough
 */
export function toAgentSnippets(
  url: string,
  cardUrl: string | undefined,
  skills: readonly Skill[],
  agent?: { url: string; binding: string; protocol?: string | undefined },
): Record<string, string> {
  const card = cardUrl ?? new URL('/.well-known/agent-card.json', url).href
  const text = skills.flatMap(({ examples = [] }) => examples)[0] ?? 'What can you do?'
  return {
    curl: toCurl(card, text, agent),
    typescript: toTypeScript(card, text),
    python: toPython(card, text),
  }
}

function toCurl(card: string, text: string, agent?: Parameters<typeof toAgentSnippets>[3]): string {
  const message = (params: object, method: string) =>
    quoteForShell(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  const post = "curl -sS -H 'Content-Type: application/json'"
  const now = { messageId: '00000000-0000-4000-8000-000000000001' }
  const v1 = { message: { ...now, role: 'ROLE_USER', parts: [{ text }] } }
  const v0 = { message: { ...now, kind: 'message', role: 'user', parts: [{ kind: 'text', text }] } }
  if (agent?.binding === 'JSONRPC') {
    const call = agent.protocol?.startsWith('1')
      ? `-H 'A2A-Version: 1.0' --data-raw ${message(v1, 'SendMessage')}`
      : `--data-raw ${message(v0, 'message/send')}`
    return `${post} ${call} ${quoteForShell(agent.url)}\n`
  }
  return [
    '# 1. Read the card: it says where messages go, and in which protocol version.',
    `curl -sS ${quoteForShell(card)}`,
    '# 2. Send a message: to the JSONRPC interface of a 1.0 card …',
    `[ -z "\${A2A_1_0_URL:-}" ] || ${post} -H 'A2A-Version: 1.0' --data-raw ${message(v1, 'SendMessage')} "$A2A_1_0_URL"`,
    '# … or to the url of a 0.3 card.',
    `[ -z "\${A2A_0_3_URL:-}" ] || ${post} --data-raw ${message(v0, 'message/send')} "$A2A_0_3_URL"`,
    '',
  ].join('\n')
}

function toTypeScript(card: string, text: string): string {
  return `const card = await (await fetch(${JSON.stringify(card)})).json()
const found = card.supportedInterfaces?.find(
  (each: { protocolBinding: string }) => each.protocolBinding === 'JSONRPC',
)
// A 1.0 card lists interfaces; a 0.3 card has one url.
const isV1 = found?.protocolVersion.startsWith('1') ?? false
const text = ${JSON.stringify(text)}
const messageId = crypto.randomUUID()
const message = isV1
  ? { messageId, role: 'ROLE_USER', parts: [{ text }] }
  : { messageId, kind: 'message', role: 'user', parts: [{ kind: 'text', text }] }
const response = await fetch(found?.url ?? card.url, {
  method: 'POST',
  headers: {
    'Content-Type': 'application/json',
    ...(isV1 && { 'A2A-Version': '1.0' }),
  },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: isV1 ? 'SendMessage' : 'message/send',
    params: { message },
  }),
})
console.log(response.status, await response.text())
`
}

function toPython(card: string, text: string): string {
  return `import json
import uuid
from urllib.request import Request, urlopen

card = json.load(urlopen(${JSON.stringify(card)}))
interfaces = card.get("supportedInterfaces", [])
found = next((each for each in interfaces if each["protocolBinding"] == "JSONRPC"), None)
# A 1.0 card lists interfaces; a 0.3 card has one url.
is_v1 = found is not None and found["protocolVersion"].startswith("1")
part = {"text": ${JSON.stringify(text)}}
message = {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": [part]}
if not is_v1:
    message.update(kind="message", role="user", parts=[{"kind": "text", **part}])
method = "SendMessage" if is_v1 else "message/send"
body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}
headers = {"Content-Type": "application/json"}
if is_v1:
    headers["A2A-Version"] = "1.0"
url = found["url"] if found is not None else card["url"]
request = Request(url, json.dumps(body).encode(), headers)
print(urlopen(request).read().decode())
`
}
