import * as v from 'valibot'
import { expect, test } from 'vitest'
import { parseBody } from '../../functions/http/parse-body.ts'

const schema = v.strictObject({
  target: v.optional(v.string()),
  email: v.optional(v.string()),
})

test.each([
  [{ mail: 'a@b.example' }, 'mail', 'email', ['target', 'email']],
  [{ targt: 'x' }, 'targt', 'target', ['target', 'email']],
])('the nearest field is named: %j', async (body, name, nearest, allowed) => {
  const request = new Request('https://waypost.example/', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const detail = `unknown field; did you mean ${nearest}?`
  const options = { errors: [{ name, detail, allowed }] }
  await expect(parseBody(request, schema)).rejects.toMatchObject({ options })
})

test('fields that are missing, unknown and wrong are three sentences', async () => {
  const claim = v.strictObject({
    listing_id: v.string(),
    method: v.optional(v.picklist(['dns_txt', 'well_known'])),
    email: v.string(),
  })
  const request = new Request('https://waypost.example/', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ listing: 'x402.exa', method: 'fax' }),
  })
  const detail =
    'The body lacks listing_id and email. The body has an unknown field: listing. The body has a value that is not allowed: method.'
  const errors = [{}, {}, {}, {}]
  await expect(parseBody(request, claim)).rejects.toMatchObject({ options: { detail, errors } })
})
