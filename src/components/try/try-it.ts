import type { KitView } from '../../domain/kit/kit-view.ts'
import {
  type RequestedTerms,
  readRequestedTerms,
  type TermRow,
  toTermRows,
} from '../../domain/kit/requested-terms.ts'
import { toPayout } from '../../domain/listing/networks.ts'
import { encodeBody, toExampleRequest, toText } from '../../domain/listing/operation.ts'
import { readReceipt } from '../../domain/relay/payments.ts'
import { EXPECT_HEADER, toExpectText } from '../../domain/relay/pins.ts'
import type { LintReport } from '../../domain/sellers/lint.ts'
import { isJsonObject, parseJson } from '../../domain/wire/json.ts'
import { ROUTES } from '../../domain/wire/routes.ts'
import { cutText, toOperationKey } from '../../domain/wire/text.ts'
import { type BrowserWallet, findPayFault, signOffer, toWalletFault } from './browser-wallet.ts'

type Operation = KitView['operations'][number]

/** Longer answers are cut while they are read: this page is not for videos (bytes). */
const MAX_READ = 2_000_000

/**
 * Puts an operation's form in place of its button; the form for a page's main button goes where
 * there is room. A paid operation's price is requested at once; the example fills the form.
 */
export async function openTry(button: HTMLElement): Promise<void> {
  const { try: key = '' } = button.dataset
  const room =
    button.closest('.listing-head') === null ? null : document.querySelector<HTMLElement>('#terms')
  const path = (room ?? button.closest<HTMLElement>('[data-kit]'))?.dataset.kit ?? ''
  const kit = await readKit(path)
  if (kit === null) {
    button.textContent = 'Could not load the form. Try again'
    return
  }
  const operation = kit.operations.find((each) => toOperationKey(each) === key)
  const relay = operation?.relay_url
  const ceiling = operation?.price?.max_usd === 0 ? null : (operation?.price?.max_usd ?? 0.05)
  const form =
    operation === undefined || relay === undefined
      ? fillForm(operation, [], null, 'price')
      : fillForm(operation, toTryFields(operation), ceiling, ceiling === null ? 'call' : 'pay')
  if (room === null) button.replaceWith(form)
  else room.replaceChildren(form)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void guard(form, () =>
      operation === undefined || relay === undefined
        ? askProber(kit, operation)
        : ask(form, { kit, operation, relay }),
    )
  })
  if (ceiling === null) form.querySelector<HTMLElement>('input, select, textarea')?.focus()
  else form.requestSubmit()
}

/** Our own kit.json, in the shape of `KitViewSchema`; null if it cannot be fetched now. */
async function readKit(path: string): Promise<KitView | null> {
  const response = await fetch(path).catch(() => null)
  return response?.ok === true ? await response.json().catch(() => null) : null
}

interface Tried {
  kit: KitView
  operation: Operation
  relay: string
}

/** One call at a time; errors are shown in place of the answer. */
async function guard(form: HTMLFormElement, work: () => Promise<HTMLElement>): Promise<void> {
  const buttons = [...form.querySelectorAll('button')]
  for (const button of buttons) button.disabled = true
  const shown = await work().catch((error: unknown) => fillProblem(toWalletFault(error)))
  for (const button of buttons) button.disabled = false
  const place = form.querySelector('[data-answer]')
  if (place === null) return
  place.replaceChildren(shown)
  // The answer may be below the window.
  place.scrollIntoView({ block: 'nearest' })
}

async function ask(form: HTMLFormElement, tried: Tried): Promise<HTMLElement> {
  const values = new Map([...new FormData(form)].map(([name, value]) => [name, String(value)]))
  const request = toTryRequest(tried.operation, values)
  if (typeof request === 'string') return fillProblem(request)
  const answer = await call(tried.relay, request, {})
  if (answer.status !== 402) return fillAnswer(answer)
  const terms = readRequestedTerms(answer, tried.operation, tried.kit.payees)
  if (terms === null) return askProber(tried.kit, tried.operation)
  listenForPay(form, { ...tried, request, terms })
  const ceiling = ceilingIn(form)
  return fillTerms(
    terms.offers.map((offer) => ({ rows: offer.rows, fault: findPayFault(offer, ceiling) })),
  )
}

/** For a call that this page cannot pay: the seller's terms, as our prober reads them from the seller's 402. */
async function askProber(kit: KitView, operation: Operation | undefined): Promise<HTMLElement> {
  const url = operation?.example.url ?? kit.url
  const response = await fetch(`${ROUTES.lint.path}?${new URLSearchParams({ url })}`)
  const text = await response.text()
  if (!response.ok)
    return fillProblem(toProblemText(response.headers.get('content-type') ?? '', text))
  const { saw, terms = [] }: LintReport = JSON.parse(text)
  // The prober requests all operations of the listing; terms that name no operation are for the whole service.
  const own = terms.filter(
    ({ operation: key }) =>
      key === undefined ||
      operation === undefined ||
      [operation.url, url].some((address) => key.endsWith(address)),
  )
  if (own.length === 0) return fillProblem(`No terms came back: ${saw}.`)
  const { pricing } = kit
  const whole = pricing.model === 'per_call' ? { price: { ...pricing, per: 'call' as const } } : {}
  return fillTerms(
    own.map(({ rail, scheme, network: chain, usd, payout: payee }) => {
      const payTo = payee?.slice(payee.lastIndexOf(':') + 1) ?? 'not named'
      const words = { price: 'a price in an unknown coin', network: scheme, payee: payTo }
      return {
        rows: toTermRows({ rail, chain, usd, payee, words }, operation ?? whole, kit.payees),
        fault: `Pay this by ${rail} (${scheme}) with your own client; the code is on the listing’s page.`,
      }
    }),
  )
}

function ceilingIn(form: HTMLFormElement): number {
  const ceiling = Number(new FormData(form).get('ceiling'))
  return Number.isFinite(ceiling) && ceiling > 0 ? ceiling : 0
}

interface Payable extends Tried {
  request: TryRequest
  terms: RequestedTerms
}

/** The form listens for clicks because its buttons are drawn later. Only the last 402 can be paid. */
function listenForPay(form: HTMLFormElement, payable: Payable): void {
  form.onclick = ({ target }) => {
    const at = target instanceof HTMLElement ? target.dataset.pay : undefined
    if (at === undefined) return
    form.onclick = null
    void guard(form, () => pay(form, payable, Number(at)))
  }
}

async function pay(form: HTMLFormElement, payable: Payable, at: number): Promise<HTMLElement> {
  const { request, terms, relay } = payable
  const wallet: BrowserWallet | undefined = Reflect.get(window, 'ethereum')
  if (wallet === undefined)
    return fillProblem(
      'This browser has no wallet. Install one that speaks EIP-1193, or pay with the command above.',
    )
  const requested = terms.offers[at]
  const ceiling = ceilingIn(form)
  const fault = requested === undefined ? 'This offer is gone.' : findPayFault(requested, ceiling)
  if (requested === undefined || fault !== null) return fillProblem(fault ?? '')
  const payment = await signOffer(wallet, requested, terms)
  const payee = toPayout(requested.chain, String(requested.offer.payTo))
  const answer = await call(relay, request, {
    [payment.name]: payment.value,
    [EXPECT_HEADER]: toExpectText({ max_usd: ceiling, ...(payee !== null && { payee: [payee] }) }),
  }).catch(() => null)
  return answer === null ? fillProblem(LOST) : fillAnswer(answer)
}

const LOST =
  'The connection broke after your payment went out. The payment may have been taken: look at your wallet before you pay again.'

/** Calls through the relay, from this page's own origin. */
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
  const text = await readStart(response)
  return {
    ...{ status: response.status, headers: named, body: text, text },
    type: named['content-type'] ?? '',
    receipt: readReceipt(named),
    callReceipt: toOwnPath(named['call-receipt']),
  }
}

/** Stops at the limit: a longer answer is not fetched to its end. */
async function readStart(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let read = 0; reader !== undefined && read < MAX_READ; ) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    read += value.length
    text += decoder.decode(value, { stream: true })
  }
  await reader?.cancel()
  return text
}

/** A link's path, only if it is on our own origin, whatever a seller wrote into the header. */
function toOwnPath(text: string | undefined): string | null {
  const url = text === undefined ? null : URL.parse(text, location.origin)
  return url?.origin === location.origin ? url.pathname : null
}

/** How many characters of an answer are shown; the rest can be saved. */
const MAX_SHOWN = 20_000

const NOTES = {
  call: 'The call goes through our relay.',
  pay: 'The seller answers with its price. Nothing is paid until your wallet signs.',
  price: 'Our prober asks the seller for the price. Nothing is paid here.',
}

/** One operation's form. @param ceiling the most US dollars that a payment may cost */
function fillForm(
  operation: Operation | undefined,
  fields: readonly TryField[],
  ceiling: number | null,
  use: keyof typeof NOTES,
): HTMLFormElement {
  const form = fillPart('form', {
    call: operation === undefined ? '' : `${operation.method} ${operation.url}`,
    ceiling: String(ceiling ?? ''),
    button: use === 'call' ? 'Call it' : 'Ask the price',
    note: NOTES[use],
  })
  form.querySelector('[name=ceiling]')?.setAttribute('value', String(ceiling))
  for (const field of fields) form.querySelector('[data-fields]')?.append(fillField(field))
  if (form instanceof HTMLFormElement) return form
  throw new Error('The part “form” of this page is not a form element.')
}

function fillField({ key, name, type, choices, isRequired, value }: TryField): HTMLElement {
  const options = type === 'boolean' ? ['true', 'false'] : choices
  const control = options.length > 0 ? 'choices' : type === 'json' ? 'json' : 'line'
  const field = fillPart('field', { name, required: isRequired ? 'yes' : '', [control]: 'yes' })
  const input = field.querySelector<HTMLInputElement>('select, textarea, input')
  if (input === null) return field
  if (control === 'choices') for (const option of ['', ...options]) input.append(new Option(option))
  if (control === 'line') input.inputMode = type === 'string' ? 'text' : 'decimal'
  return Object.assign(input, { name: key, value }) && field
}

/** The seller's own terms next to what the directory expected, with a button for each offer that can be paid. */
function fillTerms(offers: readonly { rows: readonly TermRow[]; fault: string | null }[]) {
  const list = Object.assign(document.createElement('ul'), { className: 'stack offers' })
  for (const [at, { rows, fault }] of offers.entries()) {
    const pay = fault === null ? `Pay ${rows[0]?.requested} with my wallet` : ''
    const offer = fillPart('offer', { fault: fault ?? '', pay })
    offer.querySelector('button')?.setAttribute('data-pay', String(at))
    for (const { label, requested: text, expected, differs } of rows)
      offer.querySelector('tbody')?.append(
        fillPart('term', {
          ...{ label, requested: text, expected: expected === '' ? 'not known' : expected },
          differs: differs ? 'yes' : '',
        }),
      )
    list.append(offer)
  }
  return list
}

/** The answer. @param callReceipt address of the directory's own receipt */
function fillAnswer({ callReceipt, ...shown }: Shown & { callReceipt: string | null }) {
  const answer = fillPart('answer', { ...toAnswerTexts(shown), ours: callReceipt ?? '' })
  answer.querySelector('a')?.setAttribute('href', callReceipt ?? '')
  return answer
}

function fillProblem(problem: string): HTMLElement {
  return fillPart('answer', { problem })
}

interface Shown {
  status: number
  type: string
  text: string
  /** The seller's report on the settlement. */
  receipt: unknown
}

/** An answer as text; a problem (RFC 9457), ours or the seller's, is shown as its title and detail. */
export function toAnswerTexts({ status, type, text, receipt }: Shown) {
  const problem = toProblemText(type, text)
  const body = cutText(toReadable(type, text), MAX_SHOWN)
  return {
    ...{ status: String(status), type, problem },
    ...(problem === '' ? { body, raw: '' } : { body: '', raw: body }),
    receipt: receipt === undefined ? '' : JSON.stringify(receipt, null, 2),
  }
}

/** JSON is indented if that only changes spaces: a long number keeps every digit. */
function toReadable(type: string, text: string): string {
  const json = type.includes('json') ? parseJson(text) : undefined
  if (json === undefined) return text
  const isSame = withoutSpaces(JSON.stringify(json)) === withoutSpaces(text)
  return isSame ? JSON.stringify(json, null, 2) : text
}

function withoutSpaces(text: string): string {
  return text.replace(/\s/g, '')
}

function toProblemText(type: string, text: string): string {
  if (!type.startsWith('application/problem+json')) return ''
  const { title, detail } = Object(parseJson(text))
  return [title, detail].filter((words) => typeof words === 'string').join(': ')
}

/**
 * A copy of a part of `try-form.astro`. Foreign words become text in it, whatever they contain.
 * @param texts the texts, by their names in the part; an optional piece without a text is removed
 */
function fillPart(part: string, texts: Readonly<Record<string, string>>): HTMLElement {
  const template = document.querySelector<HTMLTemplateElement>(`template[data-part="${part}"]`)
  const copy = template?.content.firstElementChild?.cloneNode(true)
  if (!(copy instanceof HTMLElement)) throw new Error(`This page has no part ${part}.`)
  for (const place of copy.querySelectorAll<HTMLElement>('[data-when], [data-text]')) {
    const { when, text } = place.dataset
    if (when !== undefined && !texts[when]) place.remove()
    else if (text !== undefined) place.textContent = texts[text] ?? ''
  }
  return copy
}

/** One input in the form: a parameter, a member of a JSON body, or the whole body. */
interface TryField {
  /** Where its value goes: `query:q`, `path:id`, `header:X-Mode`, `body:query`, or `body`. */
  key: string
  name: string
  /** JSON type; the whole body and members of any other type are written as JSON. */
  type: 'string' | 'integer' | 'number' | 'boolean' | 'json'
  choices: readonly string[]
  isRequired: boolean
  /** The example's value, as text. */
  value: string
}

/** The form's fields, filled with the operation's own example. */
function toTryFields({ params = [], body, example }: Operation): TryField[] {
  const fields = params.map(({ name, in: place, schema = {}, required, example: value }) => ({
    ...toField(`${place}:${name}`, name, schema),
    isRequired: required === true || place === 'path',
    value: value === undefined ? '' : toText(value),
  }))
  const { properties, required } = body?.schema ?? {}
  const sent = example.body
  if (sent === undefined) return fields
  if (!isJsonObject(properties) || !isJsonObject(sent))
    return [...fields, { ...toField('body', 'body', {}), isRequired: true, value: toText(sent) }]
  const needed = Array.isArray(required) ? required : []
  const members = Object.entries(properties).map(([name, schema]) => ({
    ...toField(`body:${name}`, name, isJsonObject(schema) ? schema : {}),
    isRequired: needed.includes(name),
    value: sent[name] === undefined ? '' : toText(sent[name]),
  }))
  return [...fields, ...members]
}

function toField(key: string, name: string, schema: Readonly<Record<string, unknown>>) {
  const choices = Array.isArray(schema.enum) ? schema.enum.map(String) : []
  return { key, name, type: typeOf(schema.type), choices }
}

function typeOf(type: unknown): TryField['type'] {
  return type === 'string' || type === 'integer' || type === 'number' || type === 'boolean'
    ? type
    : 'json'
}

interface TryRequest {
  method: string
  /** The seller's address with its query. */
  url: string
  headers: Record<string, string>
  body: string | undefined
}

/**
 * The request from the filled form. An empty input is not sent.
 * @param values the text in each field, by the field's key
 * @returns the request, or a sentence about the first input that does not match its type
 */
function toTryRequest(
  operation: Operation,
  values: ReadonlyMap<string, string>,
): TryRequest | string {
  const parsed = new Map<string, unknown>()
  for (const field of toTryFields(operation)) {
    const text = (values.get(field.key) ?? '').trim()
    if (text === '' && field.isRequired) return `${field.name}: expected a value.`
    if (text === '') continue
    const value = parseValue(field.type, text)
    if (value === undefined) return `${field.name}: expected ${EXPECTED[field.type]}, got ${text}`
    parsed.set(field.key, value)
  }
  const params = (operation.params ?? []).flatMap(({ example: _, ...param }) => {
    const value = parsed.get(`${param.in}:${param.name}`)
    return value === undefined ? [] : [{ ...param, example: toText(value) }]
  })
  const { url, headers } = toExampleRequest(
    { method: operation.method, url: operation.url, params },
    { type: 'none' },
  )
  const body = toBody(parsed)
  const type = operation.body?.content_type ?? 'application/json'
  return {
    method: operation.method,
    url,
    headers: body === undefined ? withoutType(headers) : { ...headers, 'Content-Type': type },
    body: body === undefined ? undefined : encodeBody(type, body),
  }
}

/** The whole body, or its members; undefined if the form has neither. */
function toBody(parsed: ReadonlyMap<string, unknown>): unknown {
  if (parsed.has('body')) return parsed.get('body')
  const members = [...parsed].flatMap(([key, value]) =>
    key.startsWith('body:') ? [[key.slice('body:'.length), value] as const] : [],
  )
  return members.length === 0 ? undefined : Object.fromEntries(members)
}

function withoutType({ 'Content-Type': _, ...headers }: Record<string, string>) {
  return headers
}

const EXPECTED = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  json: 'JSON',
} as const satisfies Record<TryField['type'], string>

function parseValue(type: TryField['type'], text: string): unknown {
  if (type === 'string') return text
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined
  if (type === 'json') return parseJson(text) ?? (/^[[{"]/.test(text) ? undefined : text)
  const number = Number(text)
  const isFit = type === 'integer' ? Number.isSafeInteger(number) : Number.isFinite(number)
  return isFit ? number : undefined
}

/** The same request at the relay, on this page's own origin. */
function toRelayPath(relayUrl: string, { url }: Pick<TryRequest, 'url'>): string {
  return `${new URL(relayUrl).pathname}?endpoint=${encodeURIComponent(url)}`
}
