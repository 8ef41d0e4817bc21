import { keep, readKept } from '../../frame/kept.ts'
import { hasSignedInMark } from './signed-in-mark.ts'

/** Calls of the seller endpoints from the pages: JSON in, JSON or a problem out. */
export type Answer<Body> =
  | { ok: true; body: Body }
  | { ok: false; status: number; code: string; detail: string }

export async function callSellers<Body>(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: Record<string, string | boolean>,
): Promise<Answer<Body>> {
  try {
    const response = await fetch(`/api/v1/sellers/${path}`, {
      method,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const answer = await response.json()
    if (response.ok) return { ok: true, body: answer }
    const { code = '', detail = 'The service answered without a reason.' } = answer
    return { ok: false, status: response.status, code, detail }
  } catch {
    const detail = 'The service could not be reached. Try again.'
    return { ok: false, status: 0, code: '', detail }
  }
}

/** The listing somebody wanted to claim, kept until the link in the mail brings them back. */
const WANTED = 'wanted-listing'

export const rememberListing = (id: string) => keep(WANTED, id)
export const recallListing = () => readKept(WANTED) ?? ''

/** The session itself is not readable here; without its mark no page asks who is signed in. */
export const mayBeSignedIn = () => hasSignedInMark(document.cookie)
