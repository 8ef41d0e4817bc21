import * as v from 'valibot'

const PARTS = ['sellers', 'payments', 'business_model', 'roadmap', 'trust'] as const
export type DirectoryPart = (typeof PARTS)[number]

/** The addresses of each part, including everything below them. */
const ADDRESSES: Readonly<Record<DirectoryPart, readonly string[]>> = {
  sellers: ['/sellers', '/api/v1/sellers', '/docs/sellers'],
  payments: [
    ...['/market', '/api/v1/market', '/not-listed', '/discovery'],
    ...['/api/v1/receipts', '/.well-known/receipt-keys.json'],
  ],
  business_model: ['/business-model', '/api/v1/business-model'],
  roadmap: [
    ...['/roadmap', '/api/v1/roadmap', '/docs/roadmap-stubs'],
    ...['/api/v1/sponsored', '/api/v1/tools', '/api/v1/buyers'],
  ],
  trust: ['/trust', '/api/v1/trust', '/badges'],
}

/** Parts an internal directory can omit: false removes pages, endpoints, sentences and columns. */
export const SwitchesSchema = v.optional(
  v.strictObject(v.entriesFromList(PARTS, v.optional(v.boolean(), true))),
  {},
)
export type Switches = v.InferOutput<typeof SwitchesSchema>

export function toMissingParts(switches: Partial<Switches>): DirectoryPart[] {
  return PARTS.filter((part) => switches[part] === false)
}

/** Whether a directory leaves out sellers, payments or trust. */
export function isBare(switches: Partial<Switches> = {}): boolean {
  return [switches.sellers, switches.payments, switches.trust].includes(false)
}

export function isSwitchedOff(path: string, switches: Partial<Switches> = {}): boolean {
  return toMissingParts(switches).some((part) =>
    ADDRESSES[part].some((address) => path === address || path.startsWith(`${address}/`)),
  )
}

export function toPresentLinks<Link extends readonly [path: string, ...rest: unknown[]]>(
  links: readonly Link[],
  switches: Switches,
): Link[] {
  return links.filter(([path]) => !isSwitchedOff(path, switches))
}
