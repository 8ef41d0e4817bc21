const HEADERS = {
  'Cache-Control': 'no-store',
  'Access-Control-Allow-Origin': '*',
  'X-Content-Type-Options': 'nosniff',
} as const

/** The form of error that the MCP registry and the x402 discovery shape share. */
export function toPlainError(
  status: number,
  error: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ error }, { status, headers: { ...HEADERS, ...headers } })
}

export function toPlainAnswer(body: unknown, headers: Record<string, string> = {}): Response {
  return Response.json(body, { headers: { ...HEADERS, ...headers } })
}
