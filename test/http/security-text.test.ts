import { expect, test } from 'vitest'
import { forAllTests } from '../support/for-tests.ts'
import { type RunningService, startService } from '../support/running-service.ts'

const named = forAllTests(() => startService({ MAIL_FROM: 'ops@shop.example' }))
const nameless = forAllTests(() => startService())

const DAY_MS = 86_400_000

async function read({ url }: RunningService): Promise<string[]> {
  const answer = await fetch(`${url}/.well-known/security.txt`)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  return (await answer.text()).split('\n')
}

test('security.txt names the operator’s address, where it stands, and a date that has not passed', async () => {
  const [contact, expires = '', ...rest] = await read(named)
  expect(contact).toBe('Contact: mailto:ops@shop.example')
  expect(expires).toMatch(/^Expires: \d{4}-\d\d-\d\dT00:00:00\.000Z$/)
  const ahead = Date.parse(expires.slice('Expires: '.length)) - Date.now()
  // RFC 9116: less than a year; a cached copy must stay true while it is kept.
  expect(ahead).toBeGreaterThan(30 * DAY_MS)
  expect(ahead).toBeLessThan(365 * DAY_MS)
  expect(rest).toEqual([
    'Preferred-Languages: en',
    'Canonical: https://waypost.example/.well-known/security.txt',
    '',
  ])
})

test('without an address it is the mailbox every host keeps for this', async () => {
  expect((await read(nameless))[0]).toBe('Contact: mailto:security@waypost.example')
})

test('a browser gets the file too, not a page', async () => {
  const headers = { accept: 'text/html,application/xhtml+xml' }
  const answer = await fetch(`${named.url}/.well-known/security.txt`, { headers })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/plain; charset=utf-8',
  ])
})
