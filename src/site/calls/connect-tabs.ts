/** The tab somebody chose is the one they find again on the next listing. */
for (const group of document.querySelectorAll<HTMLElement>('[data-remember]')) {
  const key = `tab-${group.dataset.remember ?? ''}`
  const wanted = read(key)
  for (const radio of group.querySelectorAll<HTMLInputElement>('input[data-tab]')) {
    if (radio.dataset.tab === wanted) radio.checked = true
    radio.addEventListener('change', () => write(key, radio.dataset.tab ?? ''))
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

/** A browser may keep nothing for us: then nothing is remembered. */
function read(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {}
}
