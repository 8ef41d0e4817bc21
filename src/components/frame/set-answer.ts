import { PROBLEMS, type Refused } from '../../domain/wire/problems.ts'

/** Sets status and headers for the page with a form's outcome; no cache stores it. */
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

/** The answer to a form, which leads to another page on this site; no cache keeps it. */
export function leaveTo(path: string): Response {
  return new Response(null, {
    status: 303,
    headers: { location: path, 'cache-control': 'no-store' },
  })
}
