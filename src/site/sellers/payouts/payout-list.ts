import { toNetworkName } from '../../../domain/listing/networks.ts'
import type { KnownPayout, PayoutChecked, PayoutState } from '../../../domain/views/seller-views.ts'
import { html, type Markup } from '../../frame/html.ts'
import { toCopyBlock } from '../../frame/sentences.ts'
import { showLine, showSight } from '../controls/check-box.ts'
import { fill, onClick, onSubmit, partOf, toElement } from '../controls/elements.ts'
import { callSellers } from '../controls/seller-api.ts'
import { signWithWallet, type Wallet, watchWallets } from './wallet.ts'

/** The payouts of an owned listing; `showPayouts` fills it. */
export const PAYOUTS_PANEL = html`
  <section class="panel" data-payouts>
    <h3>Payouts</h3>
    <p class="small soft" data-no-payouts>
      We know no payout address. Add the one that buyers pay to, so that its payments can count.
    </p>
    <ul class="payouts" data-payout-list></ul>
    <details>
      <summary>Prove another address</summary>
      <form class="payout-form" data-payout-form>
        <label class="field">
          <span>Address with its chain (CAIP-10)</span>
          <input name="payout" type="text" required maxlength="200" placeholder="eip155:8453:0x…" autocomplete="off" spellcheck="false">
        </label>
        <button>Prove it</button>
      </form>
    </details>
  </section>`

/** How the wallet of a payout signs a text, by the family of its chain. */
const HINTS = {
  evm: '0x and hex: EIP-191 (“personal sign”), or what a contract wallet takes by EIP-1271.',
  solana: 'Base58: ed25519 over the bytes of the text, as a wallet’s “sign message” gives it.',
} as const

/** The payouts of an owned listing, each with the steps that prove it. */
export function showPayouts(
  panel: HTMLElement,
  listingId: string,
  payouts: readonly KnownPayout[],
): void {
  const list = partOf(panel, 'payout-list')
  fill(list, payouts.map(createPayout))
  partOf(panel, 'no-payouts').hidden = payouts.length > 0
  const form = partOf<HTMLFormElement>(panel, 'payout-form')
  onSubmit(form, async (read) => {
    const typed = { listing_id: listingId, payout: read('payout'), published: false, counts: false }
    const item = createPayout(typed)
    list.append(item)
    form.reset()
    await openProof(item, typed)
  })
}

function createPayout(known: KnownPayout): HTMLElement {
  const item = toElement(toItem(known))
  showState(item, known)
  onClick(item, 'prove', () => openProof(item, known))
  onClick(item, 'withdraw', () => withdraw(item, known))
  return item
}

function toItem({ payout }: KnownPayout): Markup {
  const { network, address, way } = toPayoutFacts(payout)
  return html`
    <li>
      <div class="card-head">
        <p><strong>${network}</strong> <code>${address || payout}</code></p>
        <span class="tag" data-payout-state></span>
      </div>
      <p class="small soft" data-explanation></p>
      <p class="buttons">
        <button type="button" data-prove>Prove it</button>
        <button type="button" data-withdraw>Withdraw the proof</button>
      </p>
      <ol class="claim-steps" data-proof hidden>
        <li>
          <p>Sign this text with the wallet of the address. It works once, for 15 minutes.</p>
          <div data-challenge></div>
        </li>
        <li ${way !== 'evm' && 'hidden'}>
          <p>Sign it here:</p>
          <p class="buttons" data-wallets></p>
          <p class="small soft" data-no-wallet>No wallet was found in this browser. Sign the text elsewhere.</p>
        </li>
        <li>
          <form class="paste" data-paste>
            <label class="field">
              <span>Or paste the signature</span>
              <textarea name="signature" rows="3" required maxlength="8192" spellcheck="false" autocomplete="off"></textarea>
            </label>
            <p class="small soft">${HINTS[way]}</p>
            <p><button>Check the signature</button></p>
          </form>
        </li>
      </ol>
      <div class="saw" role="status" data-payout-result hidden></div>
    </li>`
}

/** @example toPayoutFacts('eip155:8453:0x12…').network → 'Base' */
export function toPayoutFacts(payout: string) {
  const [family = '', chain = '', address = ''] = payout.split(':')
  const way = family === 'solana' ? 'solana' : 'evm'
  return { network: toNetworkName(`${family}:${chain}`), address, way } as const
}

function showState(item: HTMLElement, known: KnownPayout): void {
  const { tone, label, explanation } = toPayoutState(known)
  partOf(item, 'prove').hidden = tone === 'earned'
  partOf(item, 'withdraw').hidden = tone !== 'earned'
  const tag = partOf(item, 'payout-state')
  tag.textContent = label
  tag.className = `tag ${tone}`
  partOf(item, 'explanation').textContent = explanation
}

/** What is known of a payout, in words. */
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
  'Payments to it count as long as nobody else names it. Prove it, and it is yours alone; payments made without our relay can then count too.'
const UNPUBLISHED =
  'The listing does not name it. Prove it, and payments to it count from the next build on.'

async function withdraw(item: HTMLElement, known: KnownPayout): Promise<void> {
  const { proven_at: _, ...unproven } = known
  const { listing_id, payout } = known
  const box = partOf(item, 'payout-result')
  const answer = await callSellers<PayoutState>('DELETE', 'payout', { listing_id, payout })
  if (!answer.ok) return showLine(box, answer.detail)
  showState(item, unproven)
  showLine(box, 'The proof is withdrawn. It stops counting with the next build.')
}

async function openProof(item: HTMLElement, known: KnownPayout): Promise<void> {
  const { listing_id, payout } = known
  const box = partOf(item, 'payout-result')
  const answer = await callSellers<{ challenge: string }>('POST', 'payout', { listing_id, payout })
  if (!answer.ok) return showLine(box, answer.detail)
  box.hidden = true
  const text = answer.body.challenge
  partOf(item, 'challenge').innerHTML = toCopyBlock(text, `text to sign for ${payout}`).text
  partOf(item, 'proof').hidden = false
  const { way, address } = toPayoutFacts(payout)
  const send = (signature: string) => check(item, known, signature)
  if (way === 'evm') watchWallets((wallets) => showWallets(item, wallets, { text, address, send }))
  onSubmit(partOf<HTMLFormElement>(item, 'paste'), (read) => send(read('signature')))
}

interface Signing {
  text: string
  address: string
  send(signature: string): Promise<void>
}

/** A wallet's name is its own word for itself. */
function showWallets(
  item: HTMLElement,
  wallets: readonly Wallet[],
  { text, address, send }: Signing,
): void {
  const buttons = wallets.map(
    ({ name }, place) =>
      html`<button type="button" data-wallet-${place}>Sign with ${name}</button>`,
  )
  partOf(item, 'wallets').innerHTML = html`${buttons}`.text
  partOf(item, 'no-wallet').hidden = true
  for (const [place, wallet] of wallets.entries())
    onClick(item, `wallet-${place}`, async () => {
      const signed = await signWithWallet(wallet, { text, address })
      if (signed.ok) await send(signed.signature)
      else showLine(partOf(item, 'payout-result'), signed.detail)
    })
}

async function check(item: HTMLElement, known: KnownPayout, signature: string): Promise<void> {
  const { listing_id, payout } = known
  const box = partOf(item, 'payout-result')
  const proof = { listing_id, payout, signature }
  const answer = await callSellers<PayoutChecked>('POST', 'payout/check', proof)
  if (!answer.ok) return showLine(box, answer.detail)
  const { verified, expected, observed, payout: after } = answer.body
  const title = verified ? 'Proven: this payout is yours.' : 'Not proven yet.'
  showSight(box, { title, verified, expected, observed })
  if (!verified || after.state !== 'proven') return
  showState(item, { ...known, proven_at: after.proven_at })
  partOf(item, 'proof').hidden = true
  box.insertAdjacentHTML('beforeend', '<p class="small soft">It counts from the next build on.</p>')
}
