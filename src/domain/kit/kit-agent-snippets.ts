import type { Skill } from '../listing/tools-and-skills.ts'
import { quoteForShell } from './quote-for-shell.ts'

/**
 * The card decides where messages go and which protocol is spoken, so the code reads it.
 * @param cardUrl the published card, or undefined for the well-known place on the agent's origin.
 * @param agent facts from the last read card: then one request is enough
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

/** @param protocol version its card declares; before 1.0 messages had another form */
export function toAgentRequest(
  protocol: string,
  { message, text }: Record<'message' | 'text', string>,
) {
  const isV1 = protocol.startsWith('1')
  const messageId = message
  const sent = isV1
    ? { messageId, role: 'ROLE_USER', parts: [{ text }] }
    : { messageId, kind: 'message', role: 'user', parts: [{ kind: 'text', text }] }
  const method = isV1 ? 'SendMessage' : 'message/send'
  return {
    ...(isV1 && { headers: { 'A2A-Version': '1.0' } }),
    body: { jsonrpc: '2.0', id: 1, method, params: { message: sent } },
  }
}

function toCurl(card: string, text: string, agent?: Parameters<typeof toAgentSnippets>[3]): string {
  const send = (protocol: string, url: string) => {
    const request = { message: '00000000-0000-4000-8000-000000000001', text }
    const { headers = {}, body } = toAgentRequest(protocol, request)
    const fields = { 'Content-Type': 'application/json', ...headers }
    const options = Object.entries(fields).map(([name, value]) => `-H '${name}: ${value}'`)
    return `curl -sS ${options.join(' ')} --data-raw ${quoteForShell(JSON.stringify(body))} ${url}`
  }
  if (agent?.binding === 'JSONRPC')
    return `${send(agent.protocol ?? '', quoteForShell(agent.url))}\n`
  return [
    '# 1. Read the card: it says where messages go, and in which protocol version.',
    `curl -sS ${quoteForShell(card)}`,
    '# 2. Send a message: to the JSONRPC interface of a 1.0 card …',
    `[ -z "\${A2A_1_0_URL:-}" ] || ${send('1.0', '"$A2A_1_0_URL"')}`,
    '# … or to the url of a 0.3 card.',
    `[ -z "\${A2A_0_3_URL:-}" ] || ${send('0.3', '"$A2A_0_3_URL"')}`,
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
