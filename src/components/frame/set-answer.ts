import { PROBLEMS, type Refused } from '../../domain/wire/problems.ts'

/** Sets status and headers for the page that shows a form's outcome, which is never cached. */
export function setAnswer(
  response: { status?: number; headers: Headers },
  answer: { kind: string } | Refused | null,
  taken = 200,
): void {
  response.headers.set('cache-control', 'no-store')
  response.status = taken
  if (answer === null || !('code' in answer)) return
  response.status = PROBLEMS[answer.code].status
  for (const [name, value] of Object.entries(answer.headers ?? {}))
    response.headers.set(name, value)
}

/** Redirects to another page on this site after a form was sent; never cached. */
export function leaveTo(path: string): Response {
  return new Response(null, {
    status: 303,
    headers: { location: path, 'cache-control': 'no-store' },
  })
}
