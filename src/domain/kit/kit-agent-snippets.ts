/**
 * How to reach an A2A agent: its card, then a message (A2A 0.3 over JSON-RPC). The card decides
 * where messages go, so the second command reads the address from it.
 *
 * @param cardUrl the published card, or undefined for the well-known place on the agent's origin.
 */
export function toAgentSnippets(url: string, cardUrl: string | undefined): Record<string, string> {
  const card = cardUrl ?? new URL('/.well-known/agent-card.json', url).href
  return {
    curl: `curl -sS ${quoteForShell(card)}\n`,
    typescript: toTypeScript(card),
    python: toPython(card),
  }
}

function toTypeScript(card: string): string {
  return [
    `const card = await (await fetch(${JSON.stringify(card)})).json()`,
    'const response = await fetch(card.url, {',
    "  method: 'POST',",
    "  headers: { 'Content-Type': 'application/json' },",
    '  body: JSON.stringify({',
    "    jsonrpc: '2.0',",
    '    id: 1,',
    "    method: 'message/send',",
    '    params: {',
    '      message: {',
    "        kind: 'message',",
    "        role: 'user',",
    '        messageId: crypto.randomUUID(),',
    "        parts: [{ kind: 'text', text: 'What can you do?' }],",
    '      },',
    '    },',
    '  }),',
    '})',
    'console.log(response.status, await response.text())',
    '',
  ].join('\n')
}

function toPython(card: string): string {
  return [
    'import json',
    'import uuid',
    'from urllib.request import Request, urlopen',
    '',
    `card = json.load(urlopen(${JSON.stringify(card)}))`,
    'message = {',
    '    "kind": "message",',
    '    "role": "user",',
    '    "messageId": str(uuid.uuid4()),',
    '    "parts": [{"kind": "text", "text": "What can you do?"}],',
    '}',
    'body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}',
    'headers = {"Content-Type": "application/json"}',
    'request = Request(card["url"], json.dumps(body).encode(), headers)',
    'print(urlopen(request).read().decode())',
    '',
  ].join('\n')
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
