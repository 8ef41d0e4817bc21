/**
 * CSRF: a browser says with every write where it comes from. `Sec-Fetch-Site`
 * decides where it is sent, else the whole `Origin`; a write with neither comes from no browser, and
 * then no victim's cookie is on it.
 */
export function isCrossSite(headers: Headers, baseUrl: string): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site !== 'same-origin' && site !== 'none'
  const origin = headers.get('origin')
  return origin !== null && origin !== baseUrl
}
