import { reportPath } from './report.ts'

type Read = (name: string) => string

/**
 * Former pages of proposals, corrections and disputes, now reports: people were told to keep their
 * address, and search engines know the forms.
 */
const FORMER: Readonly<Record<string, (read: Read) => string>> = {
  '/propose': (read) => {
    if (read('id') !== '') return `/report?${new URLSearchParams({ id: read('id') })}`
    return read('listing') === ''
      ? reportPath('new', read('url'))
      : reportPath('wrong', read('listing'))
  },
  '/dispute': (read) => reportPath('dispute', read('receipt') || read('listing')),
  '/problems/proposals-full': () => '/problems/reports-full',
}

/**
 * Where the page of such an address is now; null for any other address.
 *
 * @example findReportAddress('/dispute', 'listing=x402.foo') → '/report?kind=dispute&about=x402.foo'
 */
export function findReportAddress(path: string, query: string): string | null {
  if (!Object.hasOwn(FORMER, path)) return null
  const fields = new URLSearchParams(query)
  return FORMER[path]?.((name) => fields.get(name) ?? '') ?? null
}
