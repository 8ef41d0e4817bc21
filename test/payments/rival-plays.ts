import { expect, test } from 'vitest'
import type { SellerListing, World } from './world.ts'

/**
 * What a rival may do to the seller `direct`, and to the list of known sellers, without a proof or a coin that is lost:
 * contest its payee, share it, and harvest what a known seller's name is worth. Played on the chain, through the server.
 */

/** Of `direct`: its page names it too, and nobody proved it. */
export const SECOND = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
/** The payout that `direct` proves. */
const PROVED = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'
/** The thief's own, whose key is his. */
const HARVEST = '0xBcd4042DE499D14e55001CcbB24a551F3b954096'
export const KNOWN_DOMAIN = 'known.example'

const LISTINGS = 5
const RIVAL = 'https://rival.example'
const network = 'eip155:84532'

export const RIVALS: readonly SellerListing[] = [
  // Both at once: a payee that is proved, and one that is not.
  ...Array.from({ length: LISTINGS }, (_, n) => ({
    slug: `rival-${n}`,
    url: `${RIVAL}/${n}`,
    payout: SECOND,
    copied: [PROVED],
    rails: '[x402]',
    probe: false as const,
  })),
  // A forgotten name below a known seller's domain, which somebody took over.
  {
    slug: 'taken',
    url: `https://old.${KNOWN_DOMAIN}/paid`,
    rails: '[x402]',
    probe: false,
  },
]

interface Lab {
  world: World
  lab: typeof import('./chain.ts')
  chain: import('./chain.ts').Chain
}

export function testPlays(of: () => Lab): void {
  test('a rival contests and shares a seller’s payees, and a thief harvests a known seller’s name', async () => {
    const { world, lab, chain } = of()
    const { proveByWallet } = await import('./prove-payout.ts')
    const { db } = world.service().parts.ledger.store
    await lab.payFromNew(chain, SECOND, 5_000n)
    const taken = { listingId: 'x402.taken', host: `old.${KNOWN_DOMAIN}` }
    await proveByWallet(db, { ...taken, payout: `${network}:${HARVEST}`, baseUrl: world.url })
    // As much, from as many, as measures a known seller.
    await lab.payFromMany(chain, HARVEST)
  })
}

/** After the next measurement and build. */
export function testPlaysAreNothing(of: () => Pick<Lab, 'world'>): void {
  const read = async (path: string) => {
    const answer = await fetch(`${of().world.url}/api/v1/${path}`)
    expect([path, answer.status]).toEqual([path, 200])
    return answer
  }
  const listing = async (id: string) => (await read(`listings/${id}`)).json()
  const payees = async (): Promise<{ payee: string; owner: string }[]> =>
    (await (await read('trust/payees.json')).json()).payees
  const ownersOf = async (wallet: string) =>
    (await payees()).filter(({ payee }) => payee.endsWith(wallet.toLowerCase()))

  test('contesting: what is proved stays the prover’s, and what nobody proved is nobody’s', async () => {
    expect(await ownersOf(PROVED)).toEqual([
      {
        payee: `${network}:${PROVED.toLowerCase()}`,
        owner: 'localhost',
        proof: 'signature',
        listings: ['x402.direct'],
      },
    ])
    expect(await ownersOf(SECOND)).toEqual([])
    const { trust, notices } = await listing('x402.rival-0')
    expect(trust).toMatchObject({ score: null, evidence: 'no_payment_data' })
    const [note] = notices.filter(({ id }: { id: string }) => id === 'payout_contested')
    expect(note.note).toContain('and 1 more')
  })

  test('sharing: a rival’s five listings divide nothing', async () => {
    const { trust } = await listing('x402.direct')
    expect(trust).toMatchObject({
      score: 5,
      shared_payout: false,
      settlements_30d: 5,
      volume_usd_30d: 0.005,
    })
  })

  test('harvest: money paid to a taken name of a known seller measures and vouches for nobody', async () => {
    expect(await ownersOf(HARVEST)).toEqual([])
    const { vouching } = await (await read('trust/method')).json()
    expect(vouching.measured).toBe(0)
    const rows = (await (await read('trust/payments.ndjson')).text()).trimEnd().split('\n')
    const paid = rows
      .map((row) => JSON.parse(row))
      .filter(({ payee }) => payee === HARVEST.toLowerCase())
    expect(paid).toHaveLength(11)
    for (const row of paid) expect(row).toMatchObject({ verdict: 'payee_not_owned', listings: [] })
  })
}
