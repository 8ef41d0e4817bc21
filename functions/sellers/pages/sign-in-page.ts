import type { IncomingMessage, ServerResponse } from 'node:http'
import { isListingId } from '../../../src/domain/listing/listing-id.ts'
import type { SignInPage } from '../../../src/domain/views/seller-pages.ts'
import { RETENTION } from '../../../src/domain/wire/retention.ts'
import { readSent } from '../../forms/form.ts'
import type { Parts } from '../../parts/parts.ts'
import { isSecure, readCookie } from '../sessions/session.ts'
import { createEndpoints, type SellerHandlers } from './ask-endpoints.ts'

/** The listing to be claimed, remembered until the mailed link brings the seller back. */
const WANTED = 'wanted-listing'

/**
 * `/sellers/sign-in`: requests a link, and redeems the mailed one. It takes a click: a mail scanner
 * that follows links submits no form.
 */
export function createSignInPage({ config }: Pick<Parts, 'config'>, handlers: SellerHandlers) {
  const keepWanted = (res: ServerResponse, listing: string, minutes: number) => {
    const secure = isSecure({ config }) ? '; Secure' : ''
    const where = `Max-Age=${minutes * 60}; Path=/sellers; HttpOnly; SameSite=Lax${secure}`
    res.appendHeader('Set-Cookie', `${WANTED}=${listing}; ${where}`)
  }
  return async (req: IncomingMessage, res: ServerResponse): Promise<SignInPage> => {
    const sent = await readSent(req, config.BASE_URL)
    if ('kind' in sent) return { answer: sent, token: '', listing: '' }
    const read = (name: string) => sent.get(name)?.trim() ?? ''
    const [token, listing] = [read('token'), toListing(read('listing'))]
    if (req.method !== 'POST') return { answer: { kind: 'empty' }, token, listing }
    const endpoints = createEndpoints(handlers, req, config.BASE_URL)
    if (token === '') return { answer: await askForLink(read('email'), listing), token, listing }
    return { answer: await useLink(), token: '', listing }

    async function askForLink(email: string, wanted: string): Promise<SignInPage['answer']> {
      const asked = await endpoints.ask('login', { send: { email } })
      if ('kind' in asked) return asked
      if (wanted !== '') keepWanted(res, wanted, RETENTION.login_token_minutes)
      return { kind: 'sent', email }
    }
    async function useLink(): Promise<SignInPage['answer']> {
      const started = await endpoints.ask('session_start', { send: { token } })
      if ('kind' in started) return started
      const wanted = toListing(readCookie(req.headers.cookie ?? null, WANTED) ?? '')
      for (const cookie of endpoints.cookies) res.appendHeader('Set-Cookie', cookie)
      keepWanted(res, '', 0)
      return { kind: 'left', to: `/sellers/dashboard${wanted && `?listing=${wanted}`}` }
    }
  }
}

/** An id is letters, digits, dots and dashes: safe in a cookie and an address. */
function toListing(text: string): string {
  return isListingId(text) ? text : ''
}
