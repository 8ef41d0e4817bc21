import { callSellers } from '../controls/seller-api.ts'

/** The button that uses the link up. The token leaves the address bar before anything else runs. */
const token = new URLSearchParams(location.search).get('token') ?? ''
history.replaceState(null, '', location.pathname)

const button = document.querySelector<HTMLButtonElement>('[data-sign-in]')
button?.addEventListener('click', () => void signIn(button))
if (token === '') fail('This address carries no sign-in token. Open the link from your email.')

async function signIn(button: HTMLButtonElement): Promise<void> {
  button.disabled = true
  const answer = await callSellers('POST', 'session', { token })
  if (answer.ok) {
    location.assign('/sellers/dashboard')
    return
  }
  button.disabled = false
  fail(answer.detail)
}

function fail(detail: string): void {
  const problem = document.querySelector<HTMLElement>('[data-problem]')
  const text = problem?.querySelector('[data-detail]')
  if (problem == null || text == null) return
  text.textContent = detail
  problem.hidden = false
}
