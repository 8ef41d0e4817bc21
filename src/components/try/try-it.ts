import type { KitView } from '../../domain/kit/kit-view.ts'
import { toPayout } from '../../domain/listing/networks.ts'
import { readReceipt } from '../../domain/relay/payments.ts'
import { EXPECT_HEADER, toExpectText } from '../../domain/relay/pins.ts'
import { readAnswerText } from '../frame/answer-text.ts'
import type { Markup } from '../frame/html.ts'
import { type BrowserWallet, findPayFault, signOffer } from './browser-wallet.ts'
import { type RequestedTerms, readRequestedTerms } from './requested-terms.ts'
import { toAnswerMarkup, toProblemMarkup, toTermsMarkup, toTryForm } from './try-markup.ts'
import { type TryRequest, toRelayPath, toTryFields, toTryRequest } from './try-request.ts'

type Operation = KitView['operations'][number]

/** Longer answers are cut while they are read: this page is not for videos (bytes). */
const MAX_READ = 2_000_000

/**
 * Puts the form of an operation in place of its button; for the main button of a page, where the page
 * has room for it. The price of a paid one is requested at once: the form is filled with its example.
 */
export async function openTry(button: HTMLElement): Promise<void> {
  const { try: key = '' } = button.dataset
  const room =
    button.closest('.listing-head') === null ? null : document.querySelector<HTMLElement>('#terms')
  const path = (room ?? button.closest<HTMLElement>('[data-kit]'))?.dataset.kit ?? ''
  const kit = await readKit(path)
  const operation = kit?.operations.find(({ method, url }) => `${method} ${url}` === key)
  const relay = operation?.relay_url
  if (kit === null || operation === undefined || relay === undefined) {
    button.textContent = 'Could not load the form. Try again'
    return
  }
  const ceiling = operation.price?.max_usd === 0 ? null : ceilingOf(operation)
  const box = document.createElement('div')
  box.innerHTML = toTryForm(toTryFields(operation), ceiling).text
  if (room === null) button.replaceWith(box)
  else room.replaceChildren(box)
  const form = box.querySelector('form')
  if (form === null) return
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void guard(form, () => ask(form, { kit, operation, relay }))
  })
  if (ceiling === null) form.querySelector<HTMLElement>('input, select, textarea')?.focus()
  else form.requestSubmit()
}

/** Null where it cannot be fetched now. Our own file, in the shape of `KitViewSchema`. */
async function readKit(path: string): Promise<KitView | null> {
  const response = await fetch(path).catch(() => null)
  return response?.ok === true ? await response.json().catch(() => null) : null
}

function ceilingOf({ price }: Operation): number {
  return price?.max_usd ?? 0.05
}

interface Tried {
  kit: KitView
  operation: Operation
  relay: string
}

/** One call at a time; errors are shown in place of the answer. */
async function guard(form: HTMLFormElement, work: () => Promise<Markup>): Promise<void> {
  const buttons = [...form.querySelectorAll('button')]
  for (const button of buttons) button.disabled = true
  const shown = await work().catch((error: unknown) => toProblemMarkup(messageOf(error)))
  for (const button of buttons) button.disabled = false
  const place = form.querySelector('[data-answer]')
  if (place === null) return
  place.innerHTML = shown.text
  // The answer may be below the window.
  place.scrollIntoView({ block: 'nearest' })
}

/** Wallets throw plain objects with a message. */
function messageOf(error: unknown): string {
  const message = typeof error === 'object' && error !== null && Reflect.get(error, 'message')
  return typeof message === 'string' && message !== '' ? message : 'The call failed.'
}

async function ask(form: HTMLFormElement, tried: Tried): Promise<Markup> {
  const values = new Map([...new FormData(form)].map(([name, value]) => [name, String(value)]))
  const request = toTryRequest(tried.operation, values)
  if (typeof request === 'string') return toProblemMarkup(request)
  const answer = await call(tried.relay, request, {})
  if (answer.status !== 402) return toAnswerMarkup(answer)
  const terms = readRequestedTerms(answer, tried.operation, tried.kit.payees)
  if (terms === null) return toProblemMarkup(toUnreadText(answer.headers))
  listenForPay(form, { ...tried, request, terms })
  return toTermsMarkup(terms, ceilingIn(form))
}

/** @param headers by lower-case name */
function toUnreadText({ 'www-authenticate': challenge = '' }: Record<string, string>): string {
  return /^payment\b/i.test(challenge)
    ? 'The seller wants payment by MPP, and this page only pays by x402: kit.json shows how a client pays it.'
    : 'The seller answered 402 without terms of x402 that can be read here.'
}

function ceilingIn(form: HTMLFormElement): number {
  const ceiling = Number(new FormData(form).get('ceiling'))
  return Number.isFinite(ceiling) && ceiling > 0 ? ceiling : 0
}

interface Payable extends Tried {
  request: TryRequest
  terms: RequestedTerms
}

/** The form listens for clicks: its buttons are drawn later. The last 402 is the one paid. */
function listenForPay(form: HTMLFormElement, payable: Payable): void {
  form.onclick = ({ target }) => {
    const at = target instanceof HTMLElement ? target.dataset.pay : undefined
    if (at === undefined) return
    form.onclick = null
    void guard(form, () => pay(form, payable, Number(at)))
  }
}

async function pay(form: HTMLFormElement, payable: Payable, at: number): Promise<Markup> {
  const { request, terms, relay } = payable
  const wallet: BrowserWallet | undefined = Reflect.get(window, 'ethereum')
  if (wallet === undefined)
    return toProblemMarkup(
      'This browser has no wallet. Install one that speaks EIP-1193, or pay with the command above.',
    )
  const requested = terms.offers[at]
  const ceiling = ceilingIn(form)
  const fault = requested === undefined ? 'This offer is gone.' : findPayFault(requested, ceiling)
  if (requested === undefined || fault !== null) return toProblemMarkup(fault ?? '')
  const payment = await signOffer(wallet, requested, terms)
  const payee = toPayout(requested.chain, String(requested.offer.payTo))
  const answer = await call(relay, request, {
    [payment.name]: payment.value,
    [EXPECT_HEADER]: toExpectText({ max_usd: ceiling, ...(payee !== null && { payee: [payee] }) }),
  }).catch(() => null)
  return answer === null ? toProblemMarkup(LOST) : toAnswerMarkup(answer)
}

const LOST =
  'The connection broke after your payment went out. It may have been taken: look at your wallet before you pay again.'

/** Through the relay, from this page's own origin. */
async function call(relay: string, request: TryRequest, more: Record<string, string>) {
  const { method, headers, body } = request
  const response = await fetch(toRelayPath(relay, request), {
    method,
    headers: { ...headers, ...more },
    ...(body !== undefined && { body }),
    redirect: 'error',
    credentials: 'omit',
    cache: 'no-store',
  })
  const named = Object.fromEntries(response.headers)
  const { text } = await readAnswerText(response, MAX_READ)
  return {
    ...{ status: response.status, headers: named, body: text, text },
    type: named['content-type'] ?? '',
    receipt: readReceipt(named),
    callReceipt: toOwnPath(named['call-receipt']),
  }
}

/** A link is only followed on our own origin, whatever a seller wrote into the header. */
function toOwnPath(text: string | undefined): string | null {
  const url = text === undefined ? null : URL.parse(text, location.origin)
  return url?.origin === location.origin ? url.pathname : null
}
