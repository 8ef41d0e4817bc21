import { H3 } from 'h3'
import { expect, test } from 'vitest'
import { mountSecurityText } from '../../functions/app/app.ts'
import { parseConfig } from '../../functions/ports/config.ts'

const NOW = Date.UTC(2026, 10, 22, 5)

async function read(env: Record<string, string>) {
  const app = new H3()
  mountSecurityText(app, { config: parseConfig(env), clock: { now: () => NOW } })
  const answer = await app.fetch(new Request('https://waypost.example/.well-known/security.txt'))
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  return (await answer.text()).split('\n')
}

const BASE_URL = 'https://waypost.example'

test('security.txt names the operator’s address, where it stands, and a date that has not passed', async () => {
  expect(await read({ BASE_URL, MAIL_FROM: 'ops@shop.example' })).toEqual([
    'Contact: mailto:ops@shop.example',
    'Expires: 2027-02-20T00:00:00.000Z',
    'Preferred-Languages: en',
    'Canonical: https://waypost.example/.well-known/security.txt',
    '',
  ])
})

test('without an address it is the mailbox every host keeps for this', async () => {
  expect((await read({ BASE_URL }))[0]).toBe('Contact: mailto:security@waypost.example')
})
