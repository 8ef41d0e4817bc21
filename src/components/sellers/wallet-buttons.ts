import { isJsonObject } from '../../domain/wire/json.ts'
import type { BrowserWallet } from '../try/browser-wallet.ts'

/** Where a text waits to be signed for an EVM address: a button for each wallet of this browser. */
function offerWallets(place: HTMLElement): void {
  const steps = place.closest('ol')
  const buttons = place.querySelector('[data-wallet-buttons]')
  const note = place.querySelector('[data-wallet-note]')
  const field = steps?.querySelector('textarea')
  if (!buttons || !note || !field) return
  const text = steps?.querySelector('[data-challenge] code')?.textContent ?? ''
  const address = place.dataset.wallets ?? ''
  watchWallets((wallets) => {
    note.textContent = ''
    // A wallet chooses its own name.
    const made = wallets.map(({ name }) =>
      Object.assign(document.createElement('button'), {
        type: 'button',
        textContent: `Sign with ${name}`,
      }),
    )
    // One for each wallet of the browser.
    buttons.replaceChildren(...made)
    for (const [at, button] of buttons.querySelectorAll('button').entries())
      button.addEventListener('click', async () => {
        const wallet = wallets[at]
        if (wallet === undefined) return
        button.disabled = true
        const signed = await signWithWallet(wallet, { text, address })
        button.disabled = false
        if (!signed.ok) note.textContent = signed.detail
        else {
          field.value = signed.signature
          field.form?.requestSubmit()
        }
      })
  })
}

/** A browser's wallet that signs a text (EIP-1193), announced by EIP-6963 or set on the window. */
interface Wallet {
  /** The wallet's own name: foreign text. */
  name: string
  provider: BrowserWallet
}

const MAX_NAME = 40
/** The EIP-1193 code for a refusal by the wallet's owner. */
const DECLINED = 4001

/**
 * Reports every present wallet, and later ones. The one on `window.ethereum` is used where none
 * announces itself.
 */
function watchWallets(onChange: (wallets: readonly Wallet[]) => void): void {
  const found = new Map<string, Wallet>()
  window.addEventListener('eip6963:announceProvider', (event) => {
    const announced = event instanceof CustomEvent ? readAnnouncement(event.detail) : null
    if (announced === null || found.has(announced.uuid)) return
    found.set(announced.uuid, announced)
    onChange([...found.values()])
  })
  window.dispatchEvent(new Event('eip6963:requestProvider'))
  const injected: unknown = Reflect.get(window, 'ethereum')
  if (found.size === 0 && isProvider(injected))
    onChange([{ name: 'Browser wallet', provider: injected }])
}

type Signed = { ok: true; signature: string } | { ok: false; detail: string }

/** Asks a wallet to sign a text with an address (EIP-191); explains why it did not. */
async function signWithWallet(
  { provider }: Pick<Wallet, 'provider'>,
  { text, address }: { text: string; address: string },
): Promise<Signed> {
  try {
    const accounts = await provider.request({ method: 'eth_requestAccounts' })
    const own = (Array.isArray(accounts) ? accounts : []).map(String)
    if (!own.some((account) => account.toLowerCase() === address.toLowerCase()))
      return {
        ok: false,
        detail: `The wallet offers ${own.join(', ') || 'no account'}; the payout is ${address}. Choose that account in the wallet and try again.`,
      }
    const params = [toHex(text), address]
    const signature = await provider.request({ method: 'personal_sign', params })
    return typeof signature === 'string'
      ? { ok: true, signature }
      : { ok: false, detail: 'The wallet gave no signature.' }
  } catch (error) {
    return { ok: false, detail: toReason(error) }
  }
}

function readAnnouncement(detail: unknown): (Wallet & { uuid: string }) | null {
  if (!isJsonObject(detail) || !isJsonObject(detail.info) || !isProvider(detail.provider))
    return null
  const { uuid, name } = detail.info
  if (typeof uuid !== 'string' || typeof name !== 'string') return null
  return { uuid, name: name.slice(0, MAX_NAME) || 'Browser wallet', provider: detail.provider }
}

function isProvider(value: unknown): value is BrowserWallet {
  return isJsonObject(value) && typeof value.request === 'function'
}

function toReason(error: unknown): string {
  if (isJsonObject(error) && error.code === DECLINED) return 'You declined in the wallet.'
  const message = isJsonObject(error) && typeof error.message === 'string' ? error.message : ''
  return `The wallet did not sign: ${message.slice(0, 200) || 'it gave no reason'}`
}

function toHex(text: string): string {
  const bytes = [...new TextEncoder().encode(text)]
  return `0x${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

// Last: it runs at once, and needs what is declared above.
for (const place of document.querySelectorAll<HTMLElement>('[data-wallets]')) offerWallets(place)
