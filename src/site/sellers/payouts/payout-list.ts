import type { KnownPayout, PayoutChecked, PayoutState } from '../../../domain/views/seller-views.ts'
import { showLine, showSight } from '../controls/check-box.ts'
import {
  cloneTemplate,
  fill,
  make,
  makeButton,
  makeCopyBlock,
  partOf,
  whileBusy,
} from '../controls/elements.ts'
import { callSellers } from '../controls/seller-api.ts'
import { type PayoutWords, toPayoutWords } from './payout-words.ts'
import { signWithWallet, type Wallet, watchWallets } from './wallet.ts'

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
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const payout = String(new FormData(form).get('payout') ?? '').trim()
    const item = createPayout({ listing_id: listingId, payout, published: false, counts: false })
    list.append(item)
    partOf<HTMLButtonElement>(item, 'prove').click()
    form.reset()
  })
}

function createPayout(known: KnownPayout): HTMLElement {
  const item = cloneTemplate('payout')
  const words = toPayoutWords(known)
  partOf(item, 'network').textContent = words.network
  partOf(item, 'address').textContent = words.address || known.payout
  showState(item, words)
  const prove = partOf<HTMLButtonElement>(item, 'prove')
  prove.addEventListener('click', () => void whileBusy(prove, () => openProof(item, known)))
  const end = partOf<HTMLButtonElement>(item, 'withdraw')
  end.addEventListener('click', () => void whileBusy(end, () => withdraw(item, known)))
  return item
}

async function withdraw(item: HTMLElement, known: KnownPayout): Promise<void> {
  const { proven_at: _, ...unproven } = known
  const { listing_id, payout } = known
  const box = partOf(item, 'payout-result')
  const answer = await callSellers<PayoutState>('DELETE', 'payout', { listing_id, payout })
  if (!answer.ok) return showLine(box, answer.detail)
  showState(item, toPayoutWords(unproven))
  showLine(box, 'The proof is withdrawn. The next build leaves it out.')
}

function showState(item: HTMLElement, { state, label, explanation }: PayoutWords): void {
  partOf(item, 'prove').hidden = state === 'proven'
  partOf(item, 'withdraw').hidden = state !== 'proven'
  const tag = partOf(item, 'payout-state')
  tag.textContent = label
  tag.className = `tag ${{ proven: 'earned', contested: 'warn', unproven: '' }[state]}`
  partOf(item, 'explanation').textContent = explanation
}

async function openProof(item: HTMLElement, known: KnownPayout): Promise<void> {
  const { listing_id, payout } = known
  const box = partOf(item, 'payout-result')
  const answer = await callSellers<{ challenge: string }>('POST', 'payout', { listing_id, payout })
  if (!answer.ok) return showLine(box, answer.detail)
  box.hidden = true
  const { challenge } = answer.body
  const { way, address } = toPayoutWords(known)
  partOf(item, 'challenge').replaceChildren(makeCopyBlock(challenge, `text to sign for ${payout}`))
  partOf(item, 'paste-hint').textContent = HINTS[way]
  partOf(item, 'proof').hidden = false
  partOf(item, 'wallet-step').hidden = way !== 'evm'
  const send = (signature: string) => check(item, known, signature)
  if (way === 'evm')
    watchWallets((wallets) => showWallets(item, wallets, { text: challenge, address, send }))
  const form = partOf<HTMLFormElement>(item, 'paste')
  form.onsubmit = (event) => {
    event.preventDefault()
    void send(String(new FormData(form).get('signature') ?? '').trim())
  }
}

const HINTS = {
  evm: '0x and hex: EIP-191 (“personal sign”), or what a contract wallet takes by EIP-1271.',
  solana: 'Base58: ed25519 over the bytes of the text, as a wallet’s “sign message” gives it.',
} as const

interface Signing {
  text: string
  address: string
  send(signature: string): Promise<void>
}

function showWallets(
  item: HTMLElement,
  wallets: readonly Wallet[],
  { text, address, send }: Signing,
): void {
  const place = partOf(item, 'wallets')
  fill(
    place,
    wallets.map((wallet) =>
      makeButton(
        `Sign with ${wallet.name}`,
        (button) =>
          void whileBusy(button, async () => {
            const signed = await signWithWallet(wallet, { text, address })
            if (signed.ok) await send(signed.signature)
            else showLine(partOf(item, 'payout-result'), signed.detail)
          }),
      ),
    ),
  )
  partOf(item, 'no-wallet').hidden = true
}

async function check(item: HTMLElement, known: KnownPayout, signature: string): Promise<void> {
  const { listing_id, payout } = known
  const box = partOf(item, 'payout-result')
  const answer = await callSellers<PayoutChecked>('POST', 'payout/check', {
    listing_id,
    payout,
    signature,
  })
  if (!answer.ok) return showLine(box, answer.detail)
  const { verified, expected, observed, payout: after } = answer.body
  const title = verified ? 'Proven: this payout is yours.' : 'Not proven yet.'
  showSight(box, { title, verified, expected, observed })
  if (!verified || after.state !== 'proven') return
  showState(item, toPayoutWords({ ...known, proven_at: after.proven_at }))
  partOf(item, 'proof').hidden = true
  box.append(make('p', 'small soft', 'The next build takes it up.'))
}
