/** The key that distinguishes the operations of a listing. */
export function toOperationKey({ method, url }: { method: string; url: string }): string {
  return `${method} ${url}`
}

/** Whether an endpoint is at an operation's address, whose path may have `{placeholders}`. */
export function isAtAddress(template: string, endpoint: string): boolean {
  const path = (url: string) => url.replace(/^https?:\/\/[^/?#]+/, '').replace(/[?#].*$/, '') || '/'
  const [own, requested] = [path(template).split('/'), path(endpoint).split('/')]
  return (
    own.length === requested.length &&
    own.every((part, at) => part === requested[at] || /^\{[^{}]+\}$/.test(part))
  )
}
