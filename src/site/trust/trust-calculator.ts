import { scoreTrust } from '../../domain/trust/trust.ts'

/** The calculator of the method page: the same function that scores listings, on typed numbers. */
const form = document.querySelector<HTMLFormElement>('[data-calculator]')
if (form !== null) {
  form.addEventListener('input', () => show(form))
  form.addEventListener('submit', (event) => event.preventDefault())
  show(form)
}

function show(form: HTMLFormElement): void {
  const data = new FormData(form)
  const read = (name: string, low: number, high = Number.MAX_SAFE_INTEGER) =>
    Math.min(high, Math.max(low, Number(data.get(name)) || 0))
  const buyers = Math.floor(read('buyers', 0))
  const settlements = Math.floor(read('settlements', 0))
  const daysSinceLast = read('days', 0)
  const output = form.querySelector('output')
  const bar = form.querySelector('.meter-fill')
  const isScored = buyers > 0 && settlements > 0 && daysSinceLast <= 30
  const score = isScored
    ? scoreTrust({
        buyers,
        settlements,
        volumeUsd: read('volume', 0),
        topBuyerShare: read('share', 0, 100) / 100,
        daysSinceLast,
        sharers: Math.max(1, Math.floor(read('sharers', 1))),
      })
    : null
  if (output !== null) output.value = score === null ? 'none' : String(score)
  bar?.setAttribute('width', String(score ?? 0))
}
