import { parseJson } from '../../domain/wire/json.ts'
import { cutText } from '../../domain/wire/text.ts'
import { toReadable } from '../frame/answer-text.ts'
import { html, type Markup } from '../frame/html.ts'
import { findPayFault } from './browser-wallet.ts'
import type { RequestedTerms } from './requested-terms.ts'
import type { TryField } from './try-request.ts'

/** Characters of an answer that are shown; the rest can be saved. */
const MAX_SHOWN = 20_000

/** The form of one operation. @param ceiling US dollars that a payment may cost at most */
export function toTryForm(fields: readonly TryField[], ceiling: number | null): Markup {
  return html`
    <form class="try" novalidate>
      ${fields.map(toInput)}
      ${ceiling !== null && html`<label><span>At most, in US dollars</span><input type="text" name="ceiling" inputmode="decimal" value="${ceiling}"></label>`}
      <p class="buttons"><button class="button primary">${ceiling === null ? 'Call it' : 'Ask the price'}</button></p>
      <p class="small soft">${ceiling === null ? 'The call goes through our relay.' : 'The seller answers with its price. Nothing is paid until your wallet signs.'}</p>
      <div data-answer role="status"></div></form>`
}

function toInput({ key, name, type, choices, isRequired, value }: TryField): Markup {
  const label = html`<span><code>${name}</code>${isRequired && html`<b> required</b>`}</span>`
  const options = type === 'boolean' ? ['true', 'false'] : choices
  if (options.length > 0)
    return html`
      <label>${label}<select name="${key}">${['', ...options].map(
        (option) => html`<option${option === value && html` selected`}>${option}</option>`,
      )}</select></label>`
  if (type === 'json')
    return html`<label>${label}<textarea name="${key}" rows="3" dir="auto">${value}</textarea></label>`
  const mode = type === 'string' ? 'text' : 'decimal'
  return html`<label>${label}<input type="text" name="${key}" inputmode="${mode}" dir="auto" value="${value}"></label>`
}

/** The seller's own terms beside what the directory expected, and a way to pay each. */
export function toTermsMarkup({ offers }: RequestedTerms, maxUsd: number): Markup {
  const ways = offers.map((requested, at) => {
    const fault = findPayFault(requested, maxUsd)
    const rows = requested.rows.map(
      ({ label, requested, expected, differs }) => html`
        <tr class="${differs && 'differs'}"><th scope="row">${label}</th><td><bdi>${requested}</bdi></td>
          <td>${differs && html`<span class="dot missing"></span> `}<bdi>${expected === '' ? 'not known' : expected}</bdi>${differs && html` <b>differs</b>`}</td></tr>`,
    )
    return html`
      <li><table class="terms">
        <thead><tr><td></td><th scope="col">The seller asks</th><th scope="col">We expected</th></tr></thead>
        <tbody>${rows}</tbody></table>
        ${fault === null ? html`<button class="button" type="button" data-pay="${at}">Pay ${requested.rows[0]?.requested} with my wallet</button>` : html`<p class="small soft">${fault}</p>`}</li>`
  })
  return html`<ul class="stack offers">${ways}</ul>`
}

interface Shown {
  status: number
  type: string
  text: string
  /** The seller's report on the settlement. */
  receipt: unknown
  /** Address of the directory's own receipt. */
  callReceipt: string | null
}

/** The answer. Foreign bytes are text here, whatever the seller calls them. */
export function toAnswerMarkup({ status, type, text, receipt, callReceipt }: Shown): Markup {
  const body = html`<pre dir="auto"><code>${cutText(toReadable(type, text), MAX_SHOWN)}</code></pre>`
  const problem = toProblemText(type, text)
  return html`
    <p><strong>${status}</strong> <span class="soft">${type}</span></p>
    ${problem !== '' && toProblemMarkup(problem)}
    ${problem !== '' && html`<details class="sample"><summary>As it came</summary>${body}</details>`}
    ${problem === '' && text !== '' && body}
    ${receipt !== undefined && html`<details class="sample"><summary>Receipt of the seller</summary><pre><code>${JSON.stringify(receipt, null, 2)}</code></pre></details>`}
    ${callReceipt !== null && html`<p class="small"><a href="${callReceipt}">Our receipt of what came back</a></p>`}`
}

/** The words of a problem (RFC 9457), ours or the seller's; empty where the answer is not a problem. */
function toProblemText(type: string, text: string): string {
  if (!type.startsWith('application/problem+json')) return ''
  const { title, detail } = Object(parseJson(text))
  return [title, detail].filter((words) => typeof words === 'string').join(': ')
}

export function toProblemMarkup(text: string): Markup {
  return html`<p class="notice" dir="auto">${text}</p>`
}
