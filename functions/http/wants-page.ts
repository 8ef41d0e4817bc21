import type { IncomingMessage } from 'node:http'

/** A browser asking for a page that does not exist gets one that says so. */
export function wantsPage(req: IncomingMessage, path: string): boolean {
  return (req.method === 'GET' || req.method === 'HEAD') && isRefusedByPage(req, path)
}

/** Whether a person reads the refusal, whatever the method; `/api/` is always JSON. */
export function isRefusedByPage({ headers }: IncomingMessage, path: string): boolean {
  if (/^\/(?:api\/|go\/|healthz$|readyz$)/.test(path)) return false
  const accept = headers.accept ?? ''
  return accept.includes('text/html') && !accept.startsWith('application/json')
}
