import { normalizePayout, toNetworkName } from '../../domain/listing/networks.ts'
import type { OwnedListing, Said } from '../../domain/views/seller-pages.ts'
import type { KnownPayout } from '../../domain/views/seller-views.ts'
import { html, type Markup } from '../frame/html.ts'
import { toCopyBlock } from '../frame/sentences.ts'
import { toForm, toLine, toSight } from './claim-cards.ts'

/** How the wallet of a payout signs a text, by the family of its chain. */
const HINTS = {
  evm: '0x and hex: EIP-191 (“personal sign”), or what a contract wallet takes by EIP-1271.',
  solana: 'Base58: ed25519 over the bytes of the text, as a wallet’s “sign message” gives it.',
} as const

/** The payouts of an owned listing, each with the steps that prove it. */
export function toPayoutsPanel(
  { claim, payouts }: Pick<OwnedListing, 'claim' | 'payouts'>,
  said: Said | null,
): Markup {
  const { id, listing_id } = claim
  const asked = said?.payout
  const isAsked = ({ payout }: { payout: string }) =>
    asked !== undefined && normalizePayout(payout) === normalizePayout(asked)
  const typed = { listing_id, payout: asked ?? '', published: false, counts: false }
  const all = asked === undefined || payouts.some(isAsked) ? payouts : [...payouts, typed]
  const items = all.map((known) => toItem(id, known, isAsked(known) ? said : null))
  const another = html`
    <label class="field">
      <span>Address with its chain (CAIP-10)</span>
      <input name="payout" type="text" required maxlength="200" placeholder="eip155:8453:0x…" autocomplete="off" spellcheck="false">
    </label>
    <button>Prove it</button>`
  return html`
    <section class="panel" data-payouts>
      <h3>Payouts</h3>
      ${all.length === 0 && html`<p class="small soft">We know no payout address. Add the one that buyers pay to, so that its payments can count.</p>`}
      <ul class="payouts">${items}</ul>
      <details>
        <summary>Prove another address</summary>
        <div class="payout-form">${toForm('prove', { claim: id, listing_id }, another)}</div>
      </details>
    </section>`
}

function toItem(claim: string, known: KnownPayout, said: Said | null): Markup {
  const { payout, listing_id } = known
  const { network, address } = toPayoutFacts(payout)
  const { tone, label, explanation } = toPayoutState(known)
  const target = { claim, listing_id, payout }
  const button =
    tone === 'earned'
      ? toForm('withdraw', target, html`<button>Withdraw the proof</button>`)
      : said?.challenge === undefined && toForm('prove', target, html`<button>Prove it</button>`)
  return html`
    <li>
      <div class="card-head">
        <p><strong>${network}</strong> <code>${address || payout}</code></p>
        <span class="tag ${tone}">${label}</span>
      </div>
      <p class="small soft">${explanation}</p>
      ${button}
      ${said?.challenge !== undefined && toProof(target, said.challenge)}
      ${said?.checked && toChecked(said.checked)}${toLine(said)}
    </li>`
}

function toProof(target: { claim: string; listing_id: string; payout: string }, challenge: string) {
  const { way, address } = toPayoutFacts(target.payout)
  const paste = html`
    <label class="field">
      <span>Or paste the signature</span>
      <textarea name="signature" rows="3" required maxlength="8192" spellcheck="false" autocomplete="off"></textarea>
    </label>
    <p class="small soft">${HINTS[way]}</p>
    <p><button>Check the signature</button></p>`
  return html`
    <ol class="claim-steps">
      <li>
        <p>Sign this text with the wallet of the address. It works once, for 15 minutes.</p>
        <div data-challenge>${toCopyBlock(challenge, `text to sign for ${target.payout}`)}</div>
      </li>
      ${
        way === 'evm' &&
        html`
        <li class="needs-script" data-wallets="${address}">
          <p>Sign it here:</p>
          <p class="buttons" data-wallet-buttons></p>
          <p class="small soft" role="status" data-wallet-note>No wallet was found in this browser. Sign the text elsewhere.</p>
        </li>`
      }
      <li class="paste">${toForm('sign', { ...target, challenge }, paste)}</li>
    </ol>`
}

function toChecked({ verified, expected, observed }: NonNullable<Said['checked']>): Markup {
  const title = verified ? 'Proven: this payout is yours.' : 'Not proven yet.'
  const soon = verified && html`<p class="small soft">It counts from the next build on.</p>`
  return html`${toSight({ title, verified, expected, observed })}${soon}`
}

/** @example toPayoutFacts('eip155:8453:0x12…').network → 'Base' */
export function toPayoutFacts(payout: string) {
  const [family = '', chain = '', address = ''] = payout.split(':')
  const way = family === 'solana' ? 'solana' : 'evm'
  return { network: toNetworkName(`${family}:${chain}`), address, way } as const
}

/** The state of a payout, in words. */
export function toPayoutState({ published, counts, proven_at }: KnownPayout) {
  if (proven_at !== undefined) {
    const when = counts ? '' : ' from the next build on'
    const explanation = `Payments to it count for this listing${when}.`
    return { tone: 'earned', label: `proven ${proven_at.slice(0, 10)}`, explanation }
  }
  if (published && !counts) return { tone: 'warn', label: 'contested', explanation: CONTESTED }
  return { tone: '', label: 'not proven', explanation: published ? UNCONTESTED : UNPUBLISHED }
}

const CONTESTED =
  'Listings on other domains name it too. Payments to it count for nobody until its holder proves it.'
const UNCONTESTED =
  'Payments to it count as long as nobody else names it. Prove it, and it is only yours; payments made without our relay can then count too.'
const UNPUBLISHED =
  'The listing does not name it. Prove it, and payments to it count from the next build on.'
