import { html } from '../../frame/html.ts'
import { signWithWallet, watchWallets } from './wallet.ts'

/** Where a text waits to be signed for an EVM address: a button for each wallet of this browser. */
for (const place of document.querySelectorAll<HTMLElement>('[data-wallets]')) offerWallets(place)

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
    buttons.innerHTML =
      html`${wallets.map(({ name }) => html`<button type="button">Sign with ${name}</button>`)}`.text
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
