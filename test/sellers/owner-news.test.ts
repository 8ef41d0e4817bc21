import { afterEach, beforeEach, expect, test } from 'vitest'
import { notifyOwners } from '../../functions/sellers/letters.ts'
import type { LiveListing } from '../../src/domain/listing/listing-states.ts'
import { liveListing } from '../support/live-listing.ts'
import { describeStores } from '../support/stores.ts'
import { createVisitor, type Visitor } from '../support/visitor.ts'
import { ALL_LIMITS_OFF, openWorld, type World } from '../support/world.ts'

const ID = 'x402.shop'
const OWNER = 'ann@shop.example'
const priced = (usd: number): Partial<LiveListing> => ({
  pricing: { model: 'per_call', min_usd: usd, max_usd: usd, rails: ['x402'], networks: [] },
})

describeStores('what owners are told of their listings', ({ newPlace }) => {
  let world: World
  let owner: Visitor
  beforeEach(async () => {
    const { config } = await newPlace()
    world = await openWorld({ env: { ...config, RATE_LIMITS: ALL_LIMITS_OFF } })
    publish({ probe: 'spoke', ...priced(0.01) })
    owner = createVisitor(world)
    await owner.signIn(OWNER)
    const started = await owner.post('/claim', { listing_id: ID, method: 'contact_email' })
    const { claim } = await started.json()
    expect(
      (await (await owner.post(`/claim/${claim.id}/check`, undefined)).json()).result,
    ).toMatchObject({
      verified: true,
    })
    await lookedAt()
    world.mails.splice(0)
  })
  afterEach(() => world.close())

  /** The next release, where the listing is so. */
  const publish = (facts: Partial<LiveListing>) => {
    const before = world.listings.get(ID) ?? liveListing(ID, 'https://api.shop.example/')
    world.listings.set(ID, { ...before, ...facts })
  }
  /** The hourly chore. @returns the texts of the mails it sent */
  const lookedAt = async () => {
    await notifyOwners(world.parts)
    await world.parts.ledger.mails.send()
    return world.mails.splice(0).map(({ to, subject, text }) => `${to}\n${subject}\n${text}`)
  }

  test('a listing that stops speaking, asks another price or is disputed, once', async () => {
    expect(await lookedAt()).toEqual([])
    publish({ probe: 'dead' })
    const [silent] = await lookedAt()
    expect(silent).toContain(OWNER)
    expect(silent).toContain(`${ID}: our probe got no good answer (dead)`)
    expect(silent).toContain(`${world.url}/sellers/dashboard`)
    expect(await lookedAt()).toEqual([])
    publish({ ...priced(0.05), disputed: true })
    const [both] = await lookedAt()
    expect(both).toContain(`${ID}: 2 changes`)
    expect(both).toContain('its price was $0.01 per call and is now $0.05 per call')
    expect(both).toContain('a dispute about it was accepted')
    expect(await lookedAt()).toEqual([])
  })

  test('nothing that is good or nobody’s fault: it speaks again, or was not reached by us', async () => {
    publish({ probe: 'dead' })
    expect(await lookedAt()).toHaveLength(1)
    publish({ probe: 'gated' })
    expect(await lookedAt()).toEqual([])
    publish({ probe: 'spoke' })
    expect(await lookedAt()).toEqual([])
  })

  test('nothing to a seller who turned it off, and nothing old when it is on again', async () => {
    expect((await (await owner.get('/me')).json()).mails).toEqual({ listings: true })
    const off = await owner.post('/mails', { listings: false })
    expect([off.status, await off.json()]).toEqual([200, { listings: false }])
    expect((await (await owner.get('/me')).json()).mails).toEqual({ listings: false })
    publish({ probe: 'dead' })
    expect(await lookedAt()).toEqual([])
    await owner.post('/mails', { listings: true })
    expect(await lookedAt()).toEqual([])
    publish(priced(1))
    expect(await lookedAt()).toHaveLength(1)
  })

  test('only the owner of today, at the host that was proved', async () => {
    publish({ url: 'https://elsewhere.example/', probe: 'dead' })
    expect(await lookedAt()).toEqual([])
    publish({ url: 'https://api.shop.example/' })
    const { db } = world.parts.ledger.store
    await db.updateTable('claim').set({ state: 'superseded' }).execute()
    expect(await lookedAt()).toEqual([])
  })

  test('one mail, where several servers look at once', async () => {
    publish({ probe: 'dead' })
    await Promise.all(Array.from({ length: 5 }, () => notifyOwners(world.parts)))
    await world.parts.ledger.mails.send()
    expect(world.mails).toHaveLength(1)
  })

  test('the switch is for whoever is signed in, and takes yes or no', async () => {
    const nobody = createVisitor(world)
    expect((await nobody.post('/mails', { listings: false })).status).toBe(401)
    expect((await owner.post('/mails', { listings: 'off' })).status).toBe(400)
    expect((await owner.post('/mails', { listing: false })).status).toBe(400)
  })
})
