import * as v from 'valibot'
import { textLike } from '../wire/shapes.ts'

const oneLine = (most: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(most))

/** `content/tables/independent_operators.yaml`: seeds of independence, by registrable domain. */
export const IndependentOperatorSchema = v.strictObject({
  domain: textLike(
    /^(?:[a-z0-9]+(?:-+[a-z0-9]+)*\.)+[a-z0-9]+(?:-+[a-z0-9]+)*$/,
    'expected a registrable domain in lower case such as shop.example',
  ),
  name: oneLine(80),
  /** Evidence for anybody that it is not a front. */
  why: oneLine(200),
})
