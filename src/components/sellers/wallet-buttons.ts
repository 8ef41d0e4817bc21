import { type BrowserWallet, readAccounts, toHex, toWalletFault } from '../try/browser-wallet.ts'

/** Adds a button for this browser's wallet wherever a text must be signed for an EVM address. */
for (const place of document.querySelectorAll<HTMLElement>('[data-wallet]')) {
  const button = place.querySelector('button')
  const note = place.querySelector('[role=status]')
  const steps = place.closest('ol')
  const field = steps?.querySelector('textarea')
  const text = steps?.querySelector('[data-challenge] code')?.textContent ?? ''
  button?.addEventListener('click', async () => {
    if (!note || !field) return
    button.disabled = true
    try {
      field.value = await signText(text, place.dataset.wallet ?? '')
      field.form?.requestSubmit()
    } catch (error) {
      note.textContent = toWalletFault(error)
    }
    button.disabled = false
  })
}

/**
 * Has the wallet sign a text with an address (EIP-191).
 * @throws an error that says why the wallet did not sign
 */
async function signText(text: string, address: string): Promise<string> {
  const wallet: BrowserWallet | undefined = Reflect.get(window, 'ethereum')
  if (wallet === undefined)
    throw new Error('No wallet was found in this browser. Sign the text elsewhere.')
  const own = await readAccounts(wallet)
  if (!own.some((account) => account.toLowerCase() === address.toLowerCase()))
    throw new Error(
      `The wallet offers ${own.join(', ') || 'no account'}, but the payout is ${address}. Choose that account in the wallet and try again.`,
    )
  const params = [toHex(new TextEncoder().encode(text)), address]
  return String(await wallet.request({ method: 'personal_sign', params }))
}
