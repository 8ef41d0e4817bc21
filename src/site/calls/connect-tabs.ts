import { keep, readKept } from '../frame/kept.ts'

/** The tab somebody chose is the one they find again on the next listing. */
for (const group of document.querySelectorAll<HTMLElement>('[data-remember]')) {
  const key = `waypost-tab-${group.dataset.remember ?? ''}`
  const wanted = readKept(key)
  for (const radio of group.querySelectorAll<HTMLInputElement>('input[data-tab]')) {
    if (radio.dataset.tab === wanted) radio.checked = true
    radio.addEventListener('change', () => keep(key, radio.dataset.tab ?? ''))
  }
}

/** A long list shows what holds the words typed above it. */
for (const section of document.querySelectorAll<HTMLElement>('[data-filtered]')) {
  const box = section.querySelector<HTMLInputElement>('.filter')
  const rows = section.querySelectorAll<HTMLElement>('.calls > li')
  box?.addEventListener('input', () => {
    const wanted = box.value.trim().toLowerCase()
    for (const row of rows) row.hidden = !row.textContent?.toLowerCase().includes(wanted)
  })
}
