/** What tells the operations of a listing apart. */
export function toOperationKey({ method, url }: { method: string; url: string }): string {
  return `${method} ${url}`
}

/** Whether an endpoint lies at an operation's address, whose path may hold `{placeholders}`. */
export function isAtAddress(template: string, endpoint: string): boolean {
  const path = (url: string) => url.replace(/^https?:\/\/[^/?#]+/, '').replace(/[?#].*$/, '') || '/'
  const [own, asked] = [path(template).split('/'), path(endpoint).split('/')]
  return (
    own.length === asked.length &&
    own.every((part, at) => part === asked[at] || /^\{[^{}]+\}$/.test(part))
  )
}
