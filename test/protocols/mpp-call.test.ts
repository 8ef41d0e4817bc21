import { describe, expect, test } from 'vitest'
import { readMppReceipt, readMppRequired, toMppHeader } from '../../src/domain/relay/payments.ts'

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const decode = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))

const REQUEST = {
  amount: '1000',
  currency: '0x1',
  methodDetails: { chainId: 84532 },
  recipient: '0x2',
}
const CHALLENGE = `Payment id="a1", realm="seller.example", method="evm", intent="charge", request="${encode(REQUEST)}", expires="2026-11-20T08:54:45.562Z"`

describe('MPP over MCP', () => {
  test('gives every Payment challenge with its request decoded', () => {
    const line = `Bearer realm="x", ${CHALLENGE}, ${CHALLENGE.replace('a1', 'b2')}`
    expect(readMppRequired({ 'www-authenticate': line })).toMatchObject({
      httpStatus: 402,
      challenges: [
        { id: 'a1', realm: 'seller.example', request: REQUEST },
        { id: 'b2', expires: '2026-11-20T08:54:45.562Z' },
      ],
    })
  })

  test.each([
    [{}],
    [{ 'www-authenticate': 'Bearer realm="x"' }],
    [{ 'www-authenticate': CHALLENGE.replace(/request="[^"]*"/, 'request="%%"') }],
  ])('%j asks for nothing', (headers) => {
    expect(readMppRequired(headers)).toBeNull()
  })

  test('a credential becomes the header its seller reads, the request byte for byte its own', () => {
    const { challenges = [] } = readMppRequired({ 'www-authenticate': CHALLENGE }) ?? {}
    const shuffled = {
      ...challenges[0],
      request: Object.fromEntries(Object.entries(REQUEST).reverse()),
    }
    const payload = { z: 1, a: { signature: '0x3' } }
    const header = toMppHeader({ challenge: shuffled, payload, source: 'did:pkh:eip155:1:0x4' })
    expect(header?.name).toBe('Authorization')
    const wire = decode(header?.value.replace(/^Payment /, '') ?? '')
    expect(wire).toMatchObject({ payload, source: 'did:pkh:eip155:1:0x4' })
    expect(wire.challenge).toMatchObject({ id: 'a1', request: encode(REQUEST) })
    expect(JSON.stringify(wire.payload)).toBe(JSON.stringify(payload))
  })

  test.each([
    [null],
    ['Payment abc'],
    [{ challenge: {}, payload: {} }],
    [{ challenge: { id: 'a', realm: '', method: 'm', intent: 'i', request: 'text' }, payload: {} }],
    [
      {
        challenge: { id: 'a', realm: '', method: 'm', intent: 'i', request: {}, header: 'Host' },
        payload: {},
      },
    ],
  ])('%j is not a credential', (credential) => {
    expect(toMppHeader(credential)).toBeNull()
  })

  test('a receipt is the seller’s word as it stands', () => {
    expect(readMppReceipt({ 'payment-receipt': encode({ status: 'success' }) })).toEqual({
      status: 'success',
    })
    expect(readMppReceipt({})).toBeUndefined()
  })
})
