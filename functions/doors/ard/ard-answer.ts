/** ARD's own errors, `{errorCode, message}`, with the HTTP status each goes with. */
const STATUSES = {
  INVALID_ARGUMENT: 400,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  RATE_LIMIT_EXCEEDED: 429,
  INTERNAL: 500,
} as const
export type ArdErrorCode = keyof typeof STATUSES

const HEADERS = {
  'Cache-Control': 'no-store',
  'Access-Control-Allow-Origin': '*',
  'X-Content-Type-Options': 'nosniff',
} as const

export function toArdAnswer(body: unknown, headers: Record<string, string> = {}): Response {
  return Response.json(body, { headers: { ...HEADERS, ...headers } })
}

export function toArdError(
  errorCode: ArdErrorCode,
  message: string,
  headers: Record<string, string> = {},
): Response {
  const status = STATUSES[errorCode]
  return Response.json({ errorCode, message }, { status, headers: { ...HEADERS, ...headers } })
}
