import { PROBLEMS, type ProblemCode } from '../../src/domain/wire/problems.ts'

export const UNCACHED = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
} as const
export const ANY_ORIGIN = { 'Access-Control-Allow-Origin': '*' } as const

/** JSON that no cache stores, unless `headers` allow it. */
export function jsonAnswer(
  body: unknown,
  headers: Record<string, string> = {},
  status = 200,
): Response {
  return Response.json(body, { status, headers: { ...UNCACHED, ...headers } })
}

/** JSON that pages of any origin may read, and that no cache stores unless `headers` allow it. */
export function publicJson(
  body: unknown,
  headers: Record<string, string> = {},
  status = 200,
): Response {
  return jsonAnswer(body, { ...ANY_ORIGIN, ...headers }, status)
}

/** A wrong input: where it was sent, its name, what is wrong and what would be right. */
export interface InputError {
  in: 'query' | 'path' | 'header' | 'body'
  name: string
  detail: string
  allowed?: readonly (string | number | boolean)[]
}

export interface ProblemOptions {
  /** What was wrong, where, and what would be right. Never a secret, never an upstream's text unescaped. */
  detail: string
  errors?: readonly InputError[]
  headers?: Record<string, string>
  /** Extension members of RFC 9457, for example `link_out`. */
  extra?: Record<string, unknown>
}

/**
 * Thrown to end work with a refusal: a problem document for programs, a sentence on a page. Thrown
 * inside a transaction, it rolls the transaction back.
 */
export class Refusal extends Error {
  override name = 'Refusal'
  readonly code: ProblemCode
  readonly options: ProblemOptions
  constructor(code: ProblemCode, options: ProblemOptions) {
    super(code)
    this.code = code
    this.options = options
  }
}

export function refuse(code: ProblemCode, options: ProblemOptions): never {
  throw new Refusal(code, options)
}

export type MakeProblem = (code: ProblemCode, options: ProblemOptions) => Response

/**
 * The only formatter for errors: RFC 9457 `application/problem+json` whose `type` is one of our pages.
 * @example createProblems('https://w.example')('not-found', { detail: 'No page at /x.' })
 */
export function createProblems(baseUrl: string): MakeProblem {
  return function problem(code, { detail, errors, headers, extra }) {
    const { status, title } = PROBLEMS[code]
    const type = `${baseUrl}/problems/${code}`
    const body = { type, title, status, detail, code, ...(errors && { errors }), ...extra }
    return new Response(JSON.stringify(body), {
      status,
      headers: {
        ...UNCACHED,
        ...ANY_ORIGIN,
        'Content-Type': 'application/problem+json',
        ...headers,
      },
    })
  }
}

/** A 400 that gives each wrong query parameter's name and error. */
export function refuseParameters(
  problem: MakeProblem,
  errors: readonly InputError[],
  extra: Record<string, unknown> = {},
): Response {
  const detail = errors.map(({ name, detail }) => `${name}: ${detail}`).join('; ')
  return problem('invalid-parameter', { detail, errors, extra })
}

/** Repeated and unknown names in a query, as errors. */
export function findNameErrors(
  parameters: URLSearchParams,
  known: readonly string[],
): InputError[] {
  return [...new Set(parameters.keys())].flatMap((name) => {
    if (!known.includes(name)) return [toQueryError(name, 'unknown parameter', known)]
    return parameters.getAll(name).length > 1 ? [toQueryError(name, 'given more than once')] : []
  })
}

export function toQueryError(
  name: string,
  detail: string,
  allowed?: readonly string[],
): InputError {
  return { in: 'query', name, detail, ...(allowed !== undefined && { allowed }) }
}

export function refuseMethod(
  method: string,
  allowed: readonly string[],
  problem: MakeProblem,
): Response {
  return problem('method-not-allowed', {
    detail: `${method} is not allowed here; use ${allowed.join(', ')}.`,
    headers: { Allow: allowed.join(', ') },
  })
}

/** Public reads allow any origin; seller routes get no CORS headers, so other sites cannot read them. */
export function answerPreflight(path: string, allowed: readonly string[]): Response {
  const methods = allowed.join(', ')
  const cors = {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': methods,
    'Access-Control-Allow-Headers': '*',
    'Access-Control-Max-Age': '86400',
  }
  return new Response(null, {
    status: 204,
    headers: { Allow: methods, ...(!isSellerPath(path) && cors) },
  })
}

/** Seller routes carry a session, so no other origin may read their answers. */
export function isSellerPath(path: string): boolean {
  return path.startsWith('/api/v1/sellers')
}

const encoder = new TextEncoder()

/** The text in UTF-8, in its own memory. */
export function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text)
}
